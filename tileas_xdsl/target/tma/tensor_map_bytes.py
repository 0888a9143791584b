"""The 128 bytes of a tensor map, tiled and im2col kind: encode and decode.

The format is not documented.  The bits below were read off how ptxas lowers each field of
`tensormap.replace.tile`, alike for sm_90a and sm_100a, and they are what the driver 580 writes on
an H200, bit for bit.  Bit 22 of the word at byte 8 is the 96-byte swizzle of sm_103a, 0 here.  The
driver adds two numbers at byte 64 that no instruction replaces: the bytes of the box, element
strides divided out and rounded down, and the alignment that its swizzle needs in shared memory.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from math import prod

from tileas_xdsl.target.bits import BitField, named, pack, unpack
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tma.tensor_map import (
    ELEMENTS,
    INTERLEAVES,
    L2_PROMOTIONS,
    MAX_RANK,
    SWIZZLES,
    Element,
    PixelBox,
    SwizzleMode,
    TensorMap,
)
from tileas_xdsl.target.tma.tensor_map_rules import CORNER_BITS, MIN_PIXEL_RANK, check_tensor_map

SIZE = 128
"""Bytes of a tensor map; it must be aligned to 64."""

HEADER_OFFSET = 8
HEADER = (
    BitField("kind", 0, 4),
    BitField("rank_minus_1", 4, 3),
    BitField("element", 7, 4),
    BitField("interleave", 11, 2),
    BitField("swizzle", 13, 2),
    BitField("nan_fill", 15, 1),
    BitField("tf32", 16, 1),
    BitField("l2_promotion", 17, 2),
    BitField("swizzle_atomicity", 19, 3),
)
"""The fields of the 32 bits at byte 8; `kind` is 0 for tiled maps, 1 for im2col."""

KINDS = (0, 1)

_BODY = struct.Struct("<QI4II5IIII")
"""Address, header, low strides, high strides, dims, element strides and box[0], box[1..4], 0.

Im2col maps have the pixel box corners for box[1..4]: lower ones in the lower half, upper ones in
the upper half, W first; and the pixels per column after that.
"""

ADDRESS_OFFSET, LOW_STRIDES_OFFSET, HIGH_STRIDES_OFFSET = 0x00, 0x0C, 0x1C
DIMS_OFFSET, STEPS_OFFSET, OUTER_BOX_OFFSET = 0x20, 0x34, 0x38
"""Where the fields of the body begin; `STEPS_OFFSET` has element strides and box[0] too."""

TAIL_OFFSET = 64
_TAIL = struct.Struct("<QQ")
"""Bytes of the box and alignment in shared memory; both 0 where no driver made the map."""

_END = TAIL_OFFSET + _TAIL.size

_PERIODS = 8
"""A swizzle repeats after so many of its spans: its tiles are aligned to that."""

_UNSWIZZLED_ALIGNMENT = 16


def encode(m: TensorMap) -> bytes:
    """The 128 bytes of a map; raises `TargetError` where `check_tensor_map` refuses it."""
    check_tensor_map(m)
    strides = [*m.strides, 0, 0, 0, 0][:4]
    dims = [d - 1 for d in m.dims] + [0] * (MAX_RANK - m.rank)
    outer = [b - 1 for b in m.box[1:]]
    rest = (sum(b << 8 * i for i, b in enumerate(outer)), 0)
    if m.pixels is not None:
        lower, upper = _corners(m.pixels.lower), _corners(m.pixels.upper)
        rest = (lower | upper << 16, outer[0])
    body = _BODY.pack(
        m.address,
        _header(m),
        *((s >> 4) & 0xFFFF_FFFF for s in strides),
        sum(s >> 36 << 4 * i for i, s in enumerate(strides)),
        *dims,
        sum(s - 1 << 3 * i for i, s in enumerate(m.element_strides)) | m.box[0] - 1 << 24,
        *rest,
    )
    return body.ljust(TAIL_OFFSET, b"\0") + _tail(m).ljust(SIZE - TAIL_OFFSET, b"\0")


def _corners(corner: tuple[int, ...]) -> int:
    bits = CORNER_BITS[len(corner)]
    return sum((c & (1 << bits) - 1) << bits * i for i, c in enumerate(corner))


def _corner(word: int, count: int) -> tuple[int, ...]:
    bits = CORNER_BITS[count]
    found = [word >> bits * i & (1 << bits) - 1 for i in range(count)]
    return tuple(c - (c >> bits - 1 << bits) for c in found)


def _tail(m: TensorMap) -> bytes:
    count = prod(m.box)
    if m.pixels is None:
        steps = zip(m.box, m.element_strides, strict=True)
        count = prod(extent // step for extent, step in steps)
    bits = shared_bits(ELEMENTS[m.element])
    return _TAIL.pack(count * bits // 8, shared_alignment(SWIZZLES[m.swizzle]))


def shared_bits(element: Element) -> int:
    """The bits of shared memory that an element takes."""
    return element.shared_bytes * 8 // 16 or element.bits


def shared_alignment(swizzle: SwizzleMode) -> int:
    """The alignment in shared memory, in bytes, that a swizzle needs."""
    return _UNSWIZZLED_ALIGNMENT if swizzle.span is None else swizzle.span * _PERIODS


def _header(m: TensorMap) -> int:
    return (
        header(kind=int(m.pixels is not None), rank_minus_1=m.rank - 1, nan_fill=int(m.nan_fill))
        | header(interleave=INTERLEAVES[m.interleave], l2_promotion=L2_PROMOTIONS[m.l2_promotion])
        | element_header(ELEMENTS[m.element])
        | swizzle_header(SWIZZLES[m.swizzle])
    )


def element_header(element: Element) -> int:
    """Return the header bits (at byte 8) of an element type."""
    return header(element=element.code, tf32=int(element.tf32))


def swizzle_header(swizzle: SwizzleMode) -> int:
    """Return the header bits (at byte 8) of a swizzle mode."""
    return header(swizzle=swizzle.code, swizzle_atomicity=swizzle.atomicity)


def header(**values: int) -> int:
    """Return the header (at byte 8) with these fields, the others 0."""
    return pack(HEADER, values, "tensor map")


def decode(data: bytes) -> TensorMap:
    """The tensor map that 128 bytes are.

    Raises `TargetError`, naming the field and its byte, for a wrong length, reserved values, fields
    of dimensions that the map does not have, and maps that no driver would make.
    """
    if len(data) != SIZE:
        raise TargetError(f"a tensor map is {SIZE} bytes long, not {len(data)}")
    words = _BODY.unpack_from(data)
    header = _read_header(words[1])
    rank = header["rank_minus_1"] + 1
    _check_unused(words, rank, data, header["kind"])
    strides, high = words[2:6], words[6]
    steps = words[12]
    outer, pixels = _outer_box(words, rank, header["kind"])
    result = TensorMap(
        _element(header),
        words[0],
        tuple(d + 1 for d in words[7 : 7 + rank]),
        tuple(s << 4 | (high >> 4 * i & 15) << 36 for i, s in enumerate(strides[: rank - 1])),
        ((steps >> 24) + 1, *outer),
        tuple((steps >> 3 * i & 7) + 1 for i in range(rank)),
        named(INTERLEAVES, header["interleave"], _at("interleave")),
        _swizzle(header),
        named(L2_PROMOTIONS, header["l2_promotion"], _at("l2_promotion")),
        bool(header["nan_fill"]),
        pixels,
    )
    check_tensor_map(result)
    _check_tail(result, data)
    return result


def _outer_box(
    words: tuple[int, ...], rank: int, kind: int
) -> tuple[tuple[int, ...], PixelBox | None]:
    """The box but for its innermost extent, and the pixels at which copies begin."""
    if not kind:
        return tuple((words[13] >> 8 * i & 255) + 1 for i in range(rank - 1)), None
    if rank < MIN_PIXEL_RANK:
        raise TargetError(f"{_at('rank')} {rank} is below {MIN_PIXEL_RANK}, kind im2col")
    lower, upper = _corner(words[13], rank - 2), _corner(words[13] >> 16, rank - 2)
    return (words[14] + 1,), PixelBox(lower, upper)


def _check_tail(m: TensorMap, data: bytes) -> None:
    """The numbers at the end are those of the map, or none at all."""
    found = data[TAIL_OFFSET : TAIL_OFFSET + _TAIL.size]
    if any(found) and found != (wanted := _tail(m)):
        box, alignment = _TAIL.unpack(found)
        raise TargetError(
            f"{_at('tail', TAIL_OFFSET)} says a box of {box} bytes aligned to {alignment}, but the "
            f"map has {' and '.join(map(str, _TAIL.unpack(wanted)))}"
        )


def _at(field: str, offset: int = HEADER_OFFSET) -> str:
    return f"tensor map, byte {offset:#x}: {field}"


def _read_header(word: int) -> dict[str, int]:
    values = unpack(HEADER, word, 32, f"tensor map, byte {HEADER_OFFSET:#x}")
    if values["kind"] not in KINDS:
        raise TargetError(f"{_at('kind')} {values['kind']} is neither 0, tiled, nor 1, im2col")
    if values["rank_minus_1"] >= MAX_RANK:
        raise TargetError(f"{_at('rank')} {values['rank_minus_1'] + 1} is not in 1..{MAX_RANK}")
    return values


def _element(header: Mapping[str, int]) -> str:
    codes = {e.name: e.code for e in ELEMENTS.values() if e.tf32 == bool(header["tf32"])}
    return named(codes, header["element"], _at("tf32 element" if header["tf32"] else "element"))


def _swizzle(header: Mapping[str, int]) -> str:
    found = header["swizzle"] | header["swizzle_atomicity"] << 2
    codes = {name: mode.code | mode.atomicity << 2 for name, mode in SWIZZLES.items()}
    return named(codes, found, _at("swizzle and atomicity"))


def _check_unused(words: tuple[int, ...], rank: int, data: bytes, kind: int) -> None:
    """Refuse bits in fields that belong to no dimension of the map."""
    steps, boxes = words[12] & 0xFF_FFFF, words[13]
    unused_box = 0 if kind else boxes >> 8 * (rank - 1)
    unused = [
        (f"stride[{i}]", LOW_STRIDES_OFFSET + 4 * i, words[2 + i]) for i in range(rank - 1, 4)
    ]
    unused += [(f"dim[{i}]", DIMS_OFFSET + 4 * i, words[7 + i]) for i in range(rank, MAX_RANK)]
    unused += [
        ("high strides", HIGH_STRIDES_OFFSET, words[6] >> 4 * (rank - 1)),
        ("element strides", STEPS_OFFSET, steps >> 3 * rank),
        ("box", OUTER_BOX_OFFSET, unused_box),
        ("padding", OUTER_BOX_OFFSET + 4, 0 if kind else words[14]),
        ("rest", _END, int.from_bytes(data[_END:], "little")),
    ]
    for field, offset, value in unused:
        if value:
            raise TargetError(f"{_at(field, offset)} is not 0 beyond the {rank} dimensions")
