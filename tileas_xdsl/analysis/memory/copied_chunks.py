"""Loads that are runs of 16, 8 or 4 bytes, each wholly read or wholly out of bounds.

Such a tile can be copied into shared memory run by run, without registers (`cp.async`):

    %y = tiled_load %v            rows of f16 apart by multiples of 4 elements: 8 bytes
    %x = load %p mask %m          pointers that count up, whose mask is one for 8 of them: 16 bytes

Source: PTX ISA, cp.async (cp-size).
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.ir import Operation

from tileas_xdsl.analysis.values.pointer_base_arrays import (
    array_of,
    promised_divisor,
    without_promises,
)
from tileas_xdsl.analysis.values.rows.column_runs import ColumnRuns
from tileas_xdsl.analysis.values.rows.divisors import row_divisor
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
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
    if not isinstance(load, LoadOp) or not shape_of(load.base.type) or load.coords:
        return False
    runs = ColumnRuns(count)
    if not runs.counts_up(load.base, size):
        return False
    return load.mask is None or runs.is_uniform(load.mask)


def _rows_are_whole(load: ThreadLoad, size: int, count: int) -> bool:
    """Whether rows begin at multiples of runs, and bounds lie between two."""
    if not isinstance(load, TiledLoadOp) or load.mask is not None or load.rotated is not None:
        return False
    made = without_promises(array_of(load.view)).owner
    shape = shape_of(load.result.type)
    if not isinstance(made, MakeMemrefOp) or made.offset is not None or not shape:
        return False
    axes = range(made.array.get_num_dims())
    *outer, inner = (made.stride(axis) for axis in axes)
    if inner != 1 or len(axes) != len(shape):
        return False
    begins = [shape[-1], *map(row_divisor, list(load.offsets)[-1:])]
    counted = (*outer, made.extent(axes[-1]), *begins)
    return promised_divisor(made.pointer) % size == 0 and all(
        promised_divisor(number) % count == 0 for number in counted
    )


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
