"""Tiles behind pointers that are runs of 16 bytes, each wholly read or wholly masked.

Such a tile can be copied into shared memory piece by piece, without registers (`cp.async`).
"""

from __future__ import annotations

from xdsl.ir import Operation

from tileas_xdsl.analysis.values.rows.column_runs import ColumnRuns
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic
from tileas_xdsl.dialects.nv_tileas.interfaces import Producer
from tileas_xdsl.dialects.nv_tileas.memory.atoms import is_zero
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of

CHUNK_BITS = 128
"""Of what one thread copies at once."""


def loads_in_chunks(load: LoadOp) -> bool:
    """Whether a tile of pointers is known to be runs of 16 bytes, each under one mask bit.

    What is masked is zero, and nothing is ordered by the load.
    """
    bits = bits_of(element_of(load.result.type))
    if not shape_of(load.base.type) or load.coords or not bits or CHUNK_BITS % bits:
        return False
    semantic = load.mem_semantic
    if semantic is not None and semantic.data is not MemSemantic.WEAK:
        return False
    if load.padding_value is not None and not is_zero(load.padding_value):
        return False
    runs = ColumnRuns(CHUNK_BITS // bits)
    is_known = runs.counts_up(load.base, CHUNK_BITS // 8)
    return is_known and (load.mask is None or runs.is_uniform(load.mask))


def copied_load(copy: CopyOp) -> LoadOp | None:
    """The load whose pieces a copy into a stage can move by `cp.async`; None if it cannot."""
    load = copy.source.owner
    if not isinstance(load, LoadOp) or load.parent is not copy.parent:
        return None
    if not isinstance(copy.parent_op(), Producer) or not load.result.has_one_use():
        return None
    return load if loads_in_chunks(load) else None


def async_copies(fill: Operation) -> list[CopyOp]:
    """The copies of what fills a stage, if `cp.async` can do all of them; else nothing."""
    copies = instances_in(fill, CopyOp)
    return copies if all(copied_load(op) is not None for op in copies) else []
