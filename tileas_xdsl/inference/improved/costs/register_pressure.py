"""Register pressure: registers of a thread for fragments that are live at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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
    """The most registers that each thread of a block can have, on every target."""
    of_block = Target.registers_per_multiprocessor
    return min(Target.registers_per_thread, of_block // max(1, threads))


def pressure(
    work_items: Sequence[WorkItem],
    layouts: Mapping[str, FragmentMap],
    buffers: Mapping[str, Buffer],
    always: frozenset[str] = frozenset(),
    conversion_registers: Mapping[int, int] = NO_PRESSURE,
) -> Pressure:
    """The most registers that are needed at once, where, and the fragments that need them.

    A fragment lives from its first work item to its last one, and through every run of equally
    often repeated work items (the body of a serial loop) where it is used outside as well or read
    first.  Those of `always` live all the time; `conversion_registers` are what single work items
    need beside.
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
    always: frozenset[str] = frozenset(),
) -> Mapping[int, int]:
    """By number of a work item, the registers of fragments that live at it and it does not use."""
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
    """The first and the last work item at which each fragment lives."""
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
    """First and last of each run of neighbouring work items that run more than once."""
    first = None
    for k, item in enumerate(work_items):
        if item.trips > 1 and first is None:
            first = k
        if item.trips <= 1 and first is not None:
            yield first, k - 1
            first = None
    if first is not None:
        yield first, len(work_items) - 1


def _stretched(
    name: str, at: Sequence[int], runs: Sequence[tuple[int, int]], work_items: Sequence[WorkItem]
) -> tuple[int, int]:
    first, last = at[0], at[-1]
    for begin, end in runs:
        inside = [k for k in at if begin <= k <= end]
        if inside and (len(inside) < len(at) or _reads_first(work_items[inside[0]], name)):
            first, last = min(first, begin), max(last, end)
    return first, last


def _reads_first(item: WorkItem, name: str) -> bool:
    uses = item.uses_of(name)
    return not uses or not uses[0].access.writes
