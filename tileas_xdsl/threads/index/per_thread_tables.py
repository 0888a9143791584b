"""Code for integers given per thread, by a table over the threads of an agent.

Almost every table is a sum of digits of the thread id, or an xor of such as in swizzles: both are a
few shifts.  Any other table is looked up bit by bit.  A negative entry may become anything.

    entry of thread t of 128                          code
    16 * t                                            lane * 16 + warp * 512
    5, 7, 9, 11, 5, 7, ...  (columns of wgmma)        lane % 4 * 2, and 5 to add
    0, 0, 0, 0, 1, 1, ...   (its rows)                lane // 4 + warp * 16
    (t % 8 ^ t // 8 % 8) * 16  (a 128-byte swizzle)   lane // 8 * 16 ^ warp % 2 * 64 ^ lane % 8 * 16
    t * t                                             14 bits, each of a mask with a bit a lane
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.xdsl_ops import selection
from tileas_xdsl.layout.expr.digit_fits import Coefficients, bit_rows, digit_rows, fit
from tileas_xdsl.layout.expr.expression import (
    BinaryExpression,
    Expression,
    Number,
    Variable,
    compute,
)
from tileas_xdsl.layout.expr.tables import Table
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    divide,
    i1_constant,
    i32_constant,
    is_equal,
    is_less,
    modulo,
    multiply,
    xor,
)
from tileas_xdsl.threads.codegen.thread_ids import lane_id, warp_id

LANE_BITS = 5

Flags: TypeAlias = NDArray[np.bool_]

ThreadDigit: TypeAlias = tuple[int, int]
"""Stride and extent of a digit of the thread id: `thread // stride % extent`."""


def tabulated(
    e: ThreadBuilder, table: Table, digits: Sequence[ThreadDigit] = ()
) -> tuple[SSAValue, int]:
    """Return a value and a constant whose sum is the table entry of this thread, `i32`.

    Tables that differ by a constant share the value.  `digits` are candidates beside single bits.
    """
    threads = len(table)
    found = fit("add", table, bit_rows(threads))
    if found is not None:
        return _once(e, _of_bits("add", found[1])), found[0]
    found = fit("add", table, digit_rows(threads, digits))
    if found is not None:
        return _once(e, _of_digits(digits, found[1])), found[0]
    found = fit("xor", table, bit_rows(threads))
    if found is not None:
        return _flipped(e, *found)
    filled = np.where(table >= 0, table, 0)
    return _shared(e, ("table", filled.tobytes()), lambda: _looked_up(e, filled)), 0


def is_simple(table: Table) -> bool:
    """Return whether a table is a sum, or an xor, of scaled bits of the thread id."""
    bits = bit_rows(len(table))
    return fit("add", table, bits) is not None or fit("xor", table, bits) is not None


def number_of(e: ThreadBuilder, table: Table, digits: Sequence[ThreadDigit] = ()) -> SSAValue:
    """Return the table entry of this thread, `i32`."""
    return add(e, *tabulated(e, table, digits))


def holds(e: ThreadBuilder, flags: Flags, digits: Sequence[ThreadDigit] = ()) -> SSAValue | None:
    """Return an `i1`: the flag of this thread is set; None where all threads have it set.

    `digits` are candidates for a test against 0.
    """
    if flags.all():
        return None
    key = ("holds", flags.tobytes())
    return _shared(e, key, lambda: _condition(e, flags, digits))


def _shared(e: ThreadBuilder, key: tuple[object, ...], make: Callable[[], SSAValue]) -> SSAValue:
    """Return a value that is emitted once per block."""
    found = (e.builder.insertion_point.block, *key)
    if found not in e.tabulated:
        e.tabulated[found] = make()
    return e.tabulated[found]


def _once(e: ThreadBuilder, number: Number) -> SSAValue:
    """Emit an expression of the thread id, once per block."""
    return _shared(e, (number,), lambda: _written(e, number))


# Expressions of the thread

LANE, WARP_OF_THREAD, THREAD = (
    Variable(key=name, is_natural=True) for name in ("lane", "warp", "thread")
)


@lru_cache
def _of_bits(kind: str, coefficients: Coefficients, total: Number = 0) -> Number:
    """Multiples of groups of bits of the thread, combined with a total.

    Bits that follow one another, with coefficients that double, are one group: one shift and one
    mask.  No group crosses from the lane into the warp.
    """
    for first, count in _groups(coefficients):
        term = _bits_of_thread(first, count, len(coefficients)) * coefficients[first]
        total = term if isinstance(total, int) else compute(kind, total, term)
    return total


def _groups(coefficients: Coefficients) -> Iterable[tuple[int, int]]:
    """First bit and length of each group of bits that one shift moves; never across warps."""
    first = 0
    while first < len(coefficients):
        end, own = first + 1, coefficients[first]
        while (
            end < len(coefficients)
            and end != LANE_BITS
            and own
            and coefficients[end] == (2 * coefficients[end - 1])
        ):
            end += 1
        if own:
            yield first, end - first
        first = end


def _bits_of_thread(first: int, count: int, total: int) -> Number:
    """Bits of the lane or of the warp, shifted down."""
    in_lane = first < LANE_BITS
    source, start = (LANE, first) if in_lane else (WARP_OF_THREAD, first - LANE_BITS)
    shifted = source // (1 << start)
    reaches_top = first + count == (LANE_BITS if in_lane else total)
    return shifted if reaches_top else shifted % (1 << count)


def _of_digits(digits: Sequence[ThreadDigit], coefficients: Coefficients) -> Number:
    total: Number = 0
    for (step, extent), coefficient in zip(digits, coefficients, strict=True):
        if coefficient:
            total = THREAD // step % extent * coefficient + total
    return total


@lru_cache
def _flips(coefficients: Coefficients) -> Number:
    """Bits of the thread moved to the bits that they flip, by the distance that they move."""
    total: Number = 0
    top = max(coefficients).bit_length()
    for distance in range(-len(coefficients), top):
        moved = tuple(
            coefficient & (1 << target_bit) if (target_bit := bit + distance) >= 0 else 0
            for bit, coefficient in enumerate(coefficients)
        )
        total = _of_bits("xor", moved, total)
    return total


# Code


def _written(e: ThreadBuilder, number: Number) -> SSAValue:
    """An expression of the thread as code; of two operands first the one that is a sum itself."""
    if isinstance(number, int):
        return i32_constant(e, number)
    if isinstance(number, Variable):
        return _LEAVES[number](e)
    assert isinstance(number, BinaryExpression)
    lhs, rhs = number.lhs, number.rhs
    assert isinstance(lhs, Expression)
    if isinstance(rhs, int):
        return _BY_CONSTANT[number.kind](e, _written(e, lhs), rhs)
    combine = add if number.kind == "add" else xor
    if isinstance(rhs, BinaryExpression) and rhs.kind == number.kind:
        second = _written(e, rhs)
        return combine(e, _written(e, lhs), second)
    return combine(e, _written(e, lhs), _written(e, rhs))


def _thread(e: ThreadBuilder) -> SSAValue:
    """The number of the thread in its agent."""
    if e.agent.warps == 1:
        return lane_id(e)
    return _shared(e, ("thread",), lambda: add(e, multiply(e, warp_id(e), WARP), lane_id(e)))


_LEAVES: Mapping[Variable, Callable[[ThreadBuilder], SSAValue]] = {
    LANE: lane_id,
    WARP_OF_THREAD: warp_id,
    THREAD: _thread,
}

_BY_CONSTANT: Mapping[str, Callable[[ThreadBuilder, SSAValue, int], SSAValue]] = {
    "mul": multiply,
    "floordiv": divide,
    "floormod": modulo,
}


def _flipped(e: ThreadBuilder, base: int, coefficients: Coefficients) -> tuple[SSAValue, int]:
    """Emit the xor of coefficients that thread bits select; return it and the base to add."""
    flips = 0
    for coefficient in coefficients:
        flips |= coefficient
    value = _once(e, _flips(coefficients))
    if base & flips:
        value = xor(e, value, i32_constant(e, base & flips))
    return value, base & ~flips


def _looked_up(e: ThreadBuilder, table: Table) -> SSAValue:
    """Emit a table lookup: each bit of the entry from a mask with one bit per lane."""
    total = i32_constant(e, 0)
    for position in range(int(table.max()).bit_length()):
        bit = _flag(e, (table >> position & 1).astype(np.bool_))
        total = e.insert(arith.OrIOp(total, multiply(e, bit, 1 << position))).result
    return total


def _flag(e: ThreadBuilder, flags: Flags) -> SSAValue:
    """0 or 1."""
    lanes = flags.reshape(-1, WARP).astype(np.int64)
    masks = (lanes << np.arange(WARP, dtype=np.int64)).sum(axis=1)
    numbers, counts = np.unique(masks, return_counts=True)
    usual = int(numbers[counts.argmax()])
    mask = i32_constant(e, _signed(usual))
    for warp, number in enumerate(masks.tolist()):
        if number != usual:
            here = is_equal(e, warp_id(e), warp)
            mask = e.insert(selection(here, i32_constant(e, _signed(number)), mask)).result
    return modulo(e, e.insert(arith.ShRUIOp(mask, lane_id(e))).result, 2)


def _signed(number: int) -> int:
    return number - (1 << WARP) if number >> (WARP - 1) else number


def _condition(e: ThreadBuilder, flags: Flags, digits: Sequence[ThreadDigit]) -> SSAValue:
    """Emit a predicate by few comparisons: a range of threads, or digits with fixed values."""
    if not flags.any():
        return i1_constant(e, False)
    numbers = np.arange(len(flags), dtype=np.int64)
    selected, end = numbers[flags], int(flags.sum())
    if flags[:end].all():
        return _is_below(e, end)
    mask, value = _fixed_bits(selected, len(flags))
    zero = [digit for digit in digits if not (selected // digit[0] % digit[1]).any()]
    tests = (
        ((numbers & mask) == value, lambda: _bit_tests(e, mask, value)),
        ((digit_rows(len(flags), zero) == 0).all(axis=0), lambda: _zero_tests(e, zero)),
    )
    for limit in (len(flags), int(selected[-1]) + 1):
        for passed, write in tests:
            if np.array_equal(flags, passed & (numbers < limit)):
                bound = [] if limit == len(flags) else [_is_below(e, limit)]
                return _all_of(e, [*bound, *write()])
    return is_equal(e, _flag(e, flags), 1)


def _fixed_bits(numbers: Table, threads: int) -> tuple[int, int]:
    """Return `(mask, value)` of the bits that are equal in all numbers."""
    ones, zeros = int(np.bitwise_and.reduce(numbers)), ~int(np.bitwise_or.reduce(numbers))
    every = (1 << (threads - 1).bit_length()) - 1
    return (ones | zeros) & every, ones & every


def _bit_tests(e: ThreadBuilder, mask: int, value: int) -> list[SSAValue]:
    """Emit tests that bits of lane and warp id have given values."""
    parts = ((lane_id(e), mask % WARP, value % WARP), (warp_id(e), mask // WARP, value // WARP))
    return [
        is_equal(e, e.insert(arith.AndIOp(number, i32_constant(e, bits))).result, wanted)
        for number, bits, wanted in parts
        if bits
    ]


def _zero_tests(e: ThreadBuilder, digits: Sequence[ThreadDigit]) -> list[SSAValue]:
    thread = _thread(e)
    return [is_equal(e, modulo(e, divide(e, thread, step), extent), 0) for step, extent in digits]


def _all_of(e: ThreadBuilder, tests: Sequence[SSAValue]) -> SSAValue:
    first, *others = tests
    for test in others:
        first = e.insert(arith.AndIOp(first, test)).result
    return first


def _is_below(e: ThreadBuilder, count: int) -> SSAValue:
    if count % WARP == 0:
        return is_less(e, warp_id(e), i32_constant(e, count // WARP))
    if count < WARP and e.agent.warps == 1:
        return is_less(e, lane_id(e), i32_constant(e, count))
    return is_less(e, _thread(e), i32_constant(e, count))
