"""Multiply operands that are one long tile each in a loop along K, as a pipeline of stages takes.

    %a = tiled_load %v[%i, 0] : 128x256              %s = scf.for %k = 0 to 4 iter_args(%p = %c) {
    %b = tiled_load %w[0, %j] : 256x256       ->       %a = tiled_load %x[%i, 4 * 0 + %k] : 128x64
    %s = dot %a, %b, %c                                %b = tiled_load %y[4 * 0 + %k, %j] : 64x256
                                                       yield dot %a, %b, %p }

The matrix unit adds up K in this order anyway, so that all bits of the sums stay. It begins when
the first parts are there, and operands of any length take a few stages of shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, i32
from xdsl.ir import Block, Operation, Region
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.transforms.choose_tma.legality import load_problem
from tileas_xdsl.transforms.chunk_tiles.repeated_operations import is_awaited, touching
from tileas_xdsl.transforms.fuse_elementwise.profitability import is_elementwise
from tileas_xdsl.transforms.tile_parts.dimension_classes import DimensionClasses, tile_shape
from tileas_xdsl.transforms.tile_parts.parts import Tiles, set_operand, take_part

PART_BITS = 8 * 128
"""Of K in one stage: a row of the widest swizzle."""


def multiply_in_loops(kernel: func.FuncOp) -> None:
    """Multiply along K in a loop what is no loop's body, and whose operands only TMA has to load.

    In the body of a loop the parts of K are already spread over its rounds.
    """
    products = [op for op in instances_in(kernel, DotOp) if _is_long(op)]
    for op in products:
        classes = DimensionClasses(kernel, lambda other, op=op: other is op)
        k = classes.find((op.a, len(tile_shape(op.a)) - 1))
        tiles = classes.members(kernel).get(k, {})
        operations = _operands(op, tiles)
        if operations:
            _multiply_in_loop(op, operations, tiles)


def _is_long(op: DotOp) -> bool:
    """Whether operands that a matrix unit reads in shared memory have two parts of K or more."""
    in_memory = all(space_of(operand.type) is Space.SMEM for operand in (op.a, op.b))
    return in_memory and not _is_in_loop(op) and _parts(op) > 1


def _is_in_loop(op: Operation) -> bool:
    above = op.parent_op()
    return above is not None and (isinstance(above, scf.ForOp | scf.WhileOp) or _is_in_loop(above))


def _parts(op: DotOp) -> int:
    bits = max(bits_of(element_of(operand.type)) or PART_BITS for operand in (op.a, op.b))
    return tile_shape(op.a)[-1] * bits // PART_BITS


def _operands(op: DotOp, tiles: Tiles) -> Sequence[Operation]:
    """Return what makes the operands, from loads by TMA on, in order; nothing where more does."""
    touched = {one for tile in tiles for one in touching(tile)} - {op}
    ordered = [one for one in op.parent.ops if one in touched] if op.parent is not None else []
    if len(ordered) != len(touched) or not all(_may_be_moved(one, touched) for one in ordered):
        return ()
    return ordered


def _may_be_moved(op: Operation, touched: AbstractSet[Operation]) -> bool:
    if not isinstance(op, TiledLoadOp):
        return isinstance(op, ConvertLayoutOp | ViewOp) or is_elementwise(op)
    is_free = op.token is not None and op.token.owner not in touched
    return is_free and not is_awaited(op) and load_problem(op) is None


def _multiply_in_loop(op: DotOp, operations: Sequence[Operation], tiles: Tiles) -> None:
    count = _parts(op)
    body = Block(arg_types=[i32, op.c.type])
    low, high, step = (arith.ConstantOp(IntegerAttr(n, i32)) for n in (0, count, 1))
    loop = scf.ForOp(low, high, step, [op.c], Region(body))
    Rewriter.insert_op([low, high, step, loop], InsertPoint.before(op))
    op.results[0].replace_all_uses_with(loop.results[0])
    set_operand(op, op.c, body.args[1])
    chunk = arith.IndexCastOp(body.args[0], IndexType())
    body.add_op(chunk)
    for one in _moved(operations, op):
        body.add_op(one)
    body.add_op(scf.YieldOp(op.results[0]))
    take_part(operations_in(body), tiles, count, chunk.result)


def _moved(operations: Sequence[Operation], product: DotOp) -> Iterator[Operation]:
    for one in (*operations, product):
        one.detach()
        yield one
