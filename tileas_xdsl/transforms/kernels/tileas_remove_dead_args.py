"""The pass `tileas-remove-dead-args`: drop dead carried values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from tileas_xdsl.analysis.values.loop_carried_values import (
    Carried,
    ForwardedOperand,
    by_head,
    carried_in,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operands_of, operations_in
from tileas_xdsl.dialects.ir_queries import has_trait, is_side_effect_free
from tileas_xdsl.dialects.nv_tileas.pipelines.checks import stage_types
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.transforms.canonicalization.nv_tileas.decompose_loop import TOKEN_POSITION
from tileas_xdsl.transforms.region_values import drop


@dataclass(frozen=True)
class TileasRemoveDeadArgs(ModulePass):
    """Drop dead carried values of loops and branches: block arguments, results and operands.

    Analysis (a liveness fixpoint over carried values), then one rewrite.

    Needs: any verified module.  `scf.for`, `scf.while`, `scf.if`, `scf.index_switch`,
    `scf.execute_region`, `pragma` and the payload of pipeline operations are searched; arguments
    of stages and of agents are what the pipeline's types say, and stay.

    Leaves: the same program without the values that only feed themselves or one another, directly
    or through operations without effects, and without those operations.  An operation whose
    results were all dropped stays for what it does.

    Idempotent and deterministic.  It has no diagnostics and never stops a pipeline.
    """

    name = "tileas-remove-dead-args"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        carried = list(carried_in(op))
        needed = _Needed.of(op, carried)
        drop([value for value in carried if value not in needed.carried])


@dataclass
class _Needed:
    """The carried values and the results that something needs."""

    of_head: Mapping[SSAValue, Carried]
    feeds: frozenset[ForwardedOperand]
    carried: set[Carried] = field(default_factory=set[Carried])
    computed: set[Operation] = field(default_factory=set[Operation])
    """Operations without effects one of whose results is needed."""

    @staticmethod
    def of(root: Operation, carried: Sequence[Carried]) -> _Needed:
        """What is needed in `root`: all that operations with effects use, and what that needs."""
        feeds = frozenset(feed for value in carried for feed in value.feeds)
        needed = _Needed(by_head(carried), feeds)
        for op in operations_in(root):
            if not _only_computes(op):
                operands = enumerate(operands_of(op))
                needed.require(v for i, v in operands if ForwardedOperand(op, i) not in feeds)
        for value in carried:
            if _is_pinned(value):
                needed.require(value.heads)
        return needed

    def require(self, values: Iterable[SSAValue]) -> None:
        """These values are needed, and so is everything that they come from."""
        pending = list(values)
        while pending:
            value = pending.pop()
            if (carried := self.of_head.get(value)) is not None:
                if carried not in self.carried:
                    self.carried.add(carried)
                    pending += (feed.value for feed in carried.feeds)
            elif isinstance(value, OpResult) and self._is_new_computation(value.op):
                self.computed.add(value.op)
                pending += value.op.operands

    def _is_new_computation(self, op: Operation) -> bool:
        return op not in self.computed and _only_computes(op)


def _only_computes(op: Operation) -> bool:
    """Whether `op` may go when its results are not needed."""
    return not op.regions and not has_trait(op, IsTerminator) and is_side_effect_free(op)


def _is_pinned(carried: Carried) -> bool:
    """Whether something other than a use needs a value: a position, or the types of a stage.

    A body of the pipeline that gives nothing yields the stage, which it cannot where an iterator
    among its arguments stands for a value of the stage.
    """
    op = carried.op
    if isinstance(op, StageOp):
        return tuple(op.regions[0].block.arg_types) != tuple(stage_types(op))
    return TOKEN_POSITION in op.attributes
