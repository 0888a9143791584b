"""Slices of tiles: offsets, sizes and strides, static or not, and the checks that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, i64
from xdsl.dialects.utils.dynamic_index_list import get_dynamic_index_list, split_dynamic_index_list
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.spaces import Tile, space_of

Extent: TypeAlias = int | SSAValue
"""A number that is known, or the value that holds it."""


@dataclass(frozen=True)
class Slice:
    """A part of a tile: where it begins, how large it is, and in which steps it goes."""

    offsets: tuple[Extent, ...]
    sizes: tuple[Extent, ...]
    strides: tuple[Extent, ...]

    @property
    def is_static(self) -> bool:
        """Whether every number is known."""
        return all(isinstance(n, int) for n in (*self.offsets, *self.sizes, *self.strides))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the part; `DYNAMIC_INDEX` for an extent that is not known."""
        return tuple(n if isinstance(n, int) else DYNAMIC_INDEX for n in self.sizes)


@dataclass(frozen=True)
class SliceParts:
    """The operands and attributes that a slice is made of."""

    operands: tuple[list[SSAValue], list[SSAValue], list[SSAValue]]
    static: dict[str, Attribute]


def slice_parts(
    offsets: Sequence[Extent], sizes: Sequence[Extent], strides: Sequence[Extent] | None
) -> SliceParts:
    """How an operation stores a slice; without `strides` it goes in steps of one."""
    if strides is None:
        strides = [1] * len(sizes)
    (o, dynamic_o), (n, dynamic_n), (s, dynamic_s) = (
        split_dynamic_index_list(values, DYNAMIC_INDEX) for values in (offsets, sizes, strides)
    )
    static: dict[str, Attribute] = {
        "static_offsets": DenseArrayBase.from_list(i64, o),
        "static_sizes": DenseArrayBase.from_list(i64, n),
        "static_strides": DenseArrayBase.from_list(i64, s),
    }
    return SliceParts((dynamic_o, dynamic_n, dynamic_s), static)


def mixed(static: Sequence[int], dynamic: Sequence[SSAValue]) -> tuple[Extent, ...]:
    """The numbers and values of one list, in order."""
    return tuple(get_dynamic_index_list(static, dynamic, DYNAMIC_INDEX))


def check_dynamic_count(
    op: Operation, what: str, static: Sequence[int], dynamic: Sequence[SSAValue]
) -> None:
    """Check that there is one operand for each dynamic entry."""
    dynamic_count = tuple(static).count(DYNAMIC_INDEX)
    if dynamic_count != len(dynamic):
        raise op_error(
            op, f"leaves {dynamic_count} {what} to operands, but has {len(dynamic)} of them"
        )


def check_slice(op: Operation, part: Slice, whole: Tile, piece: Tile) -> None:
    """Check that `part` is within `whole` and that `piece` is the type of the part."""
    _check_rank(op, part, whole)
    for dimension, extent in enumerate(whole.get_shape()):
        _check_numbers(op, part, dimension)
        _check_bounds(op, part, dimension, extent)
    _check_slice_type(op, part, whole, piece)


def _check_rank(op: Operation, part: Slice, whole: Tile) -> None:
    rank = len(whole.get_shape())
    counts = len(part.offsets), len(part.sizes), len(part.strides)
    if counts != (rank, rank, rank):
        given = "{} offsets, {} sizes and {} strides".format(*counts)
        raise op_error(op, f"has {given} for a tile of rank {rank}")


def _check_numbers(op: Operation, part: Slice, dimension: int) -> None:
    for what, least, number in (
        ("offset", 0, part.offsets[dimension]),
        ("size", 1, part.sizes[dimension]),
        ("stride", 1, part.strides[dimension]),
    ):
        if isinstance(number, int) and number < least:
            raise op_error(
                op, f"the {what} of dimension {dimension} is at least {least}, not {number}"
            )


def _check_bounds(op: Operation, part: Slice, dimension: int, extent: int) -> None:
    if extent == DYNAMIC_INDEX:
        return
    offset, size, stride = (
        n if isinstance(n, int) else least
        for n, least in (
            (part.offsets[dimension], 0),
            (part.sizes[dimension], 1),
            (part.strides[dimension], 1),
        )
    )
    last = offset + (size - 1) * stride
    if last >= extent:
        raise op_error(
            op, f"reaches element {last} of dimension {dimension}, whose extent is {extent}"
        )


def _check_slice_type(op: Operation, part: Slice, whole: Tile, piece: Tile) -> None:
    if piece.element_type != whole.element_type:
        raise op_error(
            op, f"a slice of {whole.element_type} elements has no elements {piece.element_type}"
        )
    if tuple(piece.get_shape()) != part.shape:
        raise op_error(
            op,
            f"the slice is {_extents(part.shape)}, but its type is {_extents(piece.get_shape())}",
        )
    there, here = space_of(whole), space_of(piece)
    if there is not None and here is not None and there is not here:
        raise op_error(
            op,
            f"a slice does not move data: the tile is in {there.value}, the slice in {here.value}",
        )


def _extents(shape: Sequence[int]) -> str:
    return "x".join("?" if n == DYNAMIC_INDEX else str(n) for n in shape) or "a scalar"
