"""Gather elements of a register tile at indices that are constant per thread and register.

The planner of conversions finds the way: registers of the same thread, shuffles inside of warps, or
one trip through shared memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from xdsl.dialects import tensor
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.analysis.values.computed_lines import is_computed_line
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.convert.plan import Plan
from tileas_xdsl.layout.convert.planner import plan_conversion
from tileas_xdsl.layout.convert.registers import RegisterPlan
from tileas_xdsl.layout.registers.register_layout import ElementTable, RegisterLayout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.convert.element_conversion import CARRIERS, storage_type, unrolled_elements
from tileas_xdsl.threads.convert.register_conversion import (
    carried,
    elements_by,
    has_room_for_copies,
)
from tileas_xdsl.threads.index.per_thread_tables import Table
from tileas_xdsl.threads.registers.register_array import RegisterFile, VectorElement
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import element


@dataclass
class Gathered:
    """Gathered elements, each once however often it is used."""

    file: RegisterFile
    """Holds the elements of `elements`, possibly as their carrier type."""
    element: Attribute
    elements: Sequence[VectorElement | None]
    column: Sequence[int]
    """For each requested register, its index in `elements`."""

    def is_one(self, first: int, count: int) -> bool:
        """Whether registers from one on are all the same one."""
        return len(set(self.column[first : first + count])) == 1

    def single(self, register: int) -> SSAValue:
        """The element of one register, a scalar."""
        e, location = self.file.e, self.elements[self.column[register]]
        if location is not None and self.file.element == self.element:
            return element(e, *location)
        return element(e, self.vector(register, 1), 0)

    def vector(self, first: int, count: int) -> SSAValue:
        """Registers from one on."""
        elements = [self.elements[c] for c in self.column[first : first + count]]
        joint = self.file.joined(elements)
        if self.file.element == self.element:
            return joint
        return unrolled_elements(self.file.e, joint, CARRIERS[self.element].back, self.element)


def gathered(e: ThreadBuilder, op: Operation, tile: RegisterTile, wanted: Table) -> Gathered:
    """The elements of a tile that `wanted`, `(threads, registers)`, names; -1 is anything.

    Elements are counted as fragments count them, the first dimension fastest.
    """
    columns, numbers = _distinct_columns(wanted)
    if (columns < 0).all():
        return Gathered(RegisterFile(e, tile.element), tile.element, [None], [0] * len(numbers))
    element_ = storage_type(tile.element)
    plan = _plan(
        tile.layout,
        bits_of(element_),
        columns.shape[1],
        columns.tobytes(),
        _has_copies(e, op),
    )
    if isinstance(plan, RegisterPlan) and (most := _uniform_registers(plan.registers)) is not None:
        file = RegisterFile.of(e, tile)
        return Gathered(file, tile.element, [file.vector_element(v) for v in most], numbers)
    travelling = carried(e, tile)
    file = RegisterFile(e, travelling.element)
    return Gathered(file, tile.element, elements_by(e, op, travelling, plan), numbers)


def _has_copies(e: ThreadBuilder, op: Operation) -> bool:
    """Return whether each warp has a copy of what it reads of a line, which it computes itself."""
    is_of_line = isinstance(op, tensor.ExtractOp) and is_computed_line(op.tensor)
    return is_of_line and has_room_for_copies(e)


def _distinct_columns(table: Table) -> tuple[Table, list[int]]:
    """The columns of a table in increasing order, each once, and the number of each one there.

    `np.unique` along an axis takes ten times as long: it sorts records of a field a thread.
    """
    rows = table.T
    # Bytes compare as the numbers do, the highest first, once nothing is negative.
    keys = [row.tobytes() for row in (rows + 1).astype(">u8")]
    first = {key: n for n, key in reversed([*enumerate(keys)])}
    number = {key: n for n, key in enumerate(sorted(first))}
    return rows[[first[key] for key in number]].T, [number[key] for key in keys]


def _uniform_registers(registers: Table) -> list[int] | None:
    """The register that each one is in all threads; None where threads differ."""
    most = registers.max(axis=0)
    return most.tolist() if ((registers == most) | (registers < 0)).all() else None


@lru_cache(maxsize=256)
def _plan(layout: RegisterLayout, bits: int, count: int, columns: bytes, copied: bool) -> Plan:
    """The plan for a table of `count` columns."""
    table = np.frombuffer(columns, np.int64).reshape(layout.threads, count)
    return plan_conversion(layout, ElementTable(table, layout.shape), bits, copied=copied)


def rearranged(
    e: ThreadBuilder, op: Operation, tile: RegisterTile, layout: RegisterLayout, sources: Table
) -> RegisterTile:
    """A tile in another layout whose elements, `(elements,)`, are those of `tile` at `sources`.

    Both are counted with the first dimension fastest.
    """
    held = held_by(layout)
    found = gathered(e, op, tile, np.where(held < 0, -1, sources[np.maximum(held, 0)]))
    vectors = vectors_of(layout)
    count = vectors.length
    parts = [found.vector(block * count, count) for block in range(vectors.count)]
    return RegisterTile(layout, tile.element, tuple(parts))


@lru_cache(maxsize=256)
def held_by(layout: RegisterLayout) -> Table:
    """`(threads, registers)`: the element in each register, -1 for none; all blocks are full."""
    held = layout.held
    missing = vectors_of(layout).elements - held.shape[1]
    return np.pad(held, ((0, 0), (0, missing)), constant_values=-1)


def coordinates_of(held: Table, shape: Sequence[int]) -> list[Table]:
    """By dimension, the index of each register's element; 0 where it holds none."""
    return list(np.unravel_index(np.maximum(held, 0), tuple(shape), order="F")) if shape else []
