"""Ping-pong: consumer replicas issue the dots of an iteration in turns.

    scf.for {                                scf.for {
      wait %ring_k; read { dot }               wait %ring_k; turn "take"; read { dot }
      wait %ring_v; read { dot }      ->       wait %ring_v; read { dot }
      %p = exp2 ...; softmax                   %p = exp2 ...; turn "pass"; softmax
    }                                        }

The products of a round are issued without a stop, and while a replica computes what is not a
product, the matrix unit has those of the other one.  The turn is passed on behind the exponentials,
of which some are computed then: with the issue of the products it would be too early, for both
replicas would compute at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import scf
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.dialects.ir_queries import enclosing_ops
from tileas_xdsl.dialects.kinds import has_instance
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.turns import TurnAction, TurnOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.target.costs.instruction_counts import instruction_count


def take_turns(loops: Sequence[scf.ForOp], barriers: Sequence[int]) -> None:
    """Put the products of a round between `take` and `pass`, where a schedule has turns.

    A loop goes on with the turn that the one before has ended with, and so does one that runs
    again: replicas do not meet there.
    """
    products = [[op for op in loop.body.block.ops if _multiplies(op)] for loop in loops]
    if len(barriers) < 2 or not all(products):
        return
    for loop, found in zip(loops, products, strict=True):
        operations = list(loop.body.block.ops)
        behind = operations[operations.index(found[-1]) :]
        last = max(behind, key=exponentials, default=found[-1])
        take, pass_on = TurnOp(TurnAction.TAKE, barriers), TurnOp(TurnAction.PASS, barriers)
        Rewriter.insert_op(take, InsertPoint.before(found[0]))
        Rewriter.insert_op(pass_on, InsertPoint.after(last))
    agent = next(op for op in enclosing_ops(loops[0]) if isinstance(op, AgentSwitchOp))
    inside = (loops[0], *enclosing_ops(loops[0]))
    whole = next(op for op in inside if op.parent_op() is agent)
    Rewriter.insert_op(TurnOp(TurnAction.OPEN, barriers), InsertPoint.before(whole))
    Rewriter.insert_op(TurnOp(TurnAction.CLOSE, barriers), InsertPoint.after(whole))


def exponentials(op: Operation) -> int:
    """Return how many functions of the special function unit an operation computes."""
    is_function = op.name.startswith("math.") and instruction_count(op.name).mufu > 0
    return prod(shape_of(op.results[0].type) or ()) if is_function else 0


def _multiplies(op: Operation) -> bool:
    return has_instance(op, DotOp)
