"""What a TMA descriptor is built from, and whether a host could build it from the same.

`capture_problem` walks back from the operands of `make_tiled_tma_desc`.  A value that merges
several others (a block argument, what a region yields) has no one captured value, and one that
depends on structured control flow is not known before the kernel runs.  Only the pass that moves
descriptors to the host refuses `math` as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

from xdsl.dialects import cf, scf
from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments
from xdsl.traits import CallableOpInterface, IsolatedFromAbove
from xdsl.utils.hints import isa

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.ir_queries import has_trait

_BOUNDS = 3
"""The operands of a loop before what it carries: lower bound, upper bound, step."""

_SEGMENTS = 3
"""The segments of operands of a conditional branch: its condition, and what it hands to each."""


class Obstacle(IntEnum):
    """What keeps a value from being captured; the least one is reported."""

    MERGED = 0
    STRUCTURED_CONTROL_FLOW = 1
    MATH = 2


def capture_problem(op: Operation, *, for_host: bool) -> str | None:
    """Why what the descriptor `op` depends on cannot be captured, None if it can."""
    return capture_problem_of(op.operands, for_host=for_host)


def capture_problem_of(values: Iterable[SSAValue], *, for_host: bool = False) -> str | None:
    """Why values that a descriptor would depend on cannot be captured, None if they can."""
    found = [*_obstacles(values)]
    if not for_host:
        found = [(kind, value) for kind, value in found if kind is not Obstacle.MATH]
    if not found:
        return None
    kind, value = min(found, key=lambda item: item[0])
    return _text(kind, value)


def _text(kind: Obstacle, value: SSAValue) -> str:
    if kind is Obstacle.MATH:
        return message("nv_tileas.tma_capture.math")
    if kind is Obstacle.STRUCTURED_CONTROL_FLOW:
        return message("nv_tileas.tma_capture.scf")
    return message("nv_tileas.tma_capture.several_values", value=_describe(value))


def _describe(value: SSAValue) -> str:
    if isinstance(value, BlockArgument):
        return f"<block argument> of type '{value.type}' at index: {value.index}"
    assert isinstance(value, OpResult)
    return f"result #{value.index} of '{value.op.name}'"


def _obstacles(values: Iterable[SSAValue]) -> Iterator[tuple[Obstacle, SSAValue]]:
    """Walk to everything that `values` depend on; not beyond an obstacle."""
    pending, seen = list(reversed([*values])), set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if (kind := _obstacle(value)) is not None:
            yield kind, value
            continue
        pending.extend(reversed(_dependencies(value)))


def _obstacle(value: SSAValue) -> Obstacle | None:
    if len(_sources(value)) > 1:
        return Obstacle.MERGED
    owner = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
    if owner is None:
        return None
    if owner.name.startswith("scf."):
        return Obstacle.STRUCTURED_CONTROL_FLOW
    if isinstance(value, OpResult) and owner.name.startswith("math."):
        return Obstacle.MATH
    if isinstance(value, BlockArgument) and _is_handed_in(value, owner):
        return Obstacle.MERGED
    return None


def _is_handed_in(argument: BlockArgument, owner: Operation) -> bool:
    """Whether an operation gives a block this value as it likes, as a pipeline gives a stage."""
    if argument.block is _entry(argument):
        return not _is_function(owner)
    branches = [block.last_op for block in argument.block.predecessors()]
    return not all(isinstance(b, cf.BranchOp | cf.ConditionalBranchOp) for b in branches)


def _entry(argument: BlockArgument) -> Block | None:
    region = argument.block.parent
    return region.first_block if isinstance(region, Region) else None


def _is_function(op: Operation) -> bool:
    return has_trait(op, CallableOpInterface) or has_trait(op, IsolatedFromAbove)


def _dependencies(value: SSAValue) -> Sequence[SSAValue]:
    if isinstance(value.owner, Block):
        return [*_sources(value)]
    return [*value.owner.operands, *_sources(value)]


def origins(value: SSAValue) -> Sequence[SSAValue]:
    """The values that control flow hands on as `value`; itself if nothing else is known."""
    pending, seen, found = [value], set[SSAValue](), list[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        sources = _sources(value)
        pending.extend(reversed(sources))
        if not sources:
            found.append(value)
    return found


def _sources(value: SSAValue) -> Sequence[SSAValue]:
    """Return the different values that control flow may substitute for `value`."""
    if isinstance(value, BlockArgument):
        found = _into_argument(value)
    elif isinstance(value.owner, Operation):
        found = _out_of_regions(value.owner, value.index if isinstance(value, OpResult) else 0)
    else:
        found = iter(())
    return [*dict.fromkeys(source for source in found if source is not value)]


def _into_argument(argument: BlockArgument) -> Iterator[SSAValue]:
    owner = argument.block.parent_op()
    if isinstance(owner, scf.ForOp):
        yield from _around_loop(owner, argument.index - 1)
        return
    for block in argument.block.predecessors():
        yield from _along_branch(block.last_op, argument)


def _around_loop(loop: scf.ForOp, index: int) -> Iterator[SSAValue]:
    """The initial value of an iteration argument, and what the body yields for it."""
    if index < 0:
        return
    first = _BOUNDS + index
    yield from loop.operands[first : first + 1]
    body = loop.regions[0].first_block if loop.regions else None
    carried = () if body is None else body.args[index + 1 : index + 2]
    for yielded in _yielded(loop, index):
        if yielded not in carried:
            yield yielded


def _along_branch(branch: Operation | None, argument: BlockArgument) -> Iterator[SSAValue]:
    """What a branch hands to `argument`; nothing where it hands too little."""
    one = slice(argument.index, argument.index + 1)
    if isinstance(branch, cf.BranchOp):
        yield from branch.operands[one]
    if isinstance(branch, cf.ConditionalBranchOp):
        handed = _conditionally_handed(branch)
        for target, values in zip(branch.successors, handed, strict=False):
            if target is argument.block:
                yield from values[one]


def _conditionally_handed(branch: cf.ConditionalBranchOp) -> Sequence[Sequence[SSAValue]]:
    """What each successor is handed; nothing where the sizes of the segments do not fit."""
    sizes = branch.properties.get(AttrSizedOperandSegments.attribute_name)
    if not isa(sizes, DenseArrayBase[IntegerType]):
        return ()
    counts = sizes.get_values()
    if len(counts) != _SEGMENTS or min(counts) < 0 or sum(counts) != len(branch.operands):
        return ()
    condition, then, _ = counts
    operands = [*branch.operands]
    return operands[condition : condition + then], operands[condition + then :]


def _out_of_regions(op: Operation, index: int) -> Iterator[SSAValue]:
    if isinstance(op, scf.ForOp):
        yield from _around_loop(op, index)
    elif not _is_function(op):
        yield from _yielded(op, index)


def _yielded(op: Operation, index: int) -> Iterator[SSAValue]:
    """What the terminators of the regions give for a result; results are counted from the last."""
    from_last = index - len(op.results)
    if from_last >= 0:
        return
    for region in op.regions:
        last = region.blocks[-1].last_op if region.blocks else None
        if last is not None and len(last.operands) >= -from_last:
            yield last.operands[from_last]
