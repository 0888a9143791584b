"""The pass `tileas-chunk-tiles`: compute tiles that do not fit registers chunk by chunk.

%t = tiled_load %v[%i] : tensor<512x256xf32>       scf.for %c = 0 to 4 {
%e = math.exp %t                                     %t = tiled_load %w[4 * %i + %c] : 128x256
tiled_store %e, %u[%i]                        ->     %e = math.exp %t
                                                     tiled_store %e, %x[4 * %i + %c] }
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tileas_xdsl.analysis.values.operand_ranges import RANGED, keep_operand_ranges
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import defined_functions
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpecAttr, spec_of
from tileas_xdsl.dialects.nv_tileaa.memory.tokens import JoinMemTokenOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.pipeline.warp_allocation import registers_at_entry
from tileas_xdsl.transforms.arithmetic.tileas_normalize_dot_operands import (
    TileasNormalizeDotOperands,
)
from tileas_xdsl.transforms.chunk_tiles.phase_loops import run_in_phases
from tileas_xdsl.transforms.chunk_tiles.plan import plan_chunks, products_in_parts
from tileas_xdsl.transforms.chunk_tiles.product_loops import multiply_in_loops
from tileas_xdsl.transforms.chunk_tiles.reduction_phases import PhasePlan, plan_phases
from tileas_xdsl.transforms.chunk_tiles.register_demand import (
    blocks_of,
    blocks_that_fit,
    has_too_many_registers,
    warps_that_fit,
)
from tileas_xdsl.transforms.chunk_tiles.reloads import load_again
from tileas_xdsl.transforms.chunk_tiles.rewrite import cut
from tileas_xdsl.transforms.chunk_tiles.row_forms import (
    MODES,
    ROWS,
    ROWS_IN_REGISTERS,
    choose_row_form,
    reduces_rows,
)
from tileas_xdsl.transforms.chunk_tiles.rows_of_loops import compute_in_loops
from tileas_xdsl.transforms.chunk_tiles.unit_products import use_unit
from tileas_xdsl.transforms.chunk_tiles.unroll import plan_unrolled, unroll
from tileas_xdsl.transforms.memory.tileas_rotate_rows import has_rows_to_rotate, rotate_rows
from tileas_xdsl.transforms.normalize_dot_operands.register_operands import store_shared_operands
from tileas_xdsl.transforms.pass_options import check_keyword
from tileas_xdsl.transforms.pipeline_loads.rounds.kept_lines import LINES_KEPT
from tileas_xdsl.transforms.pipeline_loads.rounds.next_rounds import ROWS_AHEAD
from tileas_xdsl.transforms.plan_cta.cta_pairs import mark_parts
from tileas_xdsl.transforms.tile_parts.parts import separate_constants

KEEPING = ("auto", "kept")
"""Where rows that do not fit registers may stay in shared memory."""

BLOCKS_OF_KEPT_ROWS = 2
"""From which on some load their rows while others compute, as lines beside rows ask for."""

MAX_ITERATIONS = 3
"""Classes of dimensions that are cut at most, one after another."""


@dataclass(frozen=True)
class TileasChunkTiles(ModulePass):
    """Compute tiles that do not fit registers chunk by chunk.

    Where the tiles that are live at once need more registers than a block has, a dimension that
    the program never looks across (rows of an elementwise chain, of attention, or of a product) is
    cut, and what touches it becomes the body of a loop over its parts.  Loads of other tiles are
    repeated.  Kernels whose tiles fit stay as they are, but for products whose operands are one
    long tile each, loaded by TMA outside of any loop: those become a loop along K.

    Products with more rows or columns than the matrix unit takes (256 rows on tcgen05) are cut for
    it, too, instead of being multiplied by mma.sync.  Where a loop over their parts would repeat
    what is no part of them (the scores of attention, for an accumulator of 512 rows), the parts
    are computed beside one another, with an accumulator each.

    Rows that are reduced and used again (softmax, norms, cross entropy) are cut along the row,
    where nothing else helps: each reduction ends a phase, a phase is a loop over chunks of the row,
    and what it needs of earlier phases is loaded and computed again, instead of being spilled.  So
    are rows that a loop around reductions reads in each round.
    Rows that fit registers may take so many that nothing is loaded while they are computed: as a
    model of blocks that share a multiprocessor says, phases read chunks of a row that stays in
    shared memory, or the kernel asks for rows that are loaded a round ahead
    (`nv_tileas.rows_ahead`, `tileas-make-persistent` and `tileas-pipeline-loads`).

    A tile from memory that would be held in registers while a product is made is loaded again
    behind it, where live tiles take most of them and no token orders the load.

    Analysis, then rewrite: dimensions that go together are found for the whole kernel.
    """

    name = "tileas-chunk-tiles"

    rows: str = "auto"
    """Where rows that are used again behind a reduction are: `auto`, or always `registers`, `kept`
    in shared memory, or loaded a round `ahead`, where that can be."""

    def __post_init__(self) -> None:
        """Refuse words that are no modes; raises `ValueError`."""
        check_keyword("rows", self.rows, MODES)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        for kernel in defined_functions(op):
            if len(kernel.body.blocks) != 1:
                continue
            multiply_in_loops(kernel)
            _set_warps(kernel, warps_that_fit(kernel), blocks_of(kernel, target))
            store_shared_operands(kernel)
            _limit_blocks(kernel, blocks_that_fit(kernel, target))
            if _is_too_large(kernel, target):
                _cut(kernel, target, self.rows in KEEPING)
                if use_unit(kernel, target):
                    TileasNormalizeDotOperands().apply(ctx, op)
            mark_parts(kernel, target)
            load_again(kernel, target)
            _place_rows(kernel, target, self.rows)


def _place_rows(kernel: func.FuncOp, target: Target, mode: str) -> None:
    """Keep rows in shared memory where that is fastest; say where they are, and why.

    Those that begin between vectors can be there if they are rotated, and are only then.
    """
    if not reduces_rows(kernel):
        return
    made = _rotated(kernel, target)
    form = choose_row_form(made, target, mode)
    if form is None:
        return
    is_held = form.kept is None and not form.is_ahead
    if not is_held:
        _take_body(kernel, made)
    kernel.attributes[ROWS_IN_REGISTERS if is_held else ROWS] = StringAttr(form.why)
    if form.is_ahead:
        kernel.attributes[ROWS_AHEAD] = UnitAttr()
    if form.keeps_lines:
        kernel.attributes[LINES_KEPT] = UnitAttr()
    if form.kept is not None:
        _run_kept(kernel, form.kept, form.blocks, target)


def _keep_rows(kernel: func.FuncOp, target: Target) -> bool:
    """Keep rows that do not fit registers in shared memory, where CTAs have room: one load each.

    A CTA that is alone waits between chunks of a loop: these are written out.
    """
    made = _rotated(kernel, target)
    form = choose_row_form(made, target, "kept")
    if form is None or form.kept is None:
        return False
    if form.blocks < BLOCKS_OF_KEPT_ROWS and not form.kept.is_written_out:
        return False
    _take_body(kernel, made)
    kernel.attributes[ROWS] = StringAttr("rows that are used again do not fit registers")
    _run_kept(kernel, form.kept, form.blocks, target)
    return True


def _rotated(kernel: func.FuncOp, target: Target) -> func.FuncOp:
    """Return a copy whose rows are rotated as those in memory are; the kernel if there are none."""
    if not has_rows_to_rotate(kernel):
        return kernel
    made = kernel.clone()
    rotate_rows(made, target, in_memory=True)
    return made


def _take_body(kernel: func.FuncOp, made: func.FuncOp) -> None:
    if made is not kernel:
        kernel.detach_region(kernel.body)
        kernel.add_region(made.detach_region(made.body))


def _run_kept(kernel: func.FuncOp, phases: PhasePlan, blocks: int, target: Target) -> None:
    for op in instances_in(kernel, *RANGED):
        keep_operand_ranges(op)
    spec = replace(spec_of(kernel), occupancy=blocks)
    threads = spec.num_warps * WARP
    registers = registers_at_entry(threads, target, blocks)
    run_in_phases(phases.loading_ahead(registers, threads))
    kernel.attributes[KERNEL_SPEC] = KernelSpecAttr(spec)


def _cut(kernel: func.FuncOp, target: Target, may_keep_rows: bool) -> None:
    """Cut tiles until they fit: side by side where a loop would repeat too much, then in loops."""
    separate_constants(kernel)
    _drop_joins(kernel)
    for _ in range(MAX_ITERATIONS):
        found = plan_unrolled(kernel, target)
        if found is None:
            break
        unroll(kernel, *found)
    _run_in_loops(kernel, target, may_keep_rows)


def _run_in_loops(kernel: func.FuncOp, target: Target, may_keep_rows: bool) -> None:
    """Cut classes until tiles fit: those that nothing looks across, then one that is reduced."""
    for _ in range(MAX_ITERATIONS):
        plan = plan_chunks(kernel, target)
        if plan is None:
            break
        blocks = blocks_of(kernel, target)
        cut(plan)
        _set_warps(kernel, plan.warps, blocks)
    if plan_phases(kernel, target) is not None:
        if may_keep_rows and _keep_rows(kernel, target):
            return
        rotate_rows(kernel, target)
    phases = plan_phases(kernel, target)
    if phases is None:
        _run_rows_of_loops(kernel, target)
    else:
        run_in_phases(phases)


def _run_rows_of_loops(kernel: func.FuncOp, target: Target) -> None:
    """Compute rows in the loops that reduce them, and all in phases, if tiles fit then."""
    made = kernel.clone()
    if not has_too_many_registers(kernel, target) or not compute_in_loops(made):
        return
    while (phases := plan_phases(made, target)) is not None:
        run_in_phases(phases)
    if not has_too_many_registers(made, target):
        kernel.detach_region(kernel.body)
        kernel.add_region(made.detach_region(made.body))


def _drop_joins(kernel: func.FuncOp) -> None:
    """Wait for a token itself where it is joined with those of nothing."""
    for op in operations_in(kernel):
        if not isinstance(op, JoinMemTokenOp):
            continue
        left = [token for token in op.operands if not isinstance(token.owner, CreateNoneOp)]
        if len(left) == 1:
            op.results[0].replace_all_uses_with(left[0])
            Rewriter.erase_op(op)


def _is_too_large(kernel: func.FuncOp, target: Target) -> bool:
    return has_too_many_registers(kernel, target) or bool(products_in_parts(kernel, target))


def _limit_blocks(kernel: func.FuncOp, blocks: int) -> None:
    """Let no more blocks share a multiprocessor: occupancy is a hint."""
    spec = kernel.attributes.get(KERNEL_SPEC)
    if isinstance(spec, KernelSpecAttr) and spec.data.occupancy > blocks:
        kernel.attributes[KERNEL_SPEC] = KernelSpecAttr(replace(spec.data, occupancy=blocks))


def _set_warps(kernel: func.FuncOp, warps: int, blocks: int) -> None:
    """Give the kernel as many warps as chunks have rows for, and each as many registers as planned.

    Fewer warps would let more blocks share a multiprocessor if a hint asks for them.
    """
    spec = kernel.attributes.get(KERNEL_SPEC)
    if isinstance(spec, KernelSpecAttr) and spec.data.num_warps != warps:
        changed = replace(spec.data, num_warps=warps, occupancy=blocks)
        kernel.attributes[KERNEL_SPEC] = KernelSpecAttr(changed)
