"""Linear maps over bits: the view of power-of-two layouts in which sums are exclusive ors.

An `F2Map` is a matrix over GF(2) whose columns are Python integers: bit `k` of the input selects
column `k`.  It is derived from a layout or from a table, never a second source of truth.
Source: Triton include/triton/Tools/LinearLayout.h; the linear algebra is Gauss-Jordan elimination.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.axes import ANONYMOUS, Offset, axis_sum, terms_of
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.operations.simplify import coalesce
from tileas_xdsl.layout.swizzle import Swizzle
from tileas_xdsl.layout.tables import Table, table

Word = TypeVar("Word", int, Table)
Widths = Mapping[str, int]
"""The number of bits of each axis in a packed output, lowest bits first."""


class _Pivot(NamedTuple):
    """A row of the echelon form: `vector` is the image of the inputs in `combination`."""

    bit: int
    vector: int
    combination: int


@dataclass(frozen=True, slots=True)
class F2Map:
    """The linear map that sends bit `k` of its input to `columns[k]`, of `out_bits` bits.

    >>> F2Map((1, 3), 2)(0b10)
    3
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

    def __call__(self, x: Word) -> Word:
        """The image of an integer, or of every entry of an integer array."""
        if isinstance(x, int):
            self._check_range(x, x)
            return _xor_of(self.columns, x)
        if x.size:
            self._check_range(int(x.min()), int(x.max()))
        return self._image_of(x)

    apply = __call__

    def _image_of(self, x: Table) -> Table:
        if self.out_bits > 62:
            raise LayoutError(f"an array holds words of 62 bits, not of {self.out_bits}")
        result = np.zeros_like(x)
        for k, column in enumerate(self.columns):
            result ^= -((x >> k) & 1) & column
        return result

    def _check_range(self, low: int, high: int) -> None:
        if low < 0 or high >> self.in_bits:
            wrong = low if low < 0 else high
            raise LayoutError(f"{wrong} is no input of {self.in_bits} bits")

    def compose(self, inner: F2Map) -> F2Map:
        """The map `x -> self(inner(x))`."""
        if inner.out_bits != self.in_bits:
            raise LayoutError(
                f"cannot compose a map of {self.in_bits} input bits with one of "
                f"{inner.out_bits} output bits"
            )
        return F2Map(tuple(_xor_of(self.columns, c) for c in inner.columns), self.out_bits)

    def __matmul__(self, inner: F2Map) -> F2Map:
        return self.compose(inner)

    def table(self) -> Table:
        """The images of `0, 1, ..., 2**in_bits - 1`."""
        return self._image_of(np.arange(1 << self.in_bits, dtype=np.int64))

    # Linear algebra

    @property
    def rank(self) -> int:
        """The dimension of the image."""
        return len(_echelon(self.columns)[0])

    def kernel(self) -> tuple[int, ...]:
        """A basis of the inputs that map to 0; `in_bits - rank` of them."""
        return tuple(_echelon(self.columns)[1])

    def image_guard(self) -> tuple[int, ...]:
        """Masks `m`, one per missing dimension, that decide what is in the image.

        `y` is in the image exactly when `popcount(y & m)` is even for every mask.
        """
        pivots, _ = _echelon(self.columns)
        taken = {pivot.bit for pivot in pivots}
        return tuple(
            sum((1 << p.bit for p in pivots if p.vector >> bit & 1), 1 << bit)
            for bit in range(self.out_bits)
            if bit not in taken
        )

    def pseudo_inverse(self) -> F2Map:
        """A map `g` with `f(g(f(x))) == f(x)` and `g(f(g(y))) == g(y)`.

        It is a right inverse of a surjective map and a left inverse of an injective one.
        """
        by_bit = {p.bit: p.combination for p in _echelon(self.columns)[0]}
        return F2Map(tuple(by_bit.get(b, 0) for b in range(self.out_bits)), self.in_bits)

    def invert(self) -> F2Map:
        """Return the inverse; `LayoutError` gives the reason where there is none."""
        if self.in_bits != self.out_bits:
            raise LayoutError(
                f"a map of {self.in_bits} bits to {self.out_bits} bits has no inverse"
            )
        kernel = self.kernel()
        if kernel:
            raise LayoutError(
                f"a map of rank {self.in_bits - len(kernel)} on {self.in_bits} bits has no "
                f"inverse: inputs 0 and {kernel[0]} both map to 0"
            )
        return self.pseudo_inverse()

    # From and to the other views

    @staticmethod
    def identity(bits: int) -> F2Map:
        """Return the identity map of `bits` bits."""
        return F2Map(tuple(1 << k for k in range(bits)), bits)

    @staticmethod
    def from_layout(layout: AnyLayout, widths: Widths | None = None) -> F2Map:
        """Return the map from the colexicographic index of `layout` to its offset.

        `widths` packs the named axes of a layout into one output; by default an integer layout gets
        the bits of its largest offset.  Raises `LayoutError` where an extent is no power of two, an
        offset is added, or two strides carry into one another.
        """
        if isinstance(layout, ComposedLayout):
            return _from_composed(layout, widths)
        columns = _columns(layout, widths)
        highest = _disjoint_union(columns, layout)
        bits = sum(widths.values()) if widths is not None else highest.bit_length()
        return F2Map(tuple(columns), bits)

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

    def to_layout(self, widths: Widths | None = None) -> Layout | None:
        """Return the integer layout of this map, or None where columns share a bit (a swizzle).

        `widths` unpacks the output into named axes again.
        """
        if not _are_disjoint(self.columns):
            return None
        strides = tuple(_unpacked(column, widths) for column in self.columns)
        return coalesce(Layout((2,) * self.in_bits, strides)) if strides else Layout(1, 0)


def swizzle_map(swizzle: Swizzle, bits: int) -> F2Map:
    """The swizzle as a map on addresses of `bits` bits; `LayoutError` if it leaves them."""
    return F2Map(tuple(swizzle(1 << k) for k in range(bits)), bits)


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


def _xor_of(columns: Sequence[int], x: int) -> int:
    result = 0
    for column in columns:
        if x & 1:
            result ^= column
        x >>= 1
    return result


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


def _from_composed(layout: ComposedLayout, widths: Widths | None) -> F2Map:
    if widths is not None:
        raise LayoutError(f"{layout} has no named axes to pack")
    if not isinstance(layout.outer, Swizzle):
        found = F2Map.from_table(table(layout))
        if found is None:
            raise LayoutError(f"{layout} is not linear over bits")
        return found
    if layout.offset:
        raise LayoutError(f"{layout} adds {layout.offset}: only an offset of 0 is linear over bits")
    inner = F2Map.from_layout(layout.inner)
    columns = tuple(layout.outer(column) for column in inner.columns)
    return F2Map(columns, max([inner.out_bits, *(c.bit_length() for c in columns)]))


def _columns(layout: Layout, widths: Widths | None) -> list[int]:
    columns: list[int] = []
    for extent, stride in layout.leaves():
        if extent & (extent - 1):
            raise LayoutError(f"extent {extent} of {layout} is no power of two")
        columns += [_packed(stride, 1 << k, widths, layout) for k in range(extent.bit_length() - 1)]
    return columns


def _packed(stride: Offset, times: int, widths: Widths | None, layout: Layout) -> int:
    """Pack `times * stride` into one integer; every axis must fit its own bit field."""
    fields = {ANONYMOUS: 62} if widths is None else widths
    word, bit = 0, 0
    coefficients = {axis: k * times for axis, k in terms_of(stride)}
    for axis, width in fields.items():
        k = coefficients.pop(axis, 0)
        if k < 0 or k >> width:
            raise LayoutError(f"stride {k} along '{axis}' of {layout} does not fit {width} bits")
        word |= k << bit
        bit += width
    if coefficients:
        raise LayoutError(f"{layout} has axis '{next(iter(coefficients))}', which gets no bits")
    return word


def _unpacked(word: int, widths: Widths | None) -> Offset:
    if widths is None:
        return word
    terms: list[tuple[str, int]] = []
    for axis, width in widths.items():
        terms.append((axis, word & ((1 << width) - 1)))
        word >>= width
    return axis_sum(terms)


def _are_disjoint(columns: Sequence[int]) -> bool:
    seen = 0
    for column in columns:
        if seen & column:
            return False
        seen |= column
    return True


def _disjoint_union(columns: Sequence[int], layout: Any) -> int:
    """Return the union of all columns; raise where a shared bit means that sums carry."""
    seen = 0
    for column in columns:
        if seen & column:
            raise LayoutError(
                f"{layout} is not linear over bits: offset {seen & column:#x} is reached by two "
                f"strides, so that they carry"
            )
        seen |= column
    return seen
