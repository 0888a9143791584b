"""Emit code for `layout.expr.expression`, in `arith` or in `llvm` (a `Language` has the
operations).

Expressions floor, machine division truncates. Where an operand may be negative, flooring is made of
truncation and a correction; equal subexpressions are emitted once:

    d0 // 4, d0 >= 0           arith.divsi %d0, %c4
    x // 4                     %q = arith.divsi %x, %c4;  %r = arith.remsi %x, %c4
                               %fix = (%r != 0) and ((%r xor %c4) < 0)
                               select %fix, %q - 1, %q
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i64
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute.types.elements import integer_bits
from tileas_xdsl.layout.expr.expression import (
    COMPARISONS,
    BinaryExpression,
    Expression,
    Variable,
    width_of,
)

Insert = Callable[[Operation], Any]


@dataclass(frozen=True)
class Language:
    """The operations on integers of a dialect."""

    binary: Mapping[str, Callable[[SSAValue, SSAValue], Operation]]
    """By the names of `layout.expr.expression`; division rounds towards zero."""
    compare: Callable[[SSAValue, SSAValue, str], Operation]
    select: Callable[[SSAValue, SSAValue, SSAValue], Operation]
    extend: Callable[[SSAValue, IntegerType], Operation]
    truncate: Callable[[SSAValue, IntegerType], Operation]
    constant: Callable[[int, IntegerType], Operation]


def _icmp(lhs: SSAValue, rhs: SSAValue, predicate: str) -> Operation:
    number = llvm.ICmpPredicateFlag(predicate).to_int()
    return llvm.ICmpOp(lhs, rhs, IntegerAttr(number, i64))


ARITH = Language(
    {
        "add": arith.AddiOp,
        "sub": arith.SubiOp,
        "mul": arith.MuliOp,
        "quotient": arith.DivSIOp,
        "remainder": arith.RemSIOp,
        "xor": arith.XOrIOp,
        "and": arith.AndIOp,
        "shl": arith.ShLIOp,
        "shr": arith.ShRSIOp,
    },
    arith.CmpiOp,
    arith.SelectOp,
    arith.ExtSIOp,
    arith.TruncIOp,
    lambda value, type_: arith.ConstantOp(IntegerAttr(value, type_)),
)

LLVM = Language(
    {
        "add": llvm.AddOp,
        "sub": llvm.SubOp,
        "mul": llvm.MulOp,
        "quotient": llvm.SDivOp,
        "remainder": llvm.SRemOp,
        "xor": llvm.XOrOp,
        "and": llvm.AndOp,
        "shl": llvm.ShlOp,
        "shr": llvm.AShrOp,
    },
    _icmp,
    llvm.SelectOp,
    llvm.SExtOp,
    llvm.TruncOp,
    lambda value, type_: llvm.ConstantOp(IntegerAttr(value, type_), type_),
)


@dataclass
class NumberEmitter:
    """Emits expressions in a language, each once; `leaf` gives the values of unknown numbers."""

    language: Language
    insert: Insert
    leaf: Callable[[Variable], SSAValue]
    done: dict[Any, SSAValue] = field(default_factory=dict[Any, SSAValue])

    def emit(self, number: Any, width: int) -> SSAValue:
        """Emit a number as an integer of `width` bits."""
        if isinstance(number, Expression):
            return self.resized(self._expression(number), width)
        key = (number, width)
        if key not in self.done:
            self.done[key] = self._put(self.language.constant(number, IntegerType(width)))
        return self.done[key]

    def resized(self, value: SSAValue, width: int) -> SSAValue:
        """Return the value sign-extended or truncated to another width."""
        bits = integer_bits(value.type)
        if bits == width:
            return value
        change = self.language.extend if bits < width else self.language.truncate
        return self._put(change(value, IntegerType(width)))

    def _put(self, op: Operation) -> SSAValue:
        self.insert(op)
        return op.results[0]

    def _expression(self, number: Expression) -> SSAValue:
        if isinstance(number, Variable):
            return self.leaf(number)
        if number not in self.done:
            assert isinstance(number, BinaryExpression)
            self.done[number] = self._computed(number)
        return self.done[number]

    def _computed(self, number: BinaryExpression) -> SSAValue:
        operation = number.kind
        width = self._operand_width(number)
        lhs, rhs = self.emit(number.lhs, width), self.emit(number.rhs, width)
        if operation in COMPARISONS:
            predicate = "eq" if operation == "eq" else "slt"
            return self._put(self.language.compare(lhs, rhs, predicate))
        natural = _is_natural(number.lhs) and _is_natural(number.rhs)
        match operation:
            case "floordiv":
                return self._floor(lhs, rhs) if not natural else self._binary("quotient", lhs, rhs)
            case "floormod":
                return self._mod(lhs, rhs) if not natural else self._binary("remainder", lhs, rhs)
            case "ceildiv":
                return self._ceil(lhs, rhs, natural)
            case _:
                return self._binary(operation, lhs, rhs)

    def _operand_width(self, number: BinaryExpression) -> int:
        if number.kind not in COMPARISONS:
            return number.width
        return max(width_of(number.lhs), width_of(number.rhs))

    def _binary(self, operation: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self._put(self.language.binary[operation](lhs, rhs))

    def _zero(self, like: SSAValue) -> SSAValue:
        return self.emit(0, integer_bits(like.type))

    def _corrects(self, lhs: SSAValue, rhs: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Return the truncating remainder, and whether flooring differs: it has the other sign."""
        remainder = self._binary("remainder", lhs, rhs)
        zero = self._zero(lhs)
        some = self._put(self.language.compare(remainder, zero, "ne"))
        signs = self._binary("xor", remainder, rhs)
        unlike = self._put(self.language.compare(signs, zero, "slt"))
        return remainder, self._binary("and", some, unlike)

    def _floor(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        quotient = self._binary("quotient", lhs, rhs)
        _, corrects = self._corrects(lhs, rhs)
        width = integer_bits(lhs.type)
        less = self._binary("sub", quotient, self.emit(1, width))
        return self._put(self.language.select(corrects, less, quotient))

    def _mod(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        remainder, corrects = self._corrects(lhs, rhs)
        more = self._binary("add", remainder, rhs)
        return self._put(self.language.select(corrects, more, remainder))

    def _ceil(self, lhs: SSAValue, rhs: SSAValue, natural: bool) -> SSAValue:
        """Emit ceiling division: `-floor(-lhs / rhs)`, or `(lhs + rhs - 1) / rhs` if unsigned."""
        width = integer_bits(lhs.type)
        if natural:
            most = self._binary("sub", rhs, self.emit(1, width))
            return self._binary("quotient", self._binary("add", lhs, most), rhs)
        zero = self._zero(lhs)
        floor = self._floor(self._binary("sub", zero, lhs), rhs)
        return self._binary("sub", zero, floor)


def _is_natural(number: Any) -> bool:
    return number.is_natural if isinstance(number, Expression) else number >= 0
