"""Drop values that structured control flow carries: operands, block arguments and results at once.

The operation is made anew when it loses results; its regions, attributes and location stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from tileas_xdsl.analysis.values.loop_carried_values import Carried, ForwardedOperand
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import PipelineYieldOp


def drop(carried: Sequence[Carried]) -> None:
    """Erase carried values with their operands, highest index first.

    Whatever is computed from them for other values that are dropped is erased too; nothing else
    uses them.
    """
    _cut(feed for value in carried for feed in value.feeds)
    heads = [head for value in carried for head in value.heads]
    _erase_users(heads)
    losing: dict[Operation, list[OpResult]] = {}
    for head in sorted(heads, key=_index, reverse=True):
        if isinstance(head, BlockArgument):
            head.block.erase_arg(head)
        elif isinstance(head, OpResult):
            losing.setdefault(head.op, []).append(head)
    for op, results in losing.items():
        _without(op, results)


def _index(value: SSAValue) -> int:
    assert isinstance(value, OpResult | BlockArgument)
    return value.index


def _cut(feeds: Iterable[ForwardedOperand]) -> None:
    """Take operands out, those of one operation together."""
    taken: dict[Operation, set[int]] = {}
    for feed in feeds:
        taken.setdefault(feed.op, set()).add(feed.index)
    for op, indices in taken.items():
        op.operands = [value for i, value in enumerate(op.operands) if i not in indices]
        _yield_the_stage(op)


def _yield_the_stage(end: Operation) -> None:
    """A body of the pipeline that has nothing left to give yields the stage itself."""
    if isinstance(end, PipelineYieldOp) and not end.operands and end.parent is not None:
        end.operands = end.parent.args


def _erase_users(values: Sequence[SSAValue]) -> None:
    """Erase the operations that use values, and those that use what these compute."""
    users: dict[Operation, None] = {}
    pending = list(values)
    while pending:
        new = {use.operation: None for use in pending.pop().uses if use.operation not in users}
        users.update(new)
        pending += (result for user in new for result in user.results)
    for user in users:
        user.operands = ()
    for user in users:
        Rewriter.erase_op(user)


def _without(op: Operation, results: Sequence[OpResult]) -> None:
    """Replace `op` by one that has not these results."""
    lost = set(results)
    kept = [result for result in op.results if result not in lost]
    new = type(op).create(
        operands=op.operands,
        result_types=[result.type for result in kept],
        properties=op.properties,
        attributes=op.attributes,
        location=op.location,
        regions=[op.detach_region(region) for region in tuple(op.regions)],
    )
    for old, replacement in zip(kept, new.results, strict=True):
        replacement.name_hint = old.name_hint
        old.replace_all_uses_with(replacement)
    Rewriter.replace_op(op, new, [None] * len(op.results))
