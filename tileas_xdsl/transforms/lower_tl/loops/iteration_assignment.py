"""Assignment of the iterations of a loop to threads: order, validity, replicas, coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.operations.inverse import invert
from tileas_xdsl.layout.operations.recovery import recover
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.threads.index.affine_codegen import Hints
from tileas_xdsl.threads.index.per_thread_tables import Flags, Table, ThreadDigit


@dataclass(frozen=True, eq=False)
class ThreadIterations:
    """The iterations that each thread runs, `(threads, count)`; -1 where it is idle."""

    shape: tuple[int, ...]
    iterations: Table
    """Row-major numbers."""
    first: Flags
    """Whether the thread is the one that acts for the iteration where only one may."""
    digits: tuple[ThreadDigit, ...] = ()

    @staticmethod
    def of(owners: FragmentMap, packed: int = 1) -> ThreadIterations:
        """Return the iterations of a loop; their number is padded to a multiple of `packed`."""
        held = np.full((owners.threads, padded(owners.slots, packed)), -1, dtype=np.int64)
        held[:, : owners.slots] = owners.held
        first = np.zeros(held.shape, dtype=bool)
        first[owners.thread_table[0].ravel(), owners.slot_table.ravel()] = True
        return ThreadIterations(owners.shape, held, first, thread_digits(owners))

    @staticmethod
    def once(threads: int) -> ThreadIterations:
        """One iteration without coordinates in all threads."""
        first = np.arange(threads)[:, None] == 0
        return ThreadIterations((), np.zeros((threads, 1), dtype=np.int64), first)

    def chunks(self, most: int) -> Iterator[ThreadIterations]:
        """Yield the iterations of each thread in groups of at most `most`."""
        for begin in range(0, self.count, most):
            part = slice(begin, begin + most)
            yield ThreadIterations(
                self.shape, self.iterations[:, part], self.first[:, part], self.digits
            )

    @property
    def threads(self) -> int:
        """The size of the block."""
        return self.iterations.shape[0]

    @property
    def count(self) -> int:
        """Steps of each thread."""
        return self.iterations.shape[1]

    @cached_property
    def valid(self) -> Flags:
        """Where there is an iteration."""
        return self.iterations >= 0

    @cached_property
    def is_replicated(self) -> bool:
        """Whether several threads run the same iteration."""
        return bool((self.valid != self.first).any())

    @cached_property
    def coordinates(self) -> tuple[Table, ...]:
        """By dimension; 0 where there is no iteration."""
        numbers = np.where(self.valid, self.iterations, 0)
        return tuple(np.unravel_index(numbers, self.shape)) if self.shape else ()

    def hints(self, k: int) -> Hints:
        """What numbers of the thread may be made of in one iteration."""
        return Hints(self.digits, self.iterations[:, k], self.shape)


def padded(count: int, packed: int) -> int:
    """Elements that fill whole registers of `packed` each; fewer than that fill a part of one."""
    if count < packed and count & (count - 1) == 0:
        return count
    return align_up(count, packed)


def packed_in_word(bits: int) -> int:
    """How many elements share a register; single bits are in registers of their own."""
    return WORD_BITS // bits if 1 < bits < WORD_BITS else 1


@lru_cache(maxsize=256)
def thread_digits(owners: FragmentMap) -> tuple[ThreadDigit, ...]:
    """The digits of a thread's number that its inverse reads, those that have to be 0 too."""
    threads = owners.thread_table
    slots = np.broadcast_to(owners.slot_table, threads.shape)
    shape = (*reversed(owners.shape), owners.replicas)
    found = recover({THREAD: threads.ravel(), VALUE: slots.ravel()}, shape)
    if found is None:
        return ()
    try:
        section = invert(found[0], {THREAD: owners.threads})
    except LayoutError:
        return ()
    read: Sequence[ThreadDigit] = [
        (digit.step, digit.extent)
        for digit in (*section.digits, *section.guards)
        if digit is not None and digit.axis == THREAD
    ]
    return tuple(dict.fromkeys(read))
