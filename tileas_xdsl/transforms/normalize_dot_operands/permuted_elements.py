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
        if order == tuple(range(len(order))) or not _is_permuted_back(op.result, order):
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
        if order is None or not _follows(op, order) or not _is_permuted_back(op.results[0], order):
            return
        insert = Insert(rewriter.insert)
        extents = [shape_of(op.results[0].type)[k] for k in order]
        made = type(op).create(
            operands=[_as_it_lies(operand, order, insert) for operand in op.operands],
            result_types=[TensorType(element_of(op.results[0].type), extents)],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        source = insert(made).results[0]
        rewriter.replace(op, [], [permutation(Permuted(source, order), insert)])


def _is_elementwise(op: Operation) -> bool:
    is_of_tile = len(op.results) == 1 and isa(op.results[0].type, TensorType[Attribute])
    return is_of_tile and not op.regions and layout_role(op) is LayoutRole.ELEMENTWISE


def _is_permuted_back(tile: SSAValue, order: Order) -> bool:
    """Whether all that reads a tile has it as B or undoes a permutation, elementwise in between."""
    return all(
        _stores_b(user) or _permutes_by(user, inverse(order)) or _leads_back(user, order)
        for user in (use.operation for use in tile.uses)
    )


def _leads_back(op: Operation, order: Order) -> bool:
    """Whether an operation follows a permutation of its operand, and what reads it undoes that."""
    is_next = _is_elementwise(op) and _follows(op, order)
    return is_next and _is_permuted_back(op.results[0], order)


def _follows(op: Operation, order: Order) -> bool:
    """Whether an operation's tiles are permuted, will be, or can be made in any order."""
    return all(
        _can_be_reordered(value) or _is_or_becomes_permuted(value, order) for value in op.operands
    )


def _is_or_becomes_permuted(tile: SSAValue, order: Order) -> bool:
    found, made = permuted(tile), tile.owner
    if found is not None:
        return found.order == order
    if isinstance(made, GenerateOp):
        return {*_orders(made)} == {order}
    return isinstance(made, Operation) and _is_elementwise(made) and _follows(made, order)


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
    """Return what computes the elements of a tile as the tile lies of which it is a permutation."""
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
