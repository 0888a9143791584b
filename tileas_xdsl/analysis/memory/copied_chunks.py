"""Loads that are runs of 16, 8 or 4 bytes, each wholly read or wholly out of bounds.

Such a tile can be copied into shared memory run by run, without registers (`cp.async`):

    %y = tiled_load %v            rows of f16 apart by multiples of 4 elements: 8 bytes
    %x = load %p mask %m          pointers that count up, whose mask is one for 8 of them: 16 bytes

Source: PTX ISA, cp.async (cp-size).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.values.launches.pointer_base_arrays import (
    array_of,
    promised_row_divisor,
    stated_divisor,
    without_promises,
)
from tileas_xdsl.analysis.values.rows.column_runs import ColumnRuns
from tileas_xdsl.analysis.values.rows.divisors import row_divisor
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.base import as_array
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp, strides_of
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic
from tileas_xdsl.dialects.nv_tileas.interfaces import Producer
from tileas_xdsl.dialects.nv_tileas.memory.atoms import is_zero
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.target.isa.tables.asynchronous import COPY_SIZES

ThreadLoad: TypeAlias = LoadOp | TiledLoadOp
"""A load of threads: through pointers, or of a tile of an array."""

SIZES = sorted(COPY_SIZES["ca"], reverse=True)
"""Bytes of a copy, the most first."""


def copied_bytes(load: ThreadLoad) -> int:
    """Return the bytes of the widest runs that a load is known to be made of; 0 if of none.

    What is out of bounds or masked is zero, and no other access is ordered by the load.
    """
    size = bits_of(element_of(load.result.type)) // 8
    semantic = load.mem_semantic
    if not size or (semantic is not None and semantic.data is not MemSemantic.WEAK):
        return 0
    if load.padding_value is not None and not is_zero(load.padding_value):
        return 0
    are_whole = _pointers_are_whole if isinstance(load, LoadOp) else _rows_are_whole
    return next((n for n in SIZES if n % size == 0 and are_whole(load, n, n // size)), 0)


def _pointers_are_whole(load: ThreadLoad, size: int, count: int) -> bool:
    shape = shape_of(load.base.type) if isinstance(load, LoadOp) else None
    if not isinstance(load, LoadOp) or not shape or load.coords:
        return False
    if count == 1 and is_line(shape):
        return True  # Each element is a run, and there are few.
    runs = ColumnRuns(count)
    if not runs.counts_up(load.base, size):
        return False
    return load.mask is None or runs.is_uniform(load.mask)


def is_line(shape: Sequence[int]) -> bool:
    """Whether a tile has one dimension at most that is no unit."""
    return prod(shape) == max(shape, default=1)


def _rows_are_whole(load: ThreadLoad, size: int, count: int) -> bool:
    """Whether rows begin at multiples of runs, and bounds lie between two."""
    if not isinstance(load, TiledLoadOp) or load.mask is not None or load.rotated is not None:
        return False
    array, shape = array_of(load.view), shape_of(load.result.type)
    if not isinstance(array.type, MemRefType) or not shape:
        return False
    address, (*outer, inner), columns = _described(array)
    if inner != 1 or len(outer) + 1 != len(shape) or stated_divisor(address) % size:
        return False
    begins = [shape[-1], *map(row_divisor, list(load.offsets)[-1:])]
    return all(stated_divisor(number) % count == 0 for number in (*outer, columns, *begins))


def _described(array: SSAValue) -> tuple[SSAValue, Sequence[SSAValue | int], SSAValue | int]:
    """The address of an array, its strides, and its columns; of what is unknown a divisor."""
    made, type_ = without_promises(array).owner, as_array(array)
    axes = range(type_.get_num_dims())
    if isinstance(made, MakeMemrefOp) and made.offset is None:
        return made.pointer, [made.stride(axis) for axis in axes], made.extent(axes[-1])
    size = bits_of(type_.element_type) // 8
    strides = [
        promised_row_divisor(array, axis) // size if stride == DYNAMIC_INDEX else stride
        for axis, stride in enumerate(strides_of(type_))
    ]
    columns = type_.get_shape()[-1]
    return array, strides, 1 if columns == DYNAMIC_INDEX else columns


def copied_load(copy: CopyOp) -> ThreadLoad | None:
    """The load whose runs a copy into a stage can move by `cp.async`; None if it cannot."""
    load = copy.source.owner
    if not isinstance(load, ThreadLoad) or load.parent is not copy.parent:
        return None
    if not isinstance(copy.parent_op(), Producer) or not load.result.has_one_use():
        return None
    return load if copied_bytes(load) else None


def async_copies(fill: Operation) -> list[CopyOp]:
    """The copies of what fills a stage, if `cp.async` can do all of them; else nothing."""
    copies = instances_in(fill, CopyOp)
    return copies if all(copied_load(op) is not None for op in copies) else []
