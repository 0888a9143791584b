"""Tiles made of elements of other tiles, and the register layouts that need no exchange.

    %v = view %t : 64x32 -> 32x2x32                         element (i, j, k) of %t's (2 i + j, k)
    %p = generate { extract %v[%i, %one, %k] }              a part: its (i, 0, k) is %v's (i, 1, k)
    %j = generate { select(%k < 1, %lo[%i], %hi[%i]) }      %lo and %hi side by side

Where each thread makes the elements whose sources it holds, such an operation renames registers;
in any other layout its elements go through shuffles or shared memory.  `layout_of_result` is that
layout for given sources, `layout_of_source` that of a source for a given result.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod

import numpy as np
from xdsl.dialects import tensor
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.registers.blocked import MAX_REPLICATED_REGISTERS
from tileas_xdsl.layout.registers.register_layout import (
    Flags,
    RegisterLayout,
    register_layout_from_table,
)
from tileas_xdsl.layout.tables import Table
from tileas_xdsl.threads.index.generate_body import GenerateBody, Step
from tileas_xdsl.threads.registers.register_gather import coordinates_of

MAX_ELEMENTS = 1 << 15
"""Larger tiles are not tabulated."""


@dataclass(frozen=True, eq=False)
class TakenElements:
    """Which elements of a source the elements of a result are."""

    source: SSAValue
    at: Table
    """By column-major index in the result, that in the source; -1 where none is taken."""

    @cached_property
    def is_injective(self) -> bool:
        """Whether no element of the source is taken twice, as in broadcasts."""
        taken = self.at[self.at >= 0]
        return bool(np.bincount(taken).max(initial=0) <= 1)


def taken_elements(op: Operation) -> Sequence[TakenElements] | None:
    """Where the result of a view, of dimensions of one element, or of a `generate` comes from.

    None for other operations, where an index is known only at run time, and for large tiles.
    """
    shape = shape_of(op.results[0].type) if len(op.results) == 1 else None
    if shape is None or min(shape, default=1) < 1 or prod(shape) > MAX_ELEMENTS:
        return None
    match op:
        case ViewOp() if op.is_whole:
            return _of_view(op.source, shape)
        case ExpandDimsOp():
            return _of_view(op.source, shape)
        case GenerateOp():
            return _of_body(op, shape)
        case _:
            return None


def _of_view(source: SSAValue, shape: tuple[int, ...]) -> Sequence[TakenElements] | None:
    whole = shape_of(source.type)
    if whole is None or prod(whole) != prod(shape):
        return None
    by_row = np.arange(prod(shape), dtype=np.int64).reshape(whole, order="F")
    return [TakenElements(source, by_row.reshape(shape).ravel(order="F"))]


def _of_body(op: GenerateOp, shape: tuple[int, ...]) -> Sequence[TakenElements] | None:
    elements = np.arange(prod(shape), dtype=np.int64)
    arguments, everywhere = coordinates_of(elements, shape), np.ones(elements.shape, np.bool_)
    body = GenerateBody.of(op.body.block, arguments, everywhere, constant_integer)
    found: list[TakenElements] = []
    for step in body.steps:
        if not isinstance(step, Step) or not isinstance(step.op, tensor.ExtractOp):
            continue
        at = _positions(body, step, step.op, everywhere)
        if at is None:
            return None
        if (at >= 0).any():
            found.append(TakenElements(step.op.tensor, at))
    return found


def _positions(
    body: GenerateBody, step: Step, op: tensor.ExtractOp, everywhere: Flags
) -> Table | None:
    """By element of the result, the element that a step extracts; None where that is not known."""
    shape = shape_of(op.tensor.type)
    if shape is None or any(index not in body.known for index in op.indices):
        return None
    flags, path = body.wanted.get(op.result, ~everywhere), body.flags(step.path)
    flags = flags if path is None else flags & path
    indices = [np.broadcast_to(body.known[index], flags.shape) for index in op.indices]
    for extent, index in zip(shape, indices, strict=True):
        flags = flags & (index >= 0) & (index < extent)
    if not indices:
        return np.where(flags, 0, -1)
    safe = tuple(np.where(flags, index, 0) for index in indices)
    return np.where(flags, np.ravel_multi_index(safe, shape, order="F"), -1)


def layout_of_result(
    taken: Sequence[tuple[Table, RegisterLayout]], shape: tuple[int, ...], threads: int
) -> RegisterLayout | None:
    """The layout in which threads make the elements whose sources they hold; None if there is none.

    That is so where some element has sources in different threads, or threads have unequal shares.
    Elements without a source, such as padding, are made by all threads, so there is none either
    where these are many and more than a thread has of others.
    """
    if not taken:
        return None
    everywhere = int(np.logical_and.reduce([at < 0 for at, _ in taken]).sum())
    kept = _renamed(*taken[0], prod(shape)) if len(taken) == 1 else None
    held = _held_by_owners(taken, shape, threads) if kept is None else kept
    is_idle = np.logical_or.reduce([_idle(source) for _, source in taken])
    found = _layout(held, is_idle, shape)
    if found is None or everywhere > max(found.values - everywhere, MAX_REPLICATED_REGISTERS):
        return None
    return found


def _renamed(at: Table, source: RegisterLayout, elements: int) -> Table | None:
    """The result's elements in the order of the source's registers; None if some are taken twice.

    Registers of elements that are not taken hold none.
    """
    if (at < 0).any() or len(np.unique(at)) < elements:
        return None
    result_of = np.full(source.elements + 1, -1, dtype=np.int64)
    result_of[at] = np.arange(elements)
    return result_of[source.held]


def _held_by_owners(
    taken: Sequence[tuple[Table, RegisterLayout]], shape: tuple[int, ...], threads: int
) -> Table:
    """By thread, in row-major order, the elements all of whose sources the thread holds."""
    by_row = np.arange(prod(shape), dtype=np.int64).reshape(shape, order="F").ravel()
    owned: Flags = np.ones((threads, prod(shape)), dtype=np.bool_)
    for at, source in taken:
        holds = np.zeros((threads, source.elements + 1), dtype=np.bool_)
        np.put_along_axis(holds, source.held, values=True, axis=1)
        holds[:, -1] = True  # index -1: nothing is taken
        owned &= holds[:, at[by_row]]
    return np.where(owned, by_row, -1)


def layout_of_source(
    at: Table, result: RegisterLayout, shape: tuple[int, ...], *, repeats: bool = False
) -> RegisterLayout | None:
    """The layout of a source of extents `shape` in which threads have what they make a result of.

    None where threads take unequal shares, or, unless it `repeats`, a thread takes an element for
    two registers.
    """
    held = np.where(result.held >= 0, at[result.held], -1)
    order = np.argsort(held, axis=1, kind="stable")
    by_thread = np.take_along_axis(held, order, axis=1)
    again = (by_thread[:, 1:] == by_thread[:, :-1]) & (by_thread[:, 1:] >= 0)
    if again.any():
        if not repeats:
            return None
        by_thread[:, 1:][again] = -1
        np.put_along_axis(held, order, by_thread, axis=1)
    return _layout(held, _idle(result), shape)


def _idle(layout: RegisterLayout) -> Flags:
    """By thread, whether it holds nothing of a tile."""
    return np.less(layout.held.max(axis=1), 0)


def _layout(held: Table, is_idle: Flags, shape: tuple[int, ...]) -> RegisterLayout | None:
    """The layout of a table without its entries of -1; None if there is none.

    All threads but those that are idle must have equally many others.
    """
    is_held = held >= 0
    counts = is_held.sum(axis=1)
    count = counts.max()
    if not count or (counts[~is_idle] != count).any() or counts[is_idle].any():
        return None
    dense = np.full((len(held), count), -1, dtype=np.int64)
    dense[~is_idle] = held[is_held].reshape(-1, count)
    try:
        return register_layout_from_table(dense, shape)
    except LayoutError:
        return None
