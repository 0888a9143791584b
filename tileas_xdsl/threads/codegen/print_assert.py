"""Lowering of print (`vprintf` by one thread of the agent) and of assertions (by all threads).

A tile is printed as cuTile does, its elements in nested brackets.  The threads store it to shared
memory, and one of them reads it there.  Up to 32 values are one call, so that output of other CTAs
does not come in between; a longer tile takes a loop along each dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import gcd, prod
from typing import TypeAlias

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import Float64Type, IndexType, IntegerType
from xdsl.ir import Block, Region, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import LoadOp, PrintTextOp
from tileas_xdsl.dialects.nv_tileaa.base import element_of
from tileas_xdsl.target.printf import MAX_VALUES, Conversion, Part, format_text
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, bit_width, index_constant, multiply
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.smem.scratch_buffer import Scratch


@dataclass(frozen=True)
class Shown:
    """An operand of a print: a scalar, or a row-major tile in shared memory."""

    value: SSAValue
    """As the program has it."""
    room: Scratch | None = None
    shape: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """How many elements."""
        return prod(self.shape)


Offset: TypeAlias = SSAValue | int
"""Elements from the first one."""


@dataclass
class Text:
    """One thread's output, split into `vprintf` calls of as many values as fit."""

    e: ThreadBuilder
    parts: list[Part] = field(default_factory=list[Part])
    values: list[SSAValue] = field(default_factory=list[SSAValue])

    def say(self, text: str) -> None:
        """Print text."""
        self.parts.append(text)

    def show(self, conversion: Conversion, shown: Shown, offset: Offset) -> None:
        """Print an element, `offset` elements from the first one."""
        if len(self.values) == MAX_VALUES:
            self.flush()
        self.parts.append(conversion)
        self.values.append(_passed(self.e, conversion, shown.value, _taken(self.e, shown, offset)))

    def show_all(self, conversion: Conversion, shown: Shown) -> None:
        """Print a value; one of many elements by loops."""
        self._nested(conversion, shown, shown.shape, 0)

    def _nested(
        self, conversion: Conversion, shown: Shown, shape: Sequence[int], offset: Offset
    ) -> None:
        if not shape:
            self.show(conversion, shown, offset)
            return
        count, step = shape[0], prod(shape[1:])
        self.say("[")
        if prod(shape) > MAX_VALUES:
            unit = gcd(count, MAX_VALUES) if len(shape) == 1 else 1
            self._loop(conversion, shown, (count // unit, unit, *shape[1:]), offset)
            offset, count = _moved(self.e, offset, (count - unit) * step), unit
        self._row(conversion, shown, (count, *shape[1:]), offset)
        self.say("]")

    def _row(
        self, conversion: Conversion, shown: Shown, shape: Sequence[int], offset: Offset
    ) -> None:
        """Print all elements along the first dimension."""
        step = prod(shape[1:])
        for k in range(shape[0]):
            self.say(", " if k else "")
            self._nested(conversion, shown, shape[1:], _moved(self.e, offset, k * step))

    def _loop(
        self, conversion: Conversion, shown: Shown, shape: Sequence[int], offset: Offset
    ) -> None:
        """Print all rows but the last one, each with a comma behind it."""
        self.flush()
        e = self.e
        body = Block(arg_types=[IndexType()])
        with e.within(body):
            index = add(e, multiply(e, body.args[0], prod(shape[1:])), offset)
            self._row(conversion, shown, shape[1:], index)
            self.say(", ")
            self.flush()
            e.insert(scf.YieldOp())
        bounds = (index_constant(e, 0), index_constant(e, shape[0] - 1), index_constant(e, 1))
        e.insert(scf.ForOp(*bounds, [], Region(body)))

    def flush(self) -> None:
        """Emit a call for the parts collected so far."""
        if text := format_text(self.parts):
            self.e.insert(PrintTextOp(text, self.values))
        self.parts, self.values = [], []


def _moved(e: ThreadBuilder, offset: Offset, distance: int) -> Offset:
    return offset + distance if isinstance(offset, int) else add(e, offset, distance)


def _taken(e: ThreadBuilder, shown: Shown, offset: Offset) -> SSAValue:
    """An element as its type, or as what it travels as."""
    if shown.room is None:
        return e.scalar(shown.value)
    pointer = advance(e, shown.room.pointer, offset)
    return e.insert(LoadOp(pointer, shown.room.element)).result


def _passed(
    e: ThreadBuilder, conversion: Conversion, source: SSAValue, value: SSAValue
) -> SSAValue:
    """Return a number in the width that its format reads."""
    if conversion.is_float:
        is_wide = isinstance(value.type, Float64Type)
        return value if is_wide else e.insert(arith.ExtFOp(value, Float64Type())).result
    if isinstance(value.type, IndexType):
        return e.insert(arith.IndexCastOp(value, IntegerType(conversion.bits))).result
    bits, type_ = bit_width(value.type), IntegerType(conversion.bits)
    if bits == conversion.bits:
        return value
    if bits > conversion.bits:
        return e.insert(arith.TruncIOp(value, type_)).result
    # A boolean is 0 or 1, also where it is a byte.
    is_signed = conversion.is_signed and bit_width(element_of(source.type)) > 1
    return e.insert((arith.ExtSIOp if is_signed else arith.ExtUIOp)(value, type_)).result
