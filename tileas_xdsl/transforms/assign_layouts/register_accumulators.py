"""Dots whose accumulator is in registers: start tensor memory at zero and add C to the result.

Accumulators of tcgen05 begin so in tensor memory.  Whoever reads them has C in registers by then,
so that nothing is written back: C + A * B is added up there, once a product or once a loop of them.
Sums of floats are associated otherwise than in the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.accumulators import is_tensor_product
from tileas_xdsl.analysis.tile_groups import FREE_TILES, payload_results, placed_tile
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import PipelineYieldOp, StageOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import FutureWaitOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.transforms.assign_layouts.space_requirements import reads_registers

Product: TypeAlias = AsyncDotOp | DotOp

_MAKERS = (TiledLoadBase, ConvertLayoutOp)
"""What makes tiles in registers, beside what reads them there."""


def add_register_accumulators(root: Operation) -> None:
    """Let sums in tensor memory begin with zeros, and add what they began with where they end."""
    for op in list(root.walk()):
        if isinstance(op, scf.ForOp):
            for position, start in enumerate(op.iter_args):
                if _is_in_registers(start) and _are_sums_only(op, position):
                    _begin_with_zeros(op, position + 3)
                    _add(op.results[position], start)
        elif is_tensor_product(op) and isinstance(op, AsyncDotOp | DotOp):
            ends = [op.result] if isinstance(op, DotOp) else _delivered(op)
            start = op.c
            if _is_in_registers(start) and ends is not None and _is_known_at(start, ends):
                _begin_with_zeros(op, 2)
                for end in ends:
                    _add(end, start)


def _is_in_registers(value: SSAValue) -> bool:
    """Whether a tile is made in registers, or of numbers that are no zeros."""
    if placed_tile(value.type) is None or space_of(value.type) not in (None, Space.RMEM):
        return False
    op = value.owner
    if isinstance(op, FREE_TILES):
        return not _is_zero(op)
    return isinstance(op, Operation) and (isinstance(op, _MAKERS) or reads_registers(op))


def _is_zero(op: Operation) -> bool:
    """Whether a constant is of zeros, of which -0.0 is none."""
    value = op.value if isinstance(op, arith.ConstantOp) else None
    if not isinstance(value, DenseIntOrFPElementsAttr) or not value.is_splat():
        return False
    (number,) = set(value.get_values())
    return number == 0 and not str(number).startswith("-")


def _are_sums_only(op: scf.ForOp, position: int) -> bool:
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
            multiplied |= isinstance(use.operation, DotOp | AsyncDotOp | scf.ForOp)
            pending += onward
    return multiplied


def _onward(use: Use) -> Sequence[SSAValue] | None:
    """What sums are called behind an operation that uses them; None if it does not hand them on."""
    op = use.operation
    match op:
        case DotOp() | AsyncDotOp() if use.index == 2 and is_tensor_product(op):
            return [op.result]
        case WaitOp() | FutureWaitOp():
            return op.values
        case PipelineYieldOp() if isinstance(stage := op.parent_op(), StageOp):
            return payload_results(stage)[use.index : use.index + 1]
        case scf.ForOp() if use.index >= 3:
            return [op.results[use.index - 3]] if _are_sums_only(op, use.index - 3) else None
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


def _add(sums: SSAValue, start: SSAValue) -> None:
    """Everybody who used sums uses their sum with what they began with."""
    tile = placed_tile(sums.type)
    owner = sums.owner
    assert tile is not None
    assert isinstance(owner, Operation)
    if not any(sums.uses):
        return
    make = arith.AddfOp if isa(tile.element_type, AnyFloat) else arith.AddiOp
    added = Builder(InsertPoint.after(owner)).insert(make(sums, start))
    added.location = owner.location
    for use in list(sums.uses):
        if use.operation is not added:
            use.operation.operands[use.index] = added.result
    added.result.name_hint = sums.name_hint
