"""Handler of `async.turn`: ping-pong of warpgroups over named barriers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import UnitAttr

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import BarrierArriveOp, BarrierOp
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import TURN
from tileas_xdsl.dialects.nv_tileas.pipelines.turns import TurnAction, TurnOp
from tileas_xdsl.layout.units import WARP, WARPGROUP_WARPS
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, i32_constant, is_equal
from tileas_xdsl.threads.codegen.lowered_values import Lowered
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.codegen.thread_ids import warp_id

PAIR = 2 * WARPGROUP_WARPS * WARP
"""Threads at a barrier: the group that waits, and the one that gives it the turn."""


def turn(e: ThreadBuilder, op: TurnOp) -> Sequence[Lowered]:
    """Wait at the barrier of this group, or arrive at the one of the next."""
    first, *_, last = op.numbers
    if e.agent.groups != len(op.numbers):
        text = f"is for {len(op.numbers)} warpgroups, but {e.agent.name} has {e.agent.groups}"
        raise op_error(op, text)
    group = e.insert(arith.DivUIOp(warp_id(e), i32_constant(e, WARPGROUP_WARPS))).result
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
            e.insert(BarrierArriveOp(chosen, PAIR)).attributes[TURN] = UnitAttr()
        case TurnAction.CLOSE:
            with predicated(e, is_equal(e, group, 0)):
                e.insert(BarrierOp(first, PAIR))
    return []


HANDLERS: Handlers = {TurnOp: turn}
