"""Wait for the first stage of the next round at the end of a round, while products are in flight.

    scf.for carrying %r, %s {                      %r0 = if (some) { consumer_wait %r, %s }
      %w = consumer_wait %r, %s                    scf.for carrying %w = %r0, %s {
      read %w { dot }                                read %w { dot }
      read { dot of the round before }               read { dot of the round before }
      softmax                                ->      softmax
      yield %r', %s'                                 %w' = if (more) { consumer_wait %r', %s' }
    }                                                yield %w', %s'
                                                   }

The wait costs nothing, for it comes anyway.  It is a loop of its own in machine code, where blocks
of code end: ptxas moves what stands in front of the wait for the last product (`wgmma.wait_group`)
behind that wait otherwise, since it only sees its latency, and then nothing overlaps the product.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.dialects.nv_tileas.pipelines.ops import ConsumerWaitOp, IncIterOp


def wait_ahead(loop: scf.ForOp) -> None:
    """Move the first wait of a rotated loop's body in front of the loop, and to the body's end.

    Both are under a test: a stage that no round reads is never filled.
    """
    body, end = loop.body.block, loop.body.block.last_op
    assert isinstance(end, scf.YieldOp)
    wait = next((op for op in body.ops if isinstance(op, ConsumerWaitOp)), None)
    if wait is None or wait.token.owner is not body or not wait.token.has_one_use():
        return
    if not _is_step_of(wait.iterator, body):
        return
    position = body.args.index(wait.token) - 1
    before: dict[SSAValue, SSAValue] = dict(zip(body.args, (loop.lb, *loop.iter_args), strict=True))
    builder = Builder(InsertPoint.before(loop))
    some = builder.insert(arith.CmpiOp(loop.lb, loop.ub, "slt")).result
    loop.operands[3 + position] = _wait_if(some, wait, before, builder)
    builder = Builder(InsertPoint.before(end))
    following = builder.insert(arith.AddiOp(body.args[0], loop.step)).result
    more = builder.insert(arith.CmpiOp(following, loop.ub, "slt")).result
    behind: dict[SSAValue, SSAValue] = dict(zip(body.args, (following, *end.operands), strict=True))
    end.operands[position] = _wait_if(more, wait, behind, builder)
    wait.result_token.replace_all_uses_with(wait.token)
    Rewriter.erase_op(wait)


def _is_step_of(iterator: SSAValue, body: Block) -> bool:
    """Whether a stage is one that a loop carries, or the one behind it."""
    while isinstance(step := iterator.owner, IncIterOp) and step.parent is body:
        iterator = step.iterator
    return iterator.owner is body


def _wait_if(
    test: SSAValue, wait: ConsumerWaitOp, known: Mapping[SSAValue, SSAValue], builder: Builder
) -> SSAValue:
    """The token of a stage, which is waited for where there is a round that reads it."""
    token, values = known[wait.token], dict(known)
    steps: list[Operation] = []
    iterator = wait.iterator
    while iterator not in known and isinstance(step := iterator.owner, IncIterOp):
        steps.insert(0, step)
        iterator = step.iterator
    block = Block([step.clone(values) for step in steps])
    waited = wait.clone(values)
    block.add_ops([waited, scf.YieldOp(waited.result_token)])
    left = Region(Block([scf.YieldOp(token)]))
    return builder.insert(scf.IfOp(test, [token.type], Region(block), left)).results[0]
