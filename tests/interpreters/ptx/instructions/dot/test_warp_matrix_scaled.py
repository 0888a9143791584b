"""`mma.sync` of narrow floats, with block scales and without, against numpy and ml_dtypes."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from interpreters.ptx.harness import execute, pointers
from support.matrix_kernels import START, group, load_words, owners, store_words, to_registers

DTYPES: dict[str, Any] = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
    "ue4m3": ml_dtypes.float8_e4m3fn,
}
CASES = [
    ("mxf8f6f4", "1X", "e4m3", "e5m2", "ue8m0", 32, (3, 1), (2, 3)),
    ("mxf8f6f4", "1X", "e2m1", "e3m2", "ue8m0", 32, (0, 0), (1, 0)),
    ("mxf8f6f4", "1X", "e2m3", "e2m1", "ue8m0", 32, (2, 1), (0, 1)),
    ("mxf4", "2X", "e2m1", "e2m1", "ue8m0", 64, (2, 1), (0, 2)),
    ("mxf4nvf4", "2X", "e2m1", "e2m1", "ue8m0", 64, (0, 0), (2, 3)),
    ("mxf4nvf4", "4X", "e2m1", "e2m1", "ue4m3", 64, (0, 1), (0, 1)),
    ("mxf4nvf4", "4X", "e2m1", "e2m1", "ue8m0", 64, (0, 0), (0, 2)),
]


def codes(element: str, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Bits of small numbers; all of them of formats that have no NaN."""
    bits = {"e2m1": 4, "e2m3": 6, "e3m2": 6}.get(element)
    if bits is not None:
        return rng.integers(0, 1 << bits, shape, np.uint8)
    return (rng.integers(-8, 9, shape) / 4).astype(DTYPES[element]).view(np.uint8)


def numbers(bits: np.ndarray, element: str) -> np.ndarray:
    return bits.view(DTYPES[element]).astype(np.float64)


def kept_in_order(
    kept: np.ndarray, pairs: bool, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Metadata (32, 1) and A (16, 2 k) of what it keeps (16, k): of four elements, or pairs,
    two in ascending order.

    A lane 4 r + h + 2 c has the codes of row r + 8 h and columns of half c, four bits each from the
    lowest on (PTX ISA 9.7.14.6.2, figures of 8 and 4 bits).
    """
    size = 2 if pairs else 1
    words = np.zeros((32, 1), np.uint32)
    found = np.zeros((16, 2 * kept.shape[1]))
    for row in range(16):
        for chunk in range(16):
            one, two = sorted(rng.choice(4, 2, replace=False).tolist())
            lane = 4 * (row % 8) + row // 8 + 2 * (chunk // 8)
            words[lane, 0] |= np.uint32((one | two << 2) << 4 * (chunk % 8))
            for index, where in enumerate((one, two)):
                to, at = size * (4 * chunk + where), size * (2 * chunk + index)
                found[row, to : to + size] = kept[row, at : at + size]
    return words, found


def packed(bits: np.ndarray, element: str, name: str) -> np.ndarray:
    """Registers of A or B: a byte for each element, or half of one."""
    if ".4bit." not in name:
        return to_registers(bits << (2 if element == "e2m1" else 0), name)
    row, column = owners(name)
    cells = bits[row, column]
    return np.ascontiguousarray(cells[:, ::2] | cells[:, 1::2] << 4).view("u4")


NARROW_CASES = [("e4m3", "e2m1", "f32"), ("e3m2", "e2m3", "f32"), ("e2m1", "e5m2", "f16")]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("a", "b", "d"), NARROW_CASES)
def test_narrow_floats_without_scales(a: str, b: str, d: str, sparse: bool) -> None:
    """`.kind::f8f6f4`: elements of 6 and 4 bits have a byte of the registers each."""
    rng = np.random.default_rng(len(a + b) + sparse)
    name, k = "mma.m16n8k32.8bit", 64 if sparse else 32
    left, right = codes(a, (16, 32), rng), codes(b, (8, k), rng)
    added = rng.integers(-9, 9, (16, 8)).astype(np.float32 if d == "f32" else np.float16)
    parts = {
        "a": packed(left, a, f"{name}.a"),
        "b": np.hstack([packed(p, b, f"{name}.b") for p in np.split(right, k // 32, 1)]),
        "c": to_registers(added, f"{name}.c"),
        "e": np.zeros((32, 1), np.uint32),
    }
    values = numbers(left, a)
    if sparse:
        parts["e"], values = kept_in_order(values, False, rng)
    counts = {part: held.shape[1] for part, held in parts.items()}
    vectors = {part: group(part, count) for part, count in counts.items()}
    body = START + "".join(
        load_words(part, part.upper(), count) + "\n" for part, count in counts.items()
    )
    body += (
        f"mma{'.sp::ordered_metadata' * sparse}.sync.aligned.m16n8k{k}.row.col.kind::f8f6f4"
        f".{d}.{a}.{b}.{d} {vectors['c']}, {vectors['a']}, {vectors['b']}, {vectors['c']}"
        f"{', %e0, 0' * sparse};\n{store_words('c', counts['c'])} ret;"
    )
    report = execute(body, pointers("ABCE"), [*parts.values()], target="sm_120a", version="8.7")
    exact = (values @ numbers(right, b).T + added).astype(added.dtype)
    np.testing.assert_array_equal(report.arrays[2], to_registers(exact, f"{name}.c"))


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("kind", "vector", "a", "b", "scale", "k", "at_a", "at_b"), CASES)
def test_scales_of_blocks(
    kind: str,
    vector: str,
    a: str,
    b: str,
    scale: str,
    k: int,
    at_a: tuple[int, int],
    at_b: tuple[int, int],
    sparse: bool,
) -> None:
    rng = np.random.default_rng(k + len(a))
    name, count = f"mma.m16n8k{k}.{'8bit' if k == 32 else '4bit'}", int(vector[0])
    whole = 2 * k if sparse else k
    shape = f"m16n8k{whole}"
    left, right = codes(a, (16, k), rng), codes(b, (8, whole), rng)
    added = rng.integers(-9, 9, (16, 8)).astype(np.float32)
    # Other threads and bytes hold noise: only the chosen ones may count.
    words = [rng.integers(0, 256, (32, 4), np.uint8) for _ in range(2)]
    factors = []
    for rows, (byte, thread), held, pair in ((16, at_a, words[0], 2), (8, at_b, words[1], 1)):
        powers = 2.0 ** rng.integers(-3, 4, (rows, count))
        factors.append(powers)
        for row in range(rows):
            lane = 4 * (row % 8) + pair * thread + row // 8
            held[lane, byte : byte + count] = powers[row].astype(DTYPES[scale]).view(np.uint8)
    parts = {
        "a": packed(left, a, f"{name}.a"),
        "b": np.hstack([packed(p, b, f"{name}.b") for p in np.split(right, whole // k, 1)]),
        "c": to_registers(added, f"{name}.c"),
        "x": words[0].view("u4"),
        "y": words[1].view("u4"),
        "e": np.zeros((32, 1), np.uint32),
    }
    values = numbers(left, a)
    if sparse:
        parts["e"], values = kept_in_order(values, k == 64, rng)
    body = START + "".join(
        load_words(part, part.upper(), held.shape[1]) + "\n" for part, held in parts.items()
    )
    vectors = {part: group(part, held.shape[1]) for part, held in parts.items()}
    ids = [f"{{{byte}, {thread}}}" for byte, thread in (at_a, at_b)]
    metadata = "%e0, 0, " * sparse
    body += (
        f"mma{'.sp::ordered_metadata' * sparse}.sync.aligned.{shape}.row.col.kind::{kind}"
        f".block_scale.scale_vec::{vector}.f32.{a}.{b}.f32.{scale} "
        f"{vectors['c']}, {vectors['a']}, {vectors['b']}, {vectors['c']}, "
        f"{metadata}%x0, {ids[0]}, %y0, {ids[1]};\n{store_words('c', 4)} ret;"
    )
    exact = added + sum(
        (values[:, part] * factors[0][:, [j]]) @ (numbers(right, b)[:, part] * factors[1][:, [j]]).T
        for j, part in enumerate(np.split(np.arange(whole), count))
    )
    report = execute(body, pointers("ABCXYE"), [*parts.values()], target="sm_120a", version="9.1")
    wanted = to_registers(exact.astype(np.float32), f"{name}.c")
    np.testing.assert_array_equal(report.arrays[2], wanted)
