"""Compute the parts of tiles beside one another, where a loop over them would repeat too much.

    %d = scf.for ... iter_args(%c : 512x16) {       %d0, ... = scf.for ... iter_args(%c0, ...) {
      %p = ... : 128x16                               %p = ... : 128x16
      %v = tiled_load %V[%i, 0] : 128x512       ->    %v0 = tiled_load %W[%i, 0] : 128x128 ...
      %s = dot %v^T, %p, %c                           %s0 = dot %v0^T, %p, %c0 ...
      scf.yield %s }                                  scf.yield %s0, ... }

What is no part of the class (the scores `%p`) is computed once, as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from math import prod

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.target.arch import Target
from tileas_xdsl.transforms.chunk_tiles.plan import may_be_cut, parts_of_products, products_in_parts
from tileas_xdsl.transforms.chunk_tiles.repeated_operations import (
    ACCESSES,
    CONTROL,
    is_awaited,
    may_be_repeated,
    operations_of,
)
from tileas_xdsl.transforms.tile_parts.dimension_classes import DimensionClasses, tile_shape
from tileas_xdsl.transforms.tile_parts.parts import Tiles, set_operand, take_part

_PASSING = (scf.ForOp, scf.IfOp, scf.YieldOp)
"""Operations that pass on parts instead of wholes."""


def plan_unrolled(kernel: func.FuncOp, target: Target) -> tuple[Tiles, int] | None:
    """Return tiles whose parts the matrix unit multiplies, and in how many; None if none are.

    Of products whose parts no loop can compute one after another, or none without other products
    again.  All parts have accumulators at once.
    """
    too_large = products_in_parts(kernel, target)
    if not too_large or not _have_room(too_large, target):
        return None
    for tiles in DimensionClasses(kernel).members(kernel).values():
        count = parts_of_products(tiles, too_large)
        if count > 1 and may_be_cut(tiles, count) and _may_be_unrolled(kernel, tiles):
            moved = operations_of(tiles)
            if not moved or _repeats_products(moved, tiles):
                return tiles, count
    return None


def _have_room(products: Iterable[SSAValue], target: Target) -> bool:
    """Whether accumulators leave half of tensor memory to others; in registers the sums decide."""
    cells = target.tensor_memory_lanes * target.tensor_memory_columns
    words = [prod(tile_shape(product)) for product in products]
    return not target.has_tensor_memory or 2 * sum(words) <= cells


def _repeats_products(moved: Iterable[Operation], tiles: Tiles) -> bool:
    """Whether a loop over parts would multiply again what is no part."""
    inner = (op for one in moved for op in operations_in(one))
    return any(isinstance(op, DotOp) and op.results[0] not in tiles for op in inner)


def _may_be_unrolled(kernel: func.FuncOp, tiles: Tiles) -> bool:
    return all(
        isinstance(op, _PASSING) or (may_be_repeated(op, tiles) and not isinstance(op, CONTROL))
        for op in touched(kernel, tiles)
    )


def touched(root: Operation, tiles: Tiles) -> Iterator[Operation]:
    """Return the operations that a class of tiles goes through, the bodies of `generate` as one."""
    for region in root.regions:
        for block in region.blocks:
            for op in block.ops:
                if isinstance(op, _PASSING):
                    if any(value in tiles for value in (*op.operands, *op.results)):
                        yield op
                    yield from touched(op, tiles)
                elif _touches(op, tiles):
                    yield op
                elif op.regions and not isinstance(op, GenerateOp):
                    yield from touched(op, tiles)


def _touches(op: Operation, tiles: Tiles) -> bool:
    return any(
        value in tiles for one in operations_in(op) for value in (*one.operands, *one.results)
    )


def unroll(kernel: func.FuncOp, tiles: Tiles, count: int) -> None:
    """Compute `count` parts of the tiles of a class beside one another."""
    first = kernel.body.block.first_op
    assert first is not None
    numbers = [arith.ConstantOp(IntegerAttr(n, IndexType())) for n in range(count)]
    Rewriter.insert_op(numbers, InsertPoint.before(first))
    unrolling = _Unrolling(tiles, count, [{} for _ in numbers], [[] for _ in numbers])
    unrolling.take_block(kernel.body.block)
    for op in reversed(unrolling.replaced):
        op.detach()
        op.erase(safe_erase=False)
    for number, mine, made in zip(numbers, unrolling.parts, unrolling.made, strict=True):
        own = {mine[tile]: k for tile, k in tiles.items() if tile in mine}
        take_part([inner for op in made for inner in operations_in(op)], own, count, number.result)


@dataclass
class _Unrolling:
    """A kernel while the parts of a class of tiles replace whole tiles."""

    tiles: Tiles
    count: int
    parts: list[dict[SSAValue, SSAValue]]
    """By part: the replacement of each tile."""
    made: list[list[Operation]]
    """By part: the operations that compute it."""
    replaced: list[Operation] = field(default_factory=list[Operation])

    def take_block(self, block: Block) -> None:
        """Take the operations of a block."""
        for op in list(block.ops):
            self._take(op)

    def _take(self, op: Operation) -> None:
        match op:
            case scf.ForOp():
                self._take_loop(op)
            case scf.IfOp():
                self._take_branches(op)
            case scf.YieldOp():
                op.operands = self._spread(op.operands)
            case _ if _touches(op, self.tiles):
                self._repeat(op)
            case _:
                for region in () if isinstance(op, GenerateOp) else op.regions:
                    for block in region.blocks:
                        self.take_block(block)

    def _repeat(self, op: Operation) -> None:
        """Put an operation for each part in its place, in order where others come after them."""
        before: Operation | None = None
        for mine, made in zip(self.parts, self.made, strict=True):
            copy = op.clone(dict(mine))
            Rewriter.insert_op(copy, InsertPoint.before(op))
            mine.update(zip(op.results, copy.results, strict=True))
            made.append(copy)
            if isinstance(before, ACCESSES) and isinstance(copy, ACCESSES) and is_awaited(op):
                assert before.out_token is not None
                set_operand(copy, copy.token, before.out_token)
            before = copy
        last = self.parts[-1]
        for result in op.results:
            if result not in self.tiles:
                result.replace_all_uses_with(last.pop(result))
        self.replaced.append(op)

    def _take_loop(self, op: scf.ForOp) -> None:
        if any(value in self.tiles for value in op.iter_args):
            body = Block(arg_types=[op.body.block.args[0].type])
            args = self._new_arguments(op.body.block.args[1:], body)
            made = scf.ForOp(op.lb, op.ub, op.step, self._spread(op.iter_args), Region(body))
            op.body.block.args[0].replace_all_uses_with(body.args[0])
            for old, new in args:
                old.replace_all_uses_with(new)
            for inner in list(op.body.block.ops):
                inner.detach()
                body.add_op(inner)
            self._put(op, made)
            op = made
        self.take_block(op.body.block)

    def _new_arguments(
        self, args: Sequence[SSAValue], body: Block
    ) -> Sequence[tuple[SSAValue, SSAValue]]:
        """Add the arguments of a loop's body; return those that stay one."""
        plain: list[tuple[SSAValue, SSAValue]] = []
        for arg in args:
            for mine in self.parts if arg in self.tiles else self.parts[:1]:
                new = body.insert_arg(arg.type, len(body.args))
                if arg in self.tiles:
                    mine[arg] = new
                else:
                    plain.append((arg, new))
        return plain

    def _take_branches(self, op: scf.IfOp) -> None:
        if any(value in self.tiles for value in op.results):
            types = [
                result.type
                for result in op.results
                for _ in range(self.count if result in self.tiles else 1)
            ]
            regions = [op.detach_region(region) for region in list(op.regions)]
            made = scf.IfOp(op.cond, types, regions[0], regions[1])
            self._put(op, made)
            op = made
        for region in op.regions:
            for block in region.blocks:
                self.take_block(block)

    def _put(self, old: Operation, new: Operation) -> None:
        """Put an operation that gives parts in the place of another."""
        new.attributes = dict(old.attributes)
        Rewriter.insert_op(new, InsertPoint.before(old))
        results = iter(new.results)
        for result in old.results:
            if result in self.tiles:
                for mine in self.parts:
                    mine[result] = next(results)
            else:
                result.replace_all_uses_with(next(results))
        self.replaced.append(old)

    def _spread(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """Return values with the parts of each tile of the class in its place."""
        return [
            one
            for value in values
            for one in ([p[value] for p in self.parts] if value in self.tiles else [value])
        ]
