"""Invert an access: derive the layout of a fragment from that of the loop that first accesses it.

The owner of element `x[e]` is the thread of the iteration that accesses it, so the loop's map from
iterations to threads must be composed with the inverse of the index expressions. Each index is
split into mixed-radix digits of loop variables; the inverse exists if the digits are compact (no
gaps) and no digit of a variable is used twice. Digits that no index uses make replicas:

    loop (i, j) in (4, 8), thread = i * 8 + j,  x[j // 2] of 4 elements
    j // 2 is the digit of j of extent 4;  unused: j % 2 (2 values) and i (4 values)
    x[e]:  j = e * 2 + r1, i = r2  ->  thread r2 * 8 + e * 2 + r1, 8 replicas

A fragment without a closed inverse is replicated in all threads if it is only read; a write is a
conflict, reported at the loop. Source: TileLang `src/op/parallel.cc`, fragment completion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from tileas_xdsl.inference.default_slots import condensed, has_digital_thread, with_replica_last
from tileas_xdsl.inference.fragment_map import FragmentMap, fully_replicated
from tileas_xdsl.inference.parity.conflicts import LayoutConflict
from tileas_xdsl.inference.parity.loops.fragment_access import FragmentUse, LoopUses
from tileas_xdsl.inference.parity.loops.loop_candidates import completed
from tileas_xdsl.layout.expr.digits import Digit, Digits, digits_of
from tileas_xdsl.layout.expr.expression import (
    Number,
    dimension,
    dimensions_of,
    substituted,
    symbol,
    symbols_of,
)
from tileas_xdsl.layout.expr.simplification import simplified


def completed_fragment(
    loop: LoopUses, owners: FragmentMap, use: FragmentUse, shape: tuple[int, ...]
) -> FragmentMap:
    """Return the layout in which each element is owned by the threads that access it.

    Fully replicated where a fragment that is only read has no closed form.

    Raises LayoutConflict where a fragment without such a form is written.
    """
    if loop.is_common(use):
        whole = FragmentMap(shape, owners.thread, owners.slot, owners.threads, owners.replicas)
        if shape == owners.shape or (_is_inside(whole) and whole.is_injective):
            return whole
    try:
        result, is_exact = _of_iterations(loop, owners, use, shape)
    except LayoutConflict:
        if use.is_write:
            raise
        return _everywhere(owners, shape)
    if use.is_write or is_exact or (result.is_injective and not _is_ragged(result)):
        return result
    return _everywhere(owners, shape)


def _everywhere(owners: FragmentMap, shape: tuple[int, ...]) -> FragmentMap:
    """Return the layout where every thread up to the last one of the loop has every element."""
    found = fully_replicated(shape, int(owners.thread_table.max()) + 1)
    return replace(found, threads=owners.threads)


def _is_inside(layout: FragmentMap) -> bool:
    return layout.thread_table.min() >= 0 and layout.thread_table.max() < layout.threads


def _is_ragged(layout: FragmentMap) -> bool:
    """Whether the digits of a coordinate have more values than its extent."""
    extents = (*layout.shape, layout.replicas)
    found = digits_of(with_replica_last(layout.thread, len(layout.shape)), extents)
    if found is None:
        return False
    sizes = [prod(d.extent for d in found.digits if d.variable == k) for k in range(len(extents))]
    return sizes != list(extents)


def _of_iterations(
    loop: LoopUses, owners: FragmentMap, use: FragmentUse, shape: tuple[int, ...]
) -> tuple[FragmentMap, bool]:
    """Return the layout, and whether each iteration accesses an element of its own.

    Then TileLang keeps what follows, also where its registers collide, and fails at the next use.
    """
    extents = loop.loop.extents
    known = _compact_digits(loop, use)
    unused = None if known is None else _unused(known, extents)
    if known is None or unused is None:
        raise _no_inverse(loop, use)
    copies = prod(digit.extent for digit in unused)
    variables = _inverse(known, unused, extents)
    replica = symbol(0)
    thread = substituted(owners.thread, variables, [replica // copies])
    replicas = copies * owners.replicas
    thread = simplified(thread, shape, (replicas,))
    whole = completed(shape, thread, owners.threads, replicas)
    if unused and not has_digital_thread(whole):
        raise _no_digits(loop, use, thread)
    thread, replicas = condensed(thread, shape, replicas)
    result = FragmentMap(shape, thread, whole.slot, owners.threads, replicas)
    _check_threads(loop, use, result)
    return result, not unused


def _check_threads(loop: LoopUses, use: FragmentUse, layout: FragmentMap) -> None:
    """Elements that the loop leaves out may fall outside of the block: TileLang would lose them."""
    if not _is_inside(layout):
        table = layout.thread_table
        raise LayoutConflict(
            f"the loop uses part of '{use.buffer}': by its layout the rest would live in threads "
            f"{int(table.min())} to {int(table.max())} of {layout.threads}",
            loop.loop.location,
        )


def _compact_digits(loop: LoopUses, use: FragmentUse) -> list[Digits] | None:
    """Return the digits of each index by stride; None if an index is no such number."""
    result: list[Digits] = []
    for index in use.indices:
        if not dimensions_of(index) & set(range(loop.rank)):
            result.append(Digits(0, ()))
            continue
        if symbols_of(index):
            return None
        found = digits_of(index, loop.extents)
        if found is None or any(digit.variable >= loop.rank for digit in found.used):
            return None
        by_stride = sorted(found.used, key=lambda digit: digit.stride)
        result.append(Digits(found.base, tuple(by_stride)))
    return result if all(map(_is_compact, result)) else None


def _unused(indices: Sequence[Digits], extents: tuple[int, ...]) -> list[Digit] | None:
    """Return the digits of the variables that no index uses; None if one is used twice."""
    result: list[Digit] = []
    for variable, extent in enumerate(extents):
        ranges = sorted(
            (d.lower, d.extent) for found in indices for d in found.used if d.variable == variable
        )
        lower = 1
        for start, size in ranges:
            if start % lower:
                return None
            if start > lower:
                result.append(Digit(variable, lower, start // lower, 0, False))
            lower = start * size
        if extent % lower:
            return None
        if extent > lower:
            result.append(Digit(variable, lower, extent // lower, 0, True))
    return result


def _inverse(
    indices: Sequence[Digits], unused: Sequence[Digit], extents: tuple[int, ...]
) -> list[Number]:
    """Express each variable by the coordinates of the element; symbol 0 enumerates the rest."""
    variables: list[Number] = [0] * len(extents)
    for k, found in enumerate(indices):
        coordinate = dimension(k) + -found.base
        for digit in found.used:
            value = coordinate // digit.stride
            if digit is not found.used[-1]:
                value = value % digit.extent
            variables[digit.variable] = variables[digit.variable] + value * digit.lower
    weight = 1
    for digit in sorted(unused, key=lambda digit: (-digit.variable, digit.lower)):
        value = symbol(0) // weight % digit.extent * digit.lower
        variables[digit.variable] = variables[digit.variable] + value
        weight *= digit.extent
    return variables


def _is_compact(found: Digits) -> bool:
    """Whether the digits, by stride, make every number from 0 on: strides are running products."""
    weight = 1
    for digit in found.used:
        if digit.stride != weight:
            return False
        weight *= digit.extent
    return True


def _no_digits(loop: LoopUses, use: FragmentUse, thread: Number) -> LayoutConflict:
    return LayoutConflict(
        f"'{use.buffer}' would be in thread {thread}, which is no sum of digits of its coordinates",
        loop.loop.location,
    )


def _no_inverse(loop: LoopUses, use: FragmentUse) -> LayoutConflict:
    indices = ", ".join(str(index) for index in use.indices)
    return LayoutConflict(
        f"the loop takes [{indices}] of '{use.buffer}': which iterations use an element has no "
        f"closed form, so its owners are unknown",
        loop.loop.location,
    )
