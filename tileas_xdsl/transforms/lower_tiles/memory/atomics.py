"""Atomic updates of tiles and of single elements: each element is updated by one thread.

The old value goes to all threads that own the element, through shared memory where several do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode
from tileas_xdsl.dialects.nv_tileas.memory.atomics import (
    AtomicCasOp,
    AtomicRmwOp,
    PointedAtomicOp,
)
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledAtomicRmwOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    GlobalView,
    Lowered,
    RegisterTile,
    Scalar,
)
from tileas_xdsl.threads.gmem.atomic_rmw import Updater
from tileas_xdsl.threads.gmem.bounds_and_vector_width import GlobalTile
from tileas_xdsl.threads.gmem.chunk_accesses import Accesses
from tileas_xdsl.threads.gmem.coalesced_access import in_rows
from tileas_xdsl.threads.gmem.memory_order import MemoryOrder, order
from tileas_xdsl.threads.gmem.pointers.contiguous_pointer_runs import Runs
from tileas_xdsl.threads.gmem.pointers.pointer_elements import ALONE, PointerElements
from tileas_xdsl.threads.gmem.private_updates import PrivateUpdates
from tileas_xdsl.threads.registers.coordinates import is_first_replica, thread_chunks
from tileas_xdsl.threads.registers.element_iterator import (
    is_held_once,
)
from tileas_xdsl.threads.registers.register_tile import (
    as_fragment,
    in_registers,
)
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import element, filled
from tileas_xdsl.threads.smem.scratch_buffer import exchanged
from tileas_xdsl.transforms.lower_tiles.memory.tokens import token_of


def atomic_rmw(e: ThreadBuilder, op: AtomicRmwOp) -> Sequence[Lowered]:
    """Lower an atomic read-modify-write of pointed-to elements."""
    private = PrivateUpdates.of(e, op)
    if private is not None:
        order(e, op)
        where = PointerElements.of(e, op, op.base, op.mask, [op.value])
        old = private.update(where)
        shared = any(op.result.uses) and where.is_shared
        return [where.collected(old, shared=shared), *token_of(op)]
    if _is_sum_alone(op) and (token := _added_by_vectors(e, op)) is not None:
        return token
    work = Updater(e, op, op.rmw_mode.data, op.element, _order(op))
    return _updated(e, op, [op.value], lambda given, p, x: work.update(given[0], p, x))


def _is_sum_alone(op: AtomicRmwOp) -> bool:
    """Whether floats are added, in no order, and nobody wants what was there."""
    is_sum = op.rmw_mode.data in (RmwMode.ADD, RmwMode.ADDF)
    return is_sum and _order(op).semantics in (None, "relaxed") and not any(op.result.uses)


def _added_by_vectors(e: ThreadBuilder, op: AtomicRmwOp) -> Sequence[Lowered] | None:
    """Add neighbours by one instruction, where they are known to be some; None where not.

    A test at run time would hold the pointers of all elements in registers.
    """
    where, ordering = PointerElements.of(e, op, op.base, op.mask, [op.value]), _order(op)
    runs, value = Runs.of(where, stored=True), where.operands[0]
    if runs is None or not runs.are_known or not runs.can_add() or isinstance(value, Scalar):
        return None
    order(e, op)
    ordering.begin(e)
    runs.add(value, ordering)
    ordering.end(e)
    return [value, *token_of(op)]


def atomic_cas(e: ThreadBuilder, op: AtomicCasOp) -> Sequence[Lowered]:
    """Lower an atomic compare-and-swap, which compares bits."""
    work = Updater(e, op, RmwMode.CMPXCHG, op.element, _order(op))
    return _updated(
        e,
        op,
        [op.compare, op.value],
        lambda given, p, x: work.compare_and_set(given[0], given[1], p, x),
    )


def _order(op: PointedAtomicOp | TiledAtomicRmwOp) -> MemoryOrder:
    return MemoryOrder.of(op.mem_semantic, op.mem_scope)


Act = Callable[[Sequence[SSAValue], SSAValue, "SSAValue | None"], SSAValue]
"""The operands of an element, its pointer, and where it exists; what was there."""


def _updated(
    e: ThreadBuilder, op: PointedAtomicOp, operands: Sequence[SSAValue], act: Act
) -> Sequence[Lowered]:
    ordering = _order(op)
    order(e, op)
    ordering.begin(e)
    where = PointerElements.of(e, op, op.base, op.mask, operands)
    old = [
        (each.cell, act(each.operands, each.pointer, each.exists))
        for each in where.elements(once=True)
    ]
    found = where.collected(old, shared=any(op.result.uses) and where.is_shared)
    ordering.end(e)
    return [found, *token_of(op)]


def _result(
    e: ThreadBuilder,
    op: PointedAtomicOp | TiledAtomicRmwOp,
    layout: RegisterLayout,
    rows: Sequence[Mapping[int, SSAValue]],
) -> RegisterTile:
    """Return the old values, in all threads that own the elements."""
    type_ = element_of(op.value.type)
    assert type_ is not None
    parts = tuple(filled(e, row, vectors_of(layout).length, type_) for row in rows)
    old = RegisterTile(layout, type_, parts)
    if not any(op.result.uses) or is_held_once(layout):
        return old
    return exchanged(e, op, old, layout)


def tiled_atomic_rmw(e: ThreadBuilder, op: TiledAtomicRmwOp) -> Sequence[Lowered]:
    """Lower an atomic update of a tile of an array; elements out of bounds are skipped."""
    view, ordering = e.get(op.view), _order(op)
    if not isinstance(view, GlobalView):
        raise op_error(op, f"updates {op.view.type}, and only global memory is updated by threads")
    order(e, op)
    ordering.begin(e)
    tile = in_registers(e, op, op.value)
    tile = as_fragment(e, op, tile, in_rows(e, tile.layout))
    layout = tile.layout
    work = Updater(e, op, op.rmw_mode.data, tile.element, ordering)
    window = GlobalTile.of(e, op, view, layout.shape)
    accesses = Accesses.of(e, op, window, layout, guard=is_first_replica(e, layout), bits=ALONE)
    rows: list[dict[int, SSAValue]] = [{} for _ in tile.parts]
    for piece in thread_chunks(e, layout, ALONE, stored=True):
        for k in range(piece.count):
            pointer, exists = accesses.single(piece, k)
            value = element(e, tile.parts[piece.block], piece.register + k)
            rows[piece.block][piece.register + k] = work.update(value, pointer, exists)
    found = _result(e, op, layout, rows)
    ordering.end(e)
    return [found, *token_of(op)]


HANDLERS: Handlers = {
    AtomicCasOp: atomic_cas,
    AtomicRmwOp: atomic_rmw,
    TiledAtomicRmwOp: tiled_atomic_rmw,
}
