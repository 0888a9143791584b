"""The pass `tileas-make-persistent`: CTAs take one tile block after another.

func.func @k(...)                              func.func @k(...)
  %i = gpu.block_id x                            %nx = nv_tileaa.get_num_programs {axis = 0}  // ...
  %acc = scf.for %k = 0 to 2 { dot }     ->      scf.for block_id to nx*ny*nz step grid_dim
  tiled_store %acc, %view[%i]                        iter_args(%i = block_id mod nx) {
                                                   %acc = scf.for %k = 0 to 2 { dot }
                                                   tiled_store %acc, %view[%i]
                                                   yield (%i + grid_dim mod nx) mod nx }

The N CTAs of a tile block take it together, the loop is that of all of them:

  %i = arith.divui %cta, N                       scf.for %cta / N to nx*ny*nz step grid_dim / N
  %part = arith.remui %cta, N            ->          iter_args(%i = %cta / N mod nx) {
                                                   %part = arith.remui %cta, N
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from math import prod
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, gpu, scf
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    i32,
)
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.cluster_values import axis_of_clusters, tile_blocks_of_cluster
from tileas_xdsl.analysis.values.rows.row_extents import bytes_of_row, is_one_row
from tileas_xdsl.analysis.values.scalar_operations import operations_behind, steps_by_grid
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import emit_remark
from tileas_xdsl.dialects.block_exchange import exchanges_data
from tileas_xdsl.dialects.ir_queries import constant_integer, defined_functions, is_side_effect_free
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import (
    KERNEL_SPEC,
    KernelSpecAttr,
    spec_of,
)
from tileas_xdsl.dialects.nv_tileaa.grid import GetNumProgramsOp
from tileas_xdsl.dialects.nv_tileaa.messages import PrintOp
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant, mul
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import GridDependencyOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.plain_attributes import plain_attribute
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.kernel_abi import PERSISTENT_LAUNCHES
from tileas_xdsl.target.launches.launch_numbers import AXES
from tileas_xdsl.target.launches.persistent_launches import PersistentLaunches
from tileas_xdsl.transforms.make_persistent.counted_loop import (
    counted_loop,
    counted_loop_of_producer,
)
from tileas_xdsl.transforms.make_persistent.launches_that_gain import (
    known_cycles,
    launches_that_gain,
)
from tileas_xdsl.transforms.make_persistent.walks import (
    Place,
    SerpentineWalk,
    StraightWalk,
    Tour,
    loops_of_equal_remainders,
    strided_loop,
)
from tileas_xdsl.transforms.materialize_schedule.default_schedule import has_chained_products
from tileas_xdsl.transforms.memory.tileas_rotate_rows import (
    RowsWithLines,
    rotate_rows_of_lines,
)
from tileas_xdsl.transforms.pass_options import check_keyword
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import enclosing_control
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop, load_loop
from tileas_xdsl.transforms.pipeline_loads.resources import Resources, resources_of
from tileas_xdsl.transforms.pipeline_loads.rounds.loads_together import LOADED_TOGETHER
from tileas_xdsl.transforms.pipeline_loads.rounds.next_rounds import ROWS_AHEAD
from tileas_xdsl.transforms.plan_cta.cta_number import index_constant

NOT_PERSISTENT = "nv_tileas.not_persistent"
"""Attribute of a kernel whose CTAs take one tile block each: why."""

MODES = ("auto", "on", "off")

ROUNDS_OF_LOOPS = 8
"""Tile blocks of a warp that even their lengths out, where these may differ."""

_Id: TypeAlias = gpu.BlockIdOp | gpu.GridDimOp

COUNTED_ROW_BYTES = 8192
"""Of a row, from which on the next one comes from a counter: an update that a barrier waits for.

H200, of a copy, a row after another, ahead by a stride, and by a counter: layer_norm f16 of 2,049
columns 0.71, 0.76, 0.68, of 3,001 0.81, 0.81, 0.79, of 5,003 0.83, 0.82, 0.87; f32 of 1,001 0.86,
0.88, 0.74, of 2,049 0.85, 0.85, 0.89, of 5,003 0.84, 0.84, 0.90.
"""

CountedLoop: TypeAlias = Callable[[Builder, Tour, Sequence[Operation]], Place]
"""Write a loop over the tile blocks that a counter gives; return the place in the grid."""


@dataclass(frozen=True)
class TileasMakePersistent(ModulePass):
    """Let the CTAs of a kernel take tile blocks one after another, where that pays.

    The loads of the next tile block run under the sums and stores of this one: its producer is
    ahead. A launch has as many CTAs as run at once (`persistent = 1` in the specification), and
    passes the grid of the program, `nv_tileaa.get_num_programs`, as hidden arguments.

    It is right where tile blocks are independent: no atomics, no ordered accesses, no order of
    grids.  The CTAs that divide a tile block (`tile_block_ctas`) take the next one together, since
    all of them run the same iterations.  It pays where they are equally long, by bounds that all of
    them share, and short: a loop of few iterations reads what a producer loads (`mode = auto`;
    with `on` it is done wherever it is right); or each CTA has a multiprocessor, and takes tile
    blocks whose length data say from a counter; or rows are to be loaded a round ahead
    (`nv_tileas.rows_ahead`), or a launch has more tile blocks of one warp than run at once:
    `share-ctas` gives the warps of larger CTAs such tile blocks.  A kernel that stays says why.
    """

    name = "tileas-make-persistent"

    mode: str = "auto"

    def __post_init__(self) -> None:
        """Refuse words that are no modes; raises `ValueError`."""
        check_keyword("mode", self.mode, MODES)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.mode == "off":
            return
        target = module_target(op)
        for kernel in defined_functions(op):
            _make_persistent(kernel, target, is_forced=self.mode == "on")


def _make_persistent(kernel: func.FuncOp, target: Target, *, is_forced: bool) -> None:
    found = load_loop(kernel)
    rows = RowsWithLines.of(kernel, target) if found is None else None
    are_rows = rows is not None and (ROWS_AHEAD in kernel.attributes or bool(rows.rotations))
    spec = spec_of(kernel)
    if spec.persistent or (found is None and not are_rows and spec.num_warps > 1):
        return
    if isinstance(found, LoadLoop):
        made = _decide(found, target, is_forced=is_forced)
    elif found is None and not are_rows:
        made = _decide_of_a_warp(kernel, target, is_forced=is_forced)
    elif has_instance(kernel, scf.ForOp, scf.WhileOp):
        return
    elif rows is not None:
        made = what_forbids(kernel) or _persistent_rows(kernel, rows)
    else:
        made = _decide_without_loop(kernel, target)
    if isinstance(made, str):
        kernel.attributes[NOT_PERSISTENT] = StringAttr(made)
        if is_forced:
            emit_remark(kernel, f"is not persistent: {made}", prefix=False)
    else:
        Rewriter.replace_op(kernel, made)


def _persistent_rows(kernel: func.FuncOp, rows: RowsWithLines) -> func.FuncOp:
    """Return the kernel whose CTAs take one row after another, long ones from a counter.

    They do where rows are loaded one iteration ahead, or are combined with lines that stay in
    shared memory for the next one.  The barrier of a reduction broadcasts the number that the
    counter gives.  Rows that are combined with lines in shared memory are loaded one iteration
    ahead where there is room for them.
    """
    are_long = any(is_one_row(op) and bytes_of_row(op) >= COUNTED_ROW_BYTES for op in rows.loads)
    are_reduced = has_instance(kernel, ReduceOp)
    by_counter = (are_long and are_reduced) or ROWS_AHEAD in kernel.attributes
    is_alone = spec_of(kernel).tile_block_ctas == 1
    counted = counted_loop if by_counter and is_alone else None
    made = _persistent(kernel, of_rows=True, by_counter=counted)
    if rows.have_room_for_next():
        rotate_rows_of_lines(made, rows.target)
        made.attributes[ROWS_AHEAD] = UnitAttr()
    return made


def _decide(found: LoadLoop, target: Target, *, is_forced: bool) -> func.FuncOp | str:
    """Return the persistent kernel, or why the one that there is stays."""
    kernel = found.function
    if (why := what_forbids(kernel)) is not None:
        return why
    if not is_forced and any(map(steps_by_grid, instances_in(kernel, scf.ForOp))):
        return "the program has a loop over tiles of its own"
    if (why := _what_launches_do_not_know(found)) is not None:
        counted = _decide_by_counter(found, target, why, is_forced=is_forced)
        if not is_forced or not isinstance(counted, str):
            return counted
    differ = _differ(found)
    if differ and axis_of_clusters(kernel) is not None:
        return "tile blocks beside each other are a cluster, and differ in length"
    usual = resources_of(found, target)
    together = usual.blocks if isinstance(usual, Resources) else 1
    made = _persistent(kernel, serpentine=differ)
    least = together if not is_forced and has_chained_products(found.loop) else 1
    if (why := _what_lacks(load_loop(made), target, least)) is not None:
        return why
    ctas = spec_of(kernel).tile_block_ctas
    asked = launches_that_gain(kernel, latencies(target.name), together, ctas, differ=differ)
    if isinstance(asked, str):
        return made if is_forced else asked
    if (known := known_cycles(asked)) is not None:
        is_long = known > asked.most and not is_forced
        return f"products take {known} cycles, {asked.most} would be short" if is_long else made
    for each in (kernel, made):
        each.attributes[PERSISTENT_LAUNCHES] = plain_attribute(asdict(asked))
    return made if is_forced else "launches know how much each tile block has to do"


def _decide_by_counter(
    found: LoadLoop, target: Target, why: str, *, is_forced: bool
) -> func.FuncOp | str:
    """Return the kernel whose CTAs take tile blocks of any length from a counter; or why not.

    CTAs that are alone gain at any length, and no launch has to know how long tile blocks are:
    CTAs get the next one as hardware would start it.
    """
    kernel = found.function
    usual = resources_of(found, target)
    is_alone = isinstance(usual, Resources) and usual.blocks == 1
    if not is_alone or spec_of(kernel).tile_block_ctas > 1 or axis_of_clusters(kernel) is not None:
        return why
    made = _persistent(kernel, by_counter=counted_loop_of_producer)
    if (lacks := _what_lacks(load_loop(made), target)) is not None:
        return lacks
    asked = PersistentLaunches((), ())
    for each in (kernel, made):
        each.attributes[PERSISTENT_LAUNCHES] = plain_attribute(asdict(asked))
    return made if is_forced else "launches know how many tile blocks there are"


def _decide_without_loop(kernel: func.FuncOp, target: Target) -> func.FuncOp | str:
    """Return the persistent kernel, whose loop over tile blocks is that of the loads; or why not.

    %x = tiled_load %a[%i]          scf.for %t { %x = tiled_load %a[%i]
    %s = dot %x, %y, %zero    ->                 %s = dot %x, %y, %zero
    tiled_store %s                               tiled_store %s }
    """
    if (why := what_forbids(kernel)) is not None:
        return why
    made = _persistent(kernel)
    return _what_lacks(load_loop(made), target) or made


def _decide_of_a_warp(kernel: func.FuncOp, target: Target, *, is_forced: bool) -> func.FuncOp | str:
    """Return the persistent kernel, whose CTAs other warps share, or ask launches for many of them.

    CTAs are started one after another: 262,144 of a warp each take 0.16 ms of an H200.  Where loops
    are, tile blocks may differ in length: each warp takes several, of which some are shorter.
    Loops that load nothing are bound by instructions, and CTAs start meanwhile: the 8 largest of
    131,072 rows of 128 take 0.210 ms, in persistent CTAs 0.220.
    """
    if (why := what_forbids(kernel)) is not None:
        return why
    if is_forced:
        return _persistent(kernel)
    together, loops = target.blocks_per_multiprocessor, instances_in(kernel, scf.ForOp)
    if loops and not any(has_instance(loop, LoadOp, TiledLoadOp) for loop in loops):
        return "its loops load nothing: instructions take longer than CTAs to start"
    if loops:
        together *= ROUNDS_OF_LOOPS
    asked = PersistentLaunches((), (), together=together)
    kernel.attributes[PERSISTENT_LAUNCHES] = plain_attribute(asdict(asked))
    return "launches know how many tile blocks there are"


def _what_lacks(found: LoadLoop | str | None, target: Target, least: int = 1) -> str | None:
    """Return why no producer loads ahead in a loop over tile blocks; None if one does.

    At `least` so many CTAs are to share a multiprocessor, where one multiplies while another one
    computes what its next product reads.  What is staged for a store has memory of its own in the
    loop, and lies in the stages without it: products of 128x128 tiles have one CTA then, and gain.
    """
    needed = resources_of(found, target) if isinstance(found, LoadLoop) else found
    if isinstance(needed, Resources):
        fewer = f"{needed.blocks} CTAs, not {least}, would share a multiprocessor"
        return fewer if needed.blocks < least else None
    return needed or "no producer loads ahead in a loop over tile blocks"


def what_forbids(kernel: func.FuncOp, *, equally_long: bool = True) -> str | None:
    """Return why the tile blocks of a kernel cannot follow one another; None if they can.

    Where each CTA takes as many, they should be `equally_long`.
    """
    spec = spec_of(kernel)
    if prod((spec.num_ctas, *spec.cluster_dim)) > 1:
        return "tile blocks are of a cluster, and may exchange data"
    if axis_of_clusters(kernel) not in ((None, 0) if equally_long else (None,)):
        return "tile blocks beside each other are a cluster, and do not follow each other"
    if any(_other_uses(op, spec.tile_block_ctas) for op in _ids_along_x(kernel)):
        return "CTAs of a tile block compute with the numbers of CTAs"
    if exchanges_data(kernel):
        return "tile blocks may wait for one another: there are atomics or ordered accesses"
    if has_instance(kernel, GridDependencyOp):
        return "it orders grids"
    if equally_long and has_instance(kernel, scf.WhileOp):
        return "a while loop may take longer in some tile blocks than in others"
    return None


def _what_launches_do_not_know(found: LoadLoop) -> str | None:
    """Return why no launch knows how long tile blocks take; None if some may."""
    loops = instances_in(found.function, scf.ForOp)
    bounds = [bound for loop in loops for bound in (loop.lb, loop.ub, loop.step)]
    if not all(map(is_side_effect_free, operations_behind(bounds))):
        return "some tile blocks have more to do than others"
    if any(isinstance(op, scf.IfOp) for op in enclosing_control(found.loop)):
        return "some tile blocks load, and others do not"
    return None


def _differ(found: LoadLoop) -> bool:
    """Whether bounds of loops depend on the tile block."""
    loops = instances_in(found.function, scf.ForOp)
    behind = operations_behind([n for loop in loops for n in (loop.lb, loop.ub, loop.step)])
    return any(isinstance(op, gpu.BlockIdOp) for op in behind)


def _persistent(
    kernel: func.FuncOp,
    *,
    serpentine: bool = False,
    of_rows: bool = False,
    by_counter: CountedLoop | None = None,
) -> func.FuncOp:
    """Return a kernel with all that depends on the tile block in a loop over tile blocks.

    Each takes what is as far as there are CTAs, or the next tile block that a counter gives it.
    """
    kernel = kernel.clone()
    kernel.attributes.pop(NOT_PERSISTENT, None)
    spec = replace(spec_of(kernel), persistent=1)
    kernel.attributes[KERNEL_SPEC] = KernelSpecAttr(spec)
    block, inside = kernel.body.block, operations_of_tile_block(kernel)
    ids = instances_in(kernel, gpu.BlockIdOp, gpu.GridDimOp)
    build = Builder(InsertPoint.at_start(block))
    extents = [build.insert(GetNumProgramsOp(axis)).result for axis in range(len(AXES))]
    covered = [_rounded_up(build, extents[0], tile_blocks_of_cluster(kernel)[0]), *extents[1:]]
    rows = build.insert(arith.MuliOp(covered[0], covered[1])).result
    count = build.insert(arith.MuliOp(rows, covered[2])).result
    kinds = (gpu.BlockIdOp, gpu.GridDimOp)
    first, step = (tile_blocks_along_x(build, kind, spec.tile_block_ctas) for kind in kinds)
    tour = Tour(first, step, count, covered)
    assert block.last_op is not None
    if by_counter is not None:
        carried = by_counter(Builder(InsertPoint.before(block.last_op)), tour, inside)
    elif of_rows and spec.tile_block_ctas == 1 and _is_of_x_alone(kernel):
        before = Builder(InsertPoint.before(block.last_op))
        made, carried = loops_of_equal_remainders(before, tour, inside)
        made.attributes[LOADED_TOGETHER] = IntegerAttr(1, i32)
    else:
        walk = SerpentineWalk.of(build, tour) if serpentine else StraightWalk.of(build, tour)
        made, carried = strided_loop(Builder(InsertPoint.before(block.last_op)), walk, tour, inside)
        if of_rows:
            made.attributes[LOADED_TOGETHER] = IntegerAttr(1, i32)
    for op in ids:
        of_program = carried if isinstance(op, gpu.BlockIdOp) else extents
        value = of_program[AXES.index(str(op.dimension.data))]
        for number in counts_of_tile_blocks(op, spec.tile_block_ctas):
            Rewriter.replace_op(number, arith.IndexCastOp(value, IndexType()))
    return kernel


def _is_of_x_alone(kernel: func.FuncOp) -> bool:
    """Whether tile blocks read their place along x alone, so that one plane of a grid suffices.

    Others would store the same once more: kernels with atomics are none (`what_forbids`).
    """
    axes = {str(op.dimension.data) for op in instances_in(kernel, gpu.BlockIdOp)}
    return axes <= {AXES[0]} and not has_instance(kernel, PrintOp)


def _rounded_up(build: Builder, extent: SSAValue, count: int) -> SSAValue:
    """Return the tile blocks along an axis in whole clusters, of so many each."""
    if count == 1:
        return extent
    number = constant(build, count, i32)
    clusters = build.insert(arith.CeilDivUIOp(extent, number)).result
    return mul(build, clusters, number)


def _ids_along_x(kernel: func.FuncOp) -> Sequence[_Id]:
    ids = instances_in(kernel, gpu.BlockIdOp, gpu.GridDimOp)
    return [op for op in ids if str(op.dimension.data) == AXES[0]]


def counts_of_tile_blocks(op: _Id, ctas: int) -> Sequence[Operation]:
    """Return what counts tile blocks: a number, or quotients of it along x (`tileas-plan-cta`)."""
    if ctas == 1 or str(op.dimension.data) != AXES[0]:
        return [op]
    users = [use.operation for use in op.results[0].uses]
    return [user for user in users if isinstance(user, arith.DivUIOp) and _is_by(user, ctas)]


def _other_uses(op: _Id, ctas: int) -> bool:
    """Whether a number along x is more than divided by the CTAs of a tile block."""
    users = [use.operation for use in op.results[0].uses]
    known = (arith.DivUIOp, arith.RemUIOp)
    return ctas > 1 and not all(isinstance(u, known) and _is_by(u, ctas) for u in users)


def _is_by(op: arith.DivUIOp | arith.RemUIOp, ctas: int) -> bool:
    return constant_integer(op.rhs) == ctas


def operations_of_tile_block(kernel: func.FuncOp) -> Sequence[Operation]:
    """Return the operations that are not the same for all tile blocks, or make tiles."""
    inside: dict[Operation, None] = {}
    for op in list(kernel.body.block.ops)[:-1]:
        types = (*op.operand_types, *op.result_types)
        stays = not op.regions and is_side_effect_free(op) and not isinstance(op, gpu.BlockIdOp)
        if (
            not stays
            or any(isinstance(type_, TensorType) for type_ in types)
            or any(value.owner in inside for value in op.operands)
        ):
            inside[op] = None
    return list(inside)


def tile_blocks_along_x(build: Builder, kind: type[_Id], ctas: int) -> SSAValue:
    """Return the number of a tile block along x, or how many run at once, of so many CTAs each."""
    found = build.insert(kind(gpu.DimensionAttr(gpu.DimensionEnum.X))).result
    if ctas > 1:
        found = build.insert(arith.DivUIOp(found, build.insert(index_constant(ctas)).result)).result
    return build.insert(arith.IndexCastOp(found, i32)).result
