"""The pass `tileas-unroll-register-loops`: write out loops that slice tiles in registers.

    scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) {
      %o = arith.muli %i, %c8
      %p = extract_slice %t[0, %o][64, 8]      // the registers differ from round to round
      %n = arith.addf %s, %p
    }

    %p0 = extract_slice %t[0, 0][64, 8]        // once the offsets are folded
    %n0 = arith.addf %zero, %p0
    %p1 = extract_slice %t[0, 8][64, 8]
    ...

A program cannot index registers (PTX ISA), so that a slice at a changing offset takes the way
through shared memory.  The published pass leaves a hint to unroll at the loop, which a later
compiler may ignore; this one unrolls.  So are registers that masks choose by the number of a round
(`masks_of_rounds`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.memory.kept_tiles import is_kept
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.rewriting import apply_patterns
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.threads.pipeline.occupancy import MASKS_OF_ROUNDS
from tileas_xdsl.transforms.extension import with_added
from tileas_xdsl.transforms.loops.masks_of_rounds import chooses_registers

MAX_UNROLLED = 16
"""Trip count up to which a loop that slices registers is unrolled."""


class UnrollRegisterLoop(RewritePattern):
    """A short loop that slices registers, with bounds that are known, is its rounds."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter) -> None:
        numbers = _iterations(op)
        if numbers is None:
            return
        if chooses_registers(op, len(numbers)):
            _mark(op)
        elif len(numbers) > MAX_UNROLLED or not _slices_registers(op):
            return
        carried: Sequence[SSAValue] = op.iter_args
        for number in numbers:
            carried = _round(op, number, carried, rewriter)
        rewriter.replace(op, [], carried)


def _mark(op: Operation) -> None:
    """Let the kernel say that its registers are masks, too."""
    while isinstance(parent := op.parent_op(), Operation) and not isinstance(op, func.FuncOp):
        op = parent
    op.attributes[MASKS_OF_ROUNDS] = UnitAttr()


def _iterations(op: scf.ForOp) -> range | None:
    """The values of a loop's index, if they are known."""
    first, end, step = (constant_integer(v) for v in (op.lb, op.ub, op.step))
    if first is None or end is None or step is None or step < 1:
        return None
    return range(first, end, step)


def _round(
    op: scf.ForOp, number: int, carried: Sequence[SSAValue], rewriter: PatternRewriter
) -> Sequence[SSAValue]:
    """Write one round in front of the loop; return what it carries on."""
    type_: Any = op.lb.type
    index = rewriter.insert(arith.ConstantOp(IntegerAttr(number, type_)))
    mapping: dict[SSAValue, SSAValue] = dict(
        zip(op.body.block.args, (index.result, *carried), strict=True)
    )
    copy = Block()
    for inner in op.body.block.ops:
        copy.add_op(inner.clone(mapping))
    ended = copy.last_op
    assert ended is not None
    yielded = tuple(ended.operands)
    rewriter.erase(ended)
    rewriter.inline_block(copy, InsertPoint.before(op))
    return yielded


def _slices_registers(loop: scf.ForOp) -> bool:
    """Whether a loop slices tiles in registers at offsets that change between iterations."""
    return any(
        isinstance(inner, ExtractSliceOp)
        and space_of(inner.source.type) in (None, Space.RMEM)
        and not is_kept(inner.source)
        and not isinstance(inner.source.owner, Block)
        and any(_differs(offset, loop) for offset in inner.offsets)
        for inner in operations_in(loop.body)
    )


def _differs(value: SSAValue, loop: scf.ForOp) -> bool:
    """Whether a value may change between iterations of a loop."""
    pending, seen = [value], {value}
    while pending:
        found = pending.pop()
        if found.owner is loop.body.block:
            return True
        inputs = [operand for operand in _inputs(found, loop) if operand not in seen]
        pending += inputs
        seen.update(inputs)
    return False


def _inputs(value: SSAValue, loop: scf.ForOp) -> Sequence[SSAValue]:
    """What a value may be computed from."""
    owner = value.owner
    if isinstance(owner, Operation):
        return [operand for op in operations_in(owner) for operand in op.operands]
    parent = owner.parent_op()
    if parent is None or parent.is_ancestor(loop):
        return ()
    if isinstance(parent, scf.ForOp) and value is parent.body.block.args[0]:
        return (parent.lb, parent.ub, parent.step)
    return [operand for op in operations_in(parent) for operand in op.operands]


@dataclass(frozen=True)
class TileasUnrollRegisterLoops(ModulePass):
    """Unroll loops that access slices of register tensors, or choose registers by masks.

    With bounds that are known and at most 16 rounds; 32 of masks.  Others keep their loop, and
    their slices go through shared memory.
    """

    name = "tileas-unroll-register-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, with_added(self.name, [UnrollRegisterLoop()]))
