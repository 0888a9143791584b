"""A program with its inferred layouts, and the tables by which they are checked.

Checks enumerate: which elements an iteration accesses, which threads own an element, which threads
run an iteration. Symbols (block indices, extents) are replaced by samples: all values if there are
few, else drawn ones from a fixed seed, beside 0 and 1. A dynamic extent counts as a prime, so that
no divisibility follows from it:

>>> from tileas_xdsl.layout.expr.expression import symbol
>>> samples([symbol(0)], [4])
[[0], [1], [2], [3]]

Shares no code with inference but the data structures of its answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.decisions import Decisions, LoopDecision
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import DYNAMIC, Access, AccessKind, Buffer, Loop, Program, Scope
from tileas_xdsl.layout.expr.expression import Number, symbols_of
from tileas_xdsl.layout.expr.tables import Table, evaluated

Mask: TypeAlias = NDArray[np.bool_]

UNKNOWN_EXTENT = 10_007
"""Stand-in for a dynamic extent: a prime, so that no alignment follows."""

MAX_SAMPLES = 64
"""The maximum number of symbol assignments that are tried."""


@dataclass(frozen=True)
class CheckedProgram:
    """A program with the layouts to check."""

    program: Program
    decisions: Decisions

    @cached_property
    def loops(self) -> tuple[tuple[int, Loop, LoopDecision], ...]:
        """The loops, each with its index among the operations and its decision."""
        return tuple(
            (index, operation, self.decisions.loops[index])
            for index, operation in enumerate(self.program.operations)
            if isinstance(operation, Loop)
        )

    def layout(self, operation: int, buffer: str) -> FragmentMap:
        """The layout in which an operation sees a fragment: that of a conversion, if there is."""
        for conversion in self.decisions.conversions:
            if (conversion.operation, conversion.buffer) == (operation, buffer):
                return conversion.target
        return self.decisions.fragments[buffer]

    def scope(self, buffer: str) -> Scope:
        """Return the memory space of a buffer."""
        return self.program.buffers[buffer].scope

    def accesses(self, loop: Loop, *scopes: Scope) -> Iterator[Access]:
        """The accesses of a loop to buffers of some scopes."""
        return (access for access in loop.accesses if self.scope(access.buffer) in scopes)


def extents_of(buffer: Buffer) -> tuple[int, ...]:
    """Return the shape, with a fixed number for each dynamic extent."""
    return tuple(UNKNOWN_EXTENT if extent == DYNAMIC else extent for extent in buffer.shape)


def elements(loop: Loop, access: Access, buffer: Buffer, symbols: Sequence[int]) -> Table:
    """Return the row-major indices of the elements that each iteration accesses, -1 out of bounds.

    `(iterations, rest)`: the columns enumerate the serial loops in the body, and all values of
    indices that depend on data.
    """
    shape = extents_of(buffer)
    unknown = [k for k, index in enumerate(access.indices) if index is None]
    box = (*loop.extents, *loop.inner, *(shape[k] for k in unknown))
    points = np.ix_(*(np.arange(extent, dtype=np.int64) for extent in box))
    free = iter(points[len(loop.extents) + len(loop.inner) :])
    result = np.zeros(box, dtype=np.int64)
    inside = np.ones(box, dtype=bool)
    for expression, extent in zip(access.indices, shape, strict=True):
        index = next(free) if expression is None else evaluated(expression, points, symbols)
        inside &= (index >= 0) & (index < extent)
        result = result * extent + index
    return np.where(inside, result, -1).reshape(loop.total, -1)


def samples(
    expressions: Iterable[Number | None], extents: Sequence[int], at_most: int = MAX_SAMPLES
) -> list[list[int]]:
    """Return assignments of the symbols: all below the largest extent, or `at_most` samples.

    Unused symbols are 0. Samples are drawn from a fixed seed.
    """
    used = sorted({p for e in expressions if e is not None for p in symbols_of(e)})
    if not used:
        return [[]]
    most = max((UNKNOWN_EXTENT if e == DYNAMIC else e for e in extents), default=1)
    if most ** len(used) <= at_most:
        values = product(range(most), repeat=len(used))
    else:
        drawn = np.random.default_rng(most).integers(0, most, (at_most - 2, len(used)))
        values = [(0,) * len(used), (1,) * len(used), *map(tuple, drawn.tolist())]
    return [_scattered(used, row) for row in values]


def _scattered(used: Sequence[int], values: Sequence[int]) -> list[int]:
    """Return a list with `values` at the indices `used`, and 0 elsewhere."""
    result = [0] * (max(used) + 1)
    for position, value in zip(used, values, strict=True):
        result[position] = value
    return result


@lru_cache(maxsize=16)
def holders(layout: FragmentMap) -> Mask:
    """Return the ownership mask `(elements, threads)`: threads that hold an element, or run it."""
    result = np.zeros((layout.slot_table.size, layout.threads), dtype=bool)
    for threads in layout.thread_table.reshape(layout.replicas, -1):
        result[np.arange(threads.size), threads] = True
    result.flags.writeable = False
    return result


def executors(decision: LoopDecision) -> Table:
    """Return the thread of each replica of each iteration, `(replicas, iterations)`."""
    return decision.owners.thread_table.reshape(decision.owners.replicas, -1)


def is_replicated(owners: FragmentMap) -> bool:
    """Whether some iteration runs on more than one thread."""
    threads = owners.thread_table
    return bool((threads != threads[:1]).any())


def is_effect(access: Access) -> bool:
    """Whether an access changes its buffer."""
    return access.kind is not AccessKind.READ
