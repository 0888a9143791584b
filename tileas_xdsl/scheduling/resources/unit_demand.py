"""Cycles of each functional unit that a macro operation takes, and its latency.

Cycles come from tables: `target/costs/latencies.py` (rates and latencies, measured) and
`target/costs/instruction_counts.py` (instructions per element).  Tiles have no layouts yet where
loops are scheduled, so a tile counts as spread evenly over the threads, and what only depends on
a row or a column as computed for half of the elements: in the accumulator of an `m64` product a
thread has two rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import TensorType, i8
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.analysis.memory.accumulators import is_divided_b, is_of_two_blocks
from tileas_xdsl.analysis.memory.load_traffic import path_bytes
from tileas_xdsl.analysis.memory.shared_memory import tile_bytes
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.compute.dot import BlockScaledMmaOp, DotOp
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import FLUSH
from tileas_xdsl.dialects.nv_tileas.compute.reductions import CombiningOp
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import ON_CHIP, element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.scheduling.loops.macro_operations import (
    MacroKind,
    MacroOperation,
    stored_bytes,
)
from tileas_xdsl.target.costs.instruction_counts import (
    OF_BYTES,
    InstructionCount,
    instruction_count,
)
from tileas_xdsl.target.costs.latencies import Latencies
from tileas_xdsl.target.costs.units import Unit
from tileas_xdsl.target.mma.matrix_units import MATRIX_UNITS, PAIR
from tileas_xdsl.threads.dot.dot_wgmma import PROMOTED_REGISTERS

HALF = 0.5
"""The part of a tile's elements for which a thread computes what depends on a column alone."""

WARPGROUP_THREADS = 128

VECTOR_WORDS = 4
"""Words that a thread reads at once."""

ISSUE_OF_PRODUCT = 4
"""Instructions of a warp for one matrix instruction: itself, descriptors, fence, commit.

Counted in SASS of attention, 128x128 tiles of d 128, by ptxas 13 for sm_90a: 16 HGMMA and 46 of
these in a loop of 837, which this table counts as 819.
"""

ROW_EXCHANGES = 2
"""Exchanges of a reduction of the rows of an accumulator: four lanes share a row (PTX ISA)."""


@dataclass(frozen=True)
class UnitDemand:
    """Cycles of each unit that one replica of a macro operation takes."""

    units: Mapping[Unit, int]
    """By unit: how long it is busy."""
    lane: int
    """How long the warps of the role are busy; they do one macro operation after another."""
    latency: int
    """From the start until others may use the result."""
    chained: int
    """The same for a product that adds to the result of this one."""


def work_of(node: MacroOperation, latencies: Latencies, replicas: int) -> UnitDemand:
    """Return what one of some replicas, which divide the rows of tiles, has to do."""
    return _WORK[node.kind](node, latencies, replicas)


def busy_cycles(
    nodes: Iterable[MacroOperation], latencies: Latencies, replicas: int
) -> Mapping[Unit, int]:
    """By unit of a multiprocessor: the cycles that one iteration of all replicas keeps it busy."""
    found: Counter[Unit] = Counter()
    for node in nodes:
        for unit, cycles in work_of(node, latencies, replicas).units.items():
            found[unit] += cycles * (1 if node.kind is MacroKind.TMA_LOAD else replicas)
    return found


def written_cycles(nodes: Iterable[MacroOperation], latencies: Latencies) -> int:
    """Return the cycles of shared memory in which TMA writes what an iteration loads.

    It takes them between reads of others, whose order it does not change.
    """
    loads = (op for node in nodes if node.kind is MacroKind.TMA_LOAD for op in node.operations)
    size = sum(
        tile_bytes(op.results[0].type) // (PAIR if is_divided_b(op.results[0]) else 1)
        for op in loads
    )
    return ceil_div(size, latencies.shared_rate)


def _tma(node: MacroOperation, latencies: Latencies, _: int) -> UnitDemand:
    """One thread issues a copy; all replicas share what it loads, and two CTAs of MMAs B."""
    size = sum(
        path_bytes(op) // (PAIR if is_divided_b(op.results[0]) else 1) for op in node.operations
    )
    busy = ceil_div(size, latencies.operand_rate)
    latency = latencies.tma_latency + busy + latencies.wake
    return UnitDemand({Unit.TMA: busy}, latencies.scalar, latency, latency)


def _tma_store(node: MacroOperation, latencies: Latencies, replicas: int) -> UnitDemand:
    size = sum(map(stored_bytes, node.operations)) // replicas
    shared = latencies.shared(size) + latencies.barrier
    busy = ceil_div(size, latencies.store_rate)
    return UnitDemand({Unit.TMA: busy, Unit.SHARED_MEMORY: shared}, shared, shared, shared)


def _load(node: MacroOperation, latencies: Latencies, replicas: int) -> UnitDemand:
    size = sum(tile_bytes(op.results[0].type) for op in node.operations) // replicas
    issue = max(latencies.scalar, size // (16 * latencies.lanes))
    is_shared = _is_on_chip(node.operations[0].operands[0])
    unit = Unit.SHARED_MEMORY if is_shared else Unit.GLOBAL_MEMORY
    busy = ceil_div(size, latencies.shared_rate if is_shared else latencies.load_rate)
    latency = latencies.shared(size) if is_shared else latencies.load(size)
    return UnitDemand({unit: busy, Unit.ISSUE: issue}, issue, latency, latency)


def _store(node: MacroOperation, latencies: Latencies, replicas: int) -> UnitDemand:
    """From registers into global memory, or into shared memory, from where TMA takes it."""
    size = sum(map(stored_bytes, node.operations)) // replicas
    issue = max(latencies.scalar, size // (4 * latencies.lanes))
    if any(_is_on_chip(value) for op in node.operations for value in op.operands):
        shared = ceil_div(size, latencies.shared_rate)
        return UnitDemand({Unit.SHARED_MEMORY: shared, Unit.ISSUE: issue}, issue, issue, issue)
    busy = ceil_div(size, latencies.store_rate)
    return UnitDemand({Unit.GLOBAL_MEMORY: busy, Unit.ISSUE: issue}, issue, issue, issue)


def _dot(node: MacroOperation, latencies: Latencies, replicas: int) -> UnitDemand:
    (op,) = node.operations
    assert isinstance(op, DotOp | BlockScaledMmaOp)
    (*batch, m, k), n = shape_of(op.a.type) or (1, 1), (shape_of(op.b.type) or (1,))[-1]
    atom = None if not isinstance(op, DotOp) or op.atom is None else op.atom.data
    element = atom.a if isinstance(atom, MmaAtom) else element_name(_element(op.a))
    rows = ceil_div(m * prod(batch), replicas)
    compute = latencies.product(rows, n, k, element)
    unit = MATRIX_UNITS.get(atom.instruction) if isinstance(atom, MmaAtom) else None
    if unit is None or not unit.reads_shared_memory:
        return UnitDemand(
            {Unit.TENSOR_CORE: compute, Unit.ISSUE: compute // 4}, compute, compute, compute
        )
    height = max((h for h in unit.rows if h <= rows), default=unit.rows[0])
    count = _instructions(rows, k, height, unit.depths.get(element, k))
    operands = _shared_bytes(op, rows, n, k, height)
    shared = ceil_div(operands, latencies.shared_rate)
    busy = max(compute, shared)
    issue = ISSUE_OF_PRODUCT * count
    units = {Unit.TENSOR_CORE: busy, Unit.SHARED_MEMORY: shared, Unit.ISSUE: issue}
    if isinstance(op, DotOp) and op.promote is not None:
        return _promoted(units, rows * n, latencies)
    return UnitDemand(units, issue, busy + latencies.drain, busy)


def _promoted(units: Mapping[Unit, int], sums: int, latencies: Latencies) -> UnitDemand:
    """A product of which some columns at a time are waited for, and added to the sums by lanes.

    d = wgmma(a, b[:, :128]); wait; c[:, :128] += d; ...
    """
    parts = ceil_div(sums, WARPGROUP_THREADS * PROMOTED_REGISTERS)
    adds = ceil_div(sums, latencies.lanes)
    lane = units[Unit.TENSOR_CORE] + parts * latencies.drain + alone(adds, latencies)
    return UnitDemand({**units, Unit.ISSUE: units[Unit.ISSUE] + adds}, lane, lane, lane)


def _instructions(rows: int, k: int, height: int, depth: int) -> int:
    """How many matrix instructions a warpgroup issues for a product."""
    return max(1, -(-rows // height)) * max(1, -(-k // depth))


def _shared_bytes(op: DotOp | BlockScaledMmaOp, rows: int, n: int, k: int, height: int) -> int:
    """Bytes of operands that all instructions read: B once for each row of instructions.

    Each of two CTAs that multiply together reads half of it, for both.
    """
    bits, ctas = bits_of(_element(op.a)), PAIR if is_of_two_blocks(op) else 1
    of_a = rows * k * bits // 8 if _is_on_chip(op.a) else 0
    return of_a + n * k * bits // (8 * ctas) * max(1, rows // height)


def _reduce(node: MacroOperation, latencies: Latencies, replicas: int) -> UnitDemand:
    (op,) = node.operations
    assert isinstance(op, CombiningOp)
    elements = sum(prod(tile.get_shape()) for tile in op.tiles) // replicas
    count = _of_body(op.body.block, lambda _: 1.0)
    issue = max(latencies.scalar, round(elements * count.issue / latencies.lanes))
    lane = alone(issue, latencies) + ROW_EXCHANGES * latencies.shuffle
    return UnitDemand({Unit.ISSUE: issue}, lane, lane, lane)


def _convert(node: MacroOperation, latencies: Latencies, replicas: int) -> UnitDemand:
    """Out of shared memory, into it, or from registers to registers through it, with a barrier.

    What stays there for matrix units is fenced, and written when all threads know it was read.
    Within shared memory a thread reads a vector when it has written the one before:

        ldmatrix.x4 a; prmt a; stmatrix.x4 a; ldmatrix.x4 b; ...
    """
    moves = [
        (any(map(_is_on_chip, op.operands)), _is_on_chip(result), _accessed_bytes(op, result))
        for op in node.operations
        for result in op.results
        if _is_tile(result)
    ]
    size = sum(size * (2 if source == target else 1) for source, target, size in moves) // replicas
    accesses = max((2 if source == target else 1 for source, target, _ in moves), default=1)
    shared = ceil_div(size, latencies.shared_rate)
    lane = shared + accesses * latencies.shared_latency
    inside = sum(size for source, target, size in moves if source and target) // replicas
    vectors = ceil_div(inside, WARPGROUP_THREADS * VECTOR_WORDS * WORD_BITS // 8)
    lane += max(vectors - 1, 0) * (latencies.shared_latency + VECTOR_WORDS * latencies.scalar)
    if any(target or not source for source, target, _ in moves):
        lane += latencies.barrier
    if any(target for _, target, _ in moves):
        lane += latencies.barrier + latencies.proxy_fence
    return UnitDemand({Unit.SHARED_MEMORY: shared}, lane, lane, lane)


def _accessed_bytes(op: Operation, result: SSAValue) -> int:
    """The bytes of a tile that is moved, twice where words were transposed in registers.

    A lane has blocks of four by four words: vectors of their rows, or those of their columns, take
    two wavefronts for one.  Smaller elements are transposed by `ldmatrix` and `stmatrix`.
    """
    is_twice = any(map(_is_of_transposed_words, op.operands))
    return tile_bytes(result.type) * (2 if is_twice else 1)


def _is_of_transposed_words(tile: SSAValue) -> bool:
    """Whether a tile is `generate { ^(i, j): extract %x[j, i] }` of words."""
    made = tile.owner
    if not isinstance(made, GenerateOp) or bits_of(element_of(tile.type)) != WORD_BITS:
        return False
    args, read = tuple(made.body.block.args), made.body.block.first_op
    indices = tuple(read.indices) if isinstance(read, tensor.ExtractOp) else args
    return indices != args and {*indices} == {*args}


def _elementwise(node: MacroOperation, latencies: Latencies, replicas: int) -> UnitDemand:
    issue = mufu = 0.0
    for op in node.operations:
        count, elements = _count(op), _elements(op) / replicas
        issue += elements * count.issue
        mufu += elements * count.mufu
    units = {
        Unit.ISSUE: round(issue / latencies.lanes),
        Unit.MUFU: -(-round(mufu) // latencies.special_lanes),
    }
    lane = max(latencies.scalar, alone(units[Unit.ISSUE], latencies), units[Unit.MUFU])
    return UnitDemand({unit: cycles for unit, cycles in units.items() if cycles}, lane, lane, lane)


def alone(issue: int, latencies: Latencies) -> int:
    """Return the cycles in which a warp issues instructions while its scheduler has no other."""
    return -(-issue * 100 // latencies.warp_issue)


_WORK: Mapping[MacroKind, Callable[[MacroOperation, Latencies, int], UnitDemand]] = {
    MacroKind.TMA_LOAD: _tma,
    MacroKind.TMA_STORE: _tma_store,
    MacroKind.LOAD: _load,
    MacroKind.STORE: _store,
    MacroKind.DOT: _dot,
    MacroKind.REDUCE: _reduce,
    MacroKind.CONVERT: _convert,
    MacroKind.ELEMENTWISE: _elementwise,
}


def _count(op: Operation) -> InstructionCount:
    """The instructions of an operation on one element of its tile."""
    if isinstance(op, GenerateOp):
        return _of_body(op.body.block, _share_of_indices(op.body.block, shape_of(op.result.type)))
    approximate = FLUSH in op.attributes or "approx" in str(op.attributes.get("nv_tileas.rounding"))
    count = instruction_count(op.name, approximate=approximate)
    if op.results and bits_of(element_of(op.results[0].type)) <= WORD_BITS // 2:
        return InstructionCount(count.issue * HALF, count.mufu)
    return count


def _of_body(body: Block, share: Callable[[Operation], float]) -> InstructionCount:
    """The instructions of a body on one element; `share` is the part of elements that needs one."""
    issue = mufu = 0.0
    for op in body.ops:
        if op is body.last_op:
            continue
        is_of_bytes = isinstance(op, arith.SIToFPOp | arith.UIToFPOp) and op.input.type == i8
        is_approximate = FLUSH in op.attributes
        count = OF_BYTES if is_of_bytes else instruction_count(op.name, approximate=is_approximate)
        issue += count.issue * share(op)
        mufu += count.mufu * share(op)
    return InstructionCount(issue, mufu)


def _coordinates(body: Block) -> Mapping[SSAValue, frozenset[int]]:
    """By value of a body that computes an element: the coordinates that it depends on."""
    found: dict[SSAValue, frozenset[int]] = {
        value: frozenset({place}) for place, value in enumerate(body.args)
    }
    for op in body.ops:
        used = frozenset[int]().union(*(found.get(v, frozenset()) for v in op.operands))
        found.update(dict.fromkeys(op.results, used))
    return found


def held_bytes(value: SSAValue) -> int:
    """Return the bytes of a tile that threads hold: of one that repeats rows or columns, of one.

    generate { ^(%i, %j): extract %row[%i] }      as many as of %row
    """
    size, owner = tile_bytes(value.type), value.owner
    if not isinstance(owner, GenerateOp):
        return size
    body = owner.body.block
    assert body.last_op is not None
    used = _coordinates(body).get(body.last_op.operands[0], frozenset())
    repeated = (extent for k, extent in enumerate(shape_of(value.type) or ()) if k not in used)
    return size // prod(repeated)


def _share_of_indices(body: Block, shape: Sequence[int] | None) -> Callable[[Operation], float]:
    """The part of elements for which a thread does an operation: by what coordinates it depends on.

    Columns of one row are as many as elements.
    """
    coordinates, rank = _coordinates(body), len(body.args)
    extents = shape or (1,) * rank

    def share(op: Operation) -> float:
        known = coordinates[op.results[0]] if op.results else frozenset[int]()
        if isinstance(op, tensor.ExtractOp) or not known:
            return 0.0
        return max(HALF, prod(extents[axis] for axis in known) / prod(extents))

    return share


def _elements(op: Operation) -> int:
    values = (*op.operands, *op.results)
    return max((prod(shape_of(v.type) or ()) for v in values if _is_tile(v)), default=1)


def _element(value: SSAValue) -> Attribute:
    element = element_of(value.type)
    assert element is not None
    return element


def _is_tile(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType)


def _is_on_chip(value: SSAValue) -> bool:
    return space_of(value.type) in ON_CHIP
