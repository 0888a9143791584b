"""Quasi-affine expressions for tables of threads and slots.

An expression is read off the digits of a table and certified against it, so that any composition
of layouts and indices comes back in its simplest form.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir.affine import AffineExpr

from tileas_xdsl.inference.fragment_map import FragmentMap, Table

REPLICA = AffineExpr.symbol(0)
ZERO = AffineExpr.constant(0)


def dimensions(count: int) -> tuple[AffineExpr, ...]:
    """`d0` to `d(count - 1)`."""
    return tuple(AffineExpr.dimension(k) for k in range(count))


def flattened(indices: Sequence[AffineExpr], shape: Sequence[int]) -> AffineExpr:
    """The row-major index of a point of a box."""
    result = ZERO
    for index, extent in zip(indices, shape, strict=True):
        result = result * extent + index
    return result


def unflattened(index: AffineExpr, shape: Sequence[int]) -> tuple[AffineExpr, ...]:
    """The coordinates of a row-major index in a box."""
    found: list[AffineExpr] = []
    for extent in reversed(shape[1:]):
        found.append(remainder(index, extent))
        index = quotient(index, extent)
    return (index, *reversed(found)) if shape else ()


def quotient(expression: AffineExpr, divisor: int) -> AffineExpr:
    """`expression floordiv divisor`, without a division by 1."""
    return expression if divisor == 1 else expression // divisor


def remainder(expression: AffineExpr, divisor: int) -> AffineExpr:
    """`expression mod divisor`; 0 modulo 1."""
    return ZERO if divisor == 1 else expression % divisor


def expression_of(values: Table, variables: Sequence[AffineExpr]) -> AffineExpr | None:
    """The expression over `variables`, one per axis of `values`, that gives them; None if none.

    It is a sum of digits of single variables; the last digit of each may be ragged, as those of
    7 rows on 4 warps are.  The sum is compared with all values.
    """
    if values.size == 0:
        return ZERO
    origin = int(values.flat[0])
    result, rebuilt = ZERO, np.zeros((1,) * values.ndim, dtype=np.int64)
    for axis, variable in enumerate(variables):
        line = values[tuple(slice(None) if k == axis else 0 for k in range(values.ndim))] - origin
        part = _digits(line, variable)
        if part is None:
            return None
        result = result + part
        rebuilt = rebuilt + line.reshape([-1 if k == axis else 1 for k in range(values.ndim)])
    return result + origin if np.array_equal(rebuilt + origin, values) else None


def _digits(line: Table, variable: AffineExpr) -> AffineExpr | None:
    """A line that begins with 0 as a sum of multiples of digits of its index; None if none.

    Steps backwards are left to the expressions of the program, which say them better.
    """
    result, weight = ZERO, 1
    while len(line) > 1:
        step = int(line[1])
        if step < 0:
            return None
        places = np.arange(len(line), dtype=np.int64)
        bent = line != step * places
        extent = int(np.argmax(bent)) if bent.any() else len(line)
        rest = line[::extent]
        if not np.array_equal(line, rest[places // extent] + step * (places % extent)):
            return None
        if step:
            digit = quotient(variable, weight)
            digit = remainder(digit, extent) if len(rest) > 1 else digit
            result = digit * step + result
        line, weight = rest, weight * extent
    return result


def slot_expression(slots: Table) -> AffineExpr | None:
    """`slots`, a table over a box, as an expression over its coordinates; None if none is found."""
    variables = dimensions(slots.ndim)
    return expression_of(slots, variables) or expression_of(
        slots.ravel(), [flattened(variables, slots.shape)]
    )


def thread_expression(threads: Table) -> AffineExpr | None:
    """`threads`, `(replicas, *shape)`, over coordinates and replica; None if none is found."""
    shape = threads.shape[1:]
    variables = dimensions(len(shape))
    if len(threads) == 1:
        return slot_expression(threads[0])
    return expression_of(np.moveaxis(threads, 0, -1), (*variables, REPLICA)) or expression_of(
        threads.reshape(len(threads), -1).T, (flattened(variables, shape), REPLICA)
    )


def map_of(threads: Table, slots: Table, block: int) -> FragmentMap | None:
    """The map with these tables, `(replicas, *shape)` and `shape`; None if no expression is found.

    A table of threads that no digits describe may still be one where `map_from` has expressions.
    """
    return map_from(threads, None, slots, None, block)


def map_from(
    threads: Table,
    thread: AffineExpr | None,
    slots: Table,
    slot: AffineExpr | None,
    block: int,
) -> FragmentMap | None:
    """`map_of`; where digits fail, with the expressions `thread` and `slot` that give the tables.

    None also where a thread is outside of the block.
    """
    if threads.size and (threads.min() < 0 or threads.max() >= block):
        return None
    thread = thread_expression(threads) or thread
    slot = slot_expression(slots) or slot
    if thread is None or slot is None:
        return None
    return FragmentMap(slots.shape, thread, slot, block, len(threads))


def fully_replicated(shape: tuple[int, ...], block: int) -> FragmentMap:
    """Every thread holds every element, in row-major order."""
    slot = flattened(dimensions(len(shape)), shape)
    return FragmentMap(shape, REPLICA if block > 1 else ZERO, slot, block, block)


def is_everywhere(layout: FragmentMap) -> bool:
    """Whether every thread holds every element (decided without a table where it is written so)."""
    if layout.replicas == layout.threads and layout.thread == REPLICA:
        return True
    return bool((owner_counts(layout) == layout.threads).all())


def owner_counts(layout: FragmentMap) -> Table:
    """`(elements,)`: how many threads hold each element."""
    if layout.replicas == 1:
        return np.ones(prod(layout.shape), dtype=np.int64)
    owners = np.sort(layout.thread_table.reshape(layout.replicas, -1), axis=0)
    return 1 + np.count_nonzero(owners[1:] != owners[:-1], axis=0)


def is_one_to_one(layout: FragmentMap) -> bool:
    """Whether no slot of a thread holds two elements; `held`, which is kept, decides."""
    elements = np.arange(prod(layout.shape)).reshape(layout.shape)
    held = layout.held[layout.thread_table, layout.slot_table[None]]
    return bool((held == elements[None]).all())
