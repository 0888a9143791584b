"""Rounds of a loop that stand under a comparison, as rows of a CTA that are below their count.

    %r = scf.for %j = 0 to %each {              %r0 = scf.for %j = 0 to %end { ... }
      %row = %first + %j                   ->   %r = scf.for %j = %end to %each {
      scf.if %row < %rows { ... } }               scf.if %first + %j < %rows { ... } }

The loop in front has the rounds in which the comparison holds, and numbers do not wrap around; of
the other one, which nobody expects to do anything, the condition stays.  Without a branch the loads
of a round may be on their way in the one before (`tileas-pipeline-loads`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.ir import Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.scalar_operations import is_of_scalars
from tileas_xdsl.dialects.kinds import has_instance
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.transforms.peel_masks.affine_elements import AffineElements
from tileas_xdsl.transforms.peel_masks.always_true import RoundsWriter, inequalities


def split_guarded_rounds(loop: scf.ForOp) -> None:
    """Write the rounds of a loop that reduce under a comparison as one without it."""
    guard = _guard(loop)
    comparison = None if guard is None else guard.cond.owner
    if not isinstance(comparison, arith.CmpiOp):
        return
    elements = AffineElements(loop)
    left, right = (elements.scalar(value, {}) for value in comparison.operands)
    if left is None or right is None:
        return
    found = inequalities(comparison, (left, right), True, (), loop.body.block.args[0])
    if found is None or any(one.is_mask and one.factor > 0 for one in found):
        return
    builder = Builder(InsertPoint.before(loop))
    _, end = RoundsWriter(loop, builder).interval(found)
    plain = loop.clone()
    plain.location = loop.location
    copy = _guard(plain)
    assert copy is not None
    _inline(copy)
    plain.operands = [loop.lb, end, loop.step, *loop.iter_args]
    builder.insert(plain)
    loop.operands = [end, loop.ub, loop.step, *plain.results]


def _guard(loop: scf.ForOp) -> scf.IfOp | None:
    """Return the condition that a round is under, and without which it changes nothing."""
    block = loop.body.block
    ops = list(block.ops)
    guard, last = ops[-2] if len(ops) > 1 else None, ops[-1]
    if not isinstance(guard, scf.IfOp) or not all(map(is_of_scalars, ops[:-2])):
        return None
    if not has_instance(guard, ReduceOp) or has_instance(guard, DotOp):
        return None
    otherwise = _yielded(guard.false_region)
    if otherwise is None or len(otherwise) != len(guard.results):
        return None
    unchanged: dict[SSAValue, SSAValue] = dict(zip(guard.results, otherwise, strict=True))
    carried = zip(last.operands, block.args[1:], strict=True)
    return guard if all(unchanged.get(value, value) is arg for value, arg in carried) else None


def _yielded(region: Region) -> Sequence[SSAValue] | None:
    """Return what a region yields that does nothing else; None if it does."""
    ops = list(region.block.ops) if region.blocks else []
    if len(ops) > 1:
        return None
    return ops[0].operands if ops else ()


def _inline(guard: scf.IfOp) -> None:
    """Do in any case what stands under a condition."""
    block = guard.true_region.block
    last = block.last_op
    assert last is not None
    results = list(last.operands)
    Rewriter.erase_op(last)
    Rewriter.inline_block(block, InsertPoint.before(guard))
    Rewriter.replace_op(guard, [], results)
