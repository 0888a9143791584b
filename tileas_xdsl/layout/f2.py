"""Linear maps over bits: tables of power-of-two layouts in which sums are exclusive ors.

An `F2Map` is a matrix over GF(2) whose columns are Python integers: bit `k` of the input selects
column `k`.  It is derived from a table, never a second source of truth.
Source: Triton include/triton/Tools/LinearLayout.h; the linear algebra is Gauss-Jordan elimination.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.tables import Table


class _Pivot(NamedTuple):
    """A row of the echelon form: `vector` is the image of the inputs in `combination`."""

    bit: int
    vector: int
    combination: int


@dataclass(frozen=True, slots=True)
class F2Map:
    """The linear map that sends bit `k` of its input to `columns[k]`, of `out_bits` bits.

    >>> F2Map((1, 3), 2).table().tolist()
    [0, 1, 3, 2]
    """

    columns: tuple[int, ...]
    out_bits: int

    def __post_init__(self) -> None:
        for k, column in enumerate(self.columns):
            if column < 0 or column >> self.out_bits:
                raise LayoutError(f"column {k}, {column:#x}, does not fit {self.out_bits} bits")

    @property
    def in_bits(self) -> int:
        """The number of input bits."""
        return len(self.columns)

    def table(self) -> Table:
        """The images of `0, 1, ..., 2**in_bits - 1`."""
        inputs = np.arange(1 << self.in_bits, dtype=np.int64)
        images = np.zeros_like(inputs)
        for k, column in enumerate(self.columns):
            images ^= -((inputs >> k) & 1) & column
        return images

    def invert(self) -> F2Map:
        """Return the inverse; `LayoutError` gives the reason where there is none."""
        if self.in_bits != self.out_bits:
            raise LayoutError(
                f"a map of {self.in_bits} bits to {self.out_bits} bits has no inverse"
            )
        pivots, kernel = _echelon(self.columns)
        if kernel:
            raise LayoutError(
                f"a map of rank {len(pivots)} on {self.in_bits} bits has no "
                f"inverse: inputs 0 and {kernel[0]} both map to 0"
            )
        by_bit = {pivot.bit: pivot.combination for pivot in pivots}
        return F2Map(tuple(by_bit[bit] for bit in range(self.out_bits)), self.in_bits)

    @staticmethod
    def from_table(values: Table, out_bits: int | None = None) -> F2Map | None:
        """The map with this table of images, or None if it is not linear (certified)."""
        in_bits = len(values).bit_length() - 1
        if len(values) != 1 << in_bits or int(values.min()) < 0:
            return None
        columns = tuple(int(values[1 << k]) for k in range(in_bits))
        bits = int(values.max()).bit_length() if out_bits is None else out_bits
        if int(values.max()) >> bits:
            return None
        found = F2Map(columns, bits)
        return found if np.array_equal(found.table(), values) else None


class Span:
    """A growing subspace of GF(2)^n: all exclusive ors of the vectors added so far."""

    def __init__(self, vectors: Iterable[int] = ()) -> None:
        self._by_leading_bit: dict[int, int] = {}
        for vector in vectors:
            self.add(vector)

    def _reduced(self, vector: int) -> int:
        while vector:
            known = self._by_leading_bit.get(vector.bit_length())
            if known is None:
                return vector
            vector ^= known
        return 0

    def __contains__(self, vector: int) -> bool:
        return self._reduced(vector) == 0

    def __len__(self) -> int:
        """The dimension."""
        return len(self._by_leading_bit)

    def add(self, vector: int) -> bool:
        """Add a vector; False if it was in the span already."""
        rest = self._reduced(vector)
        if rest:
            self._by_leading_bit[rest.bit_length()] = rest
        return rest != 0


def _echelon(columns: Sequence[int]) -> tuple[list[_Pivot], list[int]]:
    """The reduced echelon form (a pivot bit is set in its own vector only) and the kernel."""
    pivots: list[_Pivot] = []
    kernel: list[int] = []
    for k, column in enumerate(columns):
        vector, combination = column, 1 << k
        for pivot in pivots:
            if vector >> pivot.bit & 1:
                vector, combination = vector ^ pivot.vector, combination ^ pivot.combination
        if not vector:
            kernel.append(combination)
            continue
        new = _Pivot(vector.bit_length() - 1, vector, combination)
        pivots = [_cleared(pivot, new) for pivot in pivots]
        pivots.append(new)
    return pivots, kernel


def _cleared(pivot: _Pivot, new: _Pivot) -> _Pivot:
    if not pivot.vector >> new.bit & 1:
        return pivot
    return _Pivot(pivot.bit, pivot.vector ^ new.vector, pivot.combination ^ new.combination)
