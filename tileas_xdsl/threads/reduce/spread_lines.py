"""Lines of a tile along the reduced dimension, as distributed over threads and registers.

    layout  ((4,512,32)):((1@value,1@thread,4@value)) of 65536 elements, axis 0
    a thread has 4 * 32 = 128 elements of the line; distances 1 to 16 in its warp, 32 to 256 beyond
    values  one in each thread

A commutative combiner needs no other order than this: each thread combines its elements of a line,
lanes exchange partial results by shuffles, warps through one value each in shared memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.analysis.layouts.axis_layouts import AxisSplit
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.layout.registers.blocked import blocked
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.registers.row_values import line_sharers, line_values
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, multiply
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.index.per_thread_tables import Flags, Table, holds, number_of
from tileas_xdsl.threads.reduce.combiner import Combiner
from tileas_xdsl.threads.reduce.lines_over_lanes import steps_of_lines
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import element
from tileas_xdsl.threads.smem.scratch_buffer import scratch

Row: TypeAlias = Sequence[SSAValue]
"""One scalar of each tile that is reduced."""


MATRIX = 2

FACTOR = 3
"""Maximum ratio of combinations done in the given layout to those after a conversion."""


@dataclass(frozen=True)
class SpreadLines:
    """A tile in registers, and its lines along a dimension."""

    source: RegisterLayout
    axis: int
    values: RegisterLayout
    """One register for each line that a thread has something of."""
    lanes: Sequence[int]
    """The xor distances of lanes that share a line."""
    warps: Sequence[int]
    """The xor distances of warps that share a line, in threads."""

    @staticmethod
    def of(layout: RegisterLayout, axis: int) -> SpreadLines | None:
        """None where threads have no whole pieces of the same lines, as many of each."""
        shape = layout.shape
        found = line_values(layout.layout, len(shape), axis)
        if found is None:
            return None
        sharers = line_sharers(layout.layout, axis)
        if any(step & (step - 1) or extent & (extent - 1) for extent, step in sharers):
            return None
        apart = [step << bit for extent, step in sharers for bit in range(extent.bit_length() - 1)]
        lanes = [distance for distance in apart if distance < WARP]
        warps = [distance for distance in apart if distance >= WARP]
        kept = (*shape[:axis], *shape[axis + 1 :])
        values = RegisterLayout(found, kept, layout.threads)
        spread = SpreadLines(layout, axis, values, lanes, warps)
        return spread if spread._is_whole else None

    @property
    def _is_whole(self) -> bool:
        """Whether all threads hold the same number of elements of every line they have."""
        share = self.source.shape[self.axis] >> (len(self.lanes) + len(self.warps))
        everywhere = (self.source.held >= 0).all() and (self.values.held >= 0).all()
        if not everywhere or not self.source.elements:
            return False
        numbers, lines = self._numbers, self._lines_of_registers
        if any(len(registers) != share for registers in self.registers):
            return False
        return bool((lines == self.values.held[:, numbers]).all())

    @cached_property
    def _lines_of_registers(self) -> Table:
        """`(threads, registers)`: the line that each register is of."""
        before, extent = prod(self.source.shape[: self.axis]), self.source.shape[self.axis]
        inner, outer = self.source.held % before, self.source.held // (before * extent)
        return inner + before * outer

    @cached_property
    def _numbers(self) -> Table:
        """By register, the number of the value that it is combined in, by the first thread."""
        held: list[int] = self.values.held[0].tolist()
        lines: list[int] = self._lines_of_registers[0].tolist()
        numbers = {line: index for index, line in enumerate(held)}
        return np.asarray([numbers.get(line, 0) for line in lines], dtype=np.int64)

    @cached_property
    def registers(self) -> Sequence[Sequence[int]]:
        """By the number of a value, the registers that are combined in it."""
        numbers: list[int] = self._numbers.tolist()
        found: list[list[int]] = [[] for _ in range(self.values.held.shape[1])]
        for register, number in enumerate(numbers):
            found[number].append(register)
        return found

    def _combinations(self, *, are_halved: bool) -> int:
        """How often a thread combines two values, and exchanges count as such.

        Lanes may go on with half of the lines each, and warps with what a lane has of them.
        """
        lines, warps = len(self.registers), 1 << len(self.warps)
        in_thread = sum(len(registers) - 1 for registers in self.registers)
        steps = steps_of_lines(lines, len(self.lanes), warps) if are_halved else None
        if not steps:
            return in_thread + lines * (len(self.lanes) + warps - 1)
        return in_thread + sum(steps) + lines + min(steps) * (warps - 1)

    def is_near(self, agent_warps: int, *, are_halved: bool = False) -> bool:
        """Return whether reducing in place takes few more combinations than elsewhere."""
        split = AxisSplit.of(self.source.shape, self.axis, agent_warps)
        there = split.lines * (split.run + split.lanes.bit_length() + split.warps - 3)
        return self._combinations(are_halved=are_halved) <= FACTOR * there

    def line(self, e: ThreadBuilder, value: int) -> SSAValue:
        """The line that a value of this thread is of, `i32`."""
        return number_of(e, self.values.held[:, value], self.values.thread_digits)


def near_lines(layout: RegisterLayout, axis: int, agent_warps: int) -> SpreadLines | None:
    """Return the lines of a tile that no form says how to reduce, where these are best in place.

    Another layout would move the whole tile: of a matrix that is dealt as one line, of rows that
    are shown as pairs, or of what a reduction has left in many lanes each.  None for layouts by
    rows, but along the middle of them: channels of images.
    """
    form, rank = blocked(layout), len(layout.shape)
    is_by_rows = form is not None and form.is_by_rows and (axis == rank - 1 or rank == MATRIX)
    is_vector = form is not None and rank == 1 and form.copies == 1 and not form.is_row_values
    if is_by_rows or is_vector:
        return None
    spread = SpreadLines.of(layout, axis)
    return spread if spread is not None and spread.is_near(agent_warps, are_halved=True) else None


def registers_of_lines(
    c: Combiner, tile: RegisterTile, spread: SpreadLines
) -> list[list[SSAValue]]:
    """Return the elements that this thread has of each of its lines, in the type to combine in."""
    size = vectors_of(tile.layout).length
    parts = [c.widened(part) for part in tile.parts]
    return [
        [element(c.e, parts[k // size], k % size) for k in registers]
        for registers in spread.registers
    ]


def between_warps(
    e: ThreadBuilder,
    op: Operation,
    spread: SpreadLines,
    rows: Sequence[Row],
    types: Sequence[Attribute],
    all_of: Callable[[Sequence[Row]], Row],
) -> list[Row]:
    """Combine over the warps that share lines, through a value of each warp in shared memory.

    There is one row for each value of a thread, of one scalar for each type.
    """
    height, count = spread.values.elements, 1 << len(spread.warps)
    scratch_buffers = [scratch(e, op, count * height, type_) for type_ in types]
    group = number_of(e, groups(spread))
    lines = [spread.line(e, value) for value in range(len(rows))]
    first = holds(e, first_of_groups(spread), spread.values.thread_digits)
    for line, row in zip(lines, rows, strict=True):
        slot = add(e, multiply(e, group, height), line)
        for buffer, value in zip(scratch_buffers, row, strict=True):
            e.insert(StoreOp(value, advance(e, buffer.pointer, slot), first))
    synchronize_agent(e)

    def left(line: SSAValue, warp: int) -> Row:
        pointers = [advance(e, buffer.pointer, line) for buffer in scratch_buffers]
        return [
            e.insert(LoadOp(pointer, buffer.element, offset=warp * height)).result
            for pointer, buffer in zip(pointers, scratch_buffers, strict=True)
        ]

    return [all_of([left(line, warp) for warp in range(count)]) for line in lines]


def between_warps_by_lanes(
    e: ThreadBuilder,
    op: Operation,
    spread: SpreadLines,
    values: Sequence[SSAValue],
    all_of: Callable[[Sequence[SSAValue]], SSAValue],
) -> list[SSAValue]:
    """Combine what each lane has over the warps that share lines, in which lanes have the same."""
    count, threads = 1 << len(spread.warps), spread.source.threads
    apart = threads // count
    buffer = scratch(e, op, threads * len(values), values[0].type)
    lane = number_of(e, _threads_of_groups(spread))
    own = add(e, multiply(e, number_of(e, groups(spread)), apart * len(values)), lane)
    for k, value in enumerate(values):
        e.insert(StoreOp(value, advance(e, buffer.pointer, own), offset=k * apart))
    synchronize_agent(e)
    pointer = advance(e, buffer.pointer, lane)

    def left(k: int, warp: int) -> SSAValue:
        offset = (warp * len(values) + k) * apart
        return e.insert(LoadOp(pointer, buffer.element, offset=offset)).result

    return [all_of([left(k, warp) for warp in range(count)]) for k in range(len(values))]


def _threads_of_groups(spread: SpreadLines) -> Table:
    """By thread, its number among those of its warp's group: bits that no warp shares lines by."""
    threads = np.arange(spread.source.threads)
    bits = [1 << k for k in range((spread.source.threads - 1).bit_length())]
    others = [bit for bit in bits if bit not in spread.warps]
    return np.sum([threads // bit % 2 << k for k, bit in enumerate(others)], axis=0)


def groups(spread: SpreadLines) -> Table:
    """By thread, the number of its warp among those that share its lines."""
    threads = np.arange(spread.source.threads)
    bits = [threads // distance % 2 << k for k, distance in enumerate(spread.warps)]
    return np.sum(bits, axis=0)


def first_of_groups(spread: SpreadLines) -> Flags:
    """By thread, whether it is the first one with its lines among those of its group."""
    _, first = np.unique(
        groups(spread) * spread.values.elements + spread.values.held[:, 0], return_index=True
    )
    flags = np.zeros(spread.source.threads, dtype=np.bool_)
    flags[first] = True
    return flags
