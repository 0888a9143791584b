"""The pass `tileas-deal-iterations`: CTAs share the tile blocks that do not fill a last wave.

Five tile blocks of 12 iterations, three CTAs: two waves, of which one CTA idles in the second.

    CTA 0   |  tile block 0  |  tile block 3  |      CTA 0   | 1: 0-7 |  tile block 0  |
    CTA 1   |  tile block 1  |  tile block 4  |  ->  CTA 1   | 3: 0-3 |  tile block 2  | 1: 8-11 |
    CTA 2   |  tile block 2  |                |      CTA 2   |  tile block 4  | 3: 4-11 |

A CTA begins with the first iterations of a tile block, and transfers what the loop carries; the
next CTA ends with the others.  So nobody waits, and each tile block is computed in the order of the
program, to the last bit: a loop goes on elsewhere.

    scf.for %t = %cta to %count step %ctas {      scf.if %has_head {
      %sum = scf.for %k = 0 to %n                   %part = scf.for %k = 0 to %head iter_args(%zero)
          iter_args(%zero)                 ->       transfer_out %part in %cta }
      tiled_store %sum                            scf.for %item = 1 to %last + 1 {
    }                                               %init = scf.if %is_tail { transfer_in %cta - 1 }
                                                    %sum = scf.for %k = %from to %n iter_args(%init)
                                                    tiled_store %sum }

Source of the shares: Osama et al., "Stream-K", PPoPP 2023 (its two-tile hybrid); there sums of
parts are added, in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import takewhile
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, gpu, scf
from xdsl.dialects.builtin import (
    IndexType,
    ModuleOp,
    StringAttr,
    i32,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.memory.accumulators import is_tensor_product
from tileas_xdsl.analysis.values.cluster_values import tile_blocks_of_cluster
from tileas_xdsl.analysis.values.launches.launch_loops import LaunchLoops
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import constant_integer, is_side_effect_free
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileas.builders.arith import add, constant, mul, select, sub
from tileas_xdsl.dialects.nv_tileas.memory.tile_transfers import TransferInOp, TransferOutOp
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.plain_attributes import plain_attribute
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import Latencies, latencies
from tileas_xdsl.target.kernel_abi import UNEVEN_WAVES
from tileas_xdsl.target.launches.uneven_waves import UnevenWaves
from tileas_xdsl.transforms.deal_iterations.items import (
    Items,
    compared,
    counter_of,
    items_of_cta,
    iterations_of,
)
from tileas_xdsl.transforms.make_persistent.walks import places
from tileas_xdsl.transforms.pass_options import check_keyword
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop, load_loop
from tileas_xdsl.transforms.pipeline_loads.product_cycles import product_cycles
from tileas_xdsl.transforms.pipeline_loads.resources import Resources, resources_of
from tileas_xdsl.transforms.plan_cta.cta_number import index_constant

MODES = ("auto", "on")

NOT_DEALT = "nv_tileas.not_dealt"
"""Attribute of a kernel whose CTAs compute whole tile blocks, one after another: why."""


@dataclass(frozen=True)
class TileasDealIterations(ModulePass):
    """Let CTAs share the tile blocks of the last two waves, where that takes less time.

    It is for kernels whose CTAs take tile block after tile block (`tileas-make-persistent`), with
    one loop of equally many iterations in each, which carries nothing but tiles.  A launch decides
    by its grid and its iterations whether the last wave is worth sharing: the pass writes down what
    it asks (`tileas.uneven_waves`), and with `mode = on` it rewrites the loop.  CTAs decide once
    more: the iterations that are saved must be more than what handing over takes.  A kernel that
    stays says why.
    """

    name = "tileas-deal-iterations"

    mode: str = "auto"

    def __post_init__(self) -> None:
        """Refuse words that are no modes; raises `ValueError`."""
        check_keyword("mode", self.mode, MODES)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        for kernel in op.ops:
            if isinstance(kernel, func.FuncOp) and spec_of(kernel).persistent:
                _deal_iterations(kernel, target, is_chosen=self.mode == "on")


def _deal_iterations(kernel: func.FuncOp, target: Target, *, is_chosen: bool) -> None:
    found = load_loop(kernel)
    if not isinstance(found, LoadLoop):
        return
    around = found.loop.parent_op()
    times = latencies(target.name)
    why = _what_forbids(found, around) or _why_it_does_not_pay(found.loop, times)
    if why is None and isinstance(around, scf.ForOp):
        together = prod(tile_blocks_of_cluster(kernel))
        ctas = spec_of(kernel).tile_block_ctas
        predicate = _predicate(found, target, ctas, times)
        kernel.attributes[UNEVEN_WAVES] = plain_attribute(asdict(predicate))
        if is_chosen:
            _Dealing(found.loop, around, together, ctas, times).write()
    elif why is not None:
        kernel.attributes[NOT_DEALT] = StringAttr(why)


def _predicate(found: LoadLoop, target: Target, ctas: int, times: Latencies) -> UnevenWaves:
    """Return which launches gain: none where they do not know how long a tile block is."""
    needed, loops = resources_of(found, target), LaunchLoops()
    together = needed.blocks if isinstance(needed, Resources) else 1
    if all(bounds := loops.bounds([found.loop])):
        loops.add(bounds, product_cycles(found.loop, times))
    cost = _handing_over(found.loop, times)
    return UnevenWaves(together, ctas, cost, loops.steps, loops.loops)


def _why_it_does_not_pay(loop: scf.ForOp, times: Latencies) -> str | None:
    """Return why no launch gains: a CTA idles for less than a tile block; None if some may."""
    first, last, step = map(constant_integer, (loop.lb, loop.ub, loop.step))
    if first is None or last is None or not step:
        return None
    if (count := ceil_div(last - first, step)) > (cost := _cost(loop, times)):
        return None
    return f"{count} iterations take as long as handing over, which takes {cost}, or less"


def _what_forbids(found: LoadLoop, around: Operation | None) -> str | None:
    """Return why tile blocks cannot be shared; None if they can."""
    loop = found.loop
    if not isinstance(around, scf.ForOp) or around.parent_op() is not found.function:
        return "the loop that loads is not one of each tile block"
    if not _counts_tile_blocks(around):
        return "the program has a loop over tiles of its own"
    if found.following:
        return "another loop follows the one that loads"
    if any(around.is_ancestor(bound.owner) for bound in (loop.lb, loop.ub, loop.step)):
        return "some tile blocks have more iterations than others"
    if loop.lb.type not in (i32, IndexType()):
        return "its iterations are no numbers of 32 bits"
    if not loop.results or any(as_tile(value.type) is None for value in loop.results):
        return "the loop carries more than tiles"
    if any(map(is_tensor_product, operations_in(loop))):
        return "sums are in tensor memory"
    before = takewhile(lambda op: op is not loop, around.body.block.ops)
    if not all(
        op.regions or is_side_effect_free(op) for one in before for op in operations_in(one)
    ):
        return "both CTAs of a tile block would load, or store, what is in front of the loop"
    return None


def _counts_tile_blocks(loop: scf.ForOp) -> bool:
    """Whether a loop is what `tileas-make-persistent` has put around a tile block."""
    first = loop.lb.owner
    while isinstance(first, arith.IndexCastOp | arith.DivUIOp):
        first = first.operands[0].owner
    return isinstance(first, gpu.BlockIdOp) and len(loop.iter_args) == len(_AXES)


_AXES = "xyz"


@dataclass
class _Dealing:
    """The rewriting of a loop over tile blocks into one over items (`deal_iterations/items.py`)."""

    loop: scf.ForOp
    around: scf.ForOp
    together: int
    """Tile blocks beside each other that are a cluster: a share is of whole clusters."""
    ctas: int
    """CTAs that compute a tile block together."""
    times: Latencies

    def write(self) -> None:
        """Replace the loop over tile blocks by one over items."""
        around, loop = self.around, self.loop
        build = Builder(InsertPoint.before(around))
        extents, depth = _extents(around), iterations_of(build, loop)
        number, of_all = (_clusters(build, kind, self.together * self.ctas) for kind in _IDS)
        count = _divided(build, around.ub, self.together)
        cost = _cost(loop, self.times)
        items = items_of_cta(build, number, of_all, count, depth, cost)
        head_end, tail_begin = (counter_of(build, loop, n) for n in (items.head, items.done))
        body = around.body.block
        item = body.args[0]
        build = Builder(InsertPoint.at_start(body))
        is_head = compared(build, item, items.head_item, "eq")
        is_tail = compared(build, item, items.first_tail, "uge")
        self._place(build, items, (item, is_head, is_tail), extents)
        build = Builder(InsertPoint.before(loop))
        first = select(build, is_tail, tail_begin, loop.lb)
        last = select(build, is_head, head_end, loop.ub)
        begun = self._begin(build, is_tail)
        loop.operands = [first, last, loop.step, *begun]
        self._end(is_head)
        build = Builder(InsertPoint.before(around))
        zero, one = (constant(build, number, i32) for number in (0, 1))
        around.operands = [zero, items.count, one, *around.iter_args]

    def _place(
        self,
        build: Builder,
        items: Items,
        item: tuple[SSAValue, SSAValue, SSAValue],
        extents: Sequence[SSAValue],
    ) -> None:
        """Say where the tile block of an item is: whole waves carry it, others divide."""
        number, is_head, is_tail = item
        _, *carried = self.around.body.block.args
        is_in_waves = compared(build, number, items.in_waves, "ult")
        then, other = Block([scf.YieldOp(*carried)]), Block()
        inside = Builder(InsertPoint.at_end(other))
        block = add(inside, number, items.distance)
        block = select(inside, is_tail, items.tail_block, block)
        block = select(inside, is_head, items.head_block, block)
        if self.together > 1:
            cta = _divided(inside, _cta(inside), self.ctas)
            clusters = mul(inside, block, constant(inside, self.together, i32))
            block = add(inside, clusters, _left(inside, cta, self.together))
        inside.insert(scf.YieldOp(*places(inside, block, extents)))
        types = [value.type for value in carried]
        made = build.insert(scf.IfOp(is_in_waves, types, Region(then), Region(other)))
        for old, new in zip(carried, made.results, strict=True):
            old.replace_uses_with_if(new, lambda use: use.operation is not then.last_op)

    def _begin(self, build: Builder, is_tail: SSAValue) -> Sequence[SSAValue]:
        """Return what the loop begins with: of a tail, what another CTA has transferred."""
        types = [value.type for value in self.loop.results]
        then, other = Block(), Block([scf.YieldOp(*self.loop.iter_args)])
        inside = Builder(InsertPoint.at_end(then))
        before = sub(inside, _cta(inside), constant(inside, self.together * self.ctas, i32))
        inside.insert(scf.YieldOp(*inside.insert(TransferInOp([before], types)).tiles))
        return build.insert(scf.IfOp(is_tail, types, Region(then), Region(other))).results

    def _end(self, is_head: SSAValue) -> None:
        """Hand over what a head has summed up; everything else goes on behind its loop."""
        body, then, other = self.around.body.block, Block(), Block()
        inside = Builder(InsertPoint.at_end(then))
        inside.insert(TransferOutOp(self.loop.results, _cta(inside)))
        inside.insert(scf.YieldOp())
        staying = _behind_next_place(body)
        behind = list(body.ops)[body.get_operation_index(self.loop) + 1 : -1]
        made = scf.IfOp(is_head, [], Region(then), Region(other))
        Rewriter.insert_op(made, InsertPoint.after(self.loop))
        for op in behind:
            if op not in staying:
                op.detach()
                other.add_op(op)
        other.add_op(scf.YieldOp())


_IDS = (gpu.BlockIdOp, gpu.GridDimOp)


def _clusters(build: Builder, kind: type[gpu.BlockIdOp | gpu.GridDimOp], ctas: int) -> SSAValue:
    """Return the number of a cluster of so many CTAs, or of all of them."""
    found = build.insert(kind(gpu.DimensionAttr(gpu.DimensionEnum.X))).result
    if ctas > 1:
        by = build.insert(index_constant(ctas)).result
        found = build.insert(arith.DivUIOp(found, by)).result
    return build.insert(arith.IndexCastOp(found, i32)).result


def _divided(build: Builder, number: SSAValue, by: int) -> SSAValue:
    if by == 1:
        return number
    return build.insert(arith.DivUIOp(number, constant(build, by, i32))).result


def _left(build: Builder, number: SSAValue, by: int) -> SSAValue:
    return build.insert(arith.RemUIOp(number, constant(build, by, i32))).result


def _behind_next_place(block: Block) -> set[Operation]:
    """Return the operations of a tile block that say where the next one is."""
    found, end = set[Operation](), block.last_op
    pending = [] if end is None else [*end.operands]
    while pending:
        op = pending.pop().owner
        if isinstance(op, Operation) and op.parent is block and op not in found:
            found.add(op)
            pending += op.operands
    return found


def _cost(loop: scf.ForOp, times: Latencies) -> int:
    """Return the iterations that take as long as to transfer what the loop carries."""
    return ceil_div(_handing_over(loop, times), product_cycles(loop, times))


def _handing_over(loop: scf.ForOp, times: Latencies) -> int:
    """Return the cycles that it takes to transfer what the loop carries.

    It leaves a CTA by stores and comes to another one by loads, while nothing is multiplied.
    """
    tiles = [tile for value in loop.results if (tile := as_tile(value.type)) is not None]
    bytes_ = sum(prod(tile.get_shape()) * bits_of(tile.element_type) // 8 for tile in tiles)
    return times.load(bytes_) + times.bulk_store(bytes_)


def _cta(build: Builder) -> SSAValue:
    """Return the number of this CTA, which is that of its place."""
    found = build.insert(gpu.BlockIdOp(gpu.DimensionAttr(gpu.DimensionEnum.X))).result
    return build.insert(arith.IndexCastOp(found, i32)).result


def _extents(around: scf.ForOp) -> Sequence[SSAValue]:
    """Return the extents of the grid: their product is the bound of the loop over tile blocks."""
    count = around.ub.owner
    assert isinstance(count, arith.MuliOp)
    rows = count.lhs.owner
    assert isinstance(rows, arith.MuliOp)
    return rows.lhs, rows.rhs, count.rhs
