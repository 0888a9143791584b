"""Phases of operations on rows that are reduced and used again, so that each can be cut in chunks.

    %x = tiled_load                         phase 0    %x, %m      reads %x
    %m = reduce %x {maximum}                           - everything of %x is needed before %e -
    %e = exp (%x - %m)                      phase 1    %x, %e, %s  reads %x again
    %s = reduce %e {add}                               - everything of %e is needed before %y -
    %y = %e / %s                            phase 2    %x, %e, %y  reads %x again
    tiled_store %y

The dimension that reductions combine is cut like any other, if each phase is a loop of its own.
What a phase needs of an earlier one is computed again from what is loaded: rows that are too long
for registers are still in L2.  Between phases only reduced values live.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from xdsl.dialects import arith, func, scf, tensor
from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.analysis.memory.kept_tiles import is_aligned
from tileas_xdsl.analysis.values.liveness.tiles import peak_registers
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import constant_integer, is_side_effect_free
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileas.compute.combiners import identity_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.memory.atomics import AtomicRmwOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.pipeline.occupancy import resident_registers
from tileas_xdsl.threads.pipeline.warp_allocation import registers_at_entry
from tileas_xdsl.transforms.chunk_tiles.plan import MAX_CHUNKS, may_be_cut
from tileas_xdsl.transforms.chunk_tiles.register_demand import (
    OTHER_REGISTERS,
    blocks_of,
    capacity,
    has_too_many_registers,
    tile_words,
)
from tileas_xdsl.transforms.chunk_tiles.repeated_operations import (
    ACCESSES,
    WRITES,
    common_block,
    touching,
)
from tileas_xdsl.transforms.fuse_elementwise.profitability import is_elementwise
from tileas_xdsl.transforms.tile_parts.dimension_classes import DimensionClasses
from tileas_xdsl.transforms.tile_parts.parts import Tiles

LOADS = (LoadOp, TiledLoadOp)

MAX_WRITTEN_OUT, MOST_REGISTERS = 16, 32
"""Chunks of a row, and registers of a thread for each, up to which they are no loop."""

MAX_CHUNKS_AHEAD, SHARE_OF_CHUNKS = 2, 80
"""Chunks whose loads are on their way at most, and percent of the registers that all may take."""

PURE = (arith.ConstantOp, ExpandDimsOp, GenerateOp, tensor.SplatOp, ViewOp)
"""Operations on tiles beside elementwise ones that may be computed again in a later phase."""


_CONTROL = (CreateNoneOp, ReduceOp, YieldOp, scf.ForOp, scf.IfOp, scf.YieldOp)

_NUMBERS = ("nv_tileaa.addptr", "nv_tileaa.assume", "nv_tileaa.make_memref")
"""Names of operations on pointers and numbers that declare nothing about effects."""


@dataclass(frozen=True)
class Phase:
    """What becomes one loop over chunks."""

    operations: Sequence[Operation]
    """What is computed of each chunk, in order; some of it in earlier phases, too."""
    reductions: Sequence[ReduceOp]
    """Reductions across chunks: elements are combined chunk by chunk, then as one chunk."""

    def live_registers(self, tiles: Tiles) -> int:
        """Return the most registers that tiles of the class, and partial results, take at once.

        What is reduced is combined with the partial results as it is made.
        """
        reduced = [op.source for op in self.reductions]
        carried = sum(map(tile_words, reduced))
        live: set[SSAValue] = set(reduced)
        most = 0
        for op in reversed(self.operations):
            live.difference_update(op.results)
            live.update(value for value in _read(op) if value in tiles)
            most = max(most, sum(map(tile_words, live)))
        return carried + most


@dataclass(frozen=True)
class PhasePlan:
    """A block whose operations on the tiles of a class run in phases of `count` chunks."""

    tiles: Tiles
    count: int
    phases: Sequence[Phase]
    others: Sequence[Sequence[Operation]]
    """By phase, the operations of the block on no tile of the class that run before its loop.

    Behind the last loop run those of one phase more.
    """
    kept: Sequence[TiledLoadOp] = ()
    """Loads whose tiles stay in shared memory; those of other loads are loaded in each phase."""
    is_written_out: bool = False
    """Whether chunks are written out, one behind the other."""
    chunks_kept: int | None = None
    """Chunks of the tiles that are kept, if not all: those behind them are loaded in each phase."""
    chunks_ahead: int = 0
    """Chunks whose loads are on their way while one is computed, where they are written out."""

    def cut(self, count: int, threads: int) -> PhasePlan:
        """Return the plan for so many chunks, which are written out if they are few and small.

        ptxas computes some at once: of cross entropy, which reduces two tiles in a phase, bf16 of
        100,000 columns spills a kilobyte then (0.15 of a copy for 0.34, H200), and of 32,768 takes
        80 registers for 48.
        """
        live = max(phase.live_registers(self.tiles) for phase in self.phases)
        is_small = count <= MAX_WRITTEN_OUT and live <= MOST_REGISTERS * threads * count
        is_small = is_small and all(len(phase.reductions) <= 1 for phase in self.phases)
        return replace(self, count=count, is_written_out=is_small)

    def loading_ahead(self, registers: int, threads: int) -> PhasePlan:
        """Return the plan with the loads of as many chunks on their way as a thread has registers.

        One chunk ahead and two, where a CTA is alone, of a copy on an H200: rms_norm f32 of 50,257
        0.73 and 0.81, layer_norm bf16 of 65,536 0.79 and 0.81.
        """
        free = registers * SHARE_OF_CHUNKS // 100 * threads * self.count
        fitting = [
            ahead
            for ahead in range(1, MAX_CHUNKS_AHEAD + 1)
            if all(
                phase.live_registers(self.tiles) + (ahead + 1) * self._loaded(phase) <= free
                for phase in self.phases
            )
        ]
        return replace(self, chunks_ahead=max(fitting, default=0))

    def _loaded(self, phase: Phase) -> int:
        """Return the registers of all chunks that a phase loads; of two vectors each if rotated."""
        loads = [op for op in phase.operations if isinstance(op, TiledLoadOp)]
        others = [op for op in loads if op not in self.kept]
        return sum(
            tile_words(op.result) * (1 if op.rotated is None or is_aligned(op) else 2)
            for op in others
        )


def _may_cross(op: ReduceOp | DotOp) -> bool:
    return isinstance(op, ReduceOp) and identity_of_reduction(op) is not None


def identity_of_reduction(op: ReduceOp) -> tuple[Operation, float | int] | None:
    """Return the operation that combines elements, and its identity; None if it has none."""
    inner = op.body.block.first_op
    element = element_of(op.source.type)
    if len(op.sources) != 1 or len(list(op.body.block.ops)) != 2 or inner is None:
        return None
    if set(inner.operands) != set(op.body.block.args):
        return None
    if not isinstance(element, FixedBitwidthType):
        return None
    identity = identity_of(inner.name, element.bitwidth)
    return None if identity is None else (inner, identity)


def plan_phases(kernel: func.FuncOp, target: Target) -> PhasePlan | None:
    """Return the phases of the fewest chunks whose live tiles fit registers; None where none do.

    The whole kernel is asked first: where its tiles fit, nothing is cut, since later phases take
    bandwidth of L2.  Lines on their way to rows, and what is reduced as it is made, fit always.
    """
    warps = spec_of(kernel).num_warps
    if not has_too_many_registers(kernel, target) or _fits(kernel, target, warps * WARP):
        return None
    available = capacity(kernel, target, warps)
    found = [*phase_plans(kernel)]
    count = 2
    while count <= MAX_CHUNKS:
        for plan in found:
            live = max(phase.live_registers(plan.tiles) for phase in plan.phases)
            if may_be_cut(plan.tiles, count) and live <= available * count:
                return replace(plan, count=count)
        count *= 2
    return None


def phase_plans(kernel: func.FuncOp) -> Iterator[PhasePlan]:
    """Yield, by class of dimensions that reductions look across, its phases of whole rows."""
    for tiles in classes_of_rows(kernel):
        if (phases := _phases(tiles)) is not None:
            yield PhasePlan(tiles, 1, *phases)


def classes_of_rows(kernel: func.FuncOp) -> Iterable[Tiles]:
    """Return the tiles of each class of dimensions, across which reductions may look."""
    return DimensionClasses(kernel, _may_cross).members(kernel).values()


def _fits(kernel: func.FuncOp, target: Target, threads: int) -> bool:
    """Whether the tiles that stay in registers leave room for addresses and functions."""
    registers = registers_at_entry(threads, target, blocks_of(kernel, target)) - OTHER_REGISTERS
    return peak_registers(kernel.body, resident_registers) <= threads * registers


def _phases(tiles: Tiles) -> tuple[Sequence[Phase], Sequence[Sequence[Operation]]] | None:
    """The loops over chunks of a class, and what runs before each; None where it is not allowed."""
    block = common_block(tiles)
    if block is None:
        return None
    inside = {
        above
        for tile in tiles
        for op in touching(tile)
        if (above := block.find_ancestor_op_in_block(op)) is not None
    }
    if not all(_is_phase_operation(op, tiles, inside) for op in inside):
        return None
    # What stands between operations of the class runs between the loops, so its order changes:
    # allowed for what has no effect, or one that tokens order.
    others = [op for op in block.ops if op not in inside and op is not block.last_op]
    if not all(map(_may_be_reordered, others)):
        return None
    # Softmax: the maximum of all chunks is known after phase 0, so `exp(x - max)` and its sum are
    # of level 1 and the division is of level 2: three loops over the same chunks.
    levels = _levels(block, inside, tiles)
    last = max(levels[op] for op in inside)
    phases = [
        _phase(n, [op for op in block.ops if op in inside], levels, tiles) for n in range(last + 1)
    ]
    if not _may_load_again(phases) or not any(phase.reductions for phase in phases):
        return None
    before = [[op for op in others if levels[op] == n] for n in range(max(levels.values()) + 1)]
    return phases, before


def crosses(op: Operation, tiles: Tiles) -> bool:
    """Whether an operation combines elements along the dimension of a class."""
    return isinstance(op, ReduceOp) and tiles.get(op.source) == op.axis.value.data


def _is_phase_operation(op: Operation, tiles: Tiles, inside: set[Operation]) -> bool:
    """Whether an operation on tiles of the class may stand in a loop over its chunks."""
    if isinstance(op, WRITES):
        results = [value for value in op.results if value in tiles]
        is_ordered = isinstance(op, AtomicRmwOp) and results
        return not is_ordered and _is_unordered(op, inside)
    if isinstance(op, LOADS):
        return _is_unordered(op, inside)
    return isinstance(op, (ReduceOp, *PURE)) or is_elementwise(op) or op.name == "nv_tileaa.addptr"


def _is_unordered(op: Operation, inside: set[Operation]) -> bool:
    """Whether tokens alone order an access, and with none of the same phases.

    A store may wait for the load of its own place: each chunk is loaded before it is stored.
    """
    assert isinstance(op, ACCESSES)
    if op.token is None:
        return False
    before = op.token.owner
    if before in inside and not is_behind_its_load(op, before):
        return False
    users = () if op.out_token is None else [use.operation for use in op.out_token.uses]
    return all(user not in inside or is_behind_its_load(user, op) for user in users)


def is_behind_its_load(store: Operation, load: Operation | Block) -> bool:
    """Whether a store waits for a load of the same tile of an array, and nothing for the store."""
    if not isinstance(store, TiledStoreOp) or not isinstance(load, TiledLoadOp):
        return False
    if store.token is not load.out_token or (store.out_token and store.out_token.uses):
        return False
    views = store.view.owner, load.view.owner
    return (
        isinstance(views[0], ViewOp)
        and isinstance(views[1], ViewOp)
        and views[0].source is views[1].source
        and store.view.type == load.view.type
        and all(map(_are_equal, store.coords, load.coords))
    )


def _are_equal(a: SSAValue, b: SSAValue) -> bool:
    """Whether two coordinates are the same number, as far as casts and constants say."""
    if a is b or (constant_integer(a) is not None and constant_integer(a) == constant_integer(b)):
        return True
    casts = a.owner, b.owner
    return (
        isinstance(casts[0], arith.IndexCastOp)
        and isinstance(casts[1], arith.IndexCastOp)
        and _are_equal(casts[0].input, casts[1].input)
    )


def _may_be_reordered(op: Operation) -> bool:
    """Whether an operation beside the class may run later than operations behind it."""
    return all(
        is_side_effect_free(inner)
        or isinstance(inner, (*PURE, *_CONTROL))
        or inner.name in _NUMBERS
        or (isinstance(inner, ACCESSES) and inner.token is not None)
        for inner in operations_in(op)
    )


def _levels(block: Block, inside: set[Operation], tiles: Tiles) -> Mapping[Operation, int]:
    """By operation of a block, how many loops over chunks have to run before it.

    What leaves a loop (reduced values, tokens) is there when it has ended.
    """
    levels: dict[Operation, int] = {}
    for op in block.ops:
        level = 0
        for value in _read(op):
            made = value.owner
            above = None if isinstance(made, Block) else block.find_ancestor_op_in_block(made)
            if above is None or above is op:
                continue
            leaves = above in inside and (op not in inside or value not in tiles)
            level = max(level, levels[above] + leaves)
        levels[op] = level
    return levels


def _read(op: Operation) -> Iterator[SSAValue]:
    for inner in op.walk():
        yield from inner.operands


def _phase(
    number: int, inside: Sequence[Operation], levels: Mapping[Operation, int], tiles: Tiles
) -> Phase:
    """What the reductions and stores of a phase need of a chunk."""
    of_level = [op for op in inside if levels[op] == number]
    reductions = [op for op in of_level if isinstance(op, ReduceOp) and crosses(op, tiles)]
    needed: set[Operation] = {op for op in of_level if isinstance(op, WRITES)}
    for op in reversed(inside):
        if op in needed or op in reductions:
            needed.update(
                made
                for value in _read(op)
                if value in tiles and not isinstance(made := value.owner, Block)
            )
        if op in needed and isinstance(op, WRITES) and op.token is not None:
            needed.update(made for made in inside if made is op.token.owner)
    ordered = [op for op in inside if op in needed]
    return Phase(ordered, reductions)


def _may_load_again(phases: Sequence[Phase]) -> bool:
    """Whether nothing but stores of the last phase is ordered after what several phases load."""
    loads = [op for phase in phases for op in phase.operations if isinstance(op, LOADS)]
    last = {op: n for n, phase in enumerate(phases) for op in phase.operations}
    return not any(
        last.get(use.operation, -1) < last[op]
        for op in loads
        if loads.count(op) > 1 and op.out_token is not None
        for use in op.out_token.uses
    )
