"""Extra loop-carried values of control flow: barrier phases, accumulator copies."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.tma.store_order import UNTIL_READ, store_of
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    OrderToken,
    PendingTile,
    SharedTile,
    Splat,
    StoreToken,
)
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.register_tile import as_fragment, in_model_layout, in_registers
from tileas_xdsl.threads.tma.bulk_load import parities, set_parities
from tileas_xdsl.threads.tmem.accumulator_barriers import begin_accumulation, set_ring_stages
from tileas_xdsl.threads.tmem.tmem_layout import AccumulatorRing


def barrier_state(
    e: ThreadBuilder, loads: Sequence[Operation], rings: Sequence[AccumulatorRing]
) -> Sequence[Lowered]:
    """Return the barrier state that control flow carries beside its values."""
    return [*parities(e, loads), *(e.accumulator_stages[one] for one in rings)]


def set_barrier_state(
    e: ThreadBuilder,
    loads: Sequence[Operation],
    rings: Sequence[AccumulatorRing],
    found: Sequence[Lowered],
) -> None:
    """Set the barrier state to what control flow has carried."""
    count = len(found) - len(rings)
    set_parities(e, loads, found[:count])
    set_ring_stages(e, rings, found[count:])


def like_models(
    e: ThreadBuilder, op: Operation, found: Sequence[Lowered], models: Sequence[Lowered]
) -> Sequence[Lowered]:
    """Convert values to the layouts of their models."""
    return [
        in_model_layout(e, op, value, model) for value, model in zip(found, models, strict=True)
    ]


def initial_value(e: ThreadBuilder, op: scf.ForOp, position: int) -> Lowered:
    """What a loop begins with: a constant tile needs the registers that the loop keeps it in."""
    value, end = op.iter_args[position], op.body.block.last_op
    assert end is not None
    if is_left_out(e, value) or is_left_out_in(e, op, end.operands[position]):
        return OrderToken()
    found = e.get(value)
    if space_of(value.type) is Space.SMEM:
        raise op_error(op, f"carries {value.type}, a tile in shared memory")
    if isinstance(found, Splat) and space_of(value.type) is Space.TMEM:
        return begin_accumulation(e, op, op.body.block.args[position + 1], found)
    if isinstance(found, Splat):
        layout = encoded_layout(e, op, value.type)
        if layout is None:
            layout = e.plan.accumulator(op.body.block.args[position + 1])
        return as_fragment(e, op, found, layout)
    if isinstance(found, PendingTile | SharedTile):
        return in_registers(e, op, value)
    store = store_of(op.body.block.args[position + 1])
    if isinstance(found, OrderToken) and store is not None:
        return StoreToken(None, until_read=UNTIL_READ in store.attributes)
    return found


def is_left_out_in(e: ThreadBuilder, loop: scf.ForOp, value: SSAValue) -> bool:
    """Whether such a warp does not compute what a round of a loop makes of a value."""
    made = value.owner
    if e.kept is None or not isinstance(made, Operation):
        return False
    return loop.is_ancestor(made) and made not in e.kept


def is_left_out(e: ThreadBuilder, value: SSAValue) -> bool:
    """Whether a warp that issues the MMAs of others does not compute a value, nor carries it."""
    return e.kept is not None and value not in e.values
