"""Reductions of tiles: in each thread first, between the lanes of a warp, then between warps.

Floats narrower than f32 are combined as f32 and rounded once; integers narrower than 32 bits as
i32, since a shuffle moves 32 bits.  This is the fast way of one tile, one operation in any order,
and a dimension that lies well; all else goes the general way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    IntegerType,
    VectorType,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.cute_nvgpu import ReduxOp, ShuffleOp
from tileas_xdsl.dialects.nv_tileas.combiners import COMBINERS
from tileas_xdsl.dialects.nv_tileas.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.tma_checks import bits_of
from tileas_xdsl.layout.blocked import ACCESS_BYTES, Blocked, row_values_layout
from tileas_xdsl.layout.register_layout import LANES, RegisterLayout
from tileas_xdsl.layout.row_values import row_values
from tileas_xdsl.target.warp_tiles import QUAD
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, divide, is_equal, logical_and, multiply
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import lane_id, warp_id
from tileas_xdsl.threads.registers.access_chunk import Piece
from tileas_xdsl.threads.registers.coordinates import (
    is_counted_warp,
    is_first_holder,
    pieces,
    row_group,
)
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import (
    assembled,
    element,
    filled,
    joined,
    length,
    strip,
)
from tileas_xdsl.threads.smem.scratch_buffer import scratch

REDUX: Mapping[str, str] = {
    "arith.addi": "add",
    "arith.andi": "and",
    "arith.maxsi": "max",
    "arith.maxui": "umax",
    "arith.minsi": "min",
    "arith.minui": "umin",
    "arith.ori": "or",
    "arith.xori": "xor",
}
"""What one instruction combines over the lanes of a warp."""

UNSIGNED = ("arith.maxui", "arith.minui")

SHUFFLED_BITS = (32, 64)


@dataclass(frozen=True)
class Combiner:
    """How two elements become one, and the wider type that this is done in."""

    e: ThreadBuilder
    op: Operation
    """The only operation of the body."""
    element: Attribute
    wide: Attribute

    @staticmethod
    def of(e: ThreadBuilder, op: ReduceOp) -> Combiner | None:
        """The combiner of a reduction; None where the order of its operands may matter."""
        operations = list(op.body.block.ops)
        inner = operations[0]
        plain = len(operations) == 2 and inner.name in COMBINERS
        if not plain or set(inner.operands) != set(op.body.block.args):
            return None
        type_ = op.source.type.element_type
        wide = _wide(type_)
        return None if wide is None else Combiner(e, inner, type_, wide)

    def widened(self, value: SSAValue) -> SSAValue:
        """Elements in the wider type."""
        if self.element == self.wide:
            return value
        kind: Any = arith.ExtSIOp
        if isinstance(self.element, AnyFloat):
            kind = arith.ExtFOp
        elif self.op.name in UNSIGNED:
            kind = arith.ExtUIOp
        return self._converted(kind, value, self.wide)

    def narrowed(self, value: SSAValue) -> SSAValue:
        """Elements as they were."""
        if self.element == self.wide:
            return value
        kind: Any = arith.TruncFOp if isinstance(self.element, AnyFloat) else arith.TruncIOp
        return self._converted(kind, value, self.element)

    def _converted(self, kind: Any, value: SSAValue, type_: Attribute) -> SSAValue:
        """Another type; the conversions of integers are on scalars only."""
        e = self.e
        if not isinstance(value.type, VectorType):
            return e.insert(kind(value, type_)).result
        if isinstance(type_, AnyFloat):
            return e.insert(kind(value, VectorType(type_, [length(value)]))).result
        elements = [element(e, value, k) for k in range(length(value))]
        return joined(e, [e.insert(kind(single, type_)).result for single in elements])

    def combine(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Two elements or vectors, as one."""
        made = type(self.op).create(
            operands=[a, b],
            result_types=[a.type],
            properties=dict(self.op.properties),
            attributes=dict(self.op.attributes),
        )
        return self.e.insert(made).results[0]

    def all_of(self, values: Sequence[SSAValue]) -> SSAValue:
        """Elements or vectors combined in pairs."""
        left = list(values)
        while len(left) > 1:
            half = len(left) // 2
            pairs = zip(left[:half], left[half : 2 * half], strict=True)
            left = [*(self.combine(a, b) for a, b in pairs), *left[2 * half :]]
        return left[0]

    def in_thread(self, part: SSAValue) -> SSAValue:
        """The elements of a vector, halves first."""
        return self.in_thread_of_wide(self.widened(part))

    def in_thread_of_wide(self, part: SSAValue) -> SSAValue:
        """The elements of a vector of the wider type, halves first."""
        while (count := length(part)) > 1:
            halves = (strip(self.e, part, first, count // 2) for first in (0, count // 2))
            part = self.combine(*halves)
        return element(self.e, part, 0)

    def in_warp(self, value: SSAValue, lanes: int) -> SSAValue:
        """The values of groups of lanes next to one another, given to all of them."""
        if lanes == LANES and self.wide == i32 and self.op.name in REDUX:
            return self.e.insert(ReduxOp(value, REDUX[self.op.name])).result
        distance = lanes // 2
        while distance:
            value = self.across(value, distance)
            distance //= 2
        return value

    def across(self, value: SSAValue, distance: int) -> SSAValue:
        """The values of two lanes whose numbers differ by `distance`, given to both."""
        return self.combine(value, self._shuffled(value, distance))

    def _shuffled(self, value: SSAValue, distance: int) -> SSAValue:
        """The value of the lane whose number differs by `distance`; 64 bits go in two halves."""
        e = self.e
        if bits_of(self.wide) == LANES:
            return e.insert(ShuffleOp(value, distance)).result
        bits = value if self.wide == i64 else e.insert(arith.BitcastOp(value, i64)).result
        shift = e.insert(arith.ConstantOp.from_int_and_width(LANES, i64)).result
        upper = e.insert(arith.ShRUIOp(bits, shift)).result
        low, high = (
            e.insert(ShuffleOp(e.insert(arith.TruncIOp(half, i32)).result, distance)).result
            for half in (bits, upper)
        )
        low, high = (e.insert(arith.ExtUIOp(half, i64)).result for half in (low, high))
        moved = e.insert(arith.OrIOp(low, e.insert(arith.ShLIOp(high, shift)).result)).result
        return moved if self.wide == i64 else e.insert(arith.BitcastOp(moved, self.wide)).result


def _wide(type_: Attribute) -> Attribute | None:
    """The type that elements are combined in; None for elements that lanes do not exchange."""
    is_float, is_integer = isinstance(type_, AnyFloat), isinstance(type_, IntegerType)
    bits = bits_of(type_)
    if (is_float or is_integer) and bits in SHUFFLED_BITS:
        return type_
    if (is_float or is_integer) and 1 < bits < LANES:
        return f32 if is_float else i32
    return None


def reduce_accumulator_rows(c: Combiner, source: RegisterTile) -> RegisterTile:
    """Rows of accumulators: four lanes have each row, and nobody else has anything of it."""
    e, layout = c.e, source.layout
    values: dict[int, SSAValue] = {}
    for block, part in enumerate(map(c.widened, source.parts)):
        for half in range(2):
            pairs = range(2 * half, length(part), 4)
            line = c.all_of([strip(e, part, first, 2) for first in pairs])
            value = c.in_warp(c.in_thread_of_wide(line), QUAD)
            values[2 * block + half] = c.narrowed(value)
    spread = row_values(layout.layout)
    assert spread is not None, "accumulators are digits, each held once"
    rows = RegisterLayout(spread, layout.shape[:1], layout.threads)
    part = filled(e, values, vectors_of(rows).length, c.element)
    return RegisterTile(rows, c.element, (part,))


def reduce_row_groups(
    c: Combiner, op: Operation, source: RegisterTile, rows: Blocked
) -> RegisterTile:
    """Whole rows are in groups of warps: what is left of them all lanes have."""
    values = [c.in_warp(c.in_thread(part), rows.lanes) for part in source.parts]
    if rows.warps > 1:
        values = _between_warps_of_groups(c, op, values, rows)
    part = joined(c.e, [c.narrowed(value) for value in values])
    return RegisterTile(row_values_layout(source.layout), c.element, (part,))


def _between_warps_of_groups(
    c: Combiner, op: Operation, values: Sequence[SSAValue], rows: Blocked
) -> list[SSAValue]:
    """What all warps of a group have, for each row: each warp leaves a line in shared memory."""
    e, count = c.e, len(values)
    room = scratch(e, op, rows.used_warps * count, c.wide)
    alignment = min(ACCESS_BYTES, count * room.size)
    first = logical_and(e, is_equal(e, lane_id(e), 0), is_counted_warp(e, rows))
    mine = advance(e, room.pointer, multiply(e, warp_id(e), count), alignment)
    e.insert(StoreOp(joined(e, values), mine, first))
    synchronize_agent(e)
    begin = multiply(e, row_group(e, rows), rows.warps * count)
    lines = advance(e, room.pointer, begin, alignment)
    type_ = VectorType(c.wide, [count])
    found = [e.insert(LoadOp(lines, type_, offset=k * count)).result for k in range(rows.warps)]
    part = c.all_of(found)
    return [element(e, part, k) for k in range(count)]


def reduce_to_scalar(
    c: Combiner, op: Operation, source: RegisterTile, form: Blocked, layout: RegisterLayout
) -> RegisterTile:
    """A line to one element, which all threads get."""
    value = c.in_warp(c.in_thread(source.parts[0]), form.lanes)
    if form.warps > 1:
        value = _between_warps(c, op, value, source.layout, form)
    return RegisterTile(layout, c.element, (joined(c.e, [c.narrowed(value)]),))


def _between_warps(
    c: Combiner, op: Operation, value: SSAValue, layout: RegisterLayout, form: Blocked
) -> SSAValue:
    e, count = c.e, form.warps
    room = scratch(e, op, count, c.wide)
    holds = is_first_holder(e, layout)
    first = logical_and(e, is_equal(e, lane_id(e), 0), holds)
    e.insert(StoreOp(value, advance(e, room.pointer, divide(e, warp_id(e), form.copies)), first))
    synchronize_agent(e)
    found = e.insert(LoadOp(room.pointer, VectorType(c.wide, [count]))).result
    return c.all_of([element(e, found, k) for k in range(count)])


def reduce_columns(
    c: Combiner, op: Operation, source: RegisterTile, rows: Blocked, layout: RegisterLayout
) -> RegisterTile:
    """Each thread combines its rows, and through shared memory those of all warps."""
    e = c.e
    part = c.all_of([c.widened(value) for value in source.parts])
    room = scratch(e, op, rows.row_warps * rows.columns, c.wide)
    line = multiply(e, row_group(e, rows), rows.columns)
    holds = is_first_holder(e, source.layout)
    for piece in list(pieces(e, source.layout, bits_of(c.wide)))[: rows.chunks]:
        value = strip(e, part, piece.register, piece.count)
        pointer = advance(e, room.pointer, add(e, line, piece.column), piece.count * room.size)
        e.insert(StoreOp(value, pointer, holds, offset=piece.shift))
    synchronize_agent(e)

    def load(piece: Piece) -> SSAValue:
        type_ = VectorType(c.wide, [piece.count])
        pointer = advance(e, room.pointer, piece.column, piece.count * room.size)
        places = [piece.shift + group * rows.columns for group in range(rows.row_warps)]
        found = [e.insert(LoadOp(pointer, type_, offset=at)).result for at in places]
        return c.narrowed(c.all_of(found))

    return assembled(e, layout, c.element, load)
