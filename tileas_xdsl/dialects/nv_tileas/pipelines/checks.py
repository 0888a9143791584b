"""Verifiers of the pipeline family: the template of region operations, the handshake.

Order: the regions against the type lists, the iterator, the pipeline of the token, the consumer
index.  Operands and attributes are checked against the family table before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, note, op_error
from tileas_xdsl.diagnostics.locations import file_location
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.dialects.ir_queries import enclosing_ops
from tileas_xdsl.dialects.nv_tileas.pipelines.base import PipelineOp, payload_types, types_text
from tileas_xdsl.dialects.nv_tileas.pipelines.family import (
    AGENT_SWITCH,
    YIELD,
    PipelineEntry,
    entry_of_name,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import (
    TokenFault,
    carried_values,
    inflows,
    pipelines_of,
    stages_of,
    steps_before,
)
from tileas_xdsl.dialects.nv_tileas.types import IteratorType


def check_stage_op(op: PipelineOp) -> None:
    """All checks of an operation that works on a stage of a pipeline, in order."""
    types = stage_types(op)
    if op.regions:
        check_body(op, op.regions[0].block, types)
    check_iterator(op, types)
    check_token(op, op.operands[0], op.ENTRY)
    check_stages(op)
    check_consumer_idx(op)


def stage_types(op: PipelineOp) -> Sequence[Attribute]:
    """The types of a stage's values: those that the operation lists, else the iterator's."""
    for name in op.ENTRY.type_lists:
        if (listed := op.properties.get(name)) is not None:
            return cast("ArrayAttr[Attribute]", listed).data
    return payload_types(op.operands)


def check_body(op: PipelineOp, block: Block, types: Sequence[Attribute]) -> None:
    """The template: block arguments against the list, then what the body yields.

    An iterator among the block arguments stands for its payload; in the list it does not.
    """
    arguments = [argument.type for argument in block.args]
    if [_unwrapped(type_) for type_ in arguments] != list(types):
        raise _mismatch(op, "nv_tileas.pipeline.argument_types", types, arguments)
    check_terminator(op, block)
    payload = [result.type for result in op.results[len(op.ENTRY.gives) :]]
    yielded = [value.type for value in block.last_op.operands] if block.last_op else []
    if yielded != (wanted := payload or list(types)):
        raise _mismatch(op, "nv_tileas.pipeline.result_types", wanted, yielded)


def _unwrapped(type_: Attribute) -> Attribute:
    return type_.payload if isinstance(type_, IteratorType) else type_


def _mismatch(
    op: Operation, key: str, expected: Sequence[Attribute], given: Sequence[Attribute]
) -> OpError:
    return op_error(op, message(key, expected=types_text(expected), given=types_text(given)))


def check_terminator(op: Operation, block: Block) -> None:
    """Every body of the family ends with the yield of the family."""
    if block.last_op is None or block.last_op.name != YIELD.op_name:
        raise op_error(op, message("nv_tileas.pipeline.terminator"))


def check_iterator(op: PipelineOp, types: Sequence[Attribute]) -> None:
    """Check that the iterator is the same on all paths and has the payload of the operation."""
    if (position := op.ENTRY.iterator_at) is None:
        return
    iterator = op.operands[position]
    check_merges(op, iterator)
    if (held := payload_types([iterator])) != tuple(types):
        name = next((n for n in op.ENTRY.type_lists if n in op.properties), "the list")
        raise op_error(
            op, f"rotates over [{types_text(held)}], but {name} is [{types_text(types)}]"
        )


def check_merges(op: Operation, iterator: SSAValue) -> None:
    """The arms of every `scf.if` on the way of an iterator yield its very type."""
    for value in carried_values(iterator):
        owner = value.owner
        if not isinstance(owner, scf.IfOp):
            continue
        arms = [arm.type for arm in inflows(value) or ()]
        if any(type_ != value.type for type_ in arms):
            text = message("nv_tileas.pipeline.iterators_differ")
            raise op_error(op, text, [note(owner, f"the arms yield [{types_text(arms)}]")])


def check_token(op: Operation, token: SSAValue, entry: PipelineEntry | None = None) -> None:
    """The token leads to one pipeline, and comes from a step that this one may follow."""
    steps = steps_before(token)
    if isinstance(steps, TokenFault):
        raise _no_pipeline(op, steps)
    if entry is not None and entry.follows:
        _check_step_before(op, steps, entry)
        _check_only_end(op, token)
    if len(steps) < 2:
        return
    pipelines = pipelines_of(token)
    if not isinstance(pipelines, TokenFault) and len(pipelines) > 1:
        notes = [note(pipeline, "one of its pipelines") for pipeline in pipelines]
        raise op_error(op, f"has a token of {len(pipelines)} pipelines", notes)


def _no_pipeline(op: Operation, fault: TokenFault) -> Exception:
    text = f"cannot follow its token to a pipeline: {fault.reason}"
    return op_error(op, text, [note_at(fault.value, "the token is made here")])


def note_at(value: SSAValue, text: str) -> Diagnostic:
    """A note at the definition of a value."""
    if isinstance(value, OpResult):
        return note(value.op, text)
    location = file_location(value.location) if isinstance(value, BlockArgument) else None
    return note(location, text)


def _check_step_before(op: Operation, steps: Sequence[Operation], entry: PipelineEntry) -> None:
    for step in steps:
        before = entry_of_name(step.name)
        if before is None or before.mnemonic not in entry.follows:
            listed = ", ".join(entry.follows[:-1])
            text = f"needs a token from {listed} or {entry.follows[-1]}, but it comes from"
            raise op_error(op, f"{text} '{step.name}'", [note(step, "the token is made here")])


def _check_only_end(op: Operation, token: SSAValue) -> None:
    """No operation before this one, in its block, commits or releases the same token."""
    others = [use.operation for use in token.uses if use.operation is not op]
    for other in others:
        if other.name == op.name and other.parent is op.parent and other.is_before_in_block(op):
            raise op_error(op, "ends a stage that has ended", [note(other, "it ended here")])


def check_stages(op: PipelineOp) -> None:
    """The iterator rotates through as many stages as the pipeline has, where both are known."""
    position = op.ENTRY.iterator_at
    value = op.results[0] if position is None else op.operands[position]
    if not isinstance(value.type, IteratorType) or (count := value.type.stages) is None:
        return
    stages = stages_of(op.operands[0])
    if stages is not None and stages != count:
        raise op_error(op, f"rotates through {count} stages, but the pipeline has {stages}")


def check_consumer_idx(op: PipelineOp) -> None:
    """The index is one of the consumer group: that of the agents around, if there are any."""
    index = op.properties.get("consumer_idx")
    if not isinstance(index, IntegerAttr):
        return
    size = _group_size(op)
    if index.value.data < 0 or (size is not None and index.value.data >= size):
        raise op_error(op, message("nv_tileas.pipeline.consumer_index"))


def _group_size(op: Operation) -> int | None:
    for parent in enclosing_ops(op):
        if parent.name == AGENT_SWITCH.op_name:
            size = parent.properties.get("num_agents_per_group")
            return size.value.data if isinstance(size, IntegerAttr) else None
    return None
