"""Arithmetic, logic and shifts on integers, floats and packed halves; tuples element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from tileas_xdsl.dialects.op_definition import member_op
from tileas_xdsl.dialects.ptx.base import REG, ElementwiseOp, PtxOp, Value, count_of, elementwise
from tileas_xdsl.dialects.ptx.checks import (
    check_flags,
    check_keyword,
    check_kind,
    check_tuples,
    check_type,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.types import reg
from tileas_xdsl.target.isa.kinds import TYPE_KINDS
from tileas_xdsl.target.isa.views import ARITHMETIC, COUNT_OPERANDS, Form

WIDE_KINDS = {"u16": "b32", "s16": "b32", "u32": "b64", "s32": "b64"}
"""Results of `mul.wide` and `mad.wide`."""


class ArithmeticOp(ElementwiseOp):
    """Base: `name{.mode}{.rounding}{.ftz}{.NaN}{.sat}{.relu}.type d, operands`."""

    type = prop_def(StringAttr)
    mode = opt_prop_def(StringAttr)
    rounding = opt_prop_def(StringAttr)
    ftz = opt_prop_def(UnitAttr)
    nan = opt_prop_def(UnitAttr)
    sat = opt_prop_def(UnitAttr)
    relu = opt_prop_def(UnitAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def _set(self, operands: Sequence[Value], type: str, **modifiers: str | bool | None) -> None:
        wide = modifiers.get("mode") == "wide"
        kind = WIDE_KINDS[type] if wide else _kind_of_result(self.name, type)
        result = reg(kind, max(map(count_of, operands)))
        self.fill(operands, (result,), type=type, **modifiers)

    def head(self) -> str:
        """The instruction with its modifiers."""
        properties = self.properties
        parts = [self.name[4:]]
        if len(properties) > 1:
            if mode := self.text("mode"):
                parts.append(mode)
            if rounding := self.text("rounding"):
                parts.append(rounding)
            parts += [text for name, text in _FLAGS if name in properties]
        parts.append(self.text("type"))
        return ".".join(parts)

    def emit(self, out: Writer) -> None:
        elementwise(out, self.head(), self.results[0], *self._operands)

    def form(self) -> Form:
        """The entry of the table of instructions; raises `OpError` if there is none."""
        forms, type = ARITHMETIC[self.name[4:]], self.text("type")
        check_keyword(self, "type", type, forms)
        return forms[type]

    def check(self) -> None:
        form, type, where = self.form(), self.text("type"), f"for {self.text('type')}"
        check_keyword(self, "mode", self.text("mode"), form.modes, where)
        check_keyword(self, "rounding", self.text("rounding"), form.roundings, where)
        check_flags(self, ("ftz", "nan", "sat", "relu"), form.flags, where)
        for flag in form.needed:
            if not self.flag(flag):
                raise self.error(f"needs {flag} {where}")
        self._check_operands(type)

    def _check_operands(self, type: str) -> None:
        counts = COUNT_OPERANDS.get(self.name[4:], ())
        wide = WIDE_KINDS.get(type, "") if self.text("mode") == "wide" else ""
        for index, operand in enumerate(self.operands):
            if index in counts:
                check_kind(self, "a number of bits", operand, "b32")
            elif wide and index == 2:
                check_kind(self, f"operand {index}", operand, wide)
            else:
                check_type(self, f"operand {index}", operand, type)
        result = _kind_of_result(self.name, type)
        check_kind(self, "its result", self.result, wide or result, *_bits_of(wide or result))
        check_tuples(self, self.operands, self.result)


_FLAGS = (("ftz", "ftz"), ("nan", "NaN"), ("sat", "sat"), ("relu", "relu"))


class UnaryOp(ArithmeticOp):
    """Base: one operand."""

    a = operand_def(REG)

    def __init__(
        self, a: Value, type: str, *, rounding: str | None = None, ftz: bool = False
    ) -> None:
        self._set((a,), type, rounding=rounding, ftz=ftz)


def _bits_of(kind: str) -> tuple[str, ...]:
    """Registers of bits hold floats too."""
    return (f"b{kind[1:]}",) if kind[0] == "f" else ()


def _kind_of_result(name: str, type: str) -> str:
    """Counting instructions give 32 bits whatever they count in."""
    return "b32" if name in ("ptx.popc", "ptx.clz") else TYPE_KINDS[type]


class BinaryOp(ArithmeticOp):
    """Base: two operands; one of them may be a single register for all of the other."""

    a = operand_def(REG)
    b = operand_def(REG)

    def __init__(
        self,
        a: Value,
        b: Value,
        type: str,
        *,
        mode: str | None = None,
        rounding: str | None = None,
        ftz: bool = False,
        nan: bool = False,
        sat: bool = False,
    ) -> None:
        self._set((a, b), type, mode=mode, rounding=rounding, ftz=ftz, nan=nan, sat=sat)


class TernaryOp(ArithmeticOp):
    """Base: three operands."""

    a = operand_def(REG)
    b = operand_def(REG)
    c = operand_def(REG)

    def __init__(
        self,
        a: Value,
        b: Value,
        c: Value,
        type: str,
        *,
        mode: str | None = None,
        rounding: str | None = None,
        ftz: bool = False,
        sat: bool = False,
        relu: bool = False,
    ) -> None:
        self._set((a, b, c), type, mode=mode, rounding=rounding, ftz=ftz, sat=sat, relu=relu)


class MixedOp(ElementwiseOp):
    """Base: `name{.rounding}{.sat}.f32.type d, operands`: halves and, as the last operand, f32."""

    terms = var_operand_def(REG)
    type = prop_def(StringAttr)
    rounding = opt_prop_def(StringAttr)
    sat = opt_prop_def(UnitAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(
        self, *terms: Value, type: str, rounding: str | None = None, sat: bool = False
    ) -> None:
        """`type` is f16 or bf16."""
        result = reg("f32", max(map(count_of, terms)))
        self.fill((terms,), (result,), type=type, rounding=rounding, sat=sat)

    def check(self) -> None:
        type = self.text("type")
        check_keyword(self, "type", type, ("f16", "bf16"))
        for index, term in enumerate(self.terms):
            last = index == len(self.terms) - 1
            check_type(self, f"operand {index}", term, "f32" if last else type)
        check_kind(self, "its result", self.result, "f32")
        check_tuples(self, self.operands, self.result)

    def emit(self, out: Writer) -> None:
        name = self.name.removeprefix("ptx.").removesuffix("_mixed")
        words = (name, self.text("rounding"), "sat" * self.flag("sat"), "f32", self.text("type"))
        elementwise(out, ".".join(filter(None, words)), self.results[0], *self._operands)


OpT = TypeVar("OpT", bound=PtxOp)


def _instruction(family: type[OpT], opcode: str, meaning: str) -> type[OpT]:
    """Define `ptx.OPCODE`: all that it has of its own is its row in the table of instructions."""
    class_name = f"{opcode.title().replace('_', '')}Op"
    return member_op(family, class_name, f"ptx.{opcode}", f"`{opcode}`: {meaning}")


AbsOp = _instruction(UnaryOp, "abs", "|a|.")
NegOp = _instruction(UnaryOp, "neg", "-a.")
NotOp = _instruction(UnaryOp, "not", "Bits of a inverted.")
PopcOp = _instruction(UnaryOp, "popc", "Number of set bits.")
ClzOp = _instruction(UnaryOp, "clz", "Leading zeros.")
BrevOp = _instruction(UnaryOp, "brev", "Bits in reverse.")
SqrtOp = _instruction(UnaryOp, "sqrt", "Square root.")
RcpOp = _instruction(UnaryOp, "rcp", "1 / a.")
RsqrtOp = _instruction(UnaryOp, "rsqrt", "1 / sqrt(a).")
Ex2Op = _instruction(UnaryOp, "ex2", "2 to the power of a.")
Lg2Op = _instruction(UnaryOp, "lg2", "Logarithm to base 2.")
SinOp = _instruction(UnaryOp, "sin", "Sine.")
CosOp = _instruction(UnaryOp, "cos", "Cosine.")
TanhOp = _instruction(UnaryOp, "tanh", "Hyperbolic tangent.")

AddOp = _instruction(BinaryOp, "add", "a + b.")
SubOp = _instruction(BinaryOp, "sub", "a - b.")
MulOp = _instruction(BinaryOp, "mul", "a * b; integers need the mode lo, hi or wide.")
DivOp = _instruction(BinaryOp, "div", "a / b; floats need a rounding, approx or full.")
RemOp = _instruction(BinaryOp, "rem", "a modulo b, with the sign of a.")
MinOp = _instruction(BinaryOp, "min", "The smaller one.")
MaxOp = _instruction(BinaryOp, "max", "The larger one.")
AndOp = _instruction(BinaryOp, "and", "a & b, also on predicates.")
OrOp = _instruction(BinaryOp, "or", "a | b, also on predicates.")
XorOp = _instruction(BinaryOp, "xor", "a ^ b, also on predicates.")
CopysignOp = _instruction(BinaryOp, "copysign", "b with the sign of a.")
ShlOp = _instruction(BinaryOp, "shl", "a << b, b of 32 bits.")
ShrOp = _instruction(BinaryOp, "shr", "a >> b, b of 32 bits; signed types shift in the sign.")

MadOp = _instruction(TernaryOp, "mad", "a * b + c; integers need the mode lo, hi or wide.")
FmaOp = _instruction(TernaryOp, "fma", "a * b + c rounded once.")
BfeOp = _instruction(TernaryOp, "bfe", "Bits [b, b + c) of a.")
PrmtOp = _instruction(TernaryOp, "prmt", "Four bytes of a and b, picked by the digits of c.")

AddMixedOp = _instruction(MixedOp, "add_mixed", "a + c, rounded once to f32.")
FmaMixedOp = _instruction(MixedOp, "fma_mixed", "a * b + c, rounded once to f32.")
