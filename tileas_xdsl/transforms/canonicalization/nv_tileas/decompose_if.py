"""Patterns on `scf.if` that yields tiles: each arm gets its own storage and its own slices.

A tile that crosses an `scf.if` must have one layout and one buffer for both arms. These patterns
let only what is read cross it:

    %b = alloc_tensor : 32x32                    %r = scf.if %c -> 32x32 {
    %r = scf.if %c -> 32x32 {                      %b0 = alloc_tensor : 32x32
      %0 = insert_slice %x into %b[0, 0]           %0 = insert_slice %x into %b0[0, 0]
      yield %0                             ->      yield %0
    } else {                                     } else {
      %1 = insert_slice %y into %b[0, 0]           %b1 = alloc_tensor : 32x32 ...

    %r = scf.if %c -> 32x32 {yield %s} ...       %r = scf.if %c -> 16x32 {
    %e = extract_slice %r[0, 0][16, 32]    ->      %e0 = extract_slice %s[0, 0][16, 32]
                                                   yield %e0 } ...
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, OpResult
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp, ExtractSliceOp, part_of
from tileas_xdsl.transforms.canonicalization.nv_tileas.memory_order import (
    crosses_nothing,
    insert_chain,
)

DESTINATION = 1
"""The operand of `insert_slice` that is written."""


def _yields(op: scf.IfOp) -> tuple[scf.YieldOp, scf.YieldOp] | None:
    """Return the terminators of both arms, None if there is only one arm."""
    if not op.output or not op.false_region.blocks:
        return None
    ends = op.true_region.block.last_op, op.false_region.block.last_op
    if not isinstance(ends[0], scf.YieldOp) or not isinstance(ends[1], scf.YieldOp):
        return None
    return ends[0], ends[1]


class DecomposeIfByInsertSlice(RewritePattern):
    """Give each arm its own tile, where both arms insert into one that nothing else uses."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter) -> None:
        if (ends := _yields(op)) is None:
            return
        for index in range(len(op.output)):
            if _give_each_arm_its_tile(op, ends, index, rewriter):
                return


def _give_each_arm_its_tile(
    op: scf.IfOp, ends: tuple[scf.YieldOp, scf.YieldOp], index: int, rewriter: PatternRewriter
) -> bool:
    arms = [insert_chain(end.arguments[index], _block_of(end)) for end in ends]
    if not all(chain for chain, _ in arms):
        return False
    alloc = arms[0][1].owner
    if not isinstance(alloc, AllocTensorOp) or alloc.parent is not op.parent:
        return False
    firsts = [chain[0] for chain, _ in arms]
    if any(first.destination is not alloc.result for first in firsts):
        return False
    # Another use may read what one branch inserted, or be inserted into as well.
    if len(list(alloc.result.uses)) != len(firsts):
        return False
    for first in firsts:
        own = alloc.clone()
        rewriter.insert(own, InsertPoint.before(first))
        first.operands[DESTINATION] = own.result
        rewriter.notify_op_modified(first)
    rewriter.erase(alloc)
    return True


def _block_of(op: Operation) -> Block:
    assert op.parent is not None
    return op.parent


class DecomposeIfByExtractSlice(RewritePattern):
    """Move slices around an `scf.if` into its arms, so that only slices are yielded.

    Either both arms yield slices of tiles defined outside, or every use of the result takes the
    same static slice of it.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter) -> None:
        if (ends := _yields(op)) is None:
            return
        for index, result in enumerate(op.output):
            if _sink_yielded(op, ends, index, rewriter):
                return
            if _sink_uses(op, ends, index, result, rewriter):
                return


def _sink_yielded(
    op: scf.IfOp, ends: tuple[scf.YieldOp, scf.YieldOp], index: int, rewriter: PatternRewriter
) -> bool:
    slices = [end.arguments[index].owner for end in ends]
    if not all(isinstance(slice_op, ExtractSliceOp) for slice_op in slices):
        return False
    # The opposite direction: a slice in front of the `if` that only its yields read is computed in
    # the branch that yields it. A slice inside of a branch is there already.
    outside = [
        slice_op
        for slice_op in dict.fromkeys(slices)
        if isinstance(slice_op, ExtractSliceOp) and slice_op.parent is op.parent
    ]
    if not outside or not all(_only_used_by(slice_op, ends) for slice_op in outside):
        return False
    if not all(crosses_nothing(slice_op, op) for slice_op in outside):
        return False
    for slice_op in outside:
        for end in ends:
            _sink_into(slice_op, end, rewriter)
        rewriter.erase(slice_op)
    return True


def _sink_into(slice_op: ExtractSliceOp, end: scf.YieldOp, rewriter: PatternRewriter) -> None:
    """Clone a slice into the arm that `end` terminates, if that yields it."""
    positions = [k for k, value in enumerate(end.operands) if value is slice_op.result]
    if not positions:
        return
    own = slice_op.clone()
    rewriter.insert(own, InsertPoint.at_start(_block_of(end)))
    for position in positions:
        end.operands[position] = own.result
    rewriter.notify_op_modified(end)


def _only_used_by(slice_op: ExtractSliceOp, users: Sequence[Operation]) -> bool:
    return all(use.operation in users for use in slice_op.result.uses)


def _sink_uses(
    op: scf.IfOp,
    ends: tuple[scf.YieldOp, scf.YieldOp],
    index: int,
    result: OpResult,
    rewriter: PatternRewriter,
) -> bool:
    users = [use.operation for use in result.uses]
    slice_ops = [user for user in users if isinstance(user, ExtractSliceOp)]
    if not slice_ops or len(slice_ops) != len(users):
        return False
    first = slice_ops[0]
    if not part_of(first).is_static or any(
        not _same_slice(first, slice_op) for slice_op in slice_ops
    ):
        return False
    # The slices move up into both branches. One slice for all users, or the branches would yield
    # several results for one.
    if not all(crosses_nothing(op, slice_op) for slice_op in slice_ops):
        return False
    for end in ends:
        own = ExtractSliceOp.create(
            operands=[end.arguments[index]],
            result_types=[first.result.type],
            properties=first.properties.copy(),
            attributes=first.attributes.copy(),
        )
        rewriter.insert(own, InsertPoint.before(end))
        end.operands[index] = own.result
        rewriter.notify_op_modified(end)
    new = scf.IfOp(
        op.cond,
        [first.result.type if i == index else r.type for i, r in enumerate(op.output)],
        rewriter.move_region_contents_to_new_regions(op.true_region),
        rewriter.move_region_contents_to_new_regions(op.false_region),
        op.attributes.copy(),
    )
    new.output[index].name_hint = first.result.name_hint
    rewriter.insert(new, InsertPoint.before(op))
    for slice_op in slice_ops:
        rewriter.replace(slice_op, (), [new.output[index]])
    rewriter.replace(op, (), [None if i == index else r for i, r in enumerate(new.output)])
    return True


def _same_slice(a: ExtractSliceOp, b: ExtractSliceOp) -> bool:
    return part_of(a) == part_of(b) and a.result.type == b.result.type
