"""Which tensor maps are legal, and which of them a target can move.

Sources: CUDA driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col; what the driver 580
accepted on an H200 (`tests/hardware/encode_tensor_maps.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import SupportsIndex

from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.tma.tensor_map import (
    ELEMENTS,
    INTERLEAVES,
    L2_PROMOTIONS,
    MAX_RANK,
    SWIZZLES,
    Element,
    TensorMap,
)

STRIDE_LIMIT = 1 << 40
DIM_LIMIT = 1 << 32
ADDRESS_LIMIT = 1 << 57
BOX_LIMIT = 256
ELEMENT_STRIDE_LIMIT = 8
PIXEL_LIMIT = 1024
"""Pixels of a column in maps of the im2col kind."""

MIN_PIXEL_RANK = 3
CORNER_BITS = {1: 16, 2: 8, 3: 5}
"""By dimensions between channels and batch: the bits of a corner of pixels along each."""

PADDED_BOX = 128
"""What box[0] must be, and dims[0] a multiple of, for packed types with padding."""

PADDED_SWIZZLES = {
    "b4x16_p64": ("none", "128B", "128B_BASE32B"),
    "b6x16_p32": ("none", "128B", "128B_BASE32B", "128B_BASE64B"),
}
"""The swizzles of the packed types with padding; the last one is for stores only."""

Rule = Callable[[TensorMap], Iterator[str]]


def problems(tensor_map: TensorMap) -> Iterator[str]:
    """A sentence for each rule of the driver that the map breaks, with the index and the value."""
    for broken in (_names(tensor_map), _ranks(tensor_map), _integers(tensor_map)):
        found = [*broken]
        yield from found
        if found:
            return
    for rule in _RULES:
        yield from rule(tensor_map)


def check_tensor_map(tensor_map: TensorMap) -> None:
    """Raise `TargetError` with the first problem of a map that the driver would refuse."""
    for problem in problems(tensor_map):
        raise TargetError(f"tensor map: {problem}")


def target_refusal(tensor_map: TensorMap, target: Target) -> str | None:
    """Why `target` cannot move the box of a legal map; None where it can."""
    taken = box_bytes(tensor_map)
    if taken > target.shared_memory_per_block:
        limit = target.shared_memory_per_block
        return f"the box takes {taken} bytes; a block of {target.name} has {limit} to share"
    if SWIZZLES[tensor_map.swizzle].atomicity:
        return target.lacks(Feature.TMA_WIDE_SWIZZLE, f"swizzle {tensor_map.swizzle}")
    if ELEMENTS[tensor_map.element].shared_bytes:
        return target.lacks(Feature.TMA_SUBBYTE, f"element type {tensor_map.element}")
    return None


def box_bytes(tensor_map: TensorMap) -> int:
    """The bytes of shared memory that the elements of a legal map's box take."""
    rows = prod(tensor_map.counts[1:])
    return _shared_bits(tensor_map.box[0], ELEMENTS[tensor_map.element]) * rows // 8


def _names(m: TensorMap) -> Iterator[str]:
    for what, name, known in (
        ("element type", m.element, ELEMENTS),
        ("interleave", m.interleave, INTERLEAVES),
        ("swizzle", m.swizzle, SWIZZLES),
        ("L2 promotion", m.l2_promotion, L2_PROMOTIONS),
    ):
        if name not in known:
            yield f"{what} '{name}' is unknown; known: {', '.join(known)}"


def _ranks(m: TensorMap) -> Iterator[str]:
    if not 1 <= m.rank <= MAX_RANK:
        yield f"the rank is {m.rank}; it must be 1 to {MAX_RANK}"
    counts = [
        ("strides", m.strides, m.rank - 1),
        ("box", m.box, m.rank if m.pixels is None else 2),
        ("element_strides", m.element_strides, m.rank),
    ]
    if m.pixels is not None:
        if m.rank < MIN_PIXEL_RANK:
            yield f"the rank is {m.rank}; kind im2col needs {MIN_PIXEL_RANK} to {MAX_RANK}"
        counts += [("lower", m.pixels.lower, m.rank - 2), ("upper", m.pixels.upper, m.rank - 2)]
    for what, values, count in counts:
        if len(values) != count:
            yield f"{what} has {len(values)} entries; rank {m.rank} needs {count}"


def _integers(m: TensorMap) -> Iterator[str]:
    tuples = [
        ("dims", m.dims),
        ("strides", m.strides),
        ("box", m.box),
        ("element_strides", m.element_strides),
    ]
    if m.pixels is not None:
        tuples += [("lower", m.pixels.lower), ("upper", m.pixels.upper)]
    numbers: list[tuple[str, object]] = [("the address", m.address)]
    numbers += [
        (f"{what}[{i}]", value) for what, values in tuples for i, value in enumerate(values)
    ]
    for what, value in numbers:
        if not isinstance(value, SupportsIndex):
            yield f"{what} is {value!r}; it must be an integer"


def _alignment(m: TensorMap) -> int:
    return 32 if m.interleave == "32B" else element_alignment(ELEMENTS[m.element])


def element_alignment(element: Element) -> int:
    """What addresses and strides of an element type are multiples of, in bytes."""
    return 32 if element.name in PADDED_SWIZZLES else 16


def element_multiple(element: Element) -> int:
    """What the innermost extent is a multiple of."""
    if element.name in PADDED_SWIZZLES:
        return PADDED_BOX
    return 2 if element.name == "b4x16" else 1


def _address(m: TensorMap) -> Iterator[str]:
    if not 0 <= m.address < ADDRESS_LIMIT:
        yield f"the address {m.address:#x} does not fit 57 bits"
    if m.address % _alignment(m):
        yield f"the address {m.address:#x} is not a multiple of {_alignment(m)}"


def _extents(m: TensorMap) -> Iterator[str]:
    limits = (
        ("dims", m.dims, DIM_LIMIT),
        ("box", m.box, BOX_LIMIT),
        ("element_strides", m.element_strides, ELEMENT_STRIDE_LIMIT),
    )
    for what, values, limit in limits:
        for i, value in enumerate(values):
            most = PIXEL_LIMIT if what == "box" and i and m.pixels is not None else limit
            if not 1 <= value <= most:
                yield f"{what}[{i}] is {value}; it must be 1 to {most}"


def _strides(m: TensorMap) -> Iterator[str]:
    for i, stride in enumerate(m.strides):
        if not 0 <= stride < STRIDE_LIMIT:
            yield f"strides[{i}] is {stride} bytes; it must be 0 to {STRIDE_LIMIT - 16}"
        elif stride % _alignment(m):
            yield f"strides[{i}] is {stride} bytes, not a multiple of {_alignment(m)}"


def _box(m: TensorMap) -> Iterator[str]:
    element = ELEMENTS[m.element]
    inner = m.box[0] * element.bits
    if inner % 128:
        yield (f"box[0] is {m.box[0]} elements of {element.bits} bits, not a multiple of 16 bytes")
    span = SWIZZLES[m.swizzle].span
    row = _shared_bits(m.box[0], element) // 8
    if m.interleave == "none" and span is not None and row > span:
        yield f"box[0] takes {row} bytes of shared memory; swizzle {m.swizzle} spans {span}"


def _shared_bits(count: int, element: Element) -> int:
    return count * (element.shared_bytes * 8 // 16 or element.bits)


def _interleaved(m: TensorMap) -> Iterator[str]:
    if m.interleave == "none":
        return
    if m.rank < 3:
        yield f"interleave {m.interleave} needs rank 3 to {MAX_RANK}, not {m.rank}"
    if m.interleave == "32B" and m.swizzle != "32B":
        yield f"interleave 32B needs swizzle 32B, not {m.swizzle}"
    if m.element == "b6x16_p32":
        yield f"element type {m.element} cannot be interleaved"


def _packed(m: TensorMap) -> Iterator[str]:
    if m.element == "b4x16" and m.dims[0] % 2:
        yield f"dims[0] is {m.dims[0]}; element type b4x16 needs an even number"
    if m.element not in PADDED_SWIZZLES:
        return
    if m.dims[0] % PADDED_BOX:
        yield f"dims[0] is {m.dims[0]}; element type {m.element} needs multiples of {PADDED_BOX}"
    if m.box[0] != PADDED_BOX:
        yield f"box[0] is {m.box[0]}; element type {m.element} needs {PADDED_BOX}"
    if m.swizzle not in PADDED_SWIZZLES[m.element]:
        allowed = ", ".join(PADDED_SWIZZLES[m.element])
        yield f"element type {m.element} has swizzles {allowed}, not {m.swizzle}"


def _fill(m: TensorMap) -> Iterator[str]:
    if m.nan_fill and not ELEMENTS[m.element].is_float:
        yield f"only floating-point types are filled with NaN, not {m.element}"


def _pixels(m: TensorMap) -> Iterator[str]:
    if m.pixels is None:
        return
    half = 1 << CORNER_BITS[m.rank - 2] - 1
    for what, values in (("lower", m.pixels.lower), ("upper", m.pixels.upper)):
        for i, value in enumerate(values):
            if not -half <= value < half:
                yield f"{what}[{i}] is {value}; rank {m.rank} has {-half} to {half - 1}"
    for i, extent in enumerate(m.pixels.extents(m.dims)):
        if extent < 1:
            yield f"the pixels of dimension {i + 1} are {extent}; the upper corner is too low"


_RULES: tuple[Rule, ...] = (
    _address,
    _extents,
    _strides,
    _box,
    _interleaved,
    _packed,
    _fill,
    _pixels,
)
