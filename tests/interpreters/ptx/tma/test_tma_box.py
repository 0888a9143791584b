"""Boxes of tensor maps against a model that moves one element at a time."""

import json
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.memory.global_memory import GlobalMemory
from tileas_xdsl.interpreters.ptx.tma.tma_box import Box
from tileas_xdsl.target.tma.tensor_map import ELEMENTS, SWIZZLES, TensorMap
from tileas_xdsl.target.tma.tensor_map_rules import problems

MASKS = {"none": (0, 0), "32B": (0x10, 3), "64B": (0x30, 3), "128B": (0x70, 3),
         "128B_BASE32B": (0x60, 2)}  # fmt: skip
"""The bits of an address that each swizzle changes, and how far above them their masks are."""


def random_map(rng: np.random.Generator, swizzle: str) -> TensorMap:
    """A legal map, small enough to walk through."""
    while True:
        rank = int(rng.integers(1, 6))
        element = str(rng.choice(["u8", "f16", "bf16", "f32", "s32", "f64"]))
        size = ELEMENTS[element].bits // 8
        span = SWIZZLES[swizzle].span or 16 * int(rng.integers(1, 5))
        steps = [int(rng.choice([1, 1, 1, 2])) for _ in range(rank)]
        steps[0] = 1
        box = [span // size, *(int(rng.integers(1, 7)) for _ in range(rank - 1))]
        dims = [int(rng.integers(1, 40)) for _ in range(rank)]
        strides: list[int] = []
        pitch = dims[0] * size
        for dim in dims[1:]:
            pitch = (pitch + 15) // 16 * 16 + 16 * int(rng.integers(0, 3))
            strides.append(pitch)
            pitch *= dim
        fill = ELEMENTS[element].is_float and bool(rng.integers(0, 2))
        found = TensorMap(element, 0, tuple(dims), tuple(strides), tuple(box), tuple(steps),
                          swizzle=swizzle, nan_fill=fill)  # fmt: skip
        if prod(box) < 1500 and bytes_of(found) < 1 << 20 and not list(problems(found)):
            return found


def bytes_of(m: TensorMap) -> int:
    size = ELEMENTS[m.element].bits // 8
    last = sum((d - 1) * s for d, s in zip(m.dims[1:], m.strides, strict=True))
    return last + m.dims[0] * size


def walk(m: TensorMap, at: tuple[int, ...]):
    """For each element of the box: its offset in global memory (None outside), and its number."""
    size = ELEMENTS[m.element].bits // 8
    counts = [-(-b // s) for b, s in zip(m.box, m.element_strides, strict=True)]
    for number, place in enumerate(product(*(range(c) for c in reversed(counts)))):
        inside, offset = True, 0
        for i, step in enumerate(reversed(place)):
            coordinate = at[i] + step * m.element_strides[i]
            inside = inside and 0 <= coordinate < m.dims[i]
            offset += coordinate * (size if i == 0 else m.strides[i - 1])
        yield number, offset if inside else None


@pytest.mark.parametrize("swizzle", MASKS)
@pytest.mark.parametrize("seed", range(8))
def test_boxes_of_any_rank(swizzle: str, seed: int) -> None:
    rng = np.random.default_rng(100 * seed + len(swizzle))
    m = random_map(rng, swizzle)
    size = ELEMENTS[m.element].bits // 8
    data = rng.integers(0, 256, bytes_of(m), dtype=np.uint8)
    memory = GlobalMemory()
    buffer = memory.add("x", data.copy())
    placed = TensorMap(m.element, buffer.base, m.dims, m.strides, m.box, m.element_strides,
                       swizzle=m.swizzle, nan_fill=m.nan_fill)  # fmt: skip
    box = Box(placed, gather=False)
    for _ in range(4):
        at = tuple(int(rng.integers(-b, d + 2)) for d, b in zip(m.dims, m.box, strict=True))
        found = box.read(memory, at).reshape(-1, size)
        for number, offset in walk(m, at):
            if offset is not None:
                assert found[number].tolist() == data[offset : offset + size].tolist()
            elif m.nan_fill:
                assert found[number].tolist() == [0xF7, 0x7F] * (size // 2)
            else:
                assert not found[number].any()


@pytest.mark.parametrize("seed", range(6))
def test_stores_leave_the_outside_alone(seed: int) -> None:
    """But for the last granule of a row, which is written whole."""
    rng = np.random.default_rng(seed)
    m = random_map(rng, "none")
    size = ELEMENTS[m.element].bits // 8
    memory = GlobalMemory()
    buffer = memory.add("x", np.zeros(bytes_of(m), np.uint8))
    box = Box(TensorMap(m.element, buffer.base, m.dims, m.strides, m.box, m.element_strides),
              gather=False)  # fmt: skip
    at = tuple(int(rng.integers(d + 1)) for d in m.dims)
    at = at[0] * size // 16 * 16 // size, *at[1:]
    data = rng.integers(1, 256, box.size, dtype=np.uint8)
    behind = box.write(memory, at, data)
    wanted = np.zeros(bytes_of(m), np.uint8)
    whole = replace(m, dims=(-(-m.dims[0] * size // 16) * 16 // size, *m.dims[1:]))
    written = 0
    for number, offset in walk(whole, at):
        if offset is not None:
            part = data[number * size : (number + 1) * size]
            written += size
            wanted[offset : offset + size] = part[: max(0, len(wanted) - offset)]
    within = sum(size for _, offset in walk(m, at) if offset is not None)
    assert (behind > 0) == (written > within)
    assert behind in (0, whole.dims[0] * size - m.dims[0] * size)
    np.testing.assert_array_equal(buffer.data[: len(wanted)], wanted)


@pytest.mark.parametrize("swizzle", MASKS)
def test_granules_are_swizzled_by_their_addresses(swizzle: str) -> None:
    span = SWIZZLES[swizzle].span or 48
    m = TensorMap("u8", 0, (span, 16), (span,), (span, 16), swizzle=swizzle)
    box = Box(m, gather=False)
    mask, shift = MASKS[swizzle]
    for offset in (1024, 1024 + 128, 4096 + 256):
        granules, _ = box.locations(offset)
        for row in range(16):
            for chunk in range(span // 16):
                address = offset + row * span + 16 * chunk
                address ^= (address >> shift) & mask
                assert granules[row, chunk] == address // 16


def test_rows_are_gathered_and_scattered() -> None:
    rng = np.random.default_rng(5)
    data = rng.integers(0, 1 << 16, (10, 64), dtype=np.uint16)
    memory = GlobalMemory()
    buffer = memory.add("x", data.reshape(-1).view(np.uint8).copy())
    box = Box(TensorMap("u16", buffer.base, (64, 10), (128,), (32, 1)), gather=True)
    found = box.read(memory, (16, 7, 2, 30, -1)).view(np.uint16).reshape(4, 32)
    np.testing.assert_array_equal(found[:2], data[[7, 2], 16:48])
    assert not found[2:].any()
    box.write(memory, (0, 1, 0, 12, 9), np.full(256, 7, np.uint8))
    after = buffer.data.view(np.uint16)[:640].reshape(10, 64)
    changed = {int(r) for r in np.flatnonzero((after != data).any(1))}
    assert changed == {0, 1, 9}


@pytest.mark.parametrize(
    ("m", "message"),
    [
        (TensorMap("u8", 0, (64, 8), (64,), (32, 8), swizzle="64B"), "shorter than the 64"),
        (TensorMap("b4x16_p64", 0, (128, 8), (64,), (128, 8), swizzle="128B"), "b4x16_p64"),
    ],
)
def test_what_is_not_modelled_is_refused(m: TensorMap, message: str) -> None:
    with pytest.raises(Fault, match=message):
        Box(m, gather=False)


INTERLEAVED = json.loads(
    (Path(__file__).parents[1] / "data/interleaved_copies_h200.json").read_text(encoding="utf-8")
)
"""Copies through interleaved maps as an H200 made them: the first element of each granule.

Elements count up from 0; -1 is a granule of zeros, -2 of NaN.
"""


@pytest.mark.parametrize("case", INTERLEAVED, ids=range(len(INTERLEAVED)))
def test_vectors_of_interleaved_tensors_as_an_h200_moves_them(case: dict[str, Any]) -> None:
    case = dict(case)
    at, granules, nan = case.pop("at"), case.pop("granules"), case["nan_fill"]
    element = case.pop("element", "f16" if nan else "u16")
    memory = GlobalMemory()
    buffer = memory.add("x", np.arange(1 << 16, dtype=np.uint16).view(np.uint8))
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in case.items()}
    m = TensorMap(element, buffer.base, **fields)
    assert list(problems(m)) == []
    box = Box(m, gather=False)
    shared = np.zeros((box.size // 16 + 64, 8), np.uint16)
    shared[np.ravel(box.locations(0)[0])] = box.read(memory, at).view(np.uint16).reshape(-1, 8)
    for found, first in zip(shared, granules, strict=False):
        outside = {-1: [0] * 8, -2: [0x7FF7] * 8}
        assert found.tolist() == outside.get(first, [*range(first, first + 8)])


STORED = json.loads(
    (Path(__file__).parents[1] / "data/interleaved_stores_h200.json").read_text(encoding="utf-8")
)
"""Stores through interleaved maps as an H200 made them: granules of global and of shared memory."""


@pytest.mark.parametrize("case", STORED, ids=range(len(STORED)))
def test_vectors_of_interleaved_tensors_as_an_h200_stores_them(case: dict[str, Any]) -> None:
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in case.items()}
    at, moves, element = fields.pop("at"), case["granules"], fields.pop("element")
    del fields["granules"]
    memory = GlobalMemory()
    before = np.arange(1 << 14, dtype=np.uint16)
    buffer = memory.add("x", before.copy().view(np.uint8))
    box = Box(TensorMap(element, buffer.base, **fields), gather=False)
    shared = (np.arange(1 << 12, dtype=np.uint16) + 16385).view(np.uint8).reshape(-1, 16)
    box.write(memory, at, shared[np.ravel(box.locations(0)[0])].reshape(-1))
    wanted = before.view(np.uint8).reshape(-1, 16).copy()
    for target, source in moves:
        wanted[target] = shared[source]
    np.testing.assert_array_equal(buffer.data[: before.nbytes].reshape(-1, 16), wanted)


@pytest.mark.parametrize("interleave", ["none", "16B"])
@pytest.mark.parametrize("at", [(-1, 0, 0), (0, -1, 0), (0, 0, -1)])
def test_stores_begin_at_no_negative_coordinate(at: tuple[int, ...], interleave: Any) -> None:
    m = TensorMap("u16", 0, (8, 6, 5), (16, 96), (8, 3, 2), interleave=interleave)
    with pytest.raises(Fault, match="negative coordinates"):
        Box(m, gather=False).write(GlobalMemory(), at, np.zeros(256, np.uint8))
