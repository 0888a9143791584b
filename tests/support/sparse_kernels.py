"""Products whose A keeps two of four (or one of two) elements of K, and their numpy references.

Metadata are nibbles: one by chunk of A, which tells where in the chunk its elements are.
Source: PTX ISA 9.7.14.6 (mma.sp) and 9.7.15.6 (wgmma.mma_async.sp).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from support.matrix_kernels import (
    BITS,
    DTYPES,
    HOPPER,
    OPERANDS_TO_SHARED,
    START,
    MatrixKernel,
    canonical,
    group,
    load_words,
    matrix,
    placed,
    store_words,
    to_registers,
)
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.target.mma.canonical import CanonicalLayout
from tileas_xdsl.target.mma.smem_descriptor import describe

FAMILIES = {16: "16bit", 32: "tf32", 8: "8bit"}

PAIRS = [low | high << 2 for low in range(4) for high in range(low + 1, 4)]
"""Codes of two of four elements in order."""
EITHER_ORDER = [low | high << 2 for low in range(4) for high in range(4) if low != high]
SINGLES = [0b0100, 0b1110]
"""Codes of one of two elements of 32 bits: they are halves of 16 bits."""


def codes_of(
    bits: int, rows: int, k: int, rng: np.random.Generator, pairs: Sequence[int] = PAIRS
) -> np.ndarray:
    """Return random nibbles (rows, chunks) of A; K counts elements of B."""
    codes = SINGLES if bits == 32 else pairs
    return rng.choice(codes, (rows, k // (2 if bits == 32 else 4)))


def spread_out(kept: np.ndarray, codes: np.ndarray, bits: int) -> np.ndarray:
    """Return A (rows, K) of what it keeps (rows, K/2)."""
    rows, half = kept.shape
    found = np.zeros((rows, 2 * half), kept.dtype)
    row = np.arange(rows)[:, None]
    chunk = np.arange(codes.shape[1])[None, :]
    if bits == 32:
        found[row, 2 * chunk + (codes == 0b1110)] = kept
        return found
    for place in range(2):
        found[row, 4 * chunk + (codes >> 2 * place & 3)] = kept[:, place::2]
    return found


def metadata_of(
    codes: np.ndarray, bits: int, selector: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the word of each lane of a warp (32,); lanes that are not selected have any.

    A row of 16 nibbles needs all four lanes of a group, of 8 a pair, of 4 one of them.
    """
    chunks = codes.shape[1]
    found = rng.integers(0, 1 << 32, 32, dtype=np.uint64).astype(np.uint32)
    lanes = {4: 1, 8: 2, 16: 4}[chunks]
    for lane in range(8):
        for part in range(lanes):
            if bits == 8:
                # bytes: a lane has 8 nibbles of one row, lanes alternate between two rows
                nibbles = codes[lane + 8 * (part % 2), part // 2 * 8 : part // 2 * 8 + 8]
            else:
                # others: a lane has 4 nibbles of each of two rows
                columns = slice(4 * part, 4 * part + 4)
                nibbles = np.concatenate([codes[lane, columns], codes[lane + 8, columns]])
            word = sum(int(code) << 4 * i for i, code in enumerate(nibbles))
            found[4 * lane + lanes * selector + part] = word
    return found


def values(
    element: str, shape: tuple[int, int], rng: np.random.Generator, any_: bool
) -> np.ndarray:
    if not any_ or element in ("s8", "u8", "s32"):
        return matrix("s8" if element == "s32" else element, shape, rng).astype(DTYPES[element])
    found = rng.standard_normal(shape).astype(DTYPES[element])
    if element == "tf32":
        found = (found.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return found


def sparse_warp_product(
    k: int, types: tuple[str, str, str], selector: int, rng: np.random.Generator,
    *, ordered: bool = False, any_values: bool = False, pairs: Sequence[int] = PAIRS,
) -> MatrixKernel:  # fmt: skip
    """Return `mma.sp` of one warp."""
    d, a, b = types
    bits = BITS[a]
    name = f"mma.m16n8k{k // 2}.{FAMILIES[bits]}"
    kept = values(a, (16, k // 2), rng, any_values)
    right = values(b, (8, k), rng, any_values)
    added = values(d, (16, 8), rng, any_values)
    codes = codes_of(bits, 16, k, rng, pairs)
    words = {
        "a": to_registers(kept, f"{name}.a"),
        "b": np.concatenate(
            [to_registers(right[:, i : i + k // 2], f"{name}.b") for i in (0, k // 2)], 1
        ),
        "e": metadata_of(codes, bits, selector, rng)[:, None],
        "c": to_registers(added, f"{name}.c"),
    }
    counts = {part: w.shape[1] for part, w in words.items()}
    body = START + "".join(load_words(p, p.upper(), n) + "\n" for p, n in counts.items())
    vectors = {part: group(part, n) for part, n in counts.items()}
    order = "::ordered_metadata" if ordered else ""
    body += (
        f"mma.sp{order}.sync.aligned.m16n8k{k}.row.col.{d}.{a}.{b}.{d} {vectors['c']}, "
        f"{vectors['a']}, {vectors['b']}, {vectors['c']}, %e0, {selector};\n"
        f"{store_words('c', counts['c'])} ret;"
    )
    left = spread_out(kept, codes, bits).astype(np.float64)
    exact = left @ right.astype(np.float64).T + added.astype(np.float64)
    wanted = {} if any_values else {3: to_registers(exact.astype(DTYPES[d]), f"{name}.c")}
    return MatrixKernel(body, "ABEC", list(words.values()), wanted)


def twice_as_deep(layout: CanonicalLayout) -> CanonicalLayout:
    """Return the layout of an operand whose K is that of two dense instructions."""
    lead, stride = layout.leading_byte_offset, layout.stride_byte_offset
    plain = layout.mode == "none"
    if layout.major == "k":
        return replace(layout, starts=Layout(2, 2 * lead if plain else 32))
    if plain:
        return replace(layout, starts=Layout(2, 2 * lead))
    return replace(layout, leading_byte_offset=2 * lead, starts=Layout(2, 2 * stride))


def sparse_warpgroup_product(
    types: tuple[str, str, str], n: int, modes: tuple[str, str], majors: tuple[str, str],
    selector: int, rng: np.random.Generator,
    *, in_registers: bool = False, signs: tuple[int, int] = (1, 1), any_values: bool = False,
    pairs: Sequence[int] = PAIRS,
) -> MatrixKernel:  # fmt: skip
    """Return one `wgmma.mma_async.sp`."""
    d, a, b = types
    bits = BITS[a]
    k = 512 // bits
    kept = values(a, (64, k // 2), rng, any_values)
    right = values(b, (n, k), rng, any_values)
    codes = codes_of(bits, 64, k, rng, pairs)
    layouts = [
        canonical(modes[0], majors[0], bits, 64),
        twice_as_deep(canonical(modes[1], majors[1], bits, n)),
    ]
    memory = np.concatenate([placed(kept, layouts[0], 32768), placed(right, layouts[1], 32768)])
    descriptors = [
        describe(lay, 1024 + 32768 * i, HOPPER).encode() for i, lay in enumerate(layouts)
    ]
    before = values(d, (64, n), rng, any_values)
    name = f"wgmma.m64n{n}.d"
    start = to_registers(before, name)
    count = start.shape[1]
    metadata = np.concatenate(
        [metadata_of(codes[i : i + 16], bits, selector, rng) for i in range(0, 64, 16)]
    )[:, None]
    body = START + load_words("d", "D", count) + load_words("e", "E", 1)
    first, fragment = "%da, %db", np.zeros((128, 4), np.uint32)
    if in_registers:
        fragment = to_registers(kept, f"wgmma.m64k{k // 2}.{FAMILIES[bits]}.a")
        body += load_words("a", "A", 4)
        first = f"{group('a', 4)}, %db"
    flags = [str(int(m == "mn")) for m in (majors[1:] if in_registers else majors)]
    trans = "".join(f", {flag}" for flag in flags) if bits == 16 else ""
    scales = "" if d == "s32" else f", {signs[0]}, {signs[1]}{trans}"
    body += f"""
    {OPERANDS_TO_SHARED}
    mov.b64 %da, {descriptors[0]}; mov.b64 %db, {descriptors[1]}; setp.eq.u32 %p, %t, %t;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sp.sync.aligned.m64n{n}k{k}.{d}.{a}.{b} {group("d", count)}, {first}, %e0,
    {selector}, %p{scales};
    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
    {store_words("d", count)} ret;
    """
    left = spread_out(kept, codes, bits).astype(np.float64)
    exact = signs[0] * signs[1] * (left @ right.astype(np.float64).T) + before.astype(np.float64)
    wanted = {} if any_values else {0: to_registers(exact.astype(DTYPES[d]), name)}
    return MatrixKernel(body, "DAEM", [start, fragment, metadata, memory], wanted)
