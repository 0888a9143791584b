"""Ping-pong: consumer replicas issue the dots of an iteration in turns.

    scf.for {                                scf.for {
      wait %ring_k; read { dot }               wait %ring_k; turn "take"; read { dot }
      wait %ring_v; read { dot }      ->       wait %ring_v; read { dot }; turn "pass"
      softmax                                  softmax
    }                                        }

The products of a round are issued without a stop, and while a replica computes what is not a
product, the matrix unit has those of the other one.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.pipelines.turns import TurnAction, TurnOp


def take_turns(loop: scf.ForOp, barriers: Sequence[int]) -> None:
    """Put the products of a round between `take` and `pass`, where a schedule has turns."""
    products = [op for op in loop.body.block.ops if _multiplies(op)]
    if len(barriers) < 2 or not products:
        return
    for action, point in (
        (TurnAction.OPEN, InsertPoint.before(loop)),
        (TurnAction.TAKE, InsertPoint.before(products[0])),
        (TurnAction.PASS, InsertPoint.after(products[-1])),
        (TurnAction.CLOSE, InsertPoint.after(loop)),
    ):
        Rewriter.insert_op(TurnOp(action, barriers), point)


def _multiplies(op: Operation) -> bool:
    return any(isinstance(inner, DotOp) for inner in op.walk())
