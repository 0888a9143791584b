"""Orders of a buffer synthesised over bits so that stores and loads both avoid bank conflicts.

An access conflicts when lanes of one phase differ by a segment, that is by a multiple of a row of
all banks.  So choose the segments outside the span of what one phase touches, for both sides: two
subspaces of one dimension always have a common complement.  Source: the idea of Triton
lib/Tools/GenericSwizzling.cpp (`optimalSwizzling`), for any linear layouts and either vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tileas_xdsl.layout.f2 import F2Map, Span
from tileas_xdsl.layout.registers.access import Ints
from tileas_xdsl.layout.registers.register_layout import RegisterContents
from tileas_xdsl.layout.units import WARP

ROW_BITS = 1024
"""Bits in one row of all 32 banks."""


class _Side(NamedTuple):
    """Which bits of the element index the registers and the lanes of a fragment count."""

    registers: list[int]
    lanes: list[int]


def xor_orders(
    source: RegisterContents, target: RegisterContents, elem_bits: int
) -> Iterator[tuple[str, Ints]]:
    """Names and `(elements,)` tables of the offset of each element, in elements.

    Both fragments must be linear over bits; nothing is yielded otherwise, nor when a row of banks
    holds the whole tile.  The vectors are what both sides share, or wider on one side.
    """
    index_bits = (source.elements - 1).bit_length()
    store, load = _side(source, index_bits), _side(target, index_bits)
    row = ROW_BITS // elem_bits
    if store is None or load is None or row & (row - 1) or source.elements <= row:
        return
    widest = max(0, (128 // elem_bits).bit_length() - 1)
    shared = [r for r in load.registers if r in store.registers]
    seen: set[tuple[int, ...]] = set()
    for name, wanted in (
        ("", shared),
        (" for wide loads", load.registers),
        (" for wide stores", store.registers),
    ):
        vector = sorted(wanted[:widest], key=lambda r: r not in shared)
        spans = [_touched(side, vector, elem_bits) for side in (store, load)]
        columns = _columns(vector, spans, (row - 1).bit_length(), index_bits)
        if columns not in seen:
            seen.add(columns)
            yield f"synthesised xor{name}", F2Map(columns, index_bits).invert().table()


def _side(fragment: RegisterContents, index_bits: int) -> _Side | None:
    if fragment.elements != 1 << index_bits or (fragment.held < 0).any():
        return None
    found = F2Map.from_table(fragment.held.T.ravel(), index_bits)
    if found is None or fragment.threads & (fragment.threads - 1):
        return None
    lane_bits = (min(fragment.threads, WARP) - 1).bit_length()
    first = (fragment.threads - 1).bit_length()
    lanes, registers = found.columns[:lane_bits], found.columns[first:]
    return _Side([c for c in registers if c], [c for c in lanes if c])


def _touched(side: _Side, vector: Sequence[int], elem_bits: int) -> Span:
    """What one phase spans: a vector and 8 lanes for 16 bytes, 16 for 8, else all 32."""
    own = 0
    while own < len(vector) and vector[own] in side.registers:
        own += 1
    access_bits = max(32, elem_bits << own)
    return Span([*vector, *side.lanes[: (ROW_BITS // access_bits).bit_length() - 1]])


def _columns(
    vector: Sequence[int], spans: Sequence[Span], row_bits: int, index_bits: int
) -> tuple[int, ...]:
    """The index bits that each bit of the offset counts: vector, banks, segments."""
    segments = _segments(vector, spans, index_bits - row_bits, index_bits)
    taken = Span([*segments, *vector])
    banks = [1 << b for b in range(index_bits) if taken.add(1 << b)]
    return (*vector, *banks, *segments)


def _segments(
    vector: Sequence[int], spans: Sequence[Span], count: int, index_bits: int
) -> list[int]:
    """`count` vectors outside both spans, as far as there are any; then outside of one or none."""
    units = [1 << b for b in range(index_bits)]
    pairs = [a ^ b for a in units for b in units if a < b]
    result: list[int] = []
    own = Span(vector)
    # Vectors over GF(2). Outside of both spans neither loads nor stores have bank conflicts; where
    # the space is used up, one side has to have some, and in the end both.
    for avoided in (spans, spans[1:], spans[:1], ()):
        for x in (*units, *pairs):
            if len(result) == count:
                return result
            if x in own or any(x in span for span in avoided):
                continue
            result.append(x)
            for span in (own, *spans):
                span.add(x)
    return result
