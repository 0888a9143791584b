"""Elements that are computed of permuted tiles: computed as these lie, and permuted then.

    %t = generate { ^(i, j): extract %x[j, i] }         of 64 x 128
    %e = extf %t                                    ->  %e = extf %x
    %m = mulf %e, %scales                               %m = mulf %e, (%scales as %x lies)
    %y = generate { ^(i, j): extract %m[j, i] }         %y is %m

That is done where permutations then undo one another, or stand next to a product that reads B with
either dimension contiguous.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, TensorType
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.xdsl_ops import on_types
from tileas_xdsl.transforms.normalize_dot_operands.permutations import (
    Permuted,
    inverse,
    permutation,
    permuted,
)
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Insert

Order = tuple[int, ...]


class PermuteBehindElements(RewritePattern):
    """Compute a `generate` that reads permuted tiles as these lie, and permute its result."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenerateOp, rewriter: PatternRewriter) -> None:
        orders = {*_orders(op)}
        if permuted(op.result) is not None or len(orders) != 1:
            return
        (order,) = orders
        if order == tuple(range(len(order))) or not _is_permuted_back(op.result, order, set()):
            return
        insert = Insert(rewriter.insert)
        made = insert(_reordered(op, op.detach_region(op.body), order)).results[0]
        rewriter.replace(op, [], [permutation(Permuted(made, order), insert)])


class PermuteBehindOperation(RewritePattern):
    """Apply an element-wise operation to tiles as they lie, and permute its result."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrite an operation of which one operand is permuted, and the others can be."""
        if not _is_elementwise(op):
            return
        found = (permuted(operand) for operand in op.operands)
        order = next((one.order for one in found if one is not None), None)
        if order is None or not _leads_back(op, order, set()):
            return
        insert = Insert(rewriter.insert)
        extents = [shape_of(op.results[0].type)[k] for k in order]
        operands = [_as_it_lies(operand, order, insert) for operand in op.operands]
        type_ = TensorType(element_of(op.results[0].type), extents)
        source = insert(on_types(op, operands, [type_])).results[0]
        rewriter.replace(op, [], [permutation(Permuted(source, order), insert)])


def _is_elementwise(op: Operation) -> bool:
    is_of_tile = len(op.results) == 1 and isa(op.results[0].type, TensorType[Attribute])
    return is_of_tile and not op.regions and layout_role(op) is LayoutRole.ELEMENTWISE


def _leads_back(op: Operation, order: Order, known: set[SSAValue]) -> bool:
    """Whether an operation follows a permutation of its operand, and what reads it undoes that."""
    return _follows(op, order, known) and _is_permuted_back(op.results[0], order, known)


def _is_permuted_back(tile: SSAValue, order: Order, known: set[SSAValue]) -> bool:
    """Whether all that reads a tile has it as B or undoes a permutation, elementwise in between.

    Each tile is visited once: what each of 32 steps reads twice is on 2**32 paths.
    """
    pending, visited = [tile], {tile}
    while pending:
        for user in (use.operation for use in pending.pop().uses):
            if _stores_b(user) or _permutes_by(user, inverse(order)):
                continue
            if not _is_elementwise(user) or not _follows(user, order, known):
                return False
            if user.results[0] not in visited:
                visited.add(user.results[0])
                pending.append(user.results[0])
    return True


def _follows(op: Operation, order: Order, known: set[SSAValue]) -> bool:
    """Whether an operation's tiles are permuted, will be, or can be made in any order.

    Tiles that are looked at become `known`: they are if the answer is yes.
    """
    pending = [*op.operands]
    while pending:
        tile = pending.pop()
        if tile in known or _can_be_reordered(tile):
            continue
        known.add(tile)
        found, made = permuted(tile), tile.owner
        if found is not None:
            is_permuted = found.order == order
        elif isinstance(made, GenerateOp):
            is_permuted = {*_orders(made)} == {order}
        else:
            is_permuted = isinstance(made, Operation) and _is_elementwise(made)
            pending += made.operands if isinstance(made, Operation) else ()
        if not is_permuted:
            return False
    return True


def _can_be_reordered(tile: SSAValue) -> bool:
    """Whether a tile is one number, or made of coordinates and of rows or columns of others."""
    made = tile.owner
    if isinstance(made, GenerateOp):
        return not [*_orders(made)]
    return isinstance(made, arith.ConstantOp | tensor.SplatOp) and not _has_elements(made)


def _has_elements(op: arith.ConstantOp | tensor.SplatOp) -> bool:
    """Whether a constant has a number for each element."""
    match op:
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as value):
            return not is_splat(value)
        case _:
            return False


def _as_it_lies(tile: SSAValue, order: Order, insert: Insert) -> SSAValue:
    """Return the tile that becomes another one by a permutation."""
    found, made = permuted(tile), tile.owner
    if found is not None and found.order == order:
        return found.source
    if isinstance(made, GenerateOp):
        return insert(_reordered(made, made.body.clone(), order)).results[0]
    return permutation(Permuted(tile, inverse(order)), insert)


def _reordered(op: GenerateOp, body: Region, order: Order) -> GenerateOp:
    """Return a `generate` of the tile that is permuted by an order to that of an operation."""
    extents = [shape_of(op.result.type)[k] for k in order]
    made = GenerateOp.create(
        result_types=[TensorType(element_of(op.result.type), extents)], regions=[body]
    )
    block = made.body.block
    new = [block.insert_arg(IndexType(), len(block.args)) for _ in order]
    for argument, k in zip(new, order, strict=True):
        block.args[k].replace_all_uses_with(argument)
    for argument in tuple(block.args[: len(order)]):
        block.erase_arg(argument)
    return made


def _stores_b(op: Operation) -> bool:
    """Whether an operation puts a tile into shared memory for products that have it as B."""
    if not isinstance(op, ConvertLayoutOp) or space_of(op.result.type) is not Space.SMEM:
        return False
    return all(isinstance(use.operation, DotOp) and use.index == 1 for use in op.result.uses)


def _permutes_by(op: Operation, order: Order) -> bool:
    """Whether an operation takes an element for a tile that is a permutation by an order."""
    around = op.parent_op()
    found = permuted(around.result) if isinstance(around, GenerateOp) else None
    return found is not None and found.order == order


def _orders(op: GenerateOp) -> Iterator[Order]:
    """The orders in which a body reads tiles of as many dimensions, all of their elements."""
    dimension_of: dict[SSAValue, int] = {v: n for n, v in enumerate(op.body.block.args)}
    for inner in op.body.block.ops:
        if not isinstance(inner, tensor.ExtractOp):
            continue
        order = tuple(dimension_of.get(index, -1) for index in inner.indices)
        if sorted(order) == list(range(len(dimension_of))):
            yield order
