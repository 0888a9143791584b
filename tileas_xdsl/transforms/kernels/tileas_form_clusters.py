"""The pass `tileas-form-clusters`: neighbouring tile blocks become a cluster that shares loads.

%i = gpu.block_id x                                nv_tileas.cluster_of_tile_blocks = [2, 1, 1]
%j = gpu.block_id y
scf.for %k {                                       scf.for %k {
  %x = tiled_load %a[%i, %k] : 128x64       ->       %x = tiled_load %a[%i, %k]
  %y = tiled_load %b[%k, %j] : 64x256                %y = tiled_load %b[%k, %j] {same_in_cluster}
  dot %x, %y                                         dot %x, %y
}                                                  }
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, replace

from xdsl.context import Context
from xdsl.dialects import func, gpu, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i32,
    i64,
)
from xdsl.ir import BlockArgument
from xdsl.passes import ModulePass

from tileas_xdsl.analysis.memory.copied_chunks import is_line
from tileas_xdsl.analysis.memory.load_traffic import SAME_IN_CLUSTER, row_stride
from tileas_xdsl.analysis.memory.shared_memory import tile_bytes
from tileas_xdsl.analysis.values.cluster_values import CLUSTER_OF_TILE_BLOCKS
from tileas_xdsl.analysis.values.launches.launch_steps import LaunchSteps
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import (
    array_of,
    is_parameter,
    pointed_array,
    promised_divisor,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.block_exchange import exchanges_data
from tileas_xdsl.dialects.ir_queries import defined_functions
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.plain_attributes import plain_attribute
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.kernel_abi import SHARED_LOADS
from tileas_xdsl.target.launches.launch_numbers import AXES
from tileas_xdsl.target.launches.shared_loads import (
    ALIGNED,
    MIN_GAIN,
    ROW_ALIGNMENT,
    LoopLoad,
    SharedLoads,
)
from tileas_xdsl.transforms.pass_options import check_keyword
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import enclosing_control
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop, load_loop
from tileas_xdsl.transforms.pipeline_loads.product_cycles import product_cycles
from tileas_xdsl.transforms.plan_cta.behind_grid import (
    may_be_behind_grid,
    store_nothing_behind_grid,
)

NOT_CLUSTERED = "nv_tileas.not_clustered"
"""Attribute of a kernel whose tile blocks load alone, though they load the same: why."""

MODES = ("auto", "on", "off")

COUNTS = (2, 4)
"""Tile blocks of a cluster.  Four have less to load (3000^3 f16 on an H200: 85.1 us, 87.8), but
room on 120 of 132 multiprocessors: 2048^3, 128 tile blocks, takes two waves for one."""

TRIAL_ARGUMENT, TRIAL_GRID = 8192, (16, 16, 4)
"""A launch in which loads are guessed to be equal; each real one is looked at by itself."""


@dataclass(frozen=True)
class TileasFormClusters(ModulePass):
    """Let neighbouring tile blocks that load the same tiles be clusters, where a launch gains.

    Tile blocks stay as they are, one a CTA.  Two or four of them along an axis of the grid that
    load equal tiles, in equally many iterations, load each by parts (`tileas-multicast-loads`).
    Which do depends on the order of tile blocks in the program and on extents, and whether it pays
    on the bytes from row to row.  So the pass writes down what a launch has to compute
    (`tileas.shared_loads`): the coordinates and bounds of loops that have to be equal, and the
    bytes that loads move, for each axis and number.  With `mode = on`, for launches that were
    asked, it marks the loads that are equal along `axis` in clusters of `count` tile blocks.

    Tile blocks that exchange data stay alone: one that waits for its neighbour holds up its loads.
    So do those of several CTAs (`num_ctas`), which share loads already.

    Analysis: but for attributes, nothing changes.
    """

    name = "tileas-form-clusters"

    mode: str = "auto"
    axis: int = 0
    count: int = 2

    def __post_init__(self) -> None:
        """Refuse words that are no modes; raises `ValueError`."""
        check_keyword("mode", self.mode, MODES)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.mode == "off":
            return
        target = module_target(op)
        chosen = (self.axis, self.count) if self.mode == "on" else None
        for kernel in defined_functions(op):
            _form_clusters(kernel, target, chosen)


def _form_clusters(kernel: func.FuncOp, target: Target, chosen: tuple[int, int] | None) -> None:
    spec = spec_of(kernel)
    found = load_loop(kernel)
    if max(spec.num_ctas, spec.tile_block_ctas, *spec.cluster_dim) > 1:
        return
    if not isinstance(found, LoadLoop) or not target.matrix_unit.reads_shared_memory:
        return
    choices = _Loads(found, target).choices()
    if isinstance(choices, str):
        kernel.attributes[NOT_CLUSTERED] = StringAttr(choices)
        return
    kernel.attributes[SHARED_LOADS] = plain_attribute([asdict(predicate) for predicate in choices])
    for predicate, loads in choices.items():
        if (predicate.axis, predicate.count) == chosen:
            extents = list(predicate.cluster)
            kernel.attributes[CLUSTER_OF_TILE_BLOCKS] = DenseArrayBase.from_list(i64, extents)
            for load in loads:
                load.attributes[SAME_IN_CLUSTER] = IntegerAttr(predicate.count, i32)
            if predicate.rounds_up:
                store_nothing_behind_grid(kernel, predicate.axis)


class _Loads:
    """The loads of a pipelined loop, and those behind it that fill the same stages."""

    def __init__(self, found: LoadLoop, target: Target) -> None:
        self.found = found
        self.loads = [load for one in (found, *found.following) for load in one.tma_loads]
        self.writer = LaunchSteps()
        # A launch computes these steps before it knows of any grid.
        self.pitches = [self._pitch(load) for load in found.tma_loads]
        self.least = [_known_pitch(load) for load in found.tma_loads]
        costs = latencies(target.name)
        cycles = product_cycles(found.loop, costs) * 100 // costs.power_cap
        moved, count = self._moved(set(self.loads)), max(COUNTS)
        self.alone = SharedLoads(0, count, (), (), moved, costs.load_rate, cycles)

    def choices(self) -> Mapping[SharedLoads, Sequence[TiledLoadOp]] | str:
        """Return what a launch is asked, the best first, with the loads that are shared; or why
        none are."""
        others = [load for load in self.found.all_loads if not isinstance(load, TiledLoadOp)]
        if not all(is_line(shape_of(load.result.type) or ()) for load in others):
            return "threads load a part of its tiles"
        if self._most(self.alone) < MIN_GAIN:
            return "the path from the L2 cache is not what its products wait for"
        if exchanges_data(self.found.function):
            return "tile blocks may wait for one another: there are atomics or ordered accesses"
        bounds = self._bounds()
        if bounds is None:
            return "what its loops count is not known to a launch"
        numbers = {load: self._coordinates(load) for load in self.loads}
        found = dict(
            self._along(axis, count, bounds, numbers)
            for count in COUNTS
            for axis in _numbered(self.found.function)
        )
        if not any(found.values()):
            return "tile blocks beside each other load other tiles each"
        best = sorted(found, key=self._most, reverse=True)
        gaining = {one: found[one] for one in best if self._most(one) >= MIN_GAIN}
        return gaining or "what tile blocks beside each other load alike is too little"

    def _along(
        self,
        axis: int,
        count: int,
        bounds: Sequence[int],
        numbers: Mapping[TiledLoadOp, Sequence[int] | None],
    ) -> tuple[SharedLoads, Sequence[TiledLoadOp]]:
        """Return what tile blocks along an axis share in a launch that is tried."""
        one = replace(self.alone, axis=axis, count=count, steps=tuple(self.writer.steps))
        arguments = [TRIAL_ARGUMENT] * len(self.found.function.body.block.args)

        def is_equal(steps: Sequence[int] | None) -> bool:
            tried = None if steps is None else replace(one, equal=tuple(steps))
            return tried is not None and tried.are_equal(arguments, TRIAL_GRID)

        shared = [load for load in self.loads if is_equal(bounds) and is_equal(numbers[load])]
        equal = dict.fromkeys([*bounds, *(step for load in shared for step in numbers[load] or ())])
        made = replace(
            one,
            equal=tuple(equal),
            loads=self._moved(set(shared)),
            rounds_up=may_be_behind_grid(self.found.function, axis),
        )
        return made, shared

    def _moved(self, shared: Container[TiledLoadOp]) -> tuple[LoopLoad, ...]:
        """Return what an iteration loads."""
        pairs = zip(self.found.tma_loads, self.pitches, strict=True)
        return tuple(
            LoopLoad(tile_bytes(load.result.type), pitch, load in shared) for load, pitch in pairs
        )

    def _most(self, one: SharedLoads) -> float:
        """The gain where rows are apart by no more than is known of them."""
        return one.gain(self.least)

    def _pitch(self, load: TiledLoadOp) -> int:
        """Return the step with the bytes between rows; `ALIGNED` where it is not asked for."""
        stride, bits = row_stride(load), bits_of(element_of(load.result.type))
        if stride is None or bits < 8 or _known_pitch(load) % ROW_ALIGNMENT == 0:
            return ALIGNED
        count, size = self.writer.of(stride), self.writer.of(bits // 8)
        return ALIGNED if count is None else self.writer.step(f"muli {count} {size}")

    def _bounds(self) -> Sequence[int] | None:
        """Return what the trip counts of all loops around loads depend on."""
        inner = [one.loop for one in (self.found, *self.found.following)]
        loops = dict.fromkeys(op for loop in inner for op in (loop, *enclosing_control(loop)))
        found: list[int] = []
        for loop in loops:
            if not isinstance(loop, scf.ForOp):
                return None
            for bound in (loop.lb, loop.ub, loop.step):
                if (steps := self.writer.invariants(bound)) is None:
                    return None
                found += steps
        return found

    def _coordinates(self, load: TiledLoadOp) -> Sequence[int] | None:
        """Return what a tile of an argument depends on besides variables of loops."""
        array = array_of(load.view)
        is_given = isinstance(array, BlockArgument) and is_parameter(array)
        if not is_given and pointed_array(array) is None:
            return None
        parts = [self.writer.invariants(value) for value in (*load.coords, *load.offsets)]
        known = [part for part in parts if part is not None]
        return None if len(known) < len(parts) else [step for part in known for step in part]


def _numbered(kernel: func.FuncOp) -> Sequence[int]:
    """Return the axes of the grid along which the program numbers tile blocks."""
    ids = instances_in(kernel, gpu.BlockIdOp)
    used = {str(op.dimension.data) for op in ids if any(op.result.uses)}
    return [axis for axis, name in enumerate(AXES) if name in used]


def _known_pitch(load: TiledLoadOp) -> int:
    """Return the largest divisor known of the bytes between rows; 0 where nothing is."""
    stride = row_stride(load)
    bits = bits_of(element_of(load.result.type))
    return 0 if stride is None else promised_divisor(stride) * bits // 8
