"""Decide which accumulators of tcgen05 stay in tensor memory; the others are added up in registers.

An accumulator stays where products follow one another without anybody else using what is between
them: in a block, or carried by counted loops that do nothing else with it.  Any other C is a value:
the product begins with zeros, and who reads it has C in registers by then, so that nothing is
written back.  Sums of floats are associated otherwise than in the program.

    scf.for iter_args(%c = %x)            scf.for iter_args(%c = %x)
      %d = nv_tileas.dot %a, %b, %c         %p = nv_tileas.dot %a, %b, %zero
      %e = scf.if ... -> %d or -%d    ->    %d = arith.addf %p, %c
      scf.yield %e                          %e = scf.if ... -> %d or -%d
                                            scf.yield %e

What control flow carries on otherwise is in registers too: accumulators are converted before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Block, Operation, OpResult, SSAValue, Use
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.layouts.tile_groups import FREE_TILES, payload_results, placed_tile
from tileas_xdsl.analysis.memory.accumulators import is_tensor_product
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.dot import (
    AsyncDotOp,
    BlockScaledMmaOp,
    DotOp,
    MatrixProduct,
)
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import PipelineYieldOp, StageOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import FutureWaitOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType
from tileas_xdsl.transforms.assign_layouts.spaces.space_requirements import reads_registers

_MAKERS = (TiledLoadBase, ConvertLayoutOp)
"""What makes tiles in registers, beside what reads them there."""

_CONTROL_FLOW = (scf.ForOp, scf.IfOp, scf.WhileOp)
"""What carries tiles in registers."""


def add_register_accumulators(root: Operation) -> None:
    """Begin accumulators that cannot go on in tensor memory at zero; add their start behind."""
    for op in operations_in(root):
        if isinstance(op, scf.ForOp):
            for position, start in enumerate(op.iter_args):
                if _are_accumulators_only(op, position) and not _goes_on(start, op):
                    _begin_with_zeros(op, position + 3)
                    _add(op.results[position], start)
        elif isinstance(op, MatrixProduct) and is_tensor_product(op):
            ends = _delivered(op) if isinstance(op, AsyncDotOp) else [op.result]
            start = op.c
            if not _goes_on(start, op) and ends is not None and _is_known_at(start, ends):
                _begin_with_zeros(op, 2)
                for end in ends:
                    _add(end, start)
    _read_before_control_flow(root)


def _goes_on(start: SSAValue, op: Operation) -> bool:
    """Whether what a product or a loop of products begins with is an accumulator by then.

    Zeros begin one.  What nobody knows of may be one.
    """
    if placed_tile(start.type) is None or space_of(start.type) not in (None, Space.RMEM):
        return True
    if space_of(start.type) is Space.RMEM:
        return False
    maker = start.owner
    if isinstance(maker, Block):
        parent = maker.parent_op()
        if isinstance(parent, scf.ForOp):
            return _are_accumulators_only(parent, maker.args.index(start) - 1)
        return not isinstance(parent, _CONTROL_FLOW)
    if isinstance(maker, FREE_TILES):
        return _is_zero(maker)
    if _is_accumulator(start):
        return len(list(start.uses)) == 1 and _control_block(maker) is _control_block(op)
    return not (isinstance(maker, (*_MAKERS, *_CONTROL_FLOW)) or reads_registers(maker))


def _is_accumulator(value: SSAValue) -> bool:
    """Whether a value is the result of products into tensor memory, or of a loop of them."""
    op = value.owner
    match op:
        case DotOp() | AsyncDotOp() | BlockScaledMmaOp():
            return is_tensor_product(op)
        case WaitOp() | FutureWaitOp():
            return _is_accumulator(op.token)
        case StageOp() if isinstance(value, OpResult) and op.regions:
            ended, results = op.regions[0].block.last_op, payload_results(op)
            return (
                value in results
                and ended is not None
                and (_is_accumulator(ended.operands[results.index(value)]))
            )
        case scf.ForOp() if isinstance(value, OpResult):
            return _are_accumulators_only(op, value.index)
        case _:
            return False


def _control_block(op: Operation) -> Block | None:
    """The block that an operation is run as often as: bodies of stages are run once."""
    block = op.parent
    while block is not None and isinstance(parent := block.parent_op(), StageOp):
        block = parent.parent
    return block


def _read_before_control_flow(root: Operation) -> None:
    """Convert accumulators that control flow hands on where it is no loop of products."""
    for op in operations_in(root):
        for index, value in enumerate(op.operands):
            tile = placed_tile(value.type)
            if tile is None or space_of(tile) is not None or not _is_handed_on(op, index):
                continue
            if not isinstance(value.type, AsyncTokenType) and _is_accumulator(value):
                type_ = TensorType(tile.element_type, tile.get_shape())
                read = Builder(InsertPoint.before(op)).insert(ConvertLayoutOp(value, type_))
                read.location = op.location
                op.operands[index] = read.result


def _is_handed_on(op: Operation, index: int) -> bool:
    """Whether control flow carries an operand in registers."""
    match op:
        case scf.ForOp():
            return index >= 3 and not _are_accumulators_only(op, index - 3)
        case scf.YieldOp() if isinstance(parent := op.parent_op(), scf.ForOp):
            return not _are_accumulators_only(parent, index)
        case scf.YieldOp() | scf.ConditionOp() | scf.WhileOp():
            return True
        case _:
            return False


def _is_zero(op: Operation) -> bool:
    """Whether a constant is of zeros, of which -0.0 is none."""
    constant = uniform_constant(op.results[0]) if isinstance(op, arith.ConstantOp) else None
    return constant is not None and str(constant.value.data) in ("0", "0.0")


def _are_accumulators_only(op: scf.ForOp, position: int) -> bool:
    """Whether products add to what a loop carries, and nothing else in the loop uses it."""
    pending: list[SSAValue] = [op.body.block.args[position + 1]]
    multiplied = False
    while pending:
        for use in pending.pop().uses:
            if use.operation is op.body.block.last_op and use.index == position:
                continue
            onward = _onward(use)
            if onward is None:
                return False
            multiplied |= isinstance(use.operation, MatrixProduct | scf.ForOp)
            pending += onward
    return multiplied


def _onward(use: Use) -> Sequence[SSAValue] | None:
    """What sums are called behind an operation that uses them; None if it does not hand them on."""
    op = use.operation
    match op:
        case DotOp() | AsyncDotOp() | BlockScaledMmaOp() if use.index == 2 and is_tensor_product(
            op
        ):
            return [op.result]
        case WaitOp() | FutureWaitOp():
            return op.values
        case PipelineYieldOp() if isinstance(stage := op.parent_op(), StageOp):
            return payload_results(stage)[use.index : use.index + 1]
        case scf.ForOp() if use.index >= 3:
            return (
                [op.results[use.index - 3]] if _are_accumulators_only(op, use.index - 3) else None
            )
        case _:
            return None


def _delivered(op: AsyncDotOp) -> Sequence[SSAValue] | None:
    """The tiles that waits for a product give; None where its token goes elsewhere."""
    found: list[SSAValue] = []
    pending: list[SSAValue] = [op.result]
    while pending:
        for use in pending.pop().uses:
            onward = _onward(use)
            if onward is None or isinstance(use.operation, scf.ForOp):
                return None
            is_waited = isinstance(use.operation, WaitOp | FutureWaitOp)
            (found if is_waited else pending).extend(onward)
    return found


def _is_known_at(start: SSAValue, ends: Sequence[SSAValue]) -> bool:
    """Whether what a product begins with can be named where it ends, which is always later."""
    block = start.owner.parent if isinstance(start.owner, Operation) else start.owner
    assert block is not None
    owners = (end.owner for end in ends if isinstance(end.owner, Operation))
    return all(block.find_ancestor_op_in_block(owner) is not None for owner in owners)


def _begin_with_zeros(op: Operation, index: int) -> None:
    tile = placed_tile(op.operands[index].type)
    assert tile is not None
    builder = Builder(InsertPoint.before(op))
    zeros = constant(builder, 0, TensorType(tile.element_type, tile.get_shape()))
    assert isinstance(zeros.owner, Operation)
    zeros.owner.location = op.location
    op.operands[index] = zeros


def _add(accumulator: SSAValue, start: SSAValue) -> None:
    """Everybody who used sums uses their sum with what they began with."""
    tile = placed_tile(accumulator.type)
    owner = accumulator.owner
    assert tile is not None
    assert isinstance(owner, Operation)
    if not any(accumulator.uses):
        return
    make = arith.AddfOp if isa(tile.element_type, AnyFloat) else arith.AddiOp
    added = Builder(InsertPoint.after(owner)).insert(make(accumulator, start))
    added.location = owner.location
    for use in list(accumulator.uses):
        if use.operation is not added:
            use.operation.operands[use.index] = added.result
    added.result.name_hint = accumulator.name_hint
