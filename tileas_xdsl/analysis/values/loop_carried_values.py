"""Operands of region operations, with the block arguments and results that they become.

A value that a loop carries is several SSA values: the initial operand and the yielded one
(`feeds`), the block argument and the result (`heads`). Their types change together, and they are
dropped together:

    %r = scf.for %i = ... iter_args(%t = %init) {     heads (%t, %r)
      ...                                             feeds (operand 3 of scf.for, operand 0 of
      yield) scf.yield %next
    }

The same for `scf.while` (two groups: what the first region takes, what `condition` forwards), for
branches, and for pipeline stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileas.control import PragmaOp, YieldOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import PipelineYieldOp, StageOp


@dataclass(frozen=True, slots=True)
class ForwardedOperand:
    """An operand that control flow forwards to block arguments or results."""

    op: Operation
    index: int

    @property
    def value(self) -> SSAValue:
        """The forwarded value."""
        return self.op.operands[self.index]


@dataclass(frozen=True, eq=False, slots=True)
class Carried:
    """A value that `op` carries: what flows in, and the block arguments and results it becomes."""

    op: Operation
    heads: tuple[SSAValue, ...]
    feeds: tuple[ForwardedOperand, ...]


_STAGES = Kinds(StageOp)


def carried_by(op: Operation) -> Sequence[Carried]:
    """The values that `op` carries, in order; none for operations that are not control flow."""
    if not op.regions and not _STAGES[type(op)]:
        return ()
    match op:
        case scf.ForOp():
            found = _of_for(op)
        case scf.WhileOp():
            found = _of_while(op)
        case scf.IfOp() | scf.IndexSwitchOp() | scf.ExecuteRegionOp():
            found = _of_branches(op, scf.YieldOp, 0)
        case PragmaOp():
            found = _of_branches(op, YieldOp, 0)
        case StageOp() if op.ENTRY.has_payload:
            found = _of_branches(op, PipelineYieldOp, len(op.ENTRY.gives))
        case _:
            return ()
    return list(found) if found is not None else ()


def carried_in(root: Operation) -> Iterator[Carried]:
    """All values that are carried by operations in `root`, the outer ones first."""
    return chain.from_iterable(map(carried_by, operations_in(root)))


def by_head(carried: Sequence[Carried]) -> Mapping[SSAValue, Carried]:
    """Map each block argument and result to the carried value that it is."""
    return {head: value for value in carried for head in value.heads}


def _of_for(op: scf.ForOp) -> Iterator[Carried] | None:
    end = op.body.block.last_op
    count = len(op.iter_args)
    if not isinstance(end, scf.YieldOp) or len(end.operands) != count:
        return None
    arguments = op.body.block.args[1:]
    return (
        Carried(
            op, (arguments[i], op.res[i]), (ForwardedOperand(op, 3 + i), ForwardedOperand(end, i))
        )
        for i in range(count)
    )


def _of_while(op: scf.WhileOp) -> Iterator[Carried] | None:
    """Return the values that the first region takes, then those that `condition` forwards.

    None where their numbers differ, which the verifier of `scf.while` does not check.
    """
    before, after = op.before_region.block, op.after_region.block
    condition, end = before.last_op, after.last_op
    if not isinstance(condition, scf.ConditionOp) or not isinstance(end, scf.YieldOp):
        return None
    taken, forwarded = len(op.arguments), len(op.res)
    if not taken == len(before.args) == len(end.operands):
        return None
    if not forwarded == len(after.args) == len(condition.args):
        return None
    return chain(
        (
            Carried(op, (before.args[i],), (ForwardedOperand(op, i), ForwardedOperand(end, i)))
            for i in range(taken)
        ),
        (
            Carried(op, (after.args[i], op.res[i]), (ForwardedOperand(condition, 1 + i),))
            for i in range(forwarded)
        ),
    )


def _of_branches(op: Operation, end: type[Operation], skipped: int) -> Iterator[Carried] | None:
    """The results from `skipped` on, which every block of `op` that ends with `end` yields."""
    results = op.results[skipped:]
    ends = [last for last in map(_last_op, _blocks(op)) if isinstance(last, end)]
    if any(len(last.operands) != len(results) for last in ends) or not ends:
        return None
    return (
        Carried(op, (result,), tuple(ForwardedOperand(last, i) for last in ends))
        for i, result in enumerate(results)
    )


def _blocks(op: Operation) -> Iterator[Block]:
    return chain.from_iterable(region.blocks for region in op.regions)


def _last_op(block: Block) -> Operation | None:
    return block.last_op


def is_inside(value: SSAValue, op: Operation) -> bool:
    """Whether `value` is defined in a region of `op`."""
    owner = value.owner
    region: Region | None = owner.parent if isinstance(owner, Block) else owner.parent_region()
    while region is not None:
        parent = region.parent
        if parent is op:
            return True
        region = None if parent is None else parent.parent_region()
    return False
