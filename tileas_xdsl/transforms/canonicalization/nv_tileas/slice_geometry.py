"""Boxes of slices: static offsets, overlap and difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX

from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileas.shapes.slice_checks import Extent, Slice
from tileas_xdsl.dialects.nv_tileas.shapes.slices import SlicingOp, part_of

Box: TypeAlias = tuple[tuple[int, int], ...]
"""For each dimension the first element and the one behind the last."""


def known_part(op: SlicingOp) -> Slice:
    """The slice of `op`, with numbers in place of values that are constants."""
    part = part_of(op)
    return Slice(_known(part.offsets), _known(part.sizes), _known(part.strides))


def _known(extents: Iterable[Extent]) -> tuple[Extent, ...]:
    return tuple(n if isinstance(n, int) else _or(constant_integer(n), n) for n in extents)


def _or(number: int | None, value: Extent) -> Extent:
    return value if number is None else number


def numbers(part: Slice) -> list[tuple[int, int, int]] | None:
    """Offset, size and stride of each dimension, None unless all are known and make sense."""
    found: list[tuple[int, int, int]] = []
    for offset, size, stride in zip(part.offsets, part.sizes, part.strides, strict=True):
        if not (isinstance(offset, int) and isinstance(size, int) and isinstance(stride, int)):
            return None
        if offset < 0 or size < 1 or stride < 1:
            return None
        found.append((offset, size, stride))
    return found


def is_within(part: Slice, shape: Sequence[int]) -> bool:
    """Return whether a slice is static and inside of a tile of this shape."""
    found = numbers(part)
    return found is not None and all(
        extent != DYNAMIC_INDEX and offset + (size - 1) * stride < extent
        for (offset, size, stride), extent in zip(found, shape, strict=True)
    )


def hull(part: Slice) -> Box | None:
    """The smallest box around a slice, None if it is not known."""
    found = numbers(part)
    if found is None:
        return None
    return tuple((offset, offset + (size - 1) * stride + 1) for offset, size, stride in found)


def dense_box(part: Slice) -> Box | None:
    """The box that a slice in steps of one fills, None for others."""
    return hull(part) if all(stride == 1 for stride in part.strides) else None


def whole_box(shape: Sequence[int]) -> Box:
    """All of a tile."""
    return tuple((0, extent) for extent in shape)


def are_disjoint(a: Box | None, b: Box | None) -> bool:
    """Whether two boxes certainly share no element."""
    if a is None or b is None:
        return False
    return any(end_a <= b0 or end_b <= a0 for (a0, end_a), (b0, end_b) in zip(a, b, strict=True))


def without(boxes: Sequence[Box], hole: Box) -> list[Box]:
    """What is left of `boxes` when the elements of `hole` are taken away."""
    return [rest for box in boxes for rest in _split(box, hole)]


def _split(box: Box, hole: Box) -> list[Box]:
    if are_disjoint(box, hole):
        return [box]
    rest: list[Box] = []
    inner = list(box)
    for dimension, (first, end) in enumerate(hole):
        low, high = inner[dimension]
        if low < first:
            rest.append((*inner[:dimension], (low, first), *inner[dimension + 1 :]))
        if end < high:
            rest.append((*inner[:dimension], (end, high), *inner[dimension + 1 :]))
        inner[dimension] = (max(low, first), min(high, end))
    return rest
