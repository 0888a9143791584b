"""Reads and writes of fragment elements by a thread's iterations, as registers.

The register of each iteration is known at compile time from the layouts of the loop and of the
fragment.  That the thread owns the element is checked here again, for every thread and iteration.

    register of iteration k, thread t      a read of %c[%i, %j] becomes
    k                                      the fragment's vector as it is
    3 - k (the same in all threads)        its registers in another order
    k + 1 if t >= 64 else k                arith.select of two registers by the thread

A write keeps the registers of threads that run no such iteration: `select %guard, %new, %old`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.threads.codegen.integer_ops import logical_and
from tileas_xdsl.threads.index.per_thread_tables import Flags, Table
from tileas_xdsl.threads.index.thread_affine import ThreadAffine
from tileas_xdsl.threads.registers.vector_values import element, joined, strip
from tileas_xdsl.transforms.lower_tl.buffer_locations import FragmentLocation
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import LoopBodyState

NONE = -1


def read(
    work: LoopBodyState, op: Operation, location: FragmentLocation, indices: Sequence[ThreadAffine]
) -> SSAValue:
    """The elements of all iterations: a vector, or a scalar where there is one register to read."""
    elements, mine = elements_of(work, op, location, indices)
    slots = slots_of(work, op, location, elements, mine)
    part = work.state.held(location)
    columns = [_single(slots[:, k]) for k in range(work.count)]
    known = {c for c in columns if c is not None and c != NONE}
    if len(known) == 1 and None not in columns:
        return element(work.e, part, known.pop())
    if None not in columns:
        return gathered(work, part, [c or 0 if c != NONE else 0 for c in columns])
    selected = [_selected(work, part, slots[:, k]) for k in range(work.count)]
    return selected[0] if work.count == 1 else joined(work.e, selected)


def gathered(work: LoopBodyState, part: SSAValue, registers: Sequence[int]) -> SSAValue:
    """Registers in another order; neighbours stay together."""
    e = work.e
    if len(registers) == 1:
        return element(e, part, registers[0])
    runs: list[tuple[int, int]] = []
    for register in registers:
        if runs and register == sum(runs[-1]):
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((register, 1))
    if len(runs) == 1:
        return strip(e, part, *runs[0])
    singles = [element(e, part, register) for register in registers]
    return joined(e, singles)


def _selected(work: LoopBodyState, part: SSAValue, slots: Table) -> SSAValue:
    """Select the register of an iteration where its slot differs between threads."""
    e = work.e
    found: SSAValue | None = None
    for slot in np.unique(slots[slots != NONE]).tolist():
        mine = element(e, part, slot)
        here = work.guard(slots == slot)
        found = mine if found is None or here is None else _select(work, here, mine, found)
    return element(e, part, 0) if found is None else found


def _select(
    work: LoopBodyState, condition: SSAValue, first: SSAValue, second: SSAValue
) -> SSAValue:
    return work.e.insert(arith.SelectOp(condition, first, second)).result


def write(
    work: LoopBodyState,
    op: Operation,
    location: FragmentLocation,
    indices: Sequence[ThreadAffine],
    value: SSAValue,
) -> None:
    """Write the values of all iterations to a fragment; other elements keep their values."""
    elements, mine = elements_of(work, op, location, indices)
    slots = slots_of(work, op, location, elements, mine)
    _check_owners(op, location, elements, mine)
    if not work.path:
        _check_once(work, op, location, elements, mine)
    e, old = work.e, work.state.held(location)
    if not work.path and _is_whole(work, location, slots):
        found = value if isinstance(value.type, VectorType) else None
        whole = joined(e, [value] * location.registers) if found is None else found
        work.state.hold(location, whole)
        return
    new: dict[int, SSAValue] = {}
    for k in range(work.count):
        _put(work, location, slots, k, element(e, value, k), old, new)
    parts = [new.get(register) for register in range(location.registers)]
    work.state.hold(location, _assembled(work, old, parts))


def _is_whole(work: LoopBodyState, location: FragmentLocation, slots: Table) -> bool:
    """Whether iteration k writes register k of all threads that have any, and so all registers."""
    if work.count != location.registers or work.count == 1:
        return False
    held = np.full((location.layout.threads, location.registers), NONE)
    held[:, : location.layout.slots] = location.layout.held
    numbers = np.arange(work.count)
    return bool(((slots == numbers) | ((slots == NONE) & (held == NONE))).all())


def _put(
    work: LoopBodyState,
    location: FragmentLocation,
    slots: Table,
    k: int,
    value: SSAValue,
    old: SSAValue,
    new: dict[int, SSAValue],
) -> None:
    """One iteration written to the registers that threads have for it."""
    held, column_ = location.layout.held, slots[:, k]
    for slot in np.unique(column_[column_ != NONE]).tolist():
        writes = column_ == slot
        kept = ~writes & (held[:, slot] != NONE)
        guard = work.guard(writes) if kept.any() else None
        guard = logical_and(work.e, guard, work.condition(k))
        before = new[slot] if slot in new else element(work.e, old, slot)
        new[slot] = value if guard is None else _select(work, guard, value, before)


def _assembled(work: LoopBodyState, old: SSAValue, parts: Sequence[SSAValue | None]) -> SSAValue:
    """Registers of which some are new."""
    e, found, k = work.e, list[SSAValue](), 0
    while k < len(parts):
        part = parts[k]
        if part is not None:
            found.append(part)
            k += 1
            continue
        end = next((n for n in range(k, len(parts)) if parts[n] is not None), len(parts))
        found += [element(e, old, n) for n in range(k, end)]
        k = end
    return joined(e, found)


# which registers


def elements_of(
    work: LoopBodyState, op: Operation, location: FragmentLocation, indices: Sequence[ThreadAffine]
) -> tuple[Table, Flags]:
    """`(threads, iterations)`: the row-major elements that are touched, and by which iterations."""
    shape = (work.iterations.threads, work.count)
    mine = np.broadcast_to(work.active, shape)
    total = np.zeros((1, 1), dtype=np.int64)
    for axis, (index, extent) in enumerate(zip(indices, location.layout.shape, strict=True)):
        if not index.is_constant:
            raise op_error(
                op,
                f"index {axis} of a fragment depends on a value that only run time knows: "
                "registers have no address",
            )
        table = np.broadcast_to(index.constant, shape)
        outside = mine & ((table < 0) | (table >= extent))
        if outside.any() and not work.path:
            text = f"touches element {int(table[outside][0])} along dimension {axis} of {extent}"
            raise op_error(op, text)
        mine = mine & ~outside
        total = total * extent + np.where(outside, 0, np.clip(table, 0, extent - 1))
    return np.broadcast_to(total, shape), mine


def slots_of(
    work: LoopBodyState, op: Operation, location: FragmentLocation, elements: Table, mine: Flags
) -> Table:
    """`(threads, iterations)`: the registers of elements, -1 where an iteration has none."""
    layout = location.layout
    slots = layout.slot_table.ravel()[elements]
    threads = np.arange(work.iterations.threads)[:, None]
    has = layout.held[threads, slots] == elements
    wrong = mine & ~has
    if wrong.any():
        thread, iteration = (int(i) for i in np.argwhere(wrong)[0])
        raise op_error(op, _elsewhere(location, int(elements[thread, iteration]), thread))
    return np.where(mine, slots, NONE)


def _elsewhere(location: FragmentLocation, number: int, thread: int) -> str:
    layout = location.layout
    position = ", ".join(str(int(i)) for i in np.unravel_index(number, layout.shape))
    owner = int(layout.thread_table.reshape(layout.replicas, -1)[0, number])
    return f"element [{position}] lives in thread {owner}, and thread {thread} touches it"


def _check_owners(op: Operation, location: FragmentLocation, elements: Table, mine: Flags) -> None:
    """Every thread that has an element that is written has to write it."""
    layout = location.layout
    if layout.replicas == 1:
        return
    written = np.zeros((layout.threads, prod(layout.shape)), dtype=bool)
    threads, iterations = np.nonzero(mine)
    written[threads, elements[threads, iterations]] = True
    owns = np.zeros_like(written)
    for owners in layout.thread_table:
        owns[owners.ravel(), np.arange(owners.size)] = True
    missed = owns & written.any(axis=0) & ~written
    if missed.any():
        thread, number = (int(i) for i in np.argwhere(missed)[0])
        position = ", ".join(str(int(i)) for i in np.unravel_index(number, layout.shape))
        raise op_error(op, f"leaves the copy of element [{position}] in thread {thread} as it was")


def _check_once(
    work: LoopBodyState, op: Operation, location: FragmentLocation, elements: Table, mine: Flags
) -> None:
    """No two iterations of a thread write the same element: they would be a hidden reduction."""
    shape = location.layout.shape
    key = op, work.rounds[op]
    if key not in work.writes:
        work.writes[key] = np.zeros((work.iterations.threads, prod(shape)), dtype=np.int64)
    counts = work.writes[key]
    work.rounds[op] += 1
    threads, iterations = np.nonzero(mine)
    np.add.at(counts, (threads, elements[threads, iterations]), 1)
    if (counts > 1).any():
        number = int(np.argwhere(counts > 1)[0][1])
        position = ", ".join(str(int(i)) for i in np.unravel_index(number, shape))
        raise op_error(op, f"writes element [{position}] in several iterations of one loop")


def _single(slots: Table) -> int | None:
    """The register that all threads have; -1 without any, None where they differ."""
    mine = slots[slots != NONE]
    if not len(mine):
        return NONE
    return int(mine[0]) if (mine == mine[0]).all() else None
