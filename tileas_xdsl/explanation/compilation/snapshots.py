"""The IR of a compilation at the passes after which explanations look."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.data_classes import dataclass

if TYPE_CHECKING:
    from tileas_xdsl.compiled_kernel import CompiledKernel, Stage

PLANNED = "tileas-choose-tma"
"""Loads know how they are done, loops are those of the program: what schedules are made from."""

CLUSTERED = "tileas-form-clusters"
"""The same, where loads that neighbouring tile blocks share are marked."""

PIPELINED = "tileas-pipeline-loads"
"""Agents and pipelines are there, with what refused others."""

UNLAID = "tileas-rotate-rows"
"""The pass in front of the one that assigns layouts."""

LAID_OUT = "tileas-defer-lane-sums"
"""The last pass on tiles: all layouts and conversions are there."""

LAID_OUT_BUFFERS = "tl-layout-inference"
"""The same for programs over buffers."""

_KEPT = (PLANNED, CLUSTERED, PIPELINED, UNLAID, LAID_OUT, LAID_OUT_BUFFERS)


@dataclass
class Snapshots:
    """Modules by the pass after which they were copied; those of a compilation that failed too."""

    modules: dict[str, ModuleOp] = field(default_factory=dict[str, ModuleOp])

    def keep(self, stage: Stage, module: ModuleOp) -> None:
        """Copy a module if it is asked for: what `compile_module` takes as `after_pass`."""
        if stage.name in _KEPT:
            self.modules[stage.name] = module.clone()

    @staticmethod
    def of(compiled: CompiledKernel) -> Snapshots:
        """Run the passes of a kernel once more, up to the last one that is asked for."""
        found = Snapshots()
        wanted = {spec.name for spec in compiled.passes} & {*_KEPT}
        for spec, module in compiled.modules():
            if spec.name in wanted:
                found.modules[spec.name] = module.clone()
                wanted.discard(spec.name)
            if not wanted:
                break
        return found
