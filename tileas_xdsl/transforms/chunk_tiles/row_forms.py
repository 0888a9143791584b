"""Decide where rows are that are reduced and used again: registers, shared memory, or both.

A row that threads hold in registers takes them from its first reduction to its store, so that one
or two blocks share a multiprocessor: nothing is loaded while they compute.  Two other forms:

    kept in shared memory                               loaded a round ahead

    %f = async.tiled_load %v[%i] {kept}                 for each tile block %i of the CTA:
    %x = async.wait %f                                    %x = async.wait %f
    %m = reduce (for each chunk of %x: combine)           %f = async.tiled_load %v[next %i] {kept}
    %s = reduce (for each chunk of %x: exp (%k - %m))     %m = reduce %x
    for each chunk of %x: store (exp (%k - %m) / %s)      %e = exp (%x - %m) ...

In shared memory a row takes its own bytes, not those of the wider elements that are computed of it,
and its chunks take few registers at once; so more blocks are resident, and some load while others
compute.  What is computed again of each chunk costs instructions.  A round ahead, a row is loaded
while the one before it is computed, once; blocks stay on their multiprocessors, and wait more for
each other.  All three are weighed (`scheduling/resources/block_overlap`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import func, gpu
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.memory.kept_tiles import is_aligned
from tileas_xdsl.analysis.memory.shared_memory import tile_bytes
from tileas_xdsl.analysis.values.liveness.tiles import peak_registers, tile_registers
from tileas_xdsl.analysis.values.rows.row_extents import (
    array_of,
    bytes_of_row,
    held_columns,
    is_one_row,
    row_of,
    row_width,
    within_reach,
)
from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import has_instance
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.scheduling.loops.macro_operations import MacroOperation, is_scheduled, kind_of
from tileas_xdsl.scheduling.resources.block_overlap import cycles_of_block
from tileas_xdsl.scheduling.resources.unit_demand import alone, work_of
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import Latencies, latencies
from tileas_xdsl.target.costs.units import Unit
from tileas_xdsl.target.launches.bounded_rows import PARTS
from tileas_xdsl.threads.pipeline.occupancy import (
    EXPECTED_HEADROOM,
    HEADROOM_OF_CHUNKS,
    RESERVED_SHARED_MEMORY,
    blocks_of_kept_rows,
    expected_blocks,
    resident_registers,
)
from tileas_xdsl.threads.pipeline.warp_allocation import registers_at_entry
from tileas_xdsl.transforms.choose_tma.legality import array_problem
from tileas_xdsl.transforms.chunk_tiles.plan import may_be_cut
from tileas_xdsl.transforms.chunk_tiles.reduction_phases import (
    MAX_WRITTEN_OUT,
    PhasePlan,
    phase_plans,
)

CHUNK_BYTES = 16
"""Of each thread, in a chunk of a row at least: the widest access."""

FEW_REGISTERS = 24
"""Of a thread, for a chunk: what is loaded of it, computed, and combined with others."""

KEPT_GAIN, AHEAD_GAIN = 12, 22
"""Percent of its time that a tile block is to win, as computed, to be another than the usual form.

On an H200, of a copy, in registers, kept and ahead: rms_norm f16 of 16,384 0.98, 0.97, 0.96, f32 of
10,000 0.99, 0.97, 0.95; layer_norm f32 of 10,000 0.97, 0.95.  Without lines beside rows what is
kept is as fast at least: softmax f16 of 16,384 0.94, 0.97, 0.95, f32 0.97, 0.96, 0.93.
"""

AHEAD_COST = 13
"""Percent more than computed that rows take ahead where nothing but rows is loaded.

Chunks of rows that are kept are written out: softmax f16 of 18,000 kept and ahead 0.96, 0.93, f32
of 20,000 0.95, 0.94, of 24,576 0.96, 0.94.
"""

MAX_BLOCKS = 2
"""Blocks up to which one waits for the other: with four, rows in registers are the fastest."""

LEAST_PART_KEPT = 2
"""A part of a row that is worth a CTA for itself: one in so many."""

MIN_REGISTERS_OF_LINES = 4
"""Of a thread, for what is loaded beside a row where registers are short: one access."""

MAX_BATCHES, MAX_BATCHES_AHEAD, MAX_BATCHES_ALONE = 2, 2, 5
"""Batches of lines up to which kernels were not seen to spill; loops that load rows ahead.

Each chunk that is copied ahead takes a register, for its address or whether it is in bounds.  A
block that is alone waits for its row as well: layer_norm of 32,768 f32 spills 60 bytes and runs at
3,666 GB/s in registers, loaded ahead 16 bytes and 3,783 (H200).
"""

ROWS = "nv_tileas.rows"
"""On a kernel whose rows are in shared memory, or are loaded a round ahead: why."""

ROWS_IN_REGISTERS = "nv_tileas.rows_in_registers"
"""On a kernel that uses rows again behind a reduction of them: why registers hold them."""


@dataclass(frozen=True)
class RowForm:
    """Where the rows of a kernel are."""

    why: str
    kept: PhasePlan | None = None
    """The phases that read chunks of rows, where these stay in shared memory."""
    blocks: int = 0
    """That share a multiprocessor then."""
    is_ahead: bool = False
    """Whether rows are loaded a round ahead."""

    keeps_lines: bool = False
    """Whether what all rows meet is kept in shared memory then."""

    @property
    def name(self) -> str:
        """What the form is called in options."""
        return "ahead" if self.is_ahead else "registers" if self.kept is None else "kept"


MODES = ("auto", "registers", "kept", "ahead")
"""Where rows may be asked to be: where they are computed fastest, or there if they can be."""


def reduces_rows(kernel: func.FuncOp) -> bool:
    """Whether a kernel reduces tiles, and multiplies none."""
    return has_instance(kernel, ReduceOp) and not has_instance(kernel, DotOp)


def choose_row_form(kernel: func.FuncOp, target: Target, mode: str) -> RowForm | None:
    """Return where the rows of a kernel should be; None where none are used again.

    Nor where more than two blocks share a multiprocessor: then some load while others compute.
    """
    if not reduces_rows(kernel):
        return None
    spec = spec_of(kernel)
    threads = spec.num_warps * WARP
    blocks = expected_blocks(kernel, spec.num_warps, spec.occupancy, target)
    if mode == "auto" and blocks > MAX_BLOCKS:
        return None
    plans = [replace(plan, kept=kept) for plan in phase_plans(kernel) if (kept := _kept(plan))]
    if not plans:
        return None
    plan = max(plans, key=_bytes)
    free = registers_at_entry(threads, target, blocks) - EXPECTED_HEADROOM
    free -= peak_registers(kernel.body, within_reach(kernel, resident_registers)) // threads
    return _weighed(plan, _cut(plan, spec.num_warps, target), blocks, threads, free, target, mode)


def _weighed(
    plan: PhasePlan,
    cut: RowForm | None,
    blocks: int,
    threads: int,
    free: int,
    target: Target,
    mode: str,
) -> RowForm:
    """Return the form of the least cycles; `free` registers of a thread are beside a row.

    Rows that are read once are loaded ahead with those that are used again.  Lines that rotated
    rows meet are in shared memory, too: cut out of vectors part by part they take longer
    (layer_norm f16 of 20,003 0.62 of a copy kept, 0.85 ahead, H200).
    """
    costs, size, lines = latencies(target.name), _bytes(plan), lines_of(plan)
    again = [op for phase in plan.phases for op in (*phase.operations, *phase.reductions)]
    once, batches = (
        _demands(list(dict.fromkeys(again)), plan, costs),
        _batches(lines, threads, free),
    )
    held = cycles_of_block(once, _delay(costs, batches), blocks)
    text = f"rows of {size} bytes: {held:.0f} cycles each with {blocks} in registers"
    forms: list[tuple[float, RowForm]] = []
    gain = KEPT_GAIN if lines and batches <= MAX_BATCHES else 0
    lines_kept = _kept_lines(lines, target.shared_memory_per_block // blocks - size)
    others = [op for op in lines if op not in lines_kept]
    batches = _batches(others, threads, free - size // (threads * CHUNK_BYTES))
    memory = size + _bytes_beside(plan)
    fits = blocks * (memory + RESERVED_SHARED_MEMORY) <= target.shared_memory_per_block
    fits = fits and all(op.rotated is None for op in others)
    if fits and batches <= (MAX_BATCHES_ALONE if blocks == 1 else MAX_BATCHES_AHEAD):
        ahead = cycles_of_block(once, _delay(costs, batches), 2 * blocks)
        text += f", {ahead:.0f} with as many loaded ahead"
        if mode == "ahead" or ahead * (100 + AHEAD_GAIN) < held * 100:
            cost = ahead if lines else ahead * (100 + AHEAD_COST) / 100
            forms.append((cost, RowForm("", is_ahead=True, keeps_lines=bool(lines_kept))))
    if cut is not None and (mode == "kept" or not (lines and any(map(is_aligned, plan.kept)))):
        batches = cut.kept.count if cut.kept and lines else 0
        kept = cycles_of_block(_demands(again, plan, costs), _delay(costs, batches), cut.blocks)
        text += f", {kept:.0f} with {cut.blocks} in shared memory"
        if mode == "kept" or kept * (100 + gain) < held * 100:
            forms.append((kept, cut))
    asked = [one for one in forms if mode in ("auto", one[1].name)]
    _, best = min(asked, key=lambda one: one[0], default=(held, RowForm("")))
    return replace(best, why=text)


def _kept(plan: PhasePlan) -> Sequence[TiledLoadOp]:
    """Return the loads that more than one phase reads along their rows; none where some cannot.

    Rows that are apart by no multiple of 16 bytes are copied where they are rotated.
    """
    loads = [op for phase in plan.phases for op in phase.operations if isinstance(op, TiledLoadOp)]
    again = list(dict.fromkeys(op for op in loads if loads.count(op) > 1))
    return again if all(_may_be_kept(op, plan) for op in again) else ()


def _may_be_kept(op: TiledLoadOp, plan: PhasePlan) -> bool:
    tile = as_tile(op.result.type)
    is_row = tile is not None and plan.tiles[op.result] == len(tile.get_shape()) - 1
    is_plain = op.mask is None and op.mem_semantic is None and op.atom.data.family == "ldg"
    if op.rotated is not None and not is_one_row(op):
        return False  # Each of several rows begins elsewhere in a vector.
    return is_row and is_plain and (is_aligned(op) or array_problem(op.view) is None)


def _bytes(plan: PhasePlan) -> int:
    return sum(map(_held_bytes, plan.kept))


def _bytes_beside(plan: PhasePlan) -> int:
    """Return what is loaded ahead with the rows: of each tile block, and used once."""
    block = plan.kept[0].parent
    loads = () if block is None else [op for op in block.ops if isinstance(op, TiledLoadOp)]
    others = [op for op in loads if op not in plan.kept and not _is_same_in_all_blocks(op)]
    return sum(map(_held_bytes, others))


def _held_bytes(op: TiledLoadOp) -> int:
    """Return what a load takes in shared memory: of several rows, each has all of its columns."""
    if op.rotated is not None:
        return bytes_of_row(op)
    whole = tile_bytes(op.result.type)
    return whole * held_columns(op) // row_width(op) if is_one_row(op) else whole


def _cut(plan: PhasePlan, warps: int, target: Target) -> RowForm | None:
    """Return the phases in chunks of so few registers that as many blocks fit as have memory.

    Chunks are written out: small ones take no more instructions, and fewer registers.
    """
    threads = warps * WARP
    narrowest = min(tile_bytes(op.result.type) for op in plan.kept)
    live = max(phase.live_registers(plan.tiles) for phase in plan.phases)
    most = min(MAX_WRITTEN_OUT, narrowest // (threads * CHUNK_BYTES))
    counts = [n for n in _powers_of_two(most) if may_be_cut(plan.tiles, n)]
    for blocks in range(blocks_of_kept_rows(_bytes(plan), warps, target), 0, -1):
        registers = registers_at_entry(threads, target, blocks) - HEADROOM_OF_CHUNKS
        fitting = [n for n in counts if live <= threads * registers * n]
        if fitting:
            small = [n for n in fitting if live <= threads * FEW_REGISTERS * n]
            return RowForm("", plan.cut(min(small, default=fitting[-1]), threads), blocks)
    return _cut_in_part(plan, counts, warps, target)


def _cut_in_part(
    plan: PhasePlan, counts: Sequence[int], warps: int, target: Target
) -> RowForm | None:
    """Return the phases that keep as much of a row as fits; the rest is loaded from L2 again."""
    threads, free = warps * WARP, target.shared_memory_per_block - RESERVED_SHARED_MEMORY
    if not all(map(_may_be_kept_in_part, plan.kept)) or not counts:
        return None
    made, held = plan.cut(counts[-1], threads), sum(tile_bytes(op.result.type) for op in plan.kept)
    chunks = free * made.count // held
    chunks -= chunks % max(made.count // PARTS, 1)
    if not made.is_written_out or chunks * LEAST_PART_KEPT < made.count:
        return None
    return RowForm("", replace(made, chunks_kept=chunks), 1)


def _may_be_kept_in_part(op: TiledLoadOp) -> bool:
    """Whether a row may be loaded as if it ended before: its end is a number of the launch."""
    array = array_of(op)
    is_dynamic = array is not None and isinstance(
        array.extent(array.array.get_num_dims() - 1), SSAValue
    )
    return is_dynamic and is_one_row(op) and op.rotated is None and row_of(op) is not None


def _powers_of_two(most: int) -> Sequence[int]:
    return [1 << k for k in range(1, most.bit_length())]


def _demands(operations: Sequence[Operation], plan: PhasePlan, costs: Latencies) -> Sequence[int]:
    """Return for how many cycles a tile block keeps DRAM busy, and the units that compute."""
    stored = [op.value for op in operations if isinstance(op, TiledStoreOp)]
    moved = [*stored, *(op.result for op in plan.kept)]
    held, width = max((held_columns(op), row_width(op)) for op in plan.kept)
    memory = sum(tile_bytes(value.type) for value in moved) * held // width // costs.dram_rate
    nodes = [MacroOperation(kind_of(op), [op]) for op in operations if is_scheduled(op)]
    units = [work_of(node, costs, 1).units for node in nodes]
    issue, special = (sum(one.get(unit, 0) for one in units) for unit in (Unit.ISSUE, Unit.MUFU))
    return memory, max(alone(issue, costs), special) * held // width


def _delay(costs: Latencies, batches: int) -> int:
    """Return the cycles in which a tile block waits for no unit: for loads, and to begin.

    Lines that all blocks read are in the L2 cache, and are loaded in some batches.
    """
    return costs.global_latency + costs.launch + batches * costs.cache_latency


def lines_of(plan: PhasePlan) -> Sequence[TiledLoadOp]:
    """Return the loads of what one phase alone reads beside the rows, as weights."""
    loads = {op for phase in plan.phases for op in phase.operations if isinstance(op, TiledLoadOp)}
    return [op for op in loads if op not in plan.kept]


def _kept_lines(lines: Sequence[TiledLoadOp], free: int) -> Sequence[TiledLoadOp]:
    """Return the lines that all rows meet, if so many bytes are left for them; else none."""
    same = [op for op in lines if _is_same_in_all_blocks(op)]
    size = sum(map(_held_bytes, same))
    return same if size + RESERVED_SHARED_MEMORY <= free else ()


def _is_same_in_all_blocks(op: TiledLoadOp) -> bool:
    return not any(isinstance(one, gpu.BlockIdOp) for one in operations_behind(_place(op)))


def _place(op: TiledLoadOp) -> Sequence[SSAValue]:
    """Return what a load takes but how it is rotated."""
    return op.operands if op.rotated is None else [v for v in op.operands if v not in op.offsets]


def _batches(loads: Sequence[TiledLoadOp], threads: int, free: int) -> int:
    """Return how often the registers that a thread has left are filled with what is loaded."""
    held = (tile_registers(op.result) * held_columns(op) // row_width(op) for op in loads)
    words = sum(held) // threads
    return ceil_div(words, max(free, MIN_REGISTERS_OF_LINES))
