"""Find loops that two agents run in step, which carry the pipeline tokens of a transfer."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from tileas_xdsl.transforms.resolve_agent_boundary.crossings import is_recomputed, path_to


def loops_to(block: Block, root: Block) -> Sequence[scf.ForOp] | Operation:
    """The counted loops around a block inside the body of an agent, the outermost first.

    If something else is around it too, that operation.
    """
    around = path_to(block, root)
    odd = next((op for op in around if not isinstance(op, scf.ForOp)), None)
    return odd or [op for op in around if isinstance(op, scf.ForOp)]


def in_step(one: Sequence[scf.ForOp], other: Sequence[scf.ForOp]) -> bool:
    """Whether two nests of loops make the same rounds."""
    if len(one) != len(other):
        return False
    alike: dict[SSAValue, SSAValue] = {}
    for own, others in zip(one, other, strict=True):
        bounds = zip(own.operands[:3], others.operands[:3], strict=True)
        if not all(_is_same(a, b, alike) for a, b in bounds):
            return False
        alike[own.body.block.args[0]] = others.body.block.args[0]
    return True


def _is_same(one: SSAValue, other: SSAValue, alike: dict[SSAValue, SSAValue]) -> bool:
    """Whether two values are always equal: one value, or computed alike of equal ones."""
    pending, seen = [(one, other)], {(one, other)}
    while pending:
        a, b = pending.pop()
        if a is b or alike.get(a) is b:
            continue
        if not isinstance(a, OpResult) or not isinstance(b, OpResult):
            return False
        if a.index != b.index or not _are_equivalent(a.op, b.op):
            return False
        new = [pair for pair in zip(a.op.operands, b.op.operands, strict=True) if pair not in seen]
        seen.update(new)
        pending += new
    return True


def _are_equivalent(one: Operation, other: Operation) -> bool:
    """Whether two operations give equal results of equal operands."""
    return (
        type(one) is type(other)
        and is_recomputed(one)
        and len(one.operands) == len(other.operands)
        and one.result_types == other.result_types
        and one.properties == other.properties
        and one.attributes == other.attributes
    )


def counter_in(value: SSAValue, block: Block, root: Block, defining: Block) -> SSAValue | None:
    """The counter of the loop around `block` that is in step with the one `value` counts.

    `root` and `defining` are the bodies of the agents of `block` and of `value`.
    """
    if not isinstance(value, BlockArgument) or value.index:
        return None
    own_loops = loops_to(value.block, defining)
    if isinstance(own_loops, Operation) or not own_loops:
        return None
    other_loops = [op for op in path_to(block, root)[: len(own_loops)] if isinstance(op, scf.ForOp)]
    return other_loops[-1].body.block.args[0] if in_step(own_loops, other_loops) else None


def carry(loops: Sequence[scf.ForOp], values: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Let a nest of loops carry values in; those that the innermost body gets.

    `hand_back` completes it.
    """
    for loop in loops:
        block = loop.body.block
        loop.operands = [*loop.operands, *values]
        values = [block.insert_arg(value.type, len(block.args)) for value in values]
        for argument in values:
            argument.location = loop.location
    return values


def hand_back(loops: Sequence[scf.ForOp], values: Sequence[SSAValue]) -> None:
    """Let a nest of loops carry on with values that the innermost body gives."""
    for loop in reversed(loops):
        end = loop.body.block.last_op
        assert end is not None
        end.operands = [*end.operands, *values]
        values = _add_results(loop, values)


def _add_results(loop: scf.ForOp, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
    first = len(loop.results)
    new = [OpResult(value.type, loop, first + k) for k, value in enumerate(values)]
    loop.results = type(loop.results)((*loop.results, *new))
    return new
