"""Access chunks: the elements of a tile that one access of a thread moves at most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass


@dataclass(frozen=True)
class AccessChunk:
    """Adjacent elements of a row in adjacent registers of one block."""

    block: int
    register: int
    count: int
    row: SSAValue | None
    """The row of the matrix; None for the only row of a line."""
    column: SSAValue
    """The first column of the thread, without `shift`."""
    shift: int
    """A multiple of `span`."""
    span: int
    """All threads have their `column` below it; 1 where that is not so."""
    line: int
    """Equal numbers are of one row and begin at one column."""
    exists: SSAValue | None = None
    """Whether the thread owns the chunk, where some threads do not."""
    first_row: SSAValue | None = None
    """The row without `row_shift`, which several chunks of a thread share; None where none does."""
    row_shift: int = 0

    def divided(self, most: int) -> Iterator[AccessChunk]:
        """Yield the chunks of at most so many elements that this one consists of, if it does.

        8 sums of f32 that a thread computed of 16 bytes of f16 are two accesses of 16 bytes.
        """
        if self.count <= most or self.count % most:
            yield self
            return
        for first in range(0, self.count, most):
            place = self.register + first, self.shift + first
            yield replace(self, register=place[0], count=most, shift=place[1], span=1)
