"""What a launch has to know to decide whether several CTAs should compute each tile block.

%n = ceildivsi %k, 64                     counts = [8, 4, 2]
scf.for %i = 0 to %n {                    steps = ["0", "scalar 5", "64", "ceildivsi 1 2", "1"]
  %x = tiled_load %a[%b, %i] : 128x64 ->  loops = [{amount = 49152, bounds = [0, 3, 4]}]
  %y = tiled_load %b[%i, %j] : 64x256
}
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from xdsl.dialects import func, scf
from xdsl.ir import Attribute

from tileas_xdsl.analysis.memory.shared_memory import tile_bytes
from tileas_xdsl.analysis.values.launches.launch_loops import LaunchLoops
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.plain_attributes import plain_attribute
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.launches.few_tile_blocks import ALONE, COUNTS
from tileas_xdsl.transforms.divide_sums.launches_that_gain import launches_that_gain, summing_loop
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import enclosing_control
from tileas_xdsl.transforms.pipeline_loads.rounds.loads_together import first_loads
from tileas_xdsl.transforms.plan_cta.division import MIN_SUMS_OF_PART, possible_counts


def few_tile_blocks(kernel: func.FuncOp, target: Target, *, may_divide: bool) -> Attribute | None:
    """Return the attribute that `FewTileBlocks` are read of; None where nothing is to be asked.

    A kernel that says that it wants one CTA for each tile block is not divided.
    """
    loops = _loading_loops(kernel)
    if loops.is_empty:
        return None
    is_asked = _has_pipeline(kernel) or _loads_rounds(kernel)
    counts = possible_counts(kernel, COUNTS) if may_divide else ()
    counts = [*counts, *([ALONE] if is_asked else [])]
    if not counts:
        return None
    loaded = [asdict(loop) for loop in loops.loops]
    found: dict[str, Any] = {"counts": counts, "steps": loops.steps, "loops": loaded}
    wide = (ALONE, *possible_counts(kernel, COUNTS, MIN_SUMS_OF_PART))
    if narrow := [count for count in counts if count not in wide]:
        summing = summing_loop(kernel)
        if not isinstance(summing, str):
            instead = asdict(launches_that_gain(kernel, summing, target))
            found |= {"narrow": narrow, "instead": instead}
    return plain_attribute(found)


def _has_pipeline(kernel: func.FuncOp) -> bool:
    """Whether a loop multiplies, so that stages are loaded ahead: as many as have room."""
    return any(enclosing_control(op) for op in instances_in(kernel, DotOp))


def _loads_rounds(kernel: func.FuncOp) -> bool:
    """Whether rounds of a loop load tiles that they read in registers: those of the next, too."""
    return any(first_loads(loop) for loop in instances_in(kernel, scf.ForOp))


def _loading_loops(kernel: func.FuncOp) -> LaunchLoops:
    """Return what iterations load; loops whose bounds a launch does not know count once."""
    found = LaunchLoops()
    for op in kernel.walk():
        if isinstance(op, LoadOp | TiledLoadOp):
            bounds = [three for three in found.bounds(enclosing_control(op)) if three]
            if bounds:
                found.add(bounds, tile_bytes(op.results[0].type))
    return found
