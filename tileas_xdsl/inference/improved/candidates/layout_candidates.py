"""Enumerate layouts of loops and buffers that nothing prescribes, coalesced along memory.

A box of iterations is linearised in some order of its variables, cut into vectors of adjacent
iterations, and the vectors are dealt cyclically to the threads, so that the lanes of a warp access
adjacent vectors (CUDA C++ Best Practices Guide, coalesced access). Candidates differ in the order
(as written, or the contiguous variable of an access innermost), in the vector width (the widest
aligned one, the widest that leaves no thread idle, 1) and in the number of threads. A 4x8 box for
8 threads with vectors of 2: rows 0 and 1 fill the block, rows 2 and 3 are the second vectors.

>>> print(flat_plan((4, 8), 8, 8, 2, (0, 1)))
(d0, d1) -> (thread d0 % 2 * 4 + d1 // 2, slot d0 // 2 * 2 + d1 % 2)

Items that reduce rows also get candidates in which a row stays within a warp, or within a thread.
The search costs all candidates (`search/work_item_search.py`); nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.accesses.fragment_access import FragmentUse
from tileas_xdsl.inference.improved.accesses.memory_access import MemoryUse
from tileas_xdsl.inference.improved.candidates.expression_recovery import map_of
from tileas_xdsl.layout.expr.expression import dimensions_of, symbols_of
from tileas_xdsl.layout.expr.tables import linearized, variables_of_box
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.units import WARP


@dataclass(frozen=True)
class LayoutCandidate:
    """A candidate layout of a loop and its description."""

    description: str
    runs: FragmentMap


def plans(
    extents: tuple[int, ...],
    memory: Sequence[MemoryUse],
    block: int,
    *,
    reduced: Collection[int] = (),
) -> list[LayoutCandidate]:
    """Return the candidates of an iteration box, in the order of preference among equal costs.

    Where elements are `reduced` along axes also those where each warp, or each thread, has whole
    rows along the last axis, and where each thread has whole lines along another of these axes.
    """
    found: dict[FragmentMap, str] = {}
    total = prod(extents)
    for order in orders(extents, memory):
        for vector in _vectors(extents, memory, order, block):
            chunks = ceil_div(total, vector)
            for used in _threads(chunks, block):
                description = _description(order, vector, used, block)
                found.setdefault(flat_plan(extents, block, used, vector, order), description)
    if reduced and len(extents) > 1:
        for plan in _row_plans(extents, memory, block):
            found.setdefault(plan.runs, plan.description)
        for axis in sorted({*reduced} - {len(extents) - 1}):
            lines = _line_plan(extents, block, axis)
            found.setdefault(lines, f"plan: each thread has whole lines along variable {axis}")
    return [LayoutCandidate(description, runs) for runs, description in found.items()]


def _description(order: tuple[int, ...], vector: int, used: int, block: int) -> str:
    along = "" if order == tuple(sorted(order)) else f", variable {order[-1]} innermost"
    some = f"{used} of {block} threads" if used < block else f"{block} threads"
    return f"plan: {some}, {vector} at a time{along}"


def orders(extents: tuple[int, ...], memory: Sequence[MemoryUse]) -> list[tuple[int, ...]]:
    """Orders of the variables, outermost first: as written, then along each access to memory."""
    natural = tuple(range(len(extents)))
    found = [natural]
    for use in memory:
        inner = _unit_variable(use)
        if inner is not None:
            order = (*(k for k in natural if k != inner), inner)
            if order not in found:
                found.append(order)
    return found


def _unit_variable(use: MemoryUse) -> int | None:
    """Return the variable along which an access has stride 1 in memory, None if there is none."""
    offsets = use.offsets
    if offsets is None or not offsets.size:
        return None
    weights = [prod(use.extents[k + 1 :]) for k in range(len(use.extents))]
    for k in reversed(range(len(use.extents))):
        if use.extents[k] > 1 and abs(int(offsets[weights[k]] - offsets[0])) == 1:
            return k
    return None


def _vectors(
    extents: tuple[int, ...], memory: Sequence[MemoryUse], order: tuple[int, ...], block: int
) -> list[int]:
    """The widest vector, the widest that leaves no thread out, and 1."""
    total, inner = prod(extents), extents[order[-1]] if order else 1
    along = [use.alignment for use in memory if use.alignment > 1]
    widest = max(along, default=1)
    while widest > 1 and (inner % widest or widest >= 2 * total):
        widest //= 2
    even = widest
    while even > 1 and (total % (even * block) or total < even * block):
        even //= 2
    return list(dict.fromkeys((widest, even, 1)))


def _threads(chunks: int, block: int) -> list[int]:
    """Return the thread counts to try: the whole block, or the largest divisor of `chunks`.

    100 vectors for 64 threads: 64 threads leave 28 idle in the second iteration, 50 leave none.
    """
    if chunks <= block:
        return [chunks]
    best = max(n for n in range(1, block + 1) if chunks % n == 0)
    return [block] if best == block or 2 * best < block else [block, best]


def flat_plan(
    extents: tuple[int, ...], block: int, used: int, vector: int, order: Sequence[int]
) -> FragmentMap:
    """Deal vectors of adjacent iterations, in the given order of variables, cyclically to threads.

    Recovery (`map_of`) then finds a shorter closed form of the tables where there is one.
    """
    variables = variables_of_box(len(extents))
    total = prod(extents)
    flat = linearized([variables[k] for k in order], [extents[k] for k in order])
    chunks = ceil_div(total, vector)
    chunk = flat // vector
    thread = chunk % used if chunks > used else chunk
    slot = flat % vector if vector < total else flat
    if chunks > used:
        slot = flat // (vector * used) * vector + slot
    raw = FragmentMap(extents, thread if used > 1 else 0, slot, block)
    return map_of(raw.thread_table, raw.slot_table, block) or raw


def _row_plans(
    extents: tuple[int, ...], memory: Sequence[MemoryUse], block: int
) -> list[LayoutCandidate]:
    """Return the candidates whose rows stay within a warp, or within a thread."""
    natural = tuple(range(len(extents)))
    vector = _vectors(extents, memory, natural, block)[0]
    chunks = ceil_div(extents[-1], vector)
    lanes = 1 << max(0, (min(WARP, chunks)).bit_length() - 1)
    found: list[LayoutCandidate] = []
    for per_row in dict.fromkeys((lanes, 1)):
        if block % per_row == 0:
            runs = _row_plan(extents, block, per_row, vector)
            found.append(
                LayoutCandidate(f"plan: {per_row} threads a row, {vector} at a time", runs)
            )
    return found


def _row_plan(extents: tuple[int, ...], block: int, per_row: int, vector: int) -> FragmentMap:
    """Give each row to `per_row` adjacent threads, and rows cyclically to groups of threads."""
    variables = variables_of_box(len(extents))
    row = linearized(variables[:-1], extents[:-1])
    column = variables[-1]
    groups = min(block // per_row, prod(extents[:-1]))
    vectors_per_lane = ceil_div(extents[-1], per_row * vector)
    lane = column // vector % per_row
    thread = row % groups * per_row + lane
    vector_index = row // groups * vectors_per_lane + column // (vector * per_row)
    slot = vector_index * vector + column % vector
    raw = FragmentMap(extents, thread, slot, block)
    return map_of(raw.thread_table, raw.slot_table, block) or raw


def _line_plan(extents: tuple[int, ...], block: int, axis: int) -> FragmentMap:
    """Give each line along `axis` to one thread, and lines cyclically to the threads."""
    variables = variables_of_box(len(extents))
    rest = [k for k in range(len(extents)) if k != axis]
    line = linearized([variables[k] for k in rest], [extents[k] for k in rest])
    used = min(block, prod(extents[k] for k in rest))
    raw = FragmentMap(extents, line % used, line // used * extents[axis] + variables[axis], block)
    return map_of(raw.thread_table, raw.slot_table, block) or raw


def local_plans(uses: Sequence[FragmentUse], block: int) -> list[LayoutCandidate]:
    """Return a layout of a buffer in which accesses at different indices stay in one thread.

    For `x[i, j]` and `x[i, j + 1]` dimension 0 has equal indices and is distributed over the
    threads; dimension 1 differs, so that each thread holds all of it. Empty where no dimension has
    equal indices that depend on the iteration alone.
    """
    shape = uses[0].buffer.shape
    agreed = [
        k
        for k in range(len(shape))
        if len({use.access.indices[k] for use in uses}) == 1 and _is_settled(uses[0], k)
    ]
    if not agreed or prod(shape[k] for k in agreed) == 1:
        return []
    variables = variables_of_box(len(shape))
    rest = [k for k in range(len(shape)) if k not in agreed]
    row = linearized([variables[k] for k in agreed], [shape[k] for k in agreed])
    column = linearized([variables[k] for k in rest], [shape[k] for k in rest])
    used = min(block, prod(shape[k] for k in agreed))
    slot = row // used * prod(shape[k] for k in rest) + column
    raw = FragmentMap(shape, row % used, slot, block)
    runs = map_of(raw.thread_table, raw.slot_table, block) or raw
    return [LayoutCandidate("each thread has whole rows of what the accesses agree on", runs)]


def _is_settled(use: FragmentUse, dimension: int) -> bool:
    """Whether an index depends on nothing but the iteration."""
    index = use.access.indices[dimension]
    if index is None or symbols_of(index):
        return False
    return all(k < len(use.extents) for k in dimensions_of(index))
