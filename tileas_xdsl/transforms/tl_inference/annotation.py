"""From decisions back to the IR: layouts of buffers and loops, and explicit conversions."""

from __future__ import annotations

from dataclasses import replace

from xdsl.builder import Builder
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.dialects.tl.attributes import FragmentAttr, SharedAttr
from tileas_xdsl.dialects.tl.base import element_of, shape_of
from tileas_xdsl.dialects.tl.buffers import AllocFragmentOp, AllocSharedOp, ReshapeOp, ViewOp
from tileas_xdsl.dialects.tl.fragments import attribute_of
from tileas_xdsl.dialects.tl.loops import ParallelOp
from tileas_xdsl.dialects.tl.moves import ConvertLayoutOp, CopyOp, FillOp
from tileas_xdsl.inference.decisions import Conversion, Decisions, LoopDecision, Staging
from tileas_xdsl.inference.program import AccessKind, CumSum, Gemm, Loop, Program, Reduce
from tileas_xdsl.inference.program import Operation as Step
from tileas_xdsl.inference.staging import changes, copy_decision, row_major
from tileas_xdsl.transforms.tl_inference.extraction import Extraction


def annotate(extraction: Extraction, program: Program, decisions: Decisions) -> None:
    """Write what was decided on the operations of the kernel."""
    for name, fragment in decisions.fragments.items():
        _lay_out(extraction.names.values[name], attribute_of(fragment))
    for name, layout in decisions.shared.items():
        owner = extraction.names.values[name].owner
        if isinstance(owner, AllocSharedOp):
            owner.layout = SharedAttr(layout)
    for number, decision in decisions.loops.items():
        _distribute(extraction.sites[number], decision)
    for staging in decisions.staged:
        _stage(extraction, program, decisions, staging)
    for conversion in decisions.conversions:
        _convert(extraction, program.operations[conversion.operation], conversion)


def _lay_out(buffer: SSAValue, layout: FragmentAttr) -> None:
    if isinstance(buffer.owner, AllocFragmentOp | ReshapeOp | ViewOp):
        buffer.owner.layout = layout


def _distribute(op: Operation, decision: LoopDecision) -> None:
    assert isinstance(op, ParallelOp | CopyOp | FillOp)
    op.layout = attribute_of(decision.owners)
    op.vector = IntegerAttr(decision.vector, i64) if decision.vector > 1 else None
    op.runs_once = UnitAttr() if decision.runs_once else None
    op.is_padded = UnitAttr() if decision.is_padded else None


def _convert(extraction: Extraction, step: Step, conversion: Conversion) -> None:
    """Let an operation use a second fragment, and move the elements before and behind it."""
    op = extraction.sites[conversion.operation]
    buffer = extraction.names.values[conversion.buffer]
    layout = attribute_of(conversion.target)
    alloc = AllocFragmentOp(shape_of(buffer.type), element_of(buffer.type), layout)
    alloc.buffer.name_hint = buffer.name_hint
    reads, writes = _directions(step, conversion.buffer)
    Builder(InsertPoint.before(op)).insert(alloc)
    if reads:
        before = ConvertLayoutOp(buffer, alloc.buffer, conversion.cost)
        Builder(InsertPoint.before(op)).insert(before)
    if writes:
        behind = ConvertLayoutOp(alloc.buffer, buffer, conversion.cost)
        Builder(InsertPoint.after(op)).insert(behind)
    _use(op, buffer, alloc.buffer)


def _stage(
    extraction: Extraction, program: Program, decisions: Decisions, staging: Staging
) -> None:
    """Let a loop use a copy of a fragment in shared memory."""
    op = extraction.sites[staging.operation]
    buffer = extraction.names.values[staging.buffer]
    layout = SharedAttr(row_major(program.buffers[staging.buffer]))
    alloc = AllocSharedOp(shape_of(buffer.type), element_of(buffer.type), layout)
    alloc.buffer.name_hint = f"{buffer.name_hint}_staged" if buffer.name_hint else None
    Builder(InsertPoint.at_start(extraction.kernel.body.block)).insert(alloc)
    decision = copy_decision(decisions.fragments[staging.buffer])
    before = CopyOp(buffer, alloc.buffer)
    _distribute(before, decision)
    Builder(InsertPoint.before(op)).insert(before)
    if changes(program.operations[staging.operation], staging.buffer):
        behind = CopyOp(alloc.buffer, buffer)
        _distribute(behind, replace(decision, runs_once=False))
        Builder(InsertPoint.after(op)).insert(behind)
    _use(op, buffer, alloc.buffer)


def _use(op: Operation, old: SSAValue, new: SSAValue) -> None:
    """Exchange a buffer in an operation and all in it."""
    for inner in op.walk():
        for index, operand in enumerate(inner.operands):
            if operand is old:
                inner.operands[index] = new


def _directions(step: Step, buffer: str) -> tuple[bool, bool]:
    """Whether an operation needs what is in a buffer, and whether it changes it.

    A loop may leave out some elements that it might write: the others are to come back unchanged.
    """
    match step:
        case Loop():
            kinds = [access.kind for access in step.accesses if access.buffer == buffer]
            writes = any(kind is not AccessKind.READ for kind in kinds)
            return True, writes
        case Reduce():
            is_target = step.target == buffer
            return step.source == buffer or not step.clear, is_target
        case CumSum():
            return step.source == buffer, step.target == buffer
        case Gemm():
            is_sum = step.c == buffer
            return not (is_sum and step.clear), is_sum
