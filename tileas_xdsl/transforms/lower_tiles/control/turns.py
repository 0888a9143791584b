"""Handler of `async.turn`: ping-pong of warpgroups over named barriers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import BarrierArriveOp, BarrierOp
from tileas_xdsl.dialects.nv_tileas.pipelines.turns import TurnAction, TurnOp
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, i32_constant, is_equal
from tileas_xdsl.threads.codegen.lowered_values import Lowered, RegisterTile
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.codegen.thread_ids import warp_id
from tileas_xdsl.threads.pipeline.warp_allocation import GROUP, WARP
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import element

PAIR = 2 * GROUP * WARP
"""Threads at a barrier: the group that waits, and the one that gives it the turn."""


def turn(e: ThreadBuilder, op: TurnOp) -> Sequence[Lowered]:
    """Wait at the barrier of this group, or arrive at the one of the next."""
    first, *_, last = op.numbers
    if e.agent.groups != len(op.numbers):
        text = f"is for {len(op.numbers)} warpgroups, but {e.agent.name} has {e.agent.groups}"
        raise op_error(op, text)
    group = e.insert(arith.DivUIOp(warp_id(e), i32_constant(e, GROUP))).result
    match TurnAction(op.action.data):
        case TurnAction.OPEN:
            with predicated(e, is_equal(e, group, last - first)):
                e.insert(BarrierArriveOp(first, PAIR))
        case TurnAction.TAKE:
            e.in_turn = True
            e.insert(BarrierOp(add(e, group, first), PAIR))
        case TurnAction.PASS:
            e.in_turn = False
            is_last = is_equal(e, group, last - first)
            following = add(e, group, first + 1)
            chosen = e.insert(arith.SelectOp(is_last, i32_constant(e, first), following)).result
            e.insert(BarrierArriveOp(_behind(e, op, chosen), PAIR))
        case TurnAction.CLOSE:
            with predicated(e, is_equal(e, group, 0)):
                e.insert(BarrierOp(first, PAIR))
    return []


def _behind(e: ThreadBuilder, op: TurnOp, number: SSAValue) -> SSAValue:
    """The number of a barrier, which is known when half of the powers in front of it are.

    ptxas would arrive at once: it moves barriers, and waits for products, in front of arithmetic.
    The sign of a power is 0, and that of a NaN (0x7fffffff, PTX ISA), too.
    """
    powers = op.prev_op
    if powers is None or not powers.name.startswith("math.exp"):
        return number
    tile = e.get(powers.results[0])
    if not isinstance(tile, RegisterTile) or tile.element != f32:
        return number
    vectors = vectors_of(tile.layout)
    vector, position = divmod(vectors.count * vectors.length // 2, vectors.length)
    half = element(e, tile.parts[vector], position)
    sign = e.insert(arith.ShRUIOp(e.insert(arith.BitcastOp(half, i32)).result, i32_constant(e, 31)))
    return add(e, number, sign.result)


HANDLERS: Handlers = {TurnOp: turn}
