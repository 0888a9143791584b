"""Why TMA, pipelines and schedules were not used: what passes leave as attributes, collected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.explanation.facts import Reason
from tileas_xdsl.transforms.chunk_tiles.row_forms import ROWS_IN_REGISTERS
from tileas_xdsl.transforms.kernels.tileas_chunk_tiles import TileasChunkTiles
from tileas_xdsl.transforms.kernels.tileas_deal_iterations import NOT_DEALT, TileasDealIterations
from tileas_xdsl.transforms.kernels.tileas_form_clusters import NOT_CLUSTERED, TileasFormClusters
from tileas_xdsl.transforms.kernels.tileas_make_persistent import (
    NOT_PERSISTENT,
    TileasMakePersistent,
)
from tileas_xdsl.transforms.kernels.tileas_plan_cta import NOT_DIVIDED, TileasPlanCta
from tileas_xdsl.transforms.loops.tileas_divide_sums import NOT_SPLIT, TileasDivideSums
from tileas_xdsl.transforms.memory.tileas_choose_tma import NOT_BY_TMA, TileasChooseTma
from tileas_xdsl.transforms.memory.tileas_multicast_loads import NOT_SHARED, TileasMulticastLoads
from tileas_xdsl.transforms.pipelining.tileas_generate_schedule import (
    NOT_SCHEDULED,
    TileasGenerateSchedule,
)
from tileas_xdsl.transforms.pipelining.tileas_materialize_schedule import (
    NOT_MATERIALIZED,
    NOT_ROTATED,
    TileasMaterializeSchedule,
)
from tileas_xdsl.transforms.pipelining.tileas_pipeline_loads import (
    NOT_PIPELINED,
    TileasPipelineLoads,
)
from tileas_xdsl.transforms.plan_cta.cta_pairs import NOT_PAIRED

RECORDED: Mapping[str, tuple[str, str]] = {
    NOT_BY_TMA: ("TMA", TileasChooseTma.name),
    NOT_PIPELINED: ("pipeline", TileasPipelineLoads.name),
    NOT_SCHEDULED: ("schedule", TileasGenerateSchedule.name),
    NOT_MATERIALIZED: ("schedule", TileasMaterializeSchedule.name),
    NOT_ROTATED: ("rotation", TileasMaterializeSchedule.name),
    NOT_DIVIDED: ("CTAs", TileasPlanCta.name),
    NOT_DEALT: ("shared last waves", TileasDealIterations.name),
    NOT_SPLIT: ("divided sums", TileasDivideSums.name),
    NOT_PERSISTENT: ("persistent CTAs", TileasMakePersistent.name),
    NOT_CLUSTERED: ("clusters", TileasFormClusters.name),
    NOT_SHARED: ("multicast", TileasMulticastLoads.name),
    ROWS_IN_REGISTERS: ("rows in shared memory", TileasChunkTiles.name),
    NOT_PAIRED: ("products of two CTAs", TileasPlanCta.name),
}
"""By attribute: what was not done, and the pass that says why."""


def reasons_in(modules: Iterable[ModuleOp]) -> Sequence[Reason]:
    """Return the reasons in modules of one compilation, each once, in program order."""
    found = (reason for module in modules for op in module.walk() for reason in reasons_at(op))
    return list(dict.fromkeys(found))


def reasons_at(op: Operation) -> Iterator[Reason]:
    """Yield the reasons that passes left at one operation."""
    for name, (what, decided_by) in RECORDED.items():
        why = op.attributes.get(name)
        if isinstance(why, StringAttr):
            yield Reason(what, why.data, decided_by, op.name, location_of(op))
