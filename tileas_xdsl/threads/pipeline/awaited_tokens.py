"""Where the wait for asynchronous work is: in its block, or behind what carries its token.

scf.for ... {                                  the block that loads the tile again
  %t = ... load                                each round
  scf.for ... iter_args(%before = ...) {
    %late = nv_tileas.async.dot %t, ...        reads the tile ...
    nv_tileas.async.wait %before               ... until the next iteration of this loop,
    scf.yield %late
  } -> %last
  nv_tileas.async.wait %last                   or until here
}
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue, Use

from tileas_xdsl.dialects.nv_tileas.pipelines.ops import ConsumerReadOp, PipelineYieldOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import outflows
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import FutureWaitOp, WaitOp

WAITS = (WaitOp, FutureWaitOp)


def is_awaited_within(token: SSAValue, block: Block) -> bool:
    """Whether every path from asynchronous work to the end of `block` waits for its token.

    `block` has the work in it, or in a region of one of its operations.
    """
    return _is_awaited(token, block, set())


def _is_awaited(token: SSAValue, end: Block, seen: set[SSAValue]) -> bool:
    if token in seen:
        return True  # around a loop: the way out of it is asked for too
    seen.add(token)
    owner = token.owner
    block = owner if isinstance(owner, Block) else owner.parent
    uses = [use for use in token.uses if use.operation.parent is block]
    if any(isinstance(use.operation, WAITS) for use in uses):
        return True
    return any(
        all(_is_awaited(after, end, seen) for after in carried)
        for use in uses
        if (carried := _carried(use, end))
    )


def _carried(use: Use, end: Block) -> Sequence[SSAValue]:
    """The values of a token behind a use that carries it; none past the end of a block."""
    op, around = use.operation, use.operation.parent_op()
    if op.parent is end and op is end.last_op:
        return ()
    if isinstance(op, PipelineYieldOp) and isinstance(around, ConsumerReadOp):
        return (around.payload[use.index],)
    return outflows(use) or ()
