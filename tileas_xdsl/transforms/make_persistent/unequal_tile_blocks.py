"""What a launch has to know to decide whether CTAs should take tile blocks that differ in length.

%n = ceildivsi (%block + 1) * 128, 128    steps = ["0", "block x", ..., "1"]
scf.for %i = 0 to %n { dot; dot }     ->  loops = [{amount = 2048, bounds = [0, 4, 5]}]
"""

from __future__ import annotations

from dataclasses import asdict

from xdsl.dialects import func
from xdsl.ir import Attribute

from tileas_xdsl.analysis.values.launch_loops import LaunchLoops
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.plain_attributes import plain_attribute
from tileas_xdsl.target.costs.latencies import Latencies
from tileas_xdsl.target.unequal_tile_blocks import UnequalTileBlocks
from tileas_xdsl.transforms.pipeline_loads.producer_slice import enclosing_control
from tileas_xdsl.transforms.pipeline_loads.product_cycles import dot_cycles


def unequal_tile_blocks(
    kernel: func.FuncOp, times: Latencies, together: int, ctas: int
) -> Attribute | None:
    """Return the attribute that `UnequalTileBlocks` is read of; None where a launch cannot know."""
    loops = LaunchLoops()
    for op in instances_in(kernel, DotOp):
        bounds = loops.bounds(enclosing_control(op))
        if not all(bounds):
            return None
        loops.add(bounds, dot_cycles(op, times))
    if loops.is_empty:
        return None
    return plain_attribute(asdict(UnequalTileBlocks(loops.steps, loops.loops, together, ctas)))
