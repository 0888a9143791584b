"""Candidate layouts of unconstrained loops and buffers: coalesced along memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.accesses.fragment_access import FragmentUse
from tileas_xdsl.inference.improved.accesses.memory_access import MemoryUse
from tileas_xdsl.inference.improved.candidates.expression_recovery import map_of
from tileas_xdsl.layout.expr.expression import dimensions_of, symbols_of
from tileas_xdsl.layout.expr.tables import linearized, variables_of_box
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.registers.access import WARP


@dataclass(frozen=True)
class LayoutCandidate:
    """A candidate layout of a loop and its description."""

    description: str
    runs: FragmentMap


def plans(
    extents: tuple[int, ...], memory: Sequence[MemoryUse], block: int, *, by_rows: bool = False
) -> list[LayoutCandidate]:
    """Candidates, the most likely first: orders of variables, vectors, numbers of threads.

    With `by_rows` also those where each warp, or each thread, has whole rows along the last axis.
    """
    found: dict[FragmentMap, str] = {}
    total = prod(extents)
    for order in orders(extents, memory):
        for vector in _vectors(extents, memory, order, block):
            chunks = ceil_div(total, vector)
            for used in _threads(chunks, block):
                description = _description(order, vector, used, block)
                found.setdefault(flat_plan(extents, block, used, vector, order), description)
    if by_rows and len(extents) > 1:
        for plan in _row_plans(extents, memory, block):
            found.setdefault(plan.runs, plan.description)
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
    """The variable whose steps are neighbours in memory; None where there is none."""
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
    """How many threads share the chunks: all, or as many as divide them."""
    if chunks <= block:
        return [chunks]
    best = max(n for n in range(1, block + 1) if chunks % n == 0)
    return [block] if best == block or 2 * best < block else [block, best]


def flat_plan(
    extents: tuple[int, ...], block: int, used: int, vector: int, order: Sequence[int]
) -> FragmentMap:
    """`vector` neighbours in the given order go to one thread, the next ones to the next."""
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
    """Rows in warps and rows in threads."""
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
    variables = variables_of_box(len(extents))
    row = linearized(variables[:-1], extents[:-1])
    column = variables[-1]
    groups = min(block // per_row, prod(extents[:-1]))
    turns = ceil_div(extents[-1], per_row * vector)
    lane = column // vector % per_row
    thread = row % groups * per_row + lane
    step = row // groups * turns + column // (vector * per_row)
    slot = step * vector + column % vector
    raw = FragmentMap(extents, thread, slot, block)
    return map_of(raw.thread_table, raw.slot_table, block) or raw


def local_plans(uses: Sequence[FragmentUse], block: int) -> list[LayoutCandidate]:
    """Layouts of a buffer where accesses that disagree are all in one thread.

    Threads share the dimensions where all indices are the same, are known and belong to one
    iteration; each has all the rest.  None where there is no such dimension.
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
