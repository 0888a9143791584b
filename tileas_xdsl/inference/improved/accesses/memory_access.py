"""Cost an access of a loop to global or shared memory under a candidate layout, exactly.

Index expressions are evaluated to tables over all iterations, so that coalescing and bank conflicts
are counted, not estimated. An f16 array of 64 columns, read as `x[i, j]` by 32 threads:

    thread i, slot j                vectors of 8 along a row, but lanes are 128 bytes apart:
                                    32 sectors for each access of a warp
    thread i % 4 * 8 + j // 8 ...   vectors of 8, lanes adjacent: 512 bytes in 16 sectors

The vector width of an access is the widest for which, at every step of every thread, the elements
are adjacent in one row and aligned. Loop variables around the access and symbols (block indices)
are not enumerated: an affine index steps evenly, so `SAMPLES` of each give the divisor of its
stride. Source of the counts: 32-byte sectors of global memory, wavefronts of 32 banks of 4 bytes
(`layout/memory/banks.py`).
"""

from __future__ import annotations

from functools import cached_property
from math import gcd, prod

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.accesses.fragment_access import access_symbols
from tileas_xdsl.inference.program import Access, Buffer, Scope
from tileas_xdsl.layout.expr.tables import Table, coordinates_of, evaluated
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.memory.banks import wavefronts
from tileas_xdsl.layout.registers.access import by_warp, sectors
from tileas_xdsl.layout.units import WARP

MAX_BITS = 128
"""The widest access by one thread that all targets have."""

SAMPLES = (1, 3)
"""Values of inner variables and symbols at which an address must step as at 0."""


@dataclass(frozen=True, eq=False)
class MemoryUse:
    """An access of a loop to a global or shared buffer."""

    access: Access
    buffer: Buffer
    extents: tuple[int, ...]
    inner: tuple[int, ...] = ()

    @cached_property
    def indices(self) -> tuple[Table, ...] | None:
        """Flat tables of the indices where inner variables and symbols are 0; None: unknown."""
        return self._indices({})

    def _indices(self, at: dict[int, int]) -> tuple[Table, ...] | None:
        """Flat index tables; `at` gives values of inner variables and, as -1 - s, symbols s."""
        if None in self.access.indices:
            return None
        count = max(access_symbols(self.access), default=-1) + 1
        rank = len(self.extents)
        inner = [at.get(rank + k, 0) for k in range(len(self.inner))]
        symbols = [at.get(-1 - s, 0) for s in range(count)]
        box = coordinates_of(self.extents) if self.extents else ()
        tables: list[Table] = []
        for index in self.access.indices:
            assert index is not None
            values = evaluated(index, (*box, *inner), symbols)
            tables.append(np.broadcast_to(values, self.extents).ravel())
        return tuple(tables)

    @cached_property
    def offsets(self) -> Table | None:
        """The row-major offset of each iteration in elements; unknown extents count as 1 Mi."""
        tables = self.indices
        if tables is None:
            return None
        flat = np.zeros(prod(self.extents), dtype=np.int64)
        for index, extent in zip(tables, self.buffer.shape, strict=True):
            flat = flat * (extent if extent >= 0 else 1 << 20) + index
        return flat

    @cached_property
    def alignment(self) -> int:
        """The largest power of two of elements whose vectors are aligned wherever index 0 is.

        Rows must consist of whole vectors, also where they are cut off at the end of the buffer,
        and all other address terms must be multiples of a vector.  Rows of a dynamic extent are
        assumed to comply: generated code checks, and else moves single elements.
        """
        tables = self.indices
        if tables is None or not self.buffer.shape or self.buffer.bits < 8:
            return 1
        most = max(1, MAX_BITS // self.buffer.bits)
        row = self.buffer.shape[-1]
        most = gcd(most, row) if row > 0 else most
        free = [len(self.extents) + k for k in range(len(self.inner))]
        for variable in (*free, *(-1 - s for s in access_symbols(self.access))):
            for value in SAMPLES:
                moved = self._indices({variable: value})
                assert moved is not None
                most = gcd(most, _step(tables, moved))
        return most

    def vector(self, held: Table, most: int) -> int:
        """Return the vector width of an access, at most `most`; a uniform address may be shared
        too.

        `held` is `(threads, steps)`, the iteration of each step of each thread, -1 for none.
        """
        tables = self.indices
        if tables is None:
            return 1
        width = gcd(most, self.alignment) if self.moves(held) else most
        while width > 1 and not self._fits(held, width, tables):
            width //= 2
        return width

    def moves(self, held: Table) -> bool:
        """Whether consecutive slots of a thread have different addresses."""
        offsets = self.offsets
        if offsets is None or held.shape[1] < 2 or self.access.writes:
            return True
        pair = held[:, :2]
        pair = pair[(pair >= 0).all(axis=1)]
        return bool((offsets[pair[:, 0]] != offsets[pair[:, 1]]).any())

    def _fits(self, held: Table, width: int, tables: tuple[Table, ...]) -> bool:
        groups = grouped(held, width)
        if groups is None:
            return False
        first = groups[:, :1]
        same_row = all((t[groups] == t[first]).all() for t in tables[:-1])
        if not same_row:
            return False
        last = tables[-1][groups]
        if not self.access.writes and (last == last[:, :1]).all():
            return True
        straight = (last == last[:, :1] + np.arange(width)).all()
        return bool(straight and (last[:, 0] % width == 0).all())


def _step(rest: tuple[Table, ...], moved: tuple[Table, ...]) -> int:
    """Return the divisor of all steps of the last index; 1 where steps or rows are uneven."""
    for before, after in zip(rest[:-1], moved[:-1], strict=True):
        steps = after - before
        if steps.size and (steps != steps[0]).any():
            return 1
    steps = moved[-1] - rest[-1]
    if steps.size and (steps != steps[0]).any():
        return 1
    return int(abs(steps[0])) if steps.size else 0


def grouped(held: Table, width: int) -> Table | None:
    """`(groups, width)`: the iterations of neighbouring steps, empty groups left out.

    None where a group is incomplete.
    """
    threads, steps = held.shape
    if steps % width:
        return None
    groups = held.reshape(threads * (steps // width), width)
    groups = groups[(groups[:, 0] >= 0) | (groups[:, -1] >= 0)]
    return groups if (groups >= 0).all() else None


def vector_of(runs: FragmentMap, memory: tuple[MemoryUse, ...]) -> int:
    """Return the vector width of a loop: the widest that all its accesses to memory allow."""
    if not memory or runs.slots == 1:
        return 1
    bits = max(use.buffer.bits for use in memory)
    width = max(1, MAX_BITS // bits) if bits >= 8 else 1
    for use in memory:
        width = min(width, use.vector(runs.held, width))
        if width == 1:
            break
    while runs.slots % width:
        width //= 2
    if width > 1 and grouped(runs.held, width) is None:
        return 1
    return width


def warp_cost(use: MemoryUse, runs: FragmentMap, width: int, addresses: Table | None) -> float:
    """Cycles of one warp of a block for its share of an access.

    Global memory moves one sector a cycle, shared memory one wavefront.  `addresses` are byte
    addresses of the iterations; None: unknown, each lane on its own.  Two warps stand for all.
    """
    steps = ceil_div(runs.slots, width)
    if addresses is None:
        return float(steps * WARP)
    held = runs.held[:, ::width]
    lanes = by_warp(np.where(held >= 0, addresses[held], -1))
    lanes = lanes[(lanes >= 0).any(axis=(1, 2))]
    lanes = lanes[:: max(1, len(lanes) - 1)]
    if not lanes.size:
        return 0.0
    together = width if use.moves(runs.held) else 1
    size = max(1, together * use.buffer.bits // 8)
    counted = sectors if use.buffer.scope is Scope.GLOBAL else wavefronts
    return int(counted(lanes, size).sum()) / len(lanes)
