"""Lowering of `scf.while`.

Control flow is uniform across the agent: conditions are scalars with one value in all threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    OrderToken,
    PendingTile,
    SharedTile,
    Splat,
    flatten,
    unflatten,
)
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.register_tile import as_fragment, in_registers
from tileas_xdsl.threads.tma.bulk_load import carried_loads
from tileas_xdsl.threads.tmem.accumulator_barriers import rings_closed_in
from tileas_xdsl.transforms.lower_tiles.control.loop_carried import (
    barrier_state,
    is_left_out,
    like_models,
    set_barrier_state,
)


def while_loop(e: ThreadBuilder, op: scf.WhileOp) -> Sequence[Lowered]:
    """Lower `scf.while`: the first region computes the condition and the values passed on."""
    begin = [_carriable(e, op, value) for value in op.arguments]
    loads, rings = carried_loads(e, op), rings_closed_in(e, op)
    entered = [*begin, *barrier_state(e, loads, rings)]
    before = Block(arg_types=[part.type for part in flatten(entered)])
    _set(e, op.before_region.block.args, unflatten(entered, before.args))
    set_barrier_state(e, loads, rings, unflatten(entered, before.args)[len(begin) :])
    with e.within(before):
        condition, given = _decided(e, op)
        passed = [*given, *barrier_state(e, loads, rings)]
        e.insert(scf.ConditionOp(condition, *flatten(passed)))
    after = Block(arg_types=[part.type for part in flatten(passed)])
    inside = unflatten(passed, after.args)
    _set(e, op.after_region.block.args, inside)
    set_barrier_state(e, loads, rings, inside[len(given) :])
    with e.within(after):
        ended = like_models(e, op, e.run(op.after_region.block), begin)
        e.insert(scf.YieldOp(*flatten([*ended, *barrier_state(e, loads, rings)])))
    types = [part.type for part in flatten(passed)]
    made = e.insert(scf.WhileOp(flatten(entered), types, Region(before), Region(after)))
    left = unflatten(passed, made.results)
    set_barrier_state(e, loads, rings, left[len(given) :])
    return left[: len(given)]


def _set(e: ThreadBuilder, names: Sequence[SSAValue], values: Sequence[Lowered]) -> None:
    e.values.update(zip(names, values, strict=False))


def _decided(e: ThreadBuilder, op: scf.WhileOp) -> tuple[SSAValue, list[Lowered]]:
    """Return the condition, and the values passed on."""
    block = op.before_region.block
    last = block.last_op
    if not isinstance(last, scf.ConditionOp):
        raise op_error(op, "decides by scf.condition whether it goes on")
    for inner in block.ops:
        if inner is not last:
            e.lower(inner)
    return e.scalar(last.condition), [_carriable(e, op, value) for value in last.args]


def _carriable(e: ThreadBuilder, op: Operation, value: SSAValue) -> Lowered:
    """What a loop can carry of a value: tiles in registers."""
    if is_left_out(e, value):
        return OrderToken()
    found = e.get(value)
    if space_of(value.type) is Space.SMEM:
        raise op_error(op, f"carries {value.type}, a tile in shared memory")
    if space_of(value.type) is Space.TMEM:
        raise op_error(op, "carries sums in tensor memory, which is lowered for scf.for only yet")
    if isinstance(found, Splat):
        return as_fragment(e, op, found, encoded_layout(e, op, value.type))
    if isinstance(found, PendingTile | SharedTile):
        return in_registers(e, op, value)
    return found


HANDLERS: Handlers = {
    scf.WhileOp: while_loop,
}
