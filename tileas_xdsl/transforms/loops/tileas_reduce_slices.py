"""The pass `tileas-reduce-slices`: loops that add up a tile slice by slice reduce the whole tile.

    %r = scf.for %k = 0 to 64 carrying %s : 32x4 {     %v = view %x : 32x256 -> 32x64x4
      %p = generate { extract %x[%i, 4 * %k + %j] }    %q = mulf %v, %v : 32x64x4
      %q = mulf %p, %p : 32x4                     ->   %t = reduce add of %q along 1
      yield addf %s, %q                                %r = addf %s, %t
    }

A slice that the loop's index chooses goes through shared memory in every round, since no index
reaches a register; the tile as a whole stays where it is.  Sums are in another order, which a
reduction has anyway.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.rows.row_sums import carried_on
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import (
    constant_integer,
    is_side_effect_free,
    uniform_constant,
)
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.xdsl_ops import on_types
from tileas_xdsl.transforms.fuse_elementwise.profitability import is_elementwise
from tileas_xdsl.transforms.peel_masks.affine_elements import (
    Affine,
    AffineElements,
    Axes,
)

Combining: TypeAlias = (
    arith.AddfOp | arith.MaximumfOp | arith.MaxnumfOp | arith.MinimumfOp | arith.MinnumfOp
)
"""Operations that combine elements in any order."""

BOUNDS = 3
"""Operands of a loop in front of what it carries."""


@dataclass(frozen=True)
class TileasReduceSlices(ModulePass):
    """Reduce tiles as a whole that loops combine slice by slice.

    Needs: kernels of tiles, whose element-wise operations are not fused yet.

    Leaves: no loop whose rounds go through a dimension of a tile, each a slice of it, and combine
    what they compute of it element by element with sums, maxima or minima that the loop carries.

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-reduce-slices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in reversed(instances_in(op, scf.ForOp)):
            rounds = constant_integer(loop.ub)
            is_counted = constant_integer(loop.lb) == 0 and constant_integer(loop.step) == 1
            if is_counted and rounds and all(map(is_side_effect_free, loop.body.ops)):
                _reduce(loop, rounds)


def _reduce(loop: scf.ForOp, rounds: int) -> None:
    """Put in place of a loop what it does, if it only combines what it computes of slices."""
    combined = [_combined(loop, index) for index in range(len(loop.iter_args))]
    known = [one for one in combined if one is not None]
    slices = _Slices(loop, rounds)
    axes = {axis for _, value in known for axis in slices.axes(value)}
    if not known or len(known) < len(combined) or len(axes) != 1 or None in axes:
        return
    build, made, axis = Builder(InsertPoint.before(loop)), list[SSAValue](), axes.pop()
    assert axis is not None
    for begin, (op, value) in zip(loop.operands[BOUNDS:], known, strict=True):
        whole = slices.whole(build, value, axis)
        reduced = build.insert(ReduceOp(whole, axis, _combiner(op))).result
        made.append(build.insert(type(op)(begin, reduced)).results[0])
    Rewriter.replace_op(loop, [], made)


def _combined(loop: scf.ForOp, index: int) -> tuple[Combining, SSAValue] | None:
    """Return what combines a value that a loop carries, and with what in each round."""
    carried, op = loop.body.block.args[index + 1], carried_on(loop)[index].owner
    if not isinstance(op, Combining) or not carried.has_one_use() or carried not in op.operands:
        return None
    return op, op.rhs if op.lhs is carried else op.lhs


def _combiner(op: Combining) -> Region:
    """Return the region of a reduction that combines as an operation on tiles does."""
    element = SSAValue.get(op.result, type=TensorType[Attribute]).type.element_type
    block = Block(arg_types=[element, element])
    one = type(op)(block.args[0], block.args[1])
    block.add_ops([one, YieldOp(one.result)])
    return Region(block)


@dataclass(frozen=True)
class _Slices:
    """Tiles in a loop whose rounds go through other tiles, each a slice of them."""

    loop: scf.ForOp
    rounds: int
    made: dict[SSAValue, SSAValue] = field(default_factory=dict)
    """By such a tile what all rounds compute."""

    def axes(self, value: SSAValue) -> set[int | None]:
        """Return what dimensions are sliced for a tile, with None if it is made in another way."""
        pending, seen, axes = [value], {value}, set[int | None]()
        while pending:
            found = pending.pop()
            op = found.owner
            if isinstance(op, GenerateOp):
                axes.add(self._axis(op))
            elif isinstance(op, Operation) and self.loop.is_ancestor(op) and is_elementwise(op):
                pending += [operand for operand in op.operands if operand not in seen]
                seen.update(op.operands)
            elif uniform_constant(found) is None:
                axes.add(None)
        return axes

    def _axis(self, op: GenerateOp) -> int | None:
        """Return the dimension of a tile that the slices, which the rounds take, make up."""
        taken = _taken(op)
        whole = None if taken is None else shape_of(taken.tensor.type)
        if taken is None or whole is None or self.loop.is_ancestor(taken.tensor.owner):
            return None
        shape, block = op.result.type.get_shape(), op.body.block
        axes: Axes = {
            SSAValue.get(argument): Affine(0, {axis: 1}) for axis, argument in enumerate(block.args)
        }
        found = [AffineElements(self.loop).scalar(index, axes) for index in taken.indices]
        cut = [
            axis
            for axis, extents in enumerate(zip(whole, shape, strict=False))
            if len(set(extents)) > 1
        ]
        if len(whole) != len(shape) or len(cut) != 1:
            return None
        axis, number = cut[0], self.loop.body.block.args[0]
        wanted = [Affine(0, {other: 1}) for other in range(len(shape))]
        wanted[axis] = Affine(0, {axis: 1, number: shape[axis]})
        is_all = whole[axis] == self.rounds * shape[axis]
        return axis if is_all and found == wanted else None

    def whole(self, build: Builder, value: SSAValue, axis: int) -> SSAValue:
        """Compute in front of the loop what all rounds compute; they are a dimension of it."""
        if value not in self.made:
            self.made[value] = self._whole(build, value, axis)
        return self.made[value]

    def _whole(self, build: Builder, value: SSAValue, axis: int) -> SSAValue:
        tile, op = SSAValue.get(value, type=TensorType[Attribute]).type, value.owner
        assert isinstance(op, Operation)
        shape = tile.get_shape()
        type_ = TensorType(tile.element_type, (*shape[:axis], self.rounds, *shape[axis:]))
        if (number := uniform_constant(value)) is not None:
            return constant(build, number.value.data, type_)
        if isinstance(op, GenerateOp) and (taken := _taken(op)) is not None:
            return build.insert(ViewOp(taken.tensor, type_)).result
        operands = [self.whole(build, operand, axis) for operand in op.operands]
        return build.insert(on_types(op, operands, [type_])).results[0]


def _taken(op: GenerateOp) -> tensor.ExtractOp | None:
    """Return what a generated tile takes its elements from, if they are those of another tile."""
    last = op.body.block.last_op
    taken = None if last is None else last.operands[0].owner
    return taken if isinstance(taken, tensor.ExtractOp) else None
