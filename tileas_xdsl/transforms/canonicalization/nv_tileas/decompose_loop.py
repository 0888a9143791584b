"""Move a tile that a loop carries only to overwrite it into the body of the loop.

    %b = alloc_tensor : 32x32                     scf.for %i {
    %r = scf.for %i iter_args(%t = %b) {            %b = alloc_tensor : 32x32
      %0 = insert_slice %x into %t[0, 0]    ->      %0 = insert_slice %x into %b[0, 0]
      "test.op"(%0)                                 "test.op"(%0)
      yield %0                                    }
    }

Legal only if no iteration reads what an earlier one wrote. Reads and writes are boxes of static
bounds: for each read, the boxes inserted before it in the same iteration are subtracted; what is
left must have been filled before the loop and be written by no iteration, in which case the
initial `insert_slice`s move along.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import MemoryEffectKind, get_effects

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.shapes.slices import (
    AllocTensorOp,
    ExtractSliceOp,
    InsertSliceOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.transforms.canonicalization.nv_tileas.memory_order import insert_chain
from tileas_xdsl.transforms.canonicalization.nv_tileas.slice_geometry import (
    Box,
    are_disjoint,
    dense_box,
    hull,
    known_part,
    whole_box,
    without,
)

TOKEN_POSITION = "token_iter_idx"
"""A loop attribute that refers to an iteration argument by position: none may be dropped."""


class DecomposeLoopIterArgs(RewritePattern):
    """Replace a carried tile by a new tile in each iteration.

    Only if the result of the loop is not used, and no iteration reads an element that an earlier
    one wrote.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter) -> None:
        if TOKEN_POSITION in op.attributes:
            return
        for index in range(len(op.iter_args)):
            carried = _match(op, index)
            if carried is not None and not op.res[index].first_use:
                _sink(op, index, carried, rewriter)
                return


@dataclass(frozen=True)
class _Carried:
    """A tile that a loop carries: its allocation and the inserts before the loop."""

    alloc: AllocTensorOp
    filled_before: list[InsertSliceOp]
    needs_filling: bool
    """Whether the body reads what was inserted before the loop."""


def _match(op: scf.ForOp, index: int) -> _Carried | None:
    block = op.body.block
    end = block.last_op
    if not isinstance(end, scf.YieldOp) or op.parent is None:
        return None
    before, origin = insert_chain(op.iter_args[index], op.parent)
    alloc = origin.owner
    if not isinstance(alloc, AllocTensorOp) or alloc.parent is not op.parent:
        return None
    inside, root = insert_chain(end.arguments[index], block)
    argument = block.args[index + 1]
    if root is alloc.result and not argument.first_use:
        return _Carried(alloc, before, needs_filling=False)
    if root is not argument or not _used_once([alloc, *before]):
        return None
    needs_filling = _reads_what_was_before(argument, index, inside, before)
    return None if needs_filling is None else _Carried(alloc, before, needs_filling)


def _used_once(ops: Sequence[AllocTensorOp | InsertSliceOp]) -> bool:
    return all(op.result.has_one_use() for op in ops)


def _reads_what_was_before(
    argument: SSAValue,
    index: int,
    inside: Sequence[InsertSliceOp],
    before: Sequence[InsertSliceOp],
) -> bool | None:
    """Whether the body reads what was inserted before the loop; None if it may read an older
    iteration.

    The terminator passes the tile on at `index`; at any other position it reads all of it.
    """
    assert isinstance(argument.owner, Block)
    end = argument.owner.last_op
    written = [hull(known_part(insert)) for insert in inside]
    found = False
    for position, value in enumerate((argument, *(insert.result for insert in inside))):
        for use in value.uses:
            user = use.operation
            # The next insertion of the chain, and the terminator at this position, hand the tile on
            # and read none of it.
            if user in inside[position : position + 1] and use.index == 1:
                continue
            if user is end and use.index == index:
                continue
            if (left := _unwritten(user, value, inside[:position])) is None:
                return None
            # A box that an iteration writes later would here be read as the previous iteration left
            # it.
            if not all(_is_initial_only(box, before, written) for box in left):
                return None
            found = found or bool(left)
    return found


def _unwritten(
    user: Operation, value: SSAValue, inserts: Sequence[InsertSliceOp]
) -> list[Box] | None:
    """Return the boxes that `user` reads and `inserts` did not write; None if not known."""
    shape = shape_of(value.type)
    assert shape is not None
    if isinstance(user, ExtractSliceOp):
        read = hull(known_part(user)) or whole_box(shape)
    elif _only_reads(user):
        read = whole_box(shape)
    else:
        return None
    left = [read]
    for insert in inserts:
        if (box := dense_box(known_part(insert))) is not None:
            left = without(left, box)
    return left


def _only_reads(op: Operation) -> bool:
    effects = get_effects(op)
    return effects is not None and all(e.kind is MemoryEffectKind.READ for e in effects)


def _is_initial_only(
    box: Box, before: Sequence[InsertSliceOp], written: Sequence[Box | None]
) -> bool:
    """Whether a box was filled before the loop, and no iteration writes it."""
    if not all(are_disjoint(box, other) for other in written):
        return False
    left = [box]
    for insert in before:
        if (filled := dense_box(known_part(insert))) is not None:
            left = without(left, filled)
    return not left


def _sink(op: scf.ForOp, index: int, carried: _Carried, rewriter: PatternRewriter) -> None:
    block = op.body.block
    argument = block.args[index + 1]
    if argument.first_use:
        rewriter.replace_all_uses_with(argument, _fresh_tile(op, carried, rewriter))
    rewriter.erase_block_argument(argument)
    end = block.last_op
    assert isinstance(end, scf.YieldOp)
    kept = [value for position, value in enumerate(end.arguments) if position != index]
    rewriter.replace(end, scf.YieldOp(*kept))
    inits = [value for position, value in enumerate(op.iter_args) if position != index]
    body = rewriter.move_region_contents_to_new_regions(op.body)
    new = scf.ForOp(op.lb, op.ub, op.step, inits, body)
    new.attributes = op.attributes.copy()
    results: list[SSAValue | None] = list(new.res)
    results.insert(index, None)
    rewriter.replace(op, new, results)
    for outer in (*reversed(carried.filled_before), carried.alloc):
        if not outer.result.first_use:
            rewriter.erase(outer)


def _fresh_tile(op: scf.ForOp, carried: _Carried, rewriter: PatternRewriter) -> SSAValue:
    """Create a tile at the start of the body, with the initial inserts if they are read."""
    alloc = carried.alloc.clone()
    copies: list[Operation] = [alloc]
    tile: SSAValue = alloc.result
    for insert in carried.filled_before if carried.needs_filling else ():
        copy = insert.clone({insert.destination: tile})
        copies.append(copy)
        tile = copy.result
    rewriter.insert(copies, InsertPoint.at_start(op.body.block))
    return tile
