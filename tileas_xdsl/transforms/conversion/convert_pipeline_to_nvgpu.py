"""The pass `convert-pipeline-to-nvgpu`: lower `cutlass` to mbarriers of `cute_nvgpu`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.verification.required_dialects import require_dialects
from tileas_xdsl.dialects.cutlass import StateGetCountOp
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.transforms.extension import apply_added
from tileas_xdsl.transforms.pipeline_to_nvgpu.handlers import HANDLERS
from tileas_xdsl.transforms.pipeline_to_nvgpu.legality import check_function
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Writer


@dataclass(frozen=True)
class ConvertPipelineToNvgpu(ModulePass):
    """Lower pipelines, sequence barriers, named barriers and tile schedulers.

    A stage has two mbarriers, full and empty; a state becomes a stage index and a phase parity (and
    a count if it is read), which loops and branches of `scf` carry instead.  Other operations stay.
    A pipeline that is not initialised, or whose transaction bytes are not announced, is an error.

    A conversion with a table of handlers, not a pattern set: one value becomes several, through
    all of `scf`, which a rewrite of one operation cannot do and leave valid IR.
    """

    name = "convert-pipeline-to-nvgpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_dialects(ctx, self.name, ("arith", "cute", "cute_nvgpu", "scf"))
        apply_added(ConvertPipelineToNvgpu.name, op)
        functions = [f for f in instances_in(op, func.FuncOp) if not f.is_declaration]
        for function in functions:
            check_function(function)
        for function in functions:
            counted = has_instance(function, StateGetCountOp)
            writer = Writer(HANDLERS, counted)
            for block in tuple(function.body.blocks):
                writer.run(block)
            writer.finish()
