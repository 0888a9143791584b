"""Lower the stream-K fixup: accumulate partial tiles through the workspace in order along K.

    of a tile, all parts but the first     wait for counter == first step; add the workspace
               all parts but the last      store the sums in the workspace; counter += steps
               the last part               counter = 0; its sums are those of the tile

A part is what one CTA has of a tile: steps along K from its first one on.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import i8, i32
from xdsl.ir import Block, Region, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects import cutlass
from tileas_xdsl.dialects.cute import PtrAddOp, RecastPtrOp, StoreOp
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.transforms.pipeline_to_nvgpu.barriers.generic_barriers import (
    increment,
    poll_while,
    synchronize,
)
from tileas_xdsl.transforms.pipeline_to_nvgpu.schedulers import block_striped, streamk_partition
from tileas_xdsl.transforms.pipeline_to_nvgpu.schedulers.streamk_partition import Part
from tileas_xdsl.transforms.pipeline_to_nvgpu.schedulers.tile_schedulers import (
    part_of,
    region,
    units_of,
)
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Values, Writer

FixupOp = cutlass.FixupOp | cutlass.FixupIncrementOp | cutlass.FixupWaitOp


@dataclass(frozen=True)
class _FixupState:
    """What a group knows of the part that it has."""

    part: Part
    counter: SSAValue
    acts: SSAValue
    """Whether this thread acts for its group."""
    follows: SSAValue
    """Whether there are parts before."""
    is_last: SSAValue


def _counters(w: Writer, params: SSAValue, workspace: SSAValue, tile_bytes: int) -> SSAValue:
    """Return the address of the first counter, behind the partial accumulators of all tiles."""
    type_ = workspace.type
    assert isinstance(type_, PtrType)
    bytes_ = w.insert(RecastPtrOp(workspace, i8)).result
    moved = PtrAddOp(bytes_, region(w, params, tile_bytes), cutlass.COUNTER_BYTES)
    return w.insert(RecastPtrOp(w.insert(moved), i32)).result


def _fixup_state(w: Writer, op: FixupOp, tile_bytes: int) -> _FixupState:
    part = part_of(w, op)
    first = _counters(w, op.params, op.workspace, tile_bytes)
    return _FixupState(
        part,
        w.insert(PtrAddOp(first, part.tile)).result,
        w.compare("eq", op.thread, 0),
        w.compare("ne", part.start, 0),
        streamk_partition.is_last(w, units_of(w, op.params), part),
    )


def _acquire(w: Writer, op: FixupOp, step: _FixupState) -> None:
    """Wait until the partial accumulators of all earlier K ranges are visible to this thread."""
    poll_while(w, step.counter, "ne", step.part.start, step.acts)
    synchronize(w, op.id, op.threads)


def _release(w: Writer, op: FixupOp, step: _FixupState) -> None:
    """Publish what this thread group has added to the workspace."""
    synchronize(w, op.id, op.threads)
    increment(w, step.counter, step.part.count, step.acts)


def _reset(w: Writer, step: _FixupState) -> None:
    """Behind the last part the counter is what it was before the first one."""
    zero = w.number(0)
    w.when(w.both(step.is_last, step.acts), [StoreOp(zero, step.counter)])


def _wait(w: Writer, op: cutlass.FixupWaitOp) -> list[Values]:
    step = _fixup_state(w, op, value_of(op.tile_bytes))
    with w.inside(step.follows):
        _acquire(w, op, step)
    return []


def _increment(w: Writer, op: cutlass.FixupIncrementOp) -> list[Values]:
    step = _fixup_state(w, op, value_of(op.tile_bytes))
    with w.inside(w.negated(step.is_last)):
        _release(w, op, step)
    with w.inside(step.follows):
        _reset(w, step)
    return []


def _fixup(w: Writer, op: cutlass.FixupOp) -> list[Values]:
    step, threads = _fixup_state(w, op, op.tile_bytes), value_of(op.threads)
    place = w.multiply(step.part.tile, op.tile_elements)
    partial_tile = w.insert(PtrAddOp(op.workspace, place, op.piece_bytes)).result
    s = block_striped.stripes(
        w, op.data, partial_tile, op.thread, threads=threads, width=value_of(op.width)
    )
    with w.inside(step.follows):
        _acquire(w, op, step)
        block_striped.keep(w, s, block_striped.total(w, s))
        _reset(w, step)
    with w.inside(w.negated(step.is_last)):
        block_striped.store(w, s, block_striped.kept(w, s))
        _release(w, op, step)
    return []


def _initialize(w: Writer, op: cutlass.InitializeWorkspaceOp) -> list[Values]:
    """A thread has every so many counters."""
    first = _counters(w, op.params, op.workspace, value_of(op.tile_bytes))
    body = Block(arg_types=[i32])
    end = units_of(w, op.params).shared
    zero = w.number(0)
    place = PtrAddOp(first, body.args[0])
    body.add_ops([place, StoreOp(zero, place), scf.YieldOp()])
    w.insert(scf.ForOp(op.thread, end, op.of, [], Region(body)))
    return []


HANDLERS: Any = {
    cutlass.FixupIncrementOp: _increment,
    cutlass.FixupOp: _fixup,
    cutlass.FixupWaitOp: _wait,
    cutlass.InitializeWorkspaceOp: _initialize,
}
