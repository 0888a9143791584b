"""Builders: recurring pieces of `nv_tileas` programs, from what a person has in hand."""

from tileas_xdsl.dialects.nv_tileas.builders.compute import (
    DotInputs,
    StageLoop,
    build_masked_dot,
    build_predicated_dot,
    build_staged_dot,
    build_zero_accumulator_dot,
)
from tileas_xdsl.dialects.nv_tileas.builders.memory import (
    TileView,
    build_view_then_load,
    build_view_then_store,
)
from tileas_xdsl.dialects.nv_tileas.builders.pipeline import (
    PIPELINE_OPERATIONS,
    Agent,
    build_agent_switch,
    build_consume_one,
    build_pipeline_op,
    build_produce_one,
)
from tileas_xdsl.dialects.nv_tileas.builders.schedule import (
    MaterializeOptions,
    Schedule,
    ScheduleAnalysis,
    ScheduledOp,
    ScheduleMaterialization,
    StageMap,
    StagePair,
    UnionConstraint,
    build_stages,
    collect_operand_sources,
    expand_single_tiled_op,
    materialize_schedule,
)

__all__ = [
    "PIPELINE_OPERATIONS",
    "Agent",
    "DotInputs",
    "MaterializeOptions",
    "Schedule",
    "ScheduleAnalysis",
    "ScheduleMaterialization",
    "ScheduledOp",
    "StageLoop",
    "StageMap",
    "StagePair",
    "TileView",
    "UnionConstraint",
    "build_agent_switch",
    "build_consume_one",
    "build_masked_dot",
    "build_pipeline_op",
    "build_predicated_dot",
    "build_produce_one",
    "build_staged_dot",
    "build_stages",
    "build_view_then_load",
    "build_view_then_store",
    "build_zero_accumulator_dot",
    "collect_operand_sources",
    "expand_single_tiled_op",
    "materialize_schedule",
]
