"""TileLang's default register index, where a layout only gives the thread of an element.

>>> from tileas_xdsl.layout.expr.expression import dimension
>>> i, j = dimension(0), dimension(1)
>>> print(inferred_slot(i % 4 * 32 + j // 4, (8, 128)))
d1 % 4 + d0 // 4 * 4

It numbers, row-major, what the thread leaves open: pieces of the coordinates that it does not use,
then the quotient of a sum that it takes a remainder of.

>>> print(inferred_slot((i * 48 + j) % 64, (4, 48)))
(d0 * 48 + d1) // 64

Pieces that do not divide an extent count rounded down, so that elements share a register and the
layout is refused; a term that is no sum of digits uses nothing: elements have a register each.

>>> print(inferred_slot(i % 32, (200,)), inferred_slot((i * 12 + j // 8) % 64, (32, 48)))
d0 // 32 % 6 d1 + d0 * 48

Source: TileLang `src/layout/layout.cc` (`infer_fragment_index`) and `src/layout/utils.cc`
(`DivideUnusedIterators`, `CompressIterator`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.expr.digits import Digit, Digits, digits_of, flattened, terms_of
from tileas_xdsl.layout.expr.expression import (
    BinaryExpression,
    Number,
    dimension,
    substituted,
    symbol,
)
from tileas_xdsl.layout.expr.simplification import simplified
from tileas_xdsl.layout.expr.tables import variables_of_box


@dataclass(frozen=True)
class _Remainder:
    """A term `dividend % divisor`, where the dividend is every number below `extent` once."""

    dividend: Number
    divisor: int
    extent: int


@dataclass(frozen=True)
class _Splits:
    """The digits of a sum, those in remainders too; `is_whole`: no term is anything else."""

    digits: Digits
    remainders: tuple[_Remainder, ...]
    is_whole: bool


def inferred_slot(thread: Number, shape: Sequence[int]) -> Number:
    """Return the slot of an element where only its thread is given (symbol 0 is the replica)."""
    splits = _splits(substituted(thread, (), [0]), shape)
    free = [_rounded_down(digit, shape[digit.variable]) for digit in splits.digits.unused]
    slot = flattened(free)
    for each in splits.remainders:
        count = each.extent // each.divisor
        slot = slot * count + each.dividend // each.divisor % count
    return simplified(slot, shape)


def has_digital_thread(layout: FragmentMap) -> bool:
    """Whether the thread of an element is a sum of digits of its coordinates, or of remainders."""
    number = with_replica_last(layout.thread, len(layout.shape))
    return _splits(number, (*layout.shape, layout.replicas)).is_whole


def has_plain_digits(layout: FragmentMap) -> bool:
    """Whether the thread of an element is a sum of digits of its coordinates, no remainder."""
    extents = (*layout.shape, layout.replicas)
    number = simplified(with_replica_last(layout.thread, len(layout.shape)), extents)
    return _digits(number, extents) is not None


def _rounded_down(digit: Digit, extent: int) -> Digit:
    """Return a digit that has as many values as divide the extent of its variable."""
    if not digit.is_last or digit.lower * digit.extent == extent:
        return digit
    return replace(digit, extent=extent // digit.lower, is_last=False)


def _splits(number: Number, extents: Sequence[int]) -> _Splits:
    number = simplified(number, extents)
    found = _digits(number, extents)
    if found is not None:
        return _Splits(found, (), True)
    terms = list(terms_of(number))
    remainders = {term: each for term in terms if (each := _remainder(term, extents))}
    digital = [*_digital(terms, extents), *(each.dividend for each in remainders.values())]
    found = digits_of(sum(digital, start=dimension(0) * 0), extents)
    if found is None:
        return _Splits(Digits(0, ()), (), False)
    return _Splits(found, tuple(remainders.values()), len(digital) == len(terms))


def _digital(terms: Sequence[Number], extents: Sequence[int]) -> Iterator[Number]:
    return (term for term in terms if _digits(term, extents) is not None)


def _digits(number: Number, extents: Sequence[int]) -> Digits | None:
    """Return the digits of a number, None where a remainder is of steps that do not divide it.

    `i * 12 % 32` is `i % 3 * 12 + i // 3 * 4` for 8 rows, but by chance.
    """
    return digits_of(number, extents) if _has_even_steps(number, extents) else None


def _has_even_steps(number: Number, extents: Sequence[int]) -> bool:
    if not isinstance(number, BinaryExpression):
        return True
    if number.kind == "floormod" and isinstance(number.rhs, int):
        inner = digits_of(number.lhs, extents)
        strides = [] if inner is None else [digit.stride for digit in inner.used]
        if any(number.rhs % stride and stride % number.rhs for stride in strides):
            return False
    return all(_has_even_steps(side, extents) for side in (number.lhs, number.rhs))


def _remainder(term: Number, extents: Sequence[int]) -> _Remainder | None:
    """Return a term that is a multiple of a remainder; None where its dividend has gaps."""
    if _digits(term, extents) is not None:
        return None
    if isinstance(term, BinaryExpression) and term.kind == "mul":
        term = term.lhs
    if not isinstance(term, BinaryExpression) or term.kind != "floormod":
        return None
    inner = digits_of(term.lhs, extents)
    if inner is None or not isinstance(term.rhs, int):
        return None
    weight = 1
    for digit in sorted(inner.used, key=lambda digit: digit.stride):
        if digit.stride != weight:
            return None
        weight *= digit.extent
    return _Remainder(term.lhs, term.rhs, weight)


def condensed(thread: Number, shape: Sequence[int], replicas: int) -> tuple[Number, int]:
    """The thread over fewer replicas, without those that differ in unused pieces of the replica.

    The pieces that are left count by their stride, the furthest apart first.  A thread expression
    that is not digital stays as it is.
    """
    extents = (*shape, replicas)
    splits = _splits(with_replica_last(thread, len(shape)), extents)
    if not splits.is_whole:
        return thread, replicas
    used = [digit for digit in splits.digits.used if digit.variable == len(shape)]
    used.sort(key=lambda digit: -digit.stride)
    fewer = prod(digit.extent for digit in used)
    replica: Number = 0
    weight = 1
    for digit in used:
        replica = replica + symbol(0) // weight % digit.extent * digit.lower
        weight *= digit.extent
    moved = substituted(thread, variables_of_box(len(shape)), [replica])
    return simplified(moved, shape, (fewer,)), fewer


def with_replica_last(thread: Number, rank: int) -> Number:
    """Return a thread expression with the replica as dimension `rank` instead of symbol 0."""
    return substituted(thread, (), [dimension(rank)])
