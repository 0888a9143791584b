"""Which launches gain where CTAs divide the iterations of tile blocks, or why none may.

%n = ceildivsi %k, 64                       steps = ["0", "scalar 5", "64", "ceildivsi 1 2", "1"]
%sum = scf.for %i = 0 to %n { load; dot }   loops = [{amount = 713, bounds = [0, 3, 4]}]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from math import prod
from operator import attrgetter

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import AnyFloat, IndexType, i32
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.memory.accumulators import is_tensor_product
from tileas_xdsl.analysis.values.launches.launch_loops import LaunchLoops
from tileas_xdsl.analysis.values.scalar_operations import grid_axes_behind
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.kinds import Kinds, has_instance, instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import CTAS_HINT
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.launches.divided_sums import DividedSums, SummedLoad
from tileas_xdsl.target.launches.launch_numbers import AXES
from tileas_xdsl.transforms.divide_sums.carried_sums import carries_sums
from tileas_xdsl.transforms.kernels.tileas_make_persistent import what_forbids
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop, load_loop
from tileas_xdsl.transforms.pipeline_loads.product_cycles import product_cycles
from tileas_xdsl.transforms.pipeline_loads.resources import Resources, resources_of

_ARITHMETIC = ("arith.", "math.")

LANES = 60
"""Elements that a multiprocessor computes in a cycle: of operands, which are moved, too."""

_CASTS, CAST = Kinds(arith.SIToFPOp, arith.UIToFPOp, arith.ExtFOp, arith.TruncFOp), 3
"""Conversions, each as long as so many other operations.  On an H200 128x64 weights of 8 bits take
425 cycles, which are converted, those of 4 bits 800, of five operations."""

FEW_RATE, PART_RATE, MULTICAST_RATE = 90, 55, 66
"""Bytes that a CTA fetches in a cycle where half of the multiprocessors do, and where all of them
have parts of tile blocks, and that it gets of what its cluster fetches, on an H200."""

MIN_SUM_BYTES, NARROW_CYCLES = 4 * 64 * 128, 550
"""Sums of a CTA of a tile block that others compute with it, from which on it does not wait for
what they load, and what an iteration takes with fewer where all multiprocessors load.  On an H200,
128x128 tiles, four CTAs each: 236 cycles on 64 multiprocessors, 548 on 128."""

STORE_RATE = 27
"""Bytes of sums that a CTA stores for another one in a cycle, as all do at one time."""

ROUND_TRIPS = 2
"""To the L2 cache and back until a CTA knows that sums are there, and begins to load them.  On an
H200 it takes 1,200 cycles to add 16 KB, 1,500 for 64, 2,000 for 128, of which others are ready."""


def summing_loop(kernel: func.FuncOp) -> scf.ForOp | str:
    """Return the loop whose iterations CTAs may divide, or why there is none."""
    loops = [op for op in kernel.body.block.ops if has_instance(op, DotOp)]
    if not loops or not isinstance(loops[0], scf.ForOp):
        return "no loop of each tile block multiplies"
    if any(isinstance(op, scf.ForOp) and has_instance(op, DotOp) for op in loops[0].body.ops):
        return "its tiles are cut: a loop around the one that multiplies computes parts of them"
    return _what_forbids(kernel, loops[0], loops[1:]) or loops[0]


def _what_forbids(kernel: func.FuncOp, loop: scf.ForOp, others: Sequence[Operation]) -> str | None:
    if others:
        return "more than one loop multiplies"
    if CTAS_HINT in kernel.attributes:
        return "the kernel says how many CTAs compute a tile block"
    if not carries_sums(loop):
        return "it carries more than sums of integers, or of floats of 32 bits rounded to nearest"
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


@dataclass(frozen=True)
class LoadOfCta:
    """Bytes of a load that a CTA gets, and those it fetches itself: multicast brings the others."""

    got: int
    fetched: int


def _load_of_one(load: LoadOp | TiledLoadOp) -> LoadOfCta:
    whole = bytes_of(load.results[0])
    return LoadOfCta(whole, whole)


def launches_that_gain(
    kernel: func.FuncOp,
    loop: scf.ForOp,
    target: Target,
    ctas: int = 1,
    load_of: Callable[[LoadOp | TiledLoadOp], LoadOfCta] = _load_of_one,
) -> DividedSums:
    """Return the predicate over launches; none suits that does not know how long its loop is.

    `ctas` are to compute a tile block together, each of which has a part of the loads and sums.
    """
    times, found, loops = latencies(target.name), load_loop(kernel), LaunchLoops()
    needed = resources_of(found, target) if isinstance(found, LoadLoop) else None
    together = needed.blocks if isinstance(needed, Resources) else 1
    if all(bounds := loops.bounds([loop])):
        loops.add(bounds, 1)
    sums = sum(map(bytes_of, loop.results)) // ctas
    load = (ROUND_TRIPS + 1) * times.cache_latency + times.transfer(sums) // 2
    loads = {op: load_of(op) for op in instances_in(loop, LoadOp, TiledLoadOp)}
    got, fetched = (sum(map(attrgetter(name), loads.values())) for name in ("got", "fetched"))
    computed = (product_cycles(loop, times) + _arithmetic_cycles(loop)) // ctas
    computed = max(computed, got // MULTICAST_RATE if ctas > 1 else 1)
    of_part = max(fetched // PART_RATE, computed)
    is_narrow = ctas > 1 and sums < MIN_SUM_BYTES
    return DividedSums(
        *(together, ctas, max(fetched // FEW_RATE, computed)),
        max(of_part, NARROW_CYCLES) if is_narrow else of_part,
        *(times.cache_latency + sums // STORE_RATE, load),
        times.dram_bandwidth * 1000 // times.clock,
        tuple(SummedLoad(bytes_of(op.results[0]), _axes(op)) for op in loads),
        *(loops.steps, loops.loops),
    )


def _axes(load: LoadOp | TiledLoadOp) -> tuple[int, ...]:
    """Return the axes of the grid along which tile blocks load other elements."""
    names = grid_axes_behind(load.operands)
    return tuple(axis for axis, name in enumerate(AXES) if name in names)


def _arithmetic_cycles(loop: scf.ForOp) -> int:
    """Return the cycles of arithmetic on tiles: what operands are unpacked and scaled by."""
    ops = [op for op in operations_in(loop) if op.name.startswith(_ARITHMETIC)]
    return sum(_elements(op) * (CAST if _CASTS[type(op)] else 1) for op in ops) // LANES


def _elements(op: Operation) -> int:
    """Return how many numbers an operation makes; indices of elements are computed once."""
    around = op.parent_op()
    if isinstance(around, GenerateOp) and isa(op.results[0].type, AnyFloat):
        op = around
    tile = as_tile(op.results[0].type)
    return 0 if tile is None else prod(tile.get_shape())


def bytes_of(value: SSAValue) -> int:
    """Return the bytes of a tile; 0 of what is none."""
    tile = as_tile(value.type)
    return 0 if tile is None else prod(tile.get_shape()) * (bits_of(tile.element_type) or 0) // 8
