"""Patterns on `scf.if` that yields tiles: each arm gets its own storage and its own slices."""

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
    """The ends of both arms, None if there is only one."""
    if not op.output or not op.false_region.blocks:
        return None
    ends = op.true_region.block.last_op, op.false_region.block.last_op
    if not isinstance(ends[0], scf.YieldOp) or not isinstance(ends[1], scf.YieldOp):
        return None
    return ends[0], ends[1]


class DecomposeIfByInsertSlice(RewritePattern):
    """Where both arms fill one new tile with slices, each arm gets a new tile of its own.

    Nothing else may use the tile.
    """

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
    """Slices around an `scf.if` move into its arms, so that only slices leave it.

    Either both arms yield slices that were taken before, or every use of the result takes the same
    slice of it.
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
    if not all(isinstance(piece, ExtractSliceOp) for piece in slices):
        return False
    outside = [
        piece
        for piece in dict.fromkeys(slices)
        if isinstance(piece, ExtractSliceOp) and piece.parent is op.parent
    ]
    if not outside or not all(_only_used_by(piece, ends) for piece in outside):
        return False
    if not all(crosses_nothing(piece, op) for piece in outside):
        return False
    for piece in outside:
        for end in ends:
            _sink_into(piece, end, rewriter)
        rewriter.erase(piece)
    return True


def _sink_into(piece: ExtractSliceOp, end: scf.YieldOp, rewriter: PatternRewriter) -> None:
    """Give the arm that `end` ends a slice of its own, if it yields this one."""
    positions = [k for k, value in enumerate(end.operands) if value is piece.result]
    if not positions:
        return
    own = piece.clone()
    rewriter.insert(own, InsertPoint.at_start(_block_of(end)))
    for position in positions:
        end.operands[position] = own.result
    rewriter.notify_op_modified(end)


def _only_used_by(piece: ExtractSliceOp, users: Sequence[Operation]) -> bool:
    return all(use.operation in users for use in piece.result.uses)


def _sink_uses(
    op: scf.IfOp,
    ends: tuple[scf.YieldOp, scf.YieldOp],
    index: int,
    result: OpResult,
    rewriter: PatternRewriter,
) -> bool:
    users = [use.operation for use in result.uses]
    pieces = [user for user in users if isinstance(user, ExtractSliceOp)]
    if not pieces or len(pieces) != len(users):
        return False
    first = pieces[0]
    if not part_of(first).is_static or any(not _same_slice(first, piece) for piece in pieces):
        return False
    if not all(crosses_nothing(op, piece) for piece in pieces):
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
    for piece in pieces:
        rewriter.replace(piece, (), [new.output[index]])
    rewriter.replace(op, (), [None if i == index else r for i, r in enumerate(new.output)])
    return True


def _same_slice(a: ExtractSliceOp, b: ExtractSliceOp) -> bool:
    return part_of(a) == part_of(b) and a.result.type == b.result.type
