"""Which launches gain where CTAs divide the iterations of tile blocks, or why none may.

%n = ceildivsi %k, 64                       steps = ["0", "scalar 5", "64", "ceildivsi 1 2", "1"]
%sum = scf.for %i = 0 to %n { load; dot }   loops = [{amount = 713, bounds = [0, 3, 4]}]
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from math import prod

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.memory.accumulators import is_tensor_product
from tileas_xdsl.analysis.values.launches.launch_loops import LaunchLoops
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import CTAS_HINT
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import Latencies, latencies
from tileas_xdsl.target.launches.divided_sums import DividedSums
from tileas_xdsl.transforms.divide_sums.carried_sums import carries_sums
from tileas_xdsl.transforms.kernels.tileas_make_persistent import spec_of, what_forbids
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop, load_loop
from tileas_xdsl.transforms.pipeline_loads.product_cycles import product_cycles
from tileas_xdsl.transforms.pipeline_loads.resources import Resources, resources_of

ROUND_TRIPS = 2
"""To the L2 cache and back until a CTA knows that sums are there, and begins to load them.  On an
H200 it takes 1,200 cycles to add 16 KB, 1,500 for 64, 2,000 for 128, of which others are ready."""


def summing_loop(kernel: func.FuncOp) -> scf.ForOp | str:
    """Return the loop whose iterations CTAs may divide, or why there is none."""
    loops = [op for op in kernel.body.block.ops if has_instance(op, DotOp)]
    if not loops or not isinstance(loops[0], scf.ForOp):
        return "no loop of each tile block multiplies"
    return _what_forbids(kernel, loops[0], loops[1:]) or loops[0]


def _what_forbids(kernel: func.FuncOp, loop: scf.ForOp, others: Sequence[Operation]) -> str | None:
    if others:
        return "more than one loop multiplies"
    if CTAS_HINT in kernel.attributes:
        return "the kernel says how many CTAs compute a tile block"
    if not carries_sums(loop):
        return "the loop carries more than sums of integers, or of floats of 32 bits"
    if loop.lb.type not in (i32, IndexType()):
        return "its iterations are no numbers of 32 bits"
    if any(map(is_tensor_product, operations_in(loop))):
        return "sums are in tensor memory"
    before = takewhile(lambda op: op is not loop, kernel.body.block.ops)
    if not all(_may_be_repeated(op) for one in before for op in operations_in(one)):
        return "all CTAs of a tile block would store what is in front of the loop"
    return what_forbids(kernel, equally_long=False)


def _may_be_repeated(op: Operation) -> bool:
    return bool(op.regions) or is_side_effect_free(op) or isinstance(op, LoadOp | TiledLoadOp)


def launches_that_gain(kernel: func.FuncOp, loop: scf.ForOp, target: Target) -> DividedSums:
    """Return the predicate over launches; none suits that does not know how long its loop is."""
    times, found, loops = latencies(target.name), load_loop(kernel), LaunchLoops()
    needed = resources_of(found, target) if isinstance(found, LoadLoop) else None
    together = needed.blocks if isinstance(needed, Resources) else 1
    if all(bounds := loops.bounds([loop])):
        loops.add(bounds, _cycles(loop, times))
    bytes_ = sum(map(bytes_of, loop.results))
    store = times.cache_latency + times.transfer(bytes_) // 2
    load, ctas = ROUND_TRIPS * times.cache_latency + store, spec_of(kernel).tile_block_ctas
    return DividedSums(together, ctas, store, load, loops.steps, loops.loops)


def _cycles(loop: scf.ForOp, times: Latencies) -> int:
    """Return the cycles of an iteration, whose loads and products run beside one another."""
    loads = instances_in(loop, LoadOp, TiledLoadOp)
    loaded = sum(bytes_of(op.results[0]) for op in loads)
    return max(times.transfer(loaded), product_cycles(loop, times))


def bytes_of(value: SSAValue) -> int:
    """Return the bytes of a tile; 0 of what is none."""
    tile = as_tile(value.type)
    return 0 if tile is None else prod(tile.get_shape()) * (bits_of(tile.element_type) or 0) // 8
