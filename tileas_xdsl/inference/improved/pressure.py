"""How many registers the fragments of a thread need at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.costs import registers_of
from tileas_xdsl.inference.improved.tasks import Task
from tileas_xdsl.inference.program import Buffer

REGISTERS_OF_BLOCK = 65536
"""32-bit registers of a multiprocessor (CUDA C++ Programming Guide, compute capabilities)."""

REGISTERS_OF_THREAD = 255

NO_CROWDS: Mapping[int, int] = {}


def limit_of(threads: int) -> int:
    """The most registers that each thread of a block can have."""
    return min(REGISTERS_OF_THREAD, REGISTERS_OF_BLOCK // max(1, threads))


def pressure(
    tasks: Sequence[Task],
    layouts: Mapping[str, FragmentMap],
    buffers: Mapping[str, Buffer],
    always: frozenset[str] = frozenset(),
    crowds: Mapping[int, int] = NO_CROWDS,
) -> tuple[int, tuple[str, ...]]:
    """The most registers that are needed at once, and the fragments that need them, largest first.

    A fragment lives from its first task to its last one, and through every run of equally often
    repeated tasks (the body of a serial loop) where it is used outside as well or read first.
    Those of `always` live all the time; `crowds` are what single tasks need beside.
    """
    ends: dict[str, tuple[int, int]] = {}
    runs = list(_repeated(tasks))
    for name in layouts:
        at = [k for k, task in enumerate(tasks) if name in task.fragments]
        if name in always or not at:
            ends[name] = (0, len(tasks) - 1) if name in always else (0, -1)
        else:
            ends[name] = _stretched(name, at, runs, tasks)
    sizes = {name: registers_of(layouts[name], buffers[name].bits) for name in layouts}
    most, names = 0, ()
    for k in range(len(tasks)):
        alive = [name for name, (first, last) in ends.items() if first <= k <= last]
        needed = sum(sizes[name] for name in alive) + crowds.get(tasks[k].number, 0)
        if needed > most:
            most, names = needed, tuple(sorted(alive, key=lambda n: -sizes[n]))
    return most, names


def _repeated(tasks: Sequence[Task]) -> Iterator[tuple[int, int]]:
    """First and last of each run of neighbouring tasks that run more than once."""
    first = None
    for k, task in enumerate(tasks):
        if task.trips > 1 and first is None:
            first = k
        if task.trips <= 1 and first is not None:
            yield first, k - 1
            first = None
    if first is not None:
        yield first, len(tasks) - 1


def _stretched(
    name: str, at: Sequence[int], runs: Sequence[tuple[int, int]], tasks: Sequence[Task]
) -> tuple[int, int]:
    first, last = at[0], at[-1]
    for begin, end in runs:
        inside = [k for k in at if begin <= k <= end]
        if inside and (len(inside) < len(at) or _reads_first(tasks[inside[0]], name)):
            first, last = min(first, begin), max(last, end)
    return first, last


def _reads_first(task: Task, name: str) -> bool:
    uses = task.uses_of(name)
    return not uses or not uses[0].writes
