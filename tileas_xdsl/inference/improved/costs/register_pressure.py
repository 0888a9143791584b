"""Register pressure: the maximum of the registers of fragments that are live at once.

A fragment is live from the first work item that accesses it to the last. Work items with trip
counts above 1 are a serial loop: a fragment that is used outside of it too, or is read in it before
it is written, is live through all of the loop. Attention for 128 queries of 128 threads:

    q            loaded before the loop, read in it     live from the load to the loop's end
    s = q k      written, then read, in the loop only   live between these two items
    o += s v     filled before, stored after           live from the fill to the store

Live-variable analysis as in any compiler, but on work items, of which there are a dozen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.accesses.work_items import WorkItem
from tileas_xdsl.inference.improved.costs.cost_model import registers_of
from tileas_xdsl.inference.program import Buffer
from tileas_xdsl.target.arch import Target


@dataclass(frozen=True)
class Pressure:
    """Registers of a thread, the fragments alive there, largest first, and the work item."""

    registers: int
    names: tuple[str, ...]
    item: WorkItem | None


NO_PRESSURE: Mapping[int, int] = {}


def limit_of(threads: int) -> int:
    """Return the registers that a thread of a block can have, on every target."""
    of_block = Target.registers_per_multiprocessor
    return min(Target.registers_per_thread, of_block // max(1, threads))


def pressure(
    work_items: Sequence[WorkItem],
    layouts: Mapping[str, FragmentMap],
    buffers: Mapping[str, Buffer],
    conversion_registers: Mapping[int, int],
    always: frozenset[str] = frozenset(),
) -> Pressure:
    """Return the peak of live registers, the work item there and the live fragments.

    Fragments of `always` are live throughout; `conversion_registers` are the temporary registers
    of conversions in front of a work item, by its index.
    """
    ends = _lifetimes(work_items, list(layouts), always)
    sizes = {name: registers_of(layouts[name], buffers[name].bits) for name in layouts}
    most = Pressure(0, (), None)
    for k in range(len(work_items)):
        alive = [name for name, (first, last) in ends.items() if first <= k <= last]
        needed = sum(sizes[name] for name in alive) + conversion_registers.get(
            work_items[k].number, 0
        )
        if needed > most.registers:
            largest_first = tuple(sorted(alive, key=lambda n: -sizes[n]))
            most = Pressure(needed, largest_first, work_items[k])
    return most


def live_elsewhere(
    work_items: Sequence[WorkItem],
    layouts: Mapping[str, FragmentMap],
    buffers: Mapping[str, Buffer],
    always: frozenset[str],
) -> Mapping[int, int]:
    """Return by index of a work item the registers that are live across it without being used."""
    ends = _lifetimes(work_items, list(layouts), always)
    sizes = {name: registers_of(layouts[name], buffers[name].bits) for name in layouts}
    return {
        item.number: sum(
            sizes[name]
            for name, (first, last) in ends.items()
            if first <= k <= last and name not in item.fragments
        )
        for k, item in enumerate(work_items)
    }


def _lifetimes(
    work_items: Sequence[WorkItem], names: Sequence[str], always: frozenset[str]
) -> Mapping[str, tuple[int, int]]:
    """Return the first and the last work item at which each fragment is live."""
    ends: dict[str, tuple[int, int]] = {}
    runs = list(_repeated(work_items))
    for name in names:
        at = [k for k, item in enumerate(work_items) if name in item.fragments]
        if name in always or not at:
            ends[name] = (0, len(work_items) - 1) if name in always else (0, -1)
        else:
            ends[name] = _stretched(name, at, runs, work_items)
    return ends


def _repeated(work_items: Sequence[WorkItem]) -> Iterator[tuple[int, int]]:
    """Yield the first and last index of each run of adjacent work items in a serial loop."""
    first = None
    for k, item in enumerate(work_items):
        if item.trip_count > 1 and first is None:
            first = k
        if item.trip_count <= 1 and first is not None:
            yield first, k - 1
            first = None
    if first is not None:
        yield first, len(work_items) - 1


def _stretched(
    name: str, at: Sequence[int], runs: Sequence[tuple[int, int]], work_items: Sequence[WorkItem]
) -> tuple[int, int]:
    """Return the live range of a fragment with accesses `at`, extended over loops it crosses."""
    first, last = at[0], at[-1]
    for begin, end in runs:
        inside = [k for k in at if begin <= k <= end]
        if inside and (len(inside) < len(at) or _reads_first(work_items[inside[0]], name)):
            first, last = min(first, begin), max(last, end)
    return first, last


def _reads_first(item: WorkItem, name: str) -> bool:
    uses = item.uses_of(name)
    return not uses or not uses[0].access.writes
