"""Where a pipeline token comes from: along SSA values and structured control flow.

Tokens have no payload, so the pipeline of a token is the `create_pipeline` at the beginning of its
chain.  The chain runs through operations of the pipeline family, through what `scf.for`,
`scf.while` and `scf.if` carry, and through the captures of `agent_switch`; nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue, Use

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.family import entry_of_name
from tileas_xdsl.dialects.nv_tileas.types import IteratorType


@dataclass(frozen=True)
class TokenFault:
    """Why a token has no pipeline, and the value at which its chain breaks."""

    reason: str
    value: SSAValue


def pipeline_of(token: SSAValue) -> CreatePipelineOp | TokenFault:
    """The pipeline of a token."""
    pipelines = pipelines_of(token)
    if isinstance(pipelines, TokenFault):
        return pipelines
    match pipelines:
        case [pipeline]:
            return pipeline
        case []:
            return TokenFault("it has no beginning", token)
        case _:
            return TokenFault(f"it comes from {len(pipelines)} pipelines", token)


def pipelines_of(token: SSAValue) -> Sequence[CreatePipelineOp] | TokenFault:
    """All pipelines that a token may belong to; several where control flow merges them."""
    seen: dict[SSAValue, None] = {token: None}
    pending = [token]
    found: dict[CreatePipelineOp, None] = {}
    while pending:
        value = pending.pop()
        before = inflows(value)
        if before is None:
            step = _step_of(value)
            if isinstance(step, TokenFault):
                return step
            if type(step) is CreatePipelineOp:
                found[step] = None
                continue
            before = step.operands[:1]
        new = [v for v in before if v not in seen]
        seen.update(dict.fromkeys(new))
        pending += new
    return list(found)


def stages_of(token: SSAValue) -> int | None:
    """How many stages the pipeline of a token has, by the nearest operation that knows it."""
    seen: set[Operation] = set()
    pending = [token]
    while pending:
        steps = steps_before(pending.pop())
        for op in () if isinstance(steps, TokenFault) else steps:
            if (stages := _stages_at(op)) is not None:
                return stages
            if op not in seen:
                seen.add(op)
                pending.append(op.operands[0])
    return None


def _stages_at(op: Operation) -> int | None:
    if isinstance(op, CreatePipelineOp):
        return op.stages
    types = (operand.type for operand in op.operands)
    return next((type_.stages for type_ in types if isinstance(type_, IteratorType)), None)


def steps_before(token: SSAValue) -> Sequence[Operation] | TokenFault:
    """The pipeline operations that give a token: one, or several where control flow merges."""
    steps = [_step_of(value) for value in origins(token)]
    fault = next((step for step in steps if isinstance(step, TokenFault)), None)
    if fault is not None:
        return fault
    found = [step for step in steps if not isinstance(step, TokenFault)]
    return found or TokenFault("it has no beginning", token)


def _step_of(value: SSAValue) -> Operation | TokenFault:
    """The pipeline operation that gives a token as such."""
    if not isinstance(value, OpResult):
        return TokenFault(f"it is an argument of '{_parent_name(value)}'", value)
    if (entry := entry_of_name(value.op.name)) is None:
        return TokenFault(f"it comes from '{name_of(value.op)}'", value)
    if value.index >= len(entry.gives):
        return TokenFault(f"it is payload of '{value.op.name}'", value)
    return value.op


def origins(value: SSAValue) -> Iterator[SSAValue]:
    """The values that `value` may be, after structured control flow; each once."""
    return (v for v in carried_values(value) if inflows(v) is None)


def carried_values(value: SSAValue) -> Iterator[SSAValue]:
    """`value` and every value that structured control flow carries into it; each once."""
    seen = {value}
    pending = [value]
    while pending:
        current = pending.pop()
        yield current
        new = [v for v in inflows(current) or () if v not in seen]
        seen.update(new)
        pending += reversed(new)


def inflows(value: SSAValue) -> Sequence[SSAValue] | None:
    """What control flow carries into `value`; None if it does not come by control flow."""
    match value:
        case OpResult():  # first, for most are
            return _into_result(value.op, value.index)
        case BlockArgument():
            return _into_argument(value.block, value.index)
        case _:
            return None


def outflows(use: Use) -> Sequence[SSAValue] | None:
    """What control flow makes of a value that it is given; None if something else uses it."""
    op, parent, index = use.operation, use.operation.parent_op(), use.index
    match op:
        case scf.ForOp() if index >= BOUNDS:
            return _of_iteration(op, index - BOUNDS)
        case scf.WhileOp():
            return (op.before_region.block.args[index],)
        case scf.ConditionOp() if isinstance(parent, scf.WhileOp) and index > 0:
            return parent.results[index - 1], parent.after_region.block.args[index - 1]
        case scf.YieldOp():
            return _behind_yield(parent, index)
        case _:
            return None


BOUNDS = 3
"""The operands of `scf.for` in front of what it carries."""


def _of_iteration(loop: scf.ForOp, position: int) -> Sequence[SSAValue]:
    return loop.results[position], loop.body.block.args[1 + position]


def _behind_yield(parent: Operation | None, index: int) -> Sequence[SSAValue] | None:
    match parent:
        case scf.ForOp():
            return _of_iteration(parent, index)
        case scf.IfOp():
            return (parent.results[index],)
        case scf.WhileOp():
            return (parent.before_region.block.args[index],)
        case _:
            return None


_CARRIES = Kinds(scf.ForOp, scf.IfOp, scf.WhileOp)


def _into_result(op: Operation, index: int) -> Sequence[SSAValue] | None:
    if not op.regions:
        return None
    if not _CARRIES[type(op)]:
        return None
    match op:
        case scf.ForOp():
            return (*op.operands[3 + index : 4 + index], *_at_end(op, 0, index))
        case scf.IfOp():
            return (*_at_end(op, 0, index), *_at_end(op, 1, index))
        case scf.WhileOp():
            return _at_end(op, 0, index + 1)
        case _:
            return None


def _into_argument(block: Block, index: int) -> Sequence[SSAValue] | None:
    match parent := block.parent_op():
        case scf.ForOp() if index > 0:
            return _into_result(parent, index - 1)
        case scf.WhileOp() if block.parent is parent.regions[0]:
            return (*parent.operands[index : index + 1], *_at_end(parent, 1, index))
        case scf.WhileOp():
            return _at_end(parent, 0, index + 1)
        case _:
            return None


def _at_end(op: Operation, region: int, index: int) -> Sequence[SSAValue]:
    """The operand of the terminator of a region; nothing where `op` is not complete.

    `op` may not have been verified yet: an operation inside it, or before it, is verified first.
    """
    block = op.regions[region].blocks.last if region < len(op.regions) else None
    if block is None or block.last_op is None:
        return ()
    return block.last_op.operands[index : index + 1]


def _parent_name(argument: SSAValue) -> str:
    """Return the name of the operation in whose region a block argument is."""
    parent = argument.owner.parent_op()
    return "no operation" if parent is None else name_of(parent)
