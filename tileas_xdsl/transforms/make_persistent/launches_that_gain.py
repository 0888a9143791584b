"""Which launches gain where CTAs take one tile block after another, by what each has to do.

%n = ceildivsi (%block + 1) * 128, 128    steps = ["0", "block x", ..., "1"]
scf.for %i = 0 to %n { dot; dot }     ->  loops = [{amount = 2048, bounds = [0, 4, 5]}]
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects import func

from tileas_xdsl.analysis.values.launches.launch_loops import LaunchLoops
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.target.costs.latencies import Latencies
from tileas_xdsl.target.launches.launch_numbers import BLOCK, GRID, SCALAR
from tileas_xdsl.target.launches.persistent_launches import ANY_LENGTH, PersistentLaunches
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import enclosing_control
from tileas_xdsl.transforms.pipeline_loads.product_cycles import dot_cycles

MAX_PRODUCT_CYCLES = 16384
"""Cycles of products up to which what a tile block begins and ends with is worth hiding, where CTAs
that share a multiprocessor do so for one another.

On an H200, tiles of 128x128 (512 cycles an iteration, two CTAs on a multiprocessor otherwise) gain
52 % with 2 iterations, 10 % with 8, 4 % with 16, and lose 1 % with 64.  A CTA that is alone gains
at any length: tiles of 128x256 7 % with 16 iterations, 3 % with 64 and 1.5 % with 128.
"""

_OF_A_LAUNCH = (BLOCK, GRID, SCALAR)


def launches_that_gain(
    kernel: func.FuncOp, times: Latencies, together: int, ctas: int, *, differ: bool
) -> PersistentLaunches | str:
    """Return the predicate over launches, or why none can evaluate it.

    `together` CTAs share a multiprocessor, `ctas` compute a tile block; tile blocks may `differ` in
    length.
    """
    most = ANY_LENGTH if together == 1 else MAX_PRODUCT_CYCLES
    asked = PersistentLaunches((), (), most, differ, together, ctas)
    loops = _product_loops(kernel, times)
    if loops is not None and not loops.is_empty:
        return replace(asked, steps=loops.steps, loops=loops.loops)
    if differ:
        return "some tile blocks have more to do than others, which launches do not know"
    return asked if most == ANY_LENGTH else "launches do not know how long its loops are"


def known_cycles(asked: PersistentLaunches) -> int | None:
    """Return the cycles of a tile block's products; None if only a launch knows them."""
    if not asked.loops or any(step.startswith(_OF_A_LAUNCH) for step in asked.steps):
        return None
    lengths = asked.lengths((), (1, 1, 1))
    return None if lengths is None else int(lengths[0])


def _product_loops(kernel: func.FuncOp, times: Latencies) -> LaunchLoops | None:
    """Return the cycles of products by their loops; None where a launch cannot know these."""
    loops = LaunchLoops()
    for op in instances_in(kernel, DotOp):
        bounds = loops.bounds(enclosing_control(op))
        if not all(bounds):
            return None
        loops.add(bounds, dot_cycles(op, times))
    return loops
