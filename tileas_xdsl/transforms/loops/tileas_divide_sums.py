"""The pass `tileas-divide-sums`: CTAs divide the iterations of a tile block, and add up their sums.

One tile block of 4,096 iterations, 132 CTAs (split-K):

    %i = gpu.block_id x                       %part, %tile = divmod(gpu.block_id x, %tile_blocks)
    %sum = scf.for %k = 0 to %n               %sum = scf.for %k = %from to %to
        iter_args(%zero)                 ->       iter_args(%zero)
    tiled_store %sum, %c[%i]                  %all = scf.for %o = 0 to %others iter_args(%sum) {
                                                addf %sum, transfer_in(the CTA of %o) }
                                              scf.if %is_last { tiled_store %all, %c[%tile] }
                                              else { transfer_out %all in %cta }

Parts are added in an order that the number of parts alone decides, so that equal launches give
equal bits.  Each sum is rounded less often in a row than in one loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, gpu, scf
from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr, i32
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpecAttr, spec_of
from tileas_xdsl.dialects.nv_tileaa.grid import GetNumProgramsOp
from tileas_xdsl.dialects.nv_tileas.builders.arith import add, constant, mul, sub
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.tile_transfers import TransferInOp, TransferOutOp
from tileas_xdsl.dialects.plain_attributes import plain_attribute
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.kernel_abi import DIVIDED_SUMS
from tileas_xdsl.target.launches.launch_numbers import AXES
from tileas_xdsl.transforms.deal_iterations.items import counter_of, iterations_of, share_of
from tileas_xdsl.transforms.divide_sums.carried_sums import adding
from tileas_xdsl.transforms.divide_sums.launches_that_gain import (
    bytes_of,
    launches_that_gain,
    summing_loop,
)
from tileas_xdsl.transforms.divide_sums.parts import Part, part_of_cta
from tileas_xdsl.transforms.kernels.tileas_make_persistent import (
    counts_of_tile_blocks,
    tile_blocks_along_x,
)
from tileas_xdsl.transforms.make_persistent.walks import places
from tileas_xdsl.transforms.pass_options import check_keyword
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop, load_loop
from tileas_xdsl.transforms.pipeline_loads.resources import Resources, resources_of

MODES = ("auto", "on")

NOT_SPLIT = "nv_tileas.sums_not_divided"
"""Attribute of a kernel whose tile blocks are summed up by one CTA each: why."""


MOST_AT_ONCE, OTHER_REGISTERS = 4, 48
"""Parts that are loaded before they are added, at most, and registers beside those of sums.  To
wait for a part of 16 KB and to load it takes 1,200 cycles on an H200, of which most are latency."""


@dataclass(frozen=True)
class TileasDivideSums(ModulePass):
    """Let CTAs divide the iterations of tile blocks that leave multiprocessors idle (split-K).

    It is for kernels with one loop that multiplies, which carries nothing but sums: tiles that each
    iteration adds to, of integers or of floats from 32 bits on.  A launch decides by its grid and
    its iterations (`tileas.divided_sums`), and into how many parts; with `mode = on` the pass
    rewrites the loop.  A kernel that says how many CTAs compute a tile block (`num_ctas` of cuTile)
    stays, as does one that exchanges data; all that stay say why.
    """

    name = "tileas-divide-sums"

    mode: str = "auto"

    def __post_init__(self) -> None:
        """Refuse words that are no modes; raises `ValueError`."""
        check_keyword("mode", self.mode, MODES)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        for kernel in op.ops:
            if isinstance(kernel, func.FuncOp) and has_instance(kernel, DotOp):
                _divide_sums(kernel, target, is_chosen=self.mode == "on")


def _divide_sums(kernel: func.FuncOp, target: Target, *, is_chosen: bool) -> None:
    loop = summing_loop(kernel)
    if isinstance(loop, str):
        kernel.attributes.pop(DIVIDED_SUMS, None)
        kernel.attributes[NOT_SPLIT] = StringAttr(loop)
        return
    if DIVIDED_SUMS not in kernel.attributes:
        predicate = launches_that_gain(kernel, loop, target)
        kernel.attributes[DIVIDED_SUMS] = plain_attribute(asdict(predicate))
    if is_chosen:
        _divide(kernel, loop, target)


def _divide(kernel: func.FuncOp, loop: scf.ForOp, target: Target) -> None:
    """Let a CTA have one part of the iterations of one tile block."""
    each, several = spec_of(kernel).tile_block_ctas, _added_at_once(kernel, loop, target)
    kernel.attributes[KERNEL_SPEC] = KernelSpecAttr(replace(spec_of(kernel), divided=1))
    ids = instances_in(kernel, gpu.BlockIdOp, gpu.GridDimOp)
    build = Builder(InsertPoint.at_start(kernel.body.block))
    extents = [build.insert(GetNumProgramsOp(axis)).result for axis in range(len(AXES))]
    count = mul(build, mul(build, extents[0], extents[1]), extents[2])
    cta, ctas = (tile_blocks_along_x(build, kind, each) for kind in (gpu.BlockIdOp, gpu.GridDimOp))
    part = part_of_cta(build, cta, ctas, count)
    place = places(build, part.tile_block, extents)
    apart = mul(build, count, constant(build, each, i32))
    for op in ids:
        of_program = place if isinstance(op, gpu.BlockIdOp) else extents
        value = of_program[AXES.index(str(op.dimension.data))]
        for number in counts_of_tile_blocks(op, each):
            Rewriter.replace_op(number, arith.IndexCastOp(value, IndexType()))
    _divide_iterations(loop, part)
    _add_up(loop, part, apart, several)


def _divide_iterations(loop: scf.ForOp, part: Part) -> None:
    """Let the loop have the iterations of a part, and begin with zeros but for the last one."""
    build = Builder(InsertPoint.before(loop))
    begin, end = share_of(build, part.number, part.of_all, iterations_of(build, loop))
    first, last = (counter_of(build, loop, number) for number in (begin, end))
    begun = [_begin(build, value, part.is_last) for value in loop.iter_args]
    loop.operands = [first, last, loop.step, *begun]


def _begin(build: Builder, value: SSAValue, is_last: SSAValue) -> SSAValue:
    """Return what the sum of a part begins with: zeros, but for one of them."""
    zeros = constant(build, 0, value.type)
    made = value.owner
    if isinstance(made, arith.ConstantOp) and made.value == zeros.owner.value:  # pyright: ignore
        return value
    then, other = Block([scf.YieldOp(value)]), Block([scf.YieldOp(zeros)])
    return build.insert(scf.IfOp(is_last, [value.type], Region(then), Region(other))).results[0]


def _add_up(loop: scf.ForOp, part: Part, apart: SSAValue, several: int) -> None:
    """Add the sums of other parts, whose CTAs are so far `apart`; the last one goes on with all.

    It loads `several` of them, a power of two, before it adds them, then half as many of the rest.
    """
    block = loop.parent
    assert block is not None
    behind = list(block.ops)[block.get_operation_index(loop) + 1 : -1]
    uses = [(use, k) for k, sum_ in enumerate(loop.results) for use in list(sum_.uses)]
    build = Builder(InsertPoint.after(loop))
    cta = build.insert(gpu.BlockIdOp(gpu.DimensionAttr(gpu.DimensionEnum.X))).result
    cta = build.insert(arith.IndexCastOp(cta, i32)).result
    slots = _Slots(part, cta, apart)
    begin, all_ = constant(build, 0, i32), loop.results
    while several:
        end = _rounded_down(build, part.others, several)
        all_ = slots.added(build, (begin, end), several, all_)
        begin, several = end, several // 2
    for use, k in uses:
        use.operation.operands[use.index] = all_[k]
    then, otherwise = Block(), Block()
    build.insert(scf.IfOp(part.is_last, [], Region(then), Region(otherwise)))
    for op in behind:
        op.detach()
        then.add_op(op)
    then.add_op(scf.YieldOp())
    inside = Builder(InsertPoint.at_end(otherwise))
    inside.insert(TransferOutOp(all_, cta))
    inside.insert(scf.YieldOp())


def _added_at_once(kernel: func.FuncOp, loop: scf.ForOp, target: Target) -> int:
    """Return how many parts are loaded before they are added: threads have registers for them."""
    found = load_loop(kernel)
    needed = resources_of(found, target) if isinstance(found, LoadLoop) else None
    if not isinstance(needed, Resources):
        return 1
    words = sum(bytes_of(value) for value in loop.results) // (4 * WARP * needed.warps)
    left = needed.registers[1] - OTHER_REGISTERS - words
    fitting = min(max(left // max(words, 1), 1), MOST_AT_ONCE)
    return 1 << fitting.bit_length() - 1


def _rounded_down(build: Builder, number: SSAValue, by: int) -> SSAValue:
    """Return the multiple of a power of two up to a number."""
    return build.insert(arith.AndIOp(number, constant(build, -by, i32))).result


@dataclass
class _Slots:
    """The sums of other parts, which are so far `apart` from those of this CTA."""

    part: Part
    cta: SSAValue
    apart: SSAValue

    def added(
        self,
        build: Builder,
        bounds: tuple[SSAValue, SSAValue],
        together: int,
        sums: Sequence[SSAValue],
    ) -> Sequence[SSAValue]:
        """Return the sums with those of some parts, so many of which are loaded `together`."""
        types = [value.type for value in sums]
        body = Block(arg_types=[i32, *types])
        inside = Builder(InsertPoint.at_end(body))
        first, *added = body.args
        numbers = [add(inside, first, constant(inside, k, i32)) for k in range(together)]
        slots = [self._of(inside, number) for number in numbers]
        found = inside.insert(TransferInOp(slots, types * together)).tiles
        for k in range(0, len(found), len(types)):
            pairs = zip(added, found[k : k + len(types)], strict=True)
            added = [inside.insert(adding(one)(one, other)).results[0] for one, other in pairs]
        inside.insert(scf.YieldOp(*added))
        step = constant(build, together, i32)
        return build.insert(scf.ForOp(*bounds, step, sums, Region(body))).results

    def _of(self, build: Builder, index: SSAValue) -> SSAValue:
        other = self.part.added(build, index)
        return add(build, self.cta, mul(build, sub(build, other, self.part.number), self.apart))
