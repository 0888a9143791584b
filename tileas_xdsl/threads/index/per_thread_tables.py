"""Numbers that each thread has its own of, by a table over the threads of an agent, as code.

Almost every table is a sum of the digits of the thread's number, or what is left where those are
combined bit by bit as swizzles do: both are a few shifts.  Any other table is looked up bit by bit.
A negative entry may become anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith
from xdsl.ir import SSAValue

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

LANES = 32
LANE_BITS = 5

Table: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

ThreadDigit: TypeAlias = tuple[int, int]
"""Step and extent of a digit of a thread's number: `thread // step % extent`."""

Effects: TypeAlias = tuple[int, ...]
"""What each bit, or each digit, of a thread's number counts."""


def tabulated(
    e: ThreadBuilder, table: Table, digits: Sequence[ThreadDigit] = ()
) -> tuple[SSAValue, int]:
    """A value and a constant whose sum is the entry of this thread, `i32`.

    Tables that differ by a constant share the value.  `digits` are worth trying beside the bits.
    """
    known = table >= 0
    fit = _fit(table, known, _bits(len(table)), _summed, np.subtract)
    if fit is not None:
        base, effects = fit
        return _shared(e, ("sum", *effects), lambda: _sum_of_bits(e, effects)), base
    fit = _fit(table, known, _digits(len(table), digits), _summed, np.subtract)
    if fit is not None:
        base, effects = fit
        key = ("digits", *digits, *effects)
        return _shared(e, key, lambda: _sum_of_digits(e, digits, effects)), base
    fit = _fit(table, known, _bits(len(table)), _exclusive, np.bitwise_xor)
    if fit is not None:
        return _flipped(e, *fit)
    filled = np.where(known, table, 0)
    return _shared(e, ("table", filled.tobytes()), lambda: _looked_up(e, filled)), 0


def is_simple(table: Table) -> bool:
    """Whether an entry is a sum of bits of the thread's number, or what those flip."""
    known, bits = table >= 0, _bits(len(table))
    return (
        _fit(table, known, bits, _summed, np.subtract) is not None
        or _fit(table, known, bits, _exclusive, np.bitwise_xor) is not None
    )


def number_of(e: ThreadBuilder, table: Table, digits: Sequence[ThreadDigit] = ()) -> SSAValue:
    """The entry of this thread, `i32`."""
    return add(e, *tabulated(e, table, digits))


def holds(e: ThreadBuilder, flags: Flags, digits: Sequence[ThreadDigit] = ()) -> SSAValue | None:
    """Whether the flag of this thread is set; None where that of all threads is.

    `digits` are worth trying: they may have to be 0.
    """
    if flags.all():
        return None
    key = ("holds", flags.tobytes())
    return _shared(e, key, lambda: _condition(e, flags, digits))


def _shared(e: ThreadBuilder, key: tuple[object, ...], make: Callable[[], SSAValue]) -> SSAValue:
    """A value that is made once in each block."""
    found = (e.builder.insertion_point.block, *key)
    if found not in e.tabulated:
        e.tabulated[found] = make()
    return e.tabulated[found]


# Fits


def _bits(threads: int) -> Table:
    """`(bits, threads)`: the bits of the number of each thread."""
    count = (threads - 1).bit_length()
    return np.arange(threads, dtype=np.int64)[None] >> np.arange(count, dtype=np.int64)[:, None] & 1


def _digits(threads: int, digits: Sequence[ThreadDigit]) -> Table:
    """`(digits, threads)`: digits of the number of each thread."""
    numbers = np.arange(threads, dtype=np.int64)
    rows = [numbers // step % extent for step, extent in digits]
    return np.array(rows, dtype=np.int64).reshape(len(digits), threads)


def _summed(digits: Table, effects: Table) -> Table:
    return (digits * effects[:, None]).sum(axis=0)


def _exclusive(digits: Table, effects: Table) -> Table:
    return np.bitwise_xor.reduce(digits * effects[:, None], axis=0, dtype=np.int64)


def _fit(
    table: Table,
    known: Flags,
    digits: Table,
    combined: Callable[[Table, Table], Table],
    difference: Callable[[Table, Table], Table],
) -> tuple[int, Effects] | None:
    """What is left for digits of 0, and what one more of each digit changes; None without a fit."""
    if not known.any():
        return 0, (0,) * len(digits)
    effects = np.zeros(len(digits), dtype=np.int64)
    for k in range(len(digits)):
        pair = _neighbours(digits, known, k)
        if pair is not None:
            effects[k] = difference(table[pair[1]], table[pair[0]])
    moved = difference(table, combined(digits, effects))[known]
    if (moved != moved[0]).any():
        return None
    return int(moved[0]), tuple(effects.tolist())


def _neighbours(digits: Table, known: Flags, k: int) -> tuple[int, int] | None:
    """Two known threads that differ in digit `k` only, by one."""
    columns = digits[:, known]
    others = np.delete(columns, k, axis=0)
    where = np.flatnonzero(known)
    order = np.lexsort((columns[k], *others)) if len(others) else np.argsort(columns[k])
    alike = (np.diff(others[:, order], axis=1) == 0).all(axis=0)
    steps = np.flatnonzero(alike & (np.diff(columns[k, order]) == 1))
    if not len(steps):
        return None
    first = int(steps[0])
    return int(where[order[first]]), int(where[order[first + 1]])


# Code


def _sum_of_bits(e: ThreadBuilder, effects: Effects) -> SSAValue:
    total: SSAValue | None = None
    for first, count in _runs(effects, lambda a, b: b == 2 * a):
        term = multiply(e, _bits_of_thread(e, first, count, len(effects)), effects[first])
        total = term if total is None else add(e, total, term)
    return i32_constant(e, 0) if total is None else total


def _runs(effects: Effects, follows: Callable[[int, int], bool]) -> Iterable[tuple[int, int]]:
    """First bit and length of each group of bits that one shift moves; never across warps."""
    first = 0
    while first < len(effects):
        end = first + 1
        while end < len(effects) and end != LANE_BITS and follows(effects[end - 1], effects[end]):
            end += 1
        if effects[first]:
            yield first, end - first
        first = end


def _bits_of_thread(e: ThreadBuilder, first: int, count: int, total: int) -> SSAValue:
    """Bits of the lane or of the warp, shifted down."""
    in_lane = first < LANE_BITS
    source, start = (lane_id(e), first) if in_lane else (warp_id(e), first - LANE_BITS)
    shifted = divide(e, source, 1 << start)
    reaches_top = first + count == (LANE_BITS if in_lane else total)
    return shifted if reaches_top else modulo(e, shifted, 1 << count)


def _sum_of_digits(e: ThreadBuilder, digits: Sequence[ThreadDigit], effects: Effects) -> SSAValue:
    total, thread = i32_constant(e, 0), _thread(e)
    for (step, extent), effect in zip(digits, effects, strict=True):
        if effect:
            digit = modulo(e, divide(e, thread, step), extent)
            total = add(e, multiply(e, digit, effect), total)
    return total


def _thread(e: ThreadBuilder) -> SSAValue:
    """The number of the thread in its agent."""
    if e.agent.warps == 1:
        return lane_id(e)
    return _shared(e, ("thread",), lambda: add(e, multiply(e, warp_id(e), LANES), lane_id(e)))


def _flipped(e: ThreadBuilder, base: int, effects: Effects) -> tuple[SSAValue, int]:
    """Bits of the thread moved to where they flip others; what nobody flips is left to add."""
    flips = 0
    for effect in effects:
        flips |= effect
    value = _shared(e, ("flips", *effects), lambda: _exclusive_bits(e, effects))
    if base & flips:
        value = xor(e, value, i32_constant(e, base & flips))
    return value, base & ~flips


def _exclusive_bits(e: ThreadBuilder, effects: Effects) -> SSAValue:
    total: SSAValue | None = None
    top = max(effects).bit_length()
    for distance in range(-len(effects), top):
        moved = tuple(
            effect & (1 << place) if (place := bit + distance) >= 0 else 0
            for bit, effect in enumerate(effects)
        )
        for first, count in _runs(moved, lambda a, b: a > 0 and b == 2 * a):
            term = multiply(e, _bits_of_thread(e, first, count, len(effects)), moved[first])
            total = term if total is None else xor(e, total, term)
    return i32_constant(e, 0) if total is None else total


def _looked_up(e: ThreadBuilder, table: Table) -> SSAValue:
    """The bits of the entry, each out of a mask that has a bit for each lane."""
    total = i32_constant(e, 0)
    for place in range(int(table.max()).bit_length()):
        bit = _flag(e, (table >> place & 1).astype(np.bool_))
        total = e.insert(arith.OrIOp(total, multiply(e, bit, 1 << place))).result
    return total


def _flag(e: ThreadBuilder, flags: Flags) -> SSAValue:
    """0 or 1."""
    lanes = flags.reshape(-1, LANES).astype(np.int64)
    masks = (lanes << np.arange(LANES, dtype=np.int64)).sum(axis=1)
    numbers, counts = np.unique(masks, return_counts=True)
    usual = int(numbers[counts.argmax()])
    mask = i32_constant(e, _signed(usual))
    for warp, number in enumerate(masks.tolist()):
        if number != usual:
            here = is_equal(e, warp_id(e), warp)
            mask = e.insert(arith.SelectOp(here, i32_constant(e, _signed(number)), mask)).result
    return modulo(e, e.insert(arith.ShRUIOp(mask, lane_id(e))).result, 2)


def _signed(number: int) -> int:
    return number - (1 << LANES) if number >> (LANES - 1) else number


def _condition(e: ThreadBuilder, flags: Flags, digits: Sequence[ThreadDigit]) -> SSAValue:
    """Few comparisons where the threads are the first ones, or have digits that are fixed."""
    if not flags.any():
        return i1_constant(e, False)
    numbers = np.arange(len(flags), dtype=np.int64)
    mine, end = numbers[flags], int(flags.sum())
    if flags[:end].all():
        return _is_below(e, end)
    mask, value = _fixed_bits(mine, len(flags))
    zero = [digit for digit in digits if not (mine // digit[0] % digit[1]).any()]
    tests = (
        ((numbers & mask) == value, lambda: _bit_tests(e, mask, value)),
        ((_digits(len(flags), zero) == 0).all(axis=0), lambda: _zero_tests(e, zero)),
    )
    for limit in (len(flags), int(mine[-1]) + 1):
        for passed, write in tests:
            if np.array_equal(flags, passed & (numbers < limit)):
                bound = [] if limit == len(flags) else [_is_below(e, limit)]
                return _all_of(e, [*bound, *write()])
    return is_equal(e, _flag(e, flags), 1)


def _fixed_bits(numbers: Table, threads: int) -> tuple[int, int]:
    """The bits that are alike in all numbers, and what they are."""
    ones, zeros = int(np.bitwise_and.reduce(numbers)), ~int(np.bitwise_or.reduce(numbers))
    every = (1 << (threads - 1).bit_length()) - 1
    return (ones | zeros) & every, ones & every


def _bit_tests(e: ThreadBuilder, mask: int, value: int) -> list[SSAValue]:
    """That bits of the lane and of the warp are what they should be."""
    parts = ((lane_id(e), mask % LANES, value % LANES), (warp_id(e), mask // LANES, value // LANES))
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
    if count % LANES == 0:
        return is_less(e, warp_id(e), i32_constant(e, count // LANES))
    if count < LANES and e.agent.warps == 1:
        return is_less(e, lane_id(e), i32_constant(e, count))
    return is_less(e, _thread(e), i32_constant(e, count))
