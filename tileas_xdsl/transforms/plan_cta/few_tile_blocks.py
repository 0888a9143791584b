"""What a launch has to know to decide whether several CTAs should compute each tile block.

%n = ceildivsi %k, 64                     counts = [8, 4, 2]
scf.for %i = 0 to %n {                    steps = ["0", "scalar 5", "64", "ceildivsi 1 2", "1"]
  %x = tiled_load %a[%b, %i] : 128x64 ->  loops = [{amount = 49152, bounds = [0, 3, 4]}]
  %y = tiled_load %b[%i, %j] : 64x256
}
"""

from __future__ import annotations

from dataclasses import asdict, replace
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
from tileas_xdsl.target.kernel_abi import DIVIDED_SUMS
from tileas_xdsl.target.launches.divided_sums import DividedSums
from tileas_xdsl.target.launches.few_tile_blocks import ALONE, COUNTS
from tileas_xdsl.transforms.divide_sums.launches_that_gain import (
    LoadOfCta,
    bytes_of,
    launches_that_gain,
    summing_loop,
)
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import enclosing_control
from tileas_xdsl.transforms.pipeline_loads.rounds.loads_together import first_loads
from tileas_xdsl.transforms.plan_cta.division import division_of, possible_counts
from tileas_xdsl.transforms.tile_parts.parts import Tiles


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
    summing = summing_loop(kernel)
    if len(counts) > 1 and not isinstance(summing, str):
        sums = [_divided_sums(kernel, summing, count, target) for count in counts]
        found["sums"] = [asdict(one) for one in sums if one is not None]
    return plain_attribute(found)


def note_divided_sums(kernel: func.FuncOp, count: int, target: Target) -> None:
    """Note which launches gain where CTAs divide iterations, besides the tile blocks of `count`."""
    summing = summing_loop(kernel)
    if isinstance(summing, str):
        return
    if (sums := _divided_sums(kernel, summing, count, target)) is not None:
        kernel.attributes[DIVIDED_SUMS] = plain_attribute(asdict(sums))


def _divided_sums(
    kernel: func.FuncOp, loop: scf.ForOp, count: int, target: Target
) -> DividedSums | None:
    """Return what launches take whose tile blocks so many CTAs divide, and CTAs their iterations.

    A load is divided, or one of all CTAs: each fetches its part.  A CTA is alone on its
    multiprocessor (`tileas.runs_at_once`).
    """
    tiles: Tiles | str = division_of(kernel, count, target) if count > ALONE else {}
    if isinstance(tiles, str):
        return None

    def of_cta(load: LoadOp | TiledLoadOp) -> LoadOfCta:
        whole = bytes_of(load.results[0])
        got = whole // count if load.results[0] in tiles else whole
        return LoadOfCta(got, whole // count)

    return replace(launches_that_gain(kernel, loop, target, count, of_cta), together=1)


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
