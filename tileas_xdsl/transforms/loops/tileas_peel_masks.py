"""The pass `tileas-peel-masks`: rounds of a loop that need no mask have none.

    %r = scf.for %j = %low to %high iter_args(%c = %x) {
      %s = dot %q, %k(%j)
      %m = cmpi slt, (128 * %j + column), %keys
      %t = select %m, %s, -inf
      use %t }

becomes, with the first round in which the mask may be false,

    %first = floordivsi (%keys - 128), 128 + 1          // between %low and %high
    %r0 = scf.for %j = %low to %first iter_args(%c = %x) { %s = dot %q, %k(%j); use %s }
    %r = scf.for %j = %first to %high iter_args(%c = %r0) { ... with the mask }

Where bounds are known multiples, as of keys that are a multiple of the tile, quotients are exact
(`peel_masks/exact_quotients.py`): a mask that holds in all rounds leaves no other loop, and a loop
without rounds, as the ragged part that `loop-split` leaves behind whole tiles, goes.

A mask that is false in the first rounds, as of a window of keys, leaves a loop in front, too.
A branch that masks scaled scores, by a comparison of numbers, is left out where it does nothing.
Comparisons of affine functions of coordinates, of the index and of numbers known before hold in an
interval of rounds (`peel_masks/always_true.py`); a loop whose rounds multiply is written again for
those in which all of them hold, if that removes a selection of elements: a mask costs as many
instructions as the elements that it is for, in front of which products wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.diagnostics.walking import operations_inside_out
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.transforms.peel_masks.affine_elements import Affine, AffineElements
from tileas_xdsl.transforms.peel_masks.always_true import (
    Inequality,
    RoundsWriter,
    inequalities,
)
from tileas_xdsl.transforms.peel_masks.exact_quotients import (
    has_no_rounds,
    holds_in_all_rounds,
)
from tileas_xdsl.transforms.peel_masks.guarded_rounds import split_guarded_rounds
from tileas_xdsl.transforms.peel_masks.masking_branches import decides_branch
from tileas_xdsl.transforms.peel_masks.true_masks import TrueMasks
from tileas_xdsl.transforms.peel_masks.wanted_truth import wanted_truth


@dataclass(frozen=True)
class TileasPeelMasks(ModulePass):
    """Leave masks out of the rounds of a loop in which they hold for all elements.

    Needs: kernels of tiles, whose element-wise operations are not fused yet.

    Leaves: loops that multiply and select elements by comparisons of affine functions as two, or
    three, of which one has those rounds, without the selections; loops that reduce under a
    comparison as two, of which one has the rounds in which it holds, without a branch; and no loop
    that is known to have no rounds, whatever it does.  A loop that was split before,
    whose parts have its location, stays, as do masks that data decide.

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-peel-masks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in operations_inside_out(op):
            if isinstance(each, scf.ForOp) and has_no_rounds(each):
                Rewriter.replace_op(each, [], each.iter_args)
        for loop in instances_in(op, scf.ForOp):
            if _multiplies(loop):
                _leave_out(loop)
            if _is_part(loop):
                continue
            if _multiplies(loop):
                _peel(loop)
            else:
                split_guarded_rounds(loop)


def _multiplies(loop: scf.ForOp) -> bool:
    return any(isinstance(op, DotOp) for op in loop.body.block.ops)


def _is_part(loop: scf.ForOp) -> bool:
    """Whether another loop of the block has the location: they were one."""
    block, place = loop.parent, location_of(loop)
    siblings = () if block is None else block.ops
    return place is not None and any(
        isinstance(op, scf.ForOp) and op is not loop and location_of(op) == place for op in siblings
    )


def _leave_out(loop: scf.ForOp) -> None:
    """Leave out the masks of a loop that hold in all of its rounds."""
    always: dict[SSAValue, bool] = {
        op.result: truth
        for (op, truth), found in _comparisons(loop)
        if all(holds_in_all_rounds(one, loop) for one in found)
    }
    if always:
        TrueMasks(always).remove(loop.body.block)


def _peel(loop: scf.ForOp) -> None:
    """Write a loop as parts, where comparisons hold in one of them."""
    found = dict(_comparisons(loop))
    if not found:
        return
    values: dict[SSAValue, SSAValue] = {}
    plain = loop.clone(values)
    plain.location = loop.location
    masks = TrueMasks({values[op.result]: truth for (op, truth) in found})
    if not masks.remove(plain.body.block):
        plain.erase()  # It reads what the loop reads, and is nowhere.
        return
    builder = Builder(InsertPoint.before(loop))
    once = [*{id(one): one for some in found.values() for one in some}.values()]
    begin, end = RoundsWriter(loop, builder).interval(once)
    carried: Sequence[SSAValue] = loop.iter_args
    if begin is not None:
        before = loop.clone()
        before.location = loop.location
        before.operands = [loop.lb, begin, loop.step, *carried]
        carried = builder.insert(before).results
    plain.operands = [loop.lb if begin is None else begin, end, loop.step, *carried]
    builder.insert(plain)
    loop.operands = [end, loop.ub, loop.step, *plain.results]


def _comparisons(
    loop: scf.ForOp,
) -> Iterator[tuple[tuple[arith.CmpiOp, bool], Sequence[Inequality]]]:
    """The comparisons of elements that keep all of them in an interval of rounds.

    With what they say there, and with what has to hold for it.
    """
    elements, index = AffineElements(loop), loop.body.block.args[0]
    for op in loop.body.block.ops:
        for comparison, (left, right), shape in _compared(op, elements):
            if left is None or right is None:
                continue
            truth = wanted_truth(comparison.result)
            found = inequalities(comparison, (left, right), truth, shape, index)
            if found is not None:
                yield (comparison, truth), found


def _compared(
    op: Operation, elements: AffineElements
) -> Iterator[tuple[arith.CmpiOp, tuple[Affine | None, Affine | None], Sequence[int]]]:
    """Comparisons in the body of a tile, of tiles, or of numbers that a branch depends on.

    With their operands as functions.
    """
    if isinstance(op, GenerateOp):
        shape = op.result.type.get_shape()
        axes: dict[SSAValue, Affine] = {
            arg: Affine(0, {axis: 1}) for axis, arg in enumerate(op.body.block.args)
        }
        for inner in op.body.block.ops:
            if isinstance(inner, arith.CmpiOp):
                left, right = (elements.scalar(value, axes) for value in inner.operands)
                yield inner, (left, right), shape
    elif isinstance(op, arith.CmpiOp) and (shape := shape_of(op.result.type)):
        axis_numbers = tuple(Affine(0, {axis: 1}) for axis in range(len(shape)))
        left, right = (elements.element(value, axis_numbers) for value in op.operands)
        yield op, (left, right), shape
    elif isinstance(op, arith.CmpiOp) and decides_branch(op.result):
        left, right = (elements.scalar(value, {}) for value in op.operands)
        yield op, (left, right), ()
