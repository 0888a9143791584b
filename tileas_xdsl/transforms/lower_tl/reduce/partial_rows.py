"""The partial rows that each thread owns of a fragment, and their completion across threads.

A row is what becomes one element of a reduction.  Everything here is counted on tables: what each
value covers of its row is known exactly, so that no element is combined twice or left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.threads.index.per_thread_tables import Flags, Table

Cover = NDArray[np.bool_]
"""`(threads, groups, extent)`: the elements of its row that a value of a thread is made of."""


@dataclass(frozen=True, eq=False)
class Partials:
    """Partial results of a thread, one for each group of its registers."""

    rows: Table
    """`(threads, groups)`: the row that a value is of, -1 for none."""
    cover: Cover

    @cached_property
    def is_whole(self) -> Flags:
        """`(threads, groups)`: whether a value is its whole row."""
        return self.cover.all(axis=2) & (self.rows >= 0)

    def lanes_to_join(self, group: int) -> tuple[int, Partials] | None:
        """A distance at which all lanes share rows and no element; None without.

        And the values after those lanes have combined theirs.  A lane without a row has the
        identity of the reduction, so that it takes part, and has the row of its partner then.
        """
        threads = np.arange(len(self.rows))
        rows, cover = self.rows[:, group], self.cover[:, group]
        distance = 1
        while distance < WARP:
            other = threads ^ distance
            same = ((rows == rows[other]) | (rows < 0) | (rows[other] < 0)).all()
            apart = not (cover & cover[other]).any()
            if same and apart and (cover.any(axis=1) & cover[other].any(axis=1)).any():
                joint, known = self.cover.copy(), self.rows.copy()
                joint[:, group] |= cover[other]
                known[:, group] = np.maximum(rows, rows[other])
                return distance, Partials(known, joint)
            distance *= 2
        return None


@dataclass(frozen=True, eq=False)
class Rows:
    """A fragment by rows along an axis."""

    source: FragmentMap
    axis: int

    @property
    def extent(self) -> int:
        """Elements of a row."""
        return self.source.shape[self.axis]

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The extents without the axis."""
        return (*self.source.shape[: self.axis], *self.source.shape[self.axis + 1 :])

    @cached_property
    def coordinates(self) -> tuple[Table, Table]:
        """`(threads, slots)`: the row, and the index within it, of each register; -1 for none."""
        held = self.source.held
        indices = list(np.unravel_index(np.maximum(held, 0), self.source.shape))
        along = indices.pop(self.axis)
        row = np.ravel_multi_index(tuple(indices), self.kept) if self.kept else 0 * along
        return np.where(held < 0, -1, row), np.where(held < 0, -1, along)

    @cached_property
    def groups(self) -> Sequence[Sequence[int]]:
        """Registers of the same rows in all threads that have an element in each.

        A row of 127 elements in 32 lanes: the last lane has nothing in the fourth register, which
        is of the row of its other three.
        """
        rows, _ = self.coordinates
        found: list[tuple[Table, list[int]]] = []
        for slot in range(rows.shape[1]):
            own = rows[:, slot]
            if not (own >= 0).any():
                continue
            for number, (known, slots) in enumerate(found):
                if ((own == known) | (own < 0) | (known < 0)).all() and (own == known).any():
                    found[number] = np.maximum(own, known), [*slots, slot]
                    break
            else:
                found.append((own, [slot]))
        return [slots for _, slots in found]

    def lacks_lanes(self, slot: int) -> bool:
        """Whether some lanes of a warp have no element in a register that others have one in."""
        has = self.coordinates[0][:, slot] >= 0
        warps = np.pad(has, (0, -len(has) % WARP)).reshape(-1, WARP)
        return bool((warps.any(axis=1) & ~warps.all(axis=1)).any())

    @cached_property
    def in_threads(self) -> Partials:
        """What threads have once each has combined its registers."""
        rows, along = self.coordinates
        threads = np.arange(len(rows))
        cover = np.zeros((len(rows), len(self.groups), self.extent), dtype=bool)
        for index, slots in enumerate(self.groups):
            for slot in slots:
                mine = along[:, slot] >= 0
                cover[threads[mine], index, along[mine, slot]] = True
        joint = [rows[:, slots].max(axis=1) for slots in self.groups]
        return Partials(np.stack(joint, axis=1), cover)


@dataclass(frozen=True, eq=False)
class Parts:
    """Which threads contribute partial results to which rows, and how many each row has."""

    number: Table
    """`(threads, groups)`: the part of its row that a thread leaves, -1 for none."""
    counts: Table
    """`(rows,)`: the parts of each row."""

    @staticmethod
    def of(partials: Partials, rows: int) -> Parts | None:
        """Parts without an element in common; None where values overlap too much for that."""
        number = np.full(partials.rows.shape, -1, dtype=np.int64)
        counts = np.zeros(rows, dtype=np.int64)
        extent = partials.cover.shape[2]
        covered = np.zeros((rows, extent), dtype=bool)
        sizes = partials.cover.sum(axis=2)
        order = np.argsort(-sizes, axis=None, kind="stable")
        for thread, group in zip(*np.unravel_index(order, sizes.shape), strict=True):
            row, mine = int(partials.rows[thread, group]), partials.cover[thread, group]
            if row < 0 or not mine.any() or (covered[row] & mine).any():
                continue
            covered[row] |= mine
            number[thread, group], counts[row] = counts[row], counts[row] + 1
        return Parts(number, counts) if covered.all() else None
