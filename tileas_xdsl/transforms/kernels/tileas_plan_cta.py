"""The pass `tileas-plan-cta`: several CTAs compute the tiles of one tile block together.

%i = gpu.block_id x                        %cta = gpu.block_id x
                                           %i = divui %cta, 2
                                           %part = remui %cta, 2
%t = tiled_load %v[%i] : 256x64      ->    %t = tiled_load %w[2 * %i + %part] : 128x64
%u = tiled_load %x[%j] : 64x256            %u = tiled_load %x[%j] : 64x256
%s = dot %t, %u, %zero : 256x256           %s = dot %t, %u, %zero : 128x256
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects import arith, func, gpu
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import emit_remark
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import defined_functions
from tileas_xdsl.dialects.nv_tileaa.attributes import CTAS_HINT, KERNEL_SPEC, KernelSpecAttr
from tileas_xdsl.dialects.nv_tileas.tma.checks import number_of
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.kernel_abi import FEW_TILE_BLOCKS, RUNS_AT_ONCE
from tileas_xdsl.transforms.chunk_tiles.plan import most_warps
from tileas_xdsl.transforms.chunk_tiles.unit_products import use_unit
from tileas_xdsl.transforms.plan_cta.cta_number import index_constant, part_of_cta
from tileas_xdsl.transforms.plan_cta.cta_pairs import mark_products, pair_problem
from tileas_xdsl.transforms.plan_cta.division import division_of
from tileas_xdsl.transforms.plan_cta.few_tile_blocks import few_tile_blocks, note_divided_sums
from tileas_xdsl.transforms.tile_parts.parts import separate_constants, take_part

NOT_DIVIDED = "nv_tileas.not_divided"
"""Attribute of a kernel that asks for several CTAs and has one: why."""


@dataclass(frozen=True)
class TileasPlanCta(ModulePass):
    """Let the CTAs that a kernel asks for compute each tile block together.

    A kernel with `nv_tileaa.num_cta_in_cga = N` (`num_ctas` of cuTile) has its tiles divided in N
    parts along one dimension that the program never looks across, one for each of N CTAs that
    follow each other along x.  What is not divided, each computes for itself; its loads can come
    by multicast (`tileas-multicast-loads`).  The specification says `tile_block_ctas = N`: a grid
    counts tile blocks, and a launch has N times as many CTAs along x.

    A kernel that cannot be divided stays as it is, with a remark that says why.

    Where a kernel does not say how many CTAs it wants, a launch of few tile blocks has
    multiprocessors to spare.  The pass writes down what such a launch computes
    (`tileas.few_tile_blocks`): how many CTAs can divide a tile block, and what its loops load.
    With `ctas = N`, for launches that were asked, it divides; with `ctas = 1` as well the kernel is
    for launches that have a multiprocessor for each CTA (`tileas.runs_at_once`).

    Products that the matrix unit takes now that they have fewer rows or columns are made by it.
    Those whose rows two CTAs divide, as many as an instruction of both has, get an atom of two
    (`cta_group = 2`); all others of tensor memory say why not (`nv_tileas.not_paired`).

    Analysis, then rewrite: dimensions that go together are found for the whole kernel.
    """

    name = "tileas-plan-cta"

    ctas: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        for kernel in defined_functions(op):
            _plan(kernel, self.ctas, target)


def _plan(kernel: func.FuncOp, chosen: int, target: Target) -> None:
    spec = kernel.attributes.get(KERNEL_SPEC)
    if not isinstance(spec, KernelSpecAttr) or spec.data.tile_block_ctas > 1:
        return
    hint = number_of(kernel.attributes.get(CTAS_HINT))
    if chosen:
        kernel.attributes[RUNS_AT_ONCE] = UnitAttr()
        note_divided_sums(kernel, chosen, target)
    if (count := chosen or hint or 1) > 1:
        _divide(kernel, spec, count, target)
    elif not chosen and (asked := few_tile_blocks(kernel, target, may_divide=hint is None)):
        kernel.attributes[FEW_TILE_BLOCKS] = asked


def _divide(kernel: func.FuncOp, spec: KernelSpecAttr, count: int, target: Target) -> None:
    """Divide a kernel among the CTAs that it or a launch asks for, if it can be."""
    separate_constants(kernel)
    tiles = division_of(kernel, count, target)
    if isinstance(tiles, str):
        text = (
            f"num_cta_in_cga = {count} (num_ctas of cuTile) has no effect: each tile block runs as "
            f"one CTA, since {tiles}"
        )
        emit_remark(kernel, text, prefix=False)
        kernel.attributes[NOT_DIVIDED] = StringAttr(tiles)
        return
    problem = pair_problem(kernel, tiles, count, target)
    _count_tile_blocks(kernel, count)
    take_part(operations_in(kernel.body), tiles, count, part_of_cta(kernel, count))
    warps = min(spec.data.num_warps, most_warps(tiles, 1))
    changed = replace(spec.data, num_warps=warps, tile_block_ctas=count)
    kernel.attributes[KERNEL_SPEC] = KernelSpecAttr(changed)
    use_unit(kernel, target)
    mark_products(kernel, problem, target)


def _count_tile_blocks(kernel: func.FuncOp, count: int) -> None:
    """Let numbers of CTAs along x, and their count, become those of tile blocks."""
    for op in operations_in(kernel.body):
        is_along_x = isinstance(op, gpu.BlockIdOp | gpu.GridDimOp) and str(op.dimension.data) == "x"
        if is_along_x and any(op.results[0].uses):
            _divide_result(op, count)


def _divide_result(op: Operation, count: int) -> None:
    uses, number = list(op.results[0].uses), index_constant(count)
    divided = arith.DivUIOp(op.results[0], number.result)
    Rewriter.insert_op([number, divided], InsertPoint.after(op))
    for use in uses:
        use.operation.operands[use.index] = divided.result
