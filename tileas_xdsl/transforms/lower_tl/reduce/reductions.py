"""Reductions: in each thread, between lanes by shuffles, between warps through shared memory.

`tl.reduce sum %x to %m axis 1`, where a row of 32 elements is 8 registers of each of 4 lanes:

    %s = %x0 + %x1 + ... + %x7          in the thread
    %s = %s + shfl.bfly(%s, 1)          lanes that share the row, by halving distances
    %s = %s + shfl.bfly(%s, 2)

Rows that several warps share leave one part of each in shared memory; after a barrier each thread
combines the parts of the rows that it has in %m.  Which values are whole rows is counted on tables
(`partial_rows.py`), so that copies of an element are never combined twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.cute_nvgpu import GetDynSmemOp
from tileas_xdsl.dialects.tl.combiners import Rule, rule_of
from tileas_xdsl.dialects.tl.compute import ReduceOp
from tileas_xdsl.dialects.tl.enums import Reduction
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.index.affine_codegen import Hints
from tileas_xdsl.threads.index.per_thread_tables import Table, holds
from tileas_xdsl.threads.index.thread_affine import of_table
from tileas_xdsl.threads.reduce.combiner import Combiner, wide_type
from tileas_xdsl.threads.registers.vector_values import element, joined, zero
from tileas_xdsl.transforms.lower_tl.buffer_locations import FragmentLocation
from tileas_xdsl.transforms.lower_tl.loops.iteration_assignment import thread_digits
from tileas_xdsl.transforms.lower_tl.lowering_state import Handler, State
from tileas_xdsl.transforms.lower_tl.memory.fragment_exchange import (
    SCRATCH_ALIGNMENT,
    scratch_offset,
    stored,
)
from tileas_xdsl.transforms.lower_tl.reduce.partial_rows import Partials, Parts, Rows

MAGNITUDES = (Reduction.ABSSUM, Reduction.ABSMAX)


def magnitude(e: ThreadBuilder, kind: Reduction, value: SSAValue) -> SSAValue:
    """Return the absolute value where the reduction is one of magnitudes, else the value."""
    if kind not in MAGNITUDES:
        return value
    absolute = math.AbsFOp if isinstance(value.type, AnyFloat) else math.AbsIOp
    return e.insert(absolute(value)).result


def reduce(state: State, op: ReduceOp) -> None:
    """Rows combined, each to the threads that have its element of the target."""
    source, target = state.fragment(op, op.source), state.fragment(op, op.target)
    wide = wide_type(source.element) or source.element
    rule = rule_of(op.reduction, wide, nan_propagate=op.nan_propagate is not None)
    assert rule is not None
    combiner = Combiner.of_kind(state.e, rule.combine, source.element)
    rows = Rows(source.layout, op.axis.value.data)
    values = _in_threads(combiner, rule, op.reduction, rows, state.held(source))
    partials = _in_lanes(combiner, rows.in_threads, values)
    columns = _columns(partials, target)
    found = (
        _through_memory(state, op, combiner, partials, values, target)
        if columns is None
        else [values[column] for column in columns]
    )
    if not op.is_cleared:
        before = combiner.widened(state.held(target))
        found = [combiner.combine(element(state.e, before, k), v) for k, v in enumerate(found)]
    elif rule.start is not None:
        start = state.e.insert(arith.ConstantOp(rule.start)).result
        found = [combiner.combine(start, v) for v in found]
    found += [zero(state.e, combiner.wide)] * (target.registers - len(found))
    state.hold(target, combiner.narrowed(joined(state.e, found)))


def _in_threads(
    c: Combiner, rule: Rule, kind: Reduction, rows: Rows, part: SSAValue
) -> list[SSAValue]:
    """Return what each thread has of its rows; a register without an element is the identity."""
    wide = c.widened(part)
    identity: SSAValue | None = None
    found: list[SSAValue] = []
    for slots in rows.groups:
        values: list[SSAValue] = []
        for slot in slots:
            value = magnitude(c.e, kind, element(c.e, wide, slot))
            if rows.lacks_lanes(slot):
                here = holds(c.e, rows.coordinates[0][:, slot] >= 0)
                assert here is not None
                if identity is None:
                    identity = c.e.insert(arith.ConstantOp(rule.identity)).result
                value = c.e.insert(arith.SelectOp(here, value, identity)).result
            values.append(value)
        found.append(c.all_of(values))
    return found


def _in_lanes(c: Combiner, partials: Partials, values: list[SSAValue]) -> Partials:
    """Lanes that share rows combine theirs; `values` become what they then have."""
    for group in range(len(values)):
        while (found := partials.lanes_to_join(group)) is not None:
            distance, partials = found
            values[group] = c.across(values[group], distance)
    return partials


def _columns(partials: Partials, target: FragmentLocation) -> list[int] | None:
    """By register of the target the group that is its whole row in all threads; None without."""
    found: list[int] = []
    for slot in range(target.layout.slots):
        wanted = target.layout.held[:, slot]
        mine = (partials.rows == wanted[:, None]) & partials.is_whole
        fits = np.flatnonzero((mine | (wanted < 0)[:, None]).all(axis=0))
        if not len(fits):
            return None
        found.append(int(fits[0]))
    return found


def _through_memory(
    state: State,
    op: ReduceOp,
    c: Combiner,
    partials: Partials,
    values: Sequence[SSAValue],
    target: FragmentLocation,
) -> list[SSAValue]:
    """Threads leave parts of rows in shared memory and combine those of the rows that they need."""
    count = prod(target.layout.shape)
    parts = Parts.of(partials, count)
    if parts is None:
        raise op_error(op, "combines elements whose copies overlap unevenly between threads")
    _, size = stored(c.wide)
    offset = scratch_offset(state, op, count * int(parts.counts.max()) * size, "rows")
    pointer = state.e.insert(GetDynSmemOp(offset, c.wide, SCRATCH_ALIGNMENT)).result
    for group, value in enumerate(values):
        number, row = parts.number[:, group], partials.rows[:, group]
        mine = number >= 0
        if mine.any():
            number_of_part = np.where(mine, number * count + row, 0)
            guard = holds(state.e, mine)
            state.e.insert(StoreOp(value, _at(state, pointer, number_of_part, mine), guard))
    synchronize_agent(state.e)
    digits = thread_digits(target.layout)
    found: list[SSAValue] = []
    for slot in range(target.layout.slots):
        row = target.layout.held[:, slot]
        found.append(_joined_row(state, c, parts, pointer, row, digits))
    return found


def _joined_row(
    state: State,
    c: Combiner,
    parts: Parts,
    pointer: SSAValue,
    row: Table,
    digits: Any,
) -> SSAValue:
    """All parts of the row that each thread needs."""
    e, total = state.e, len(parts.counts)
    counts = np.where(row < 0, 0, parts.counts[np.maximum(row, 0)])
    result: SSAValue | None = None
    for number in range(int(counts.max(initial=1))):
        mine = counts > number
        at = _at(state, pointer, np.where(mine, number * total + row, 0), mine, digits)
        value = e.insert(LoadOp(at, c.wide, holds(e, mine, digits))).result
        if result is None:
            result = value
            continue
        joint = c.combine(result, value)
        others = (row >= 0) & ~mine
        if others.any():
            here = holds(e, mine, digits)
            assert here is not None
            joint = e.insert(arith.SelectOp(here, joint, result)).result
        result = joint
    assert result is not None
    return result


def _at(state: State, pointer: SSAValue, numbers: Table, mine: Any, digits: Any = ()) -> SSAValue:
    """A pointer to the element that each thread names."""
    number = state.writer.number(of_table(numbers[:, None]), mine, hints=Hints(digits))
    return advance(state.e, pointer, number)


_TABLE: Any = {ReduceOp: reduce}

REDUCTIONS: Mapping[type[Operation], Handler] = _TABLE
"""Reductions of fragments."""
