"""Comparisons, selections and conversions; tuples element by element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import (
    REG,
    ElementwiseOp,
    PtxOp,
    Value,
    count_of,
    elementwise,
    keyword,
)
from tileas_xdsl.dialects.ptx.checks import (
    check_count,
    check_flags,
    check_keyword,
    check_kind,
    check_tuples,
    check_type,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.types import RegType, reg
from tileas_xdsl.target.isa.kinds import TYPE_KINDS
from tileas_xdsl.target.isa.views import COMPARISONS, CONVERSIONS, PACKINGS, SELECTIONS, Conversion


def _compared(given: Mapping[str, Any]) -> RegType:
    return reg("pred", max(count_of(given["a"]), count_of(given["b"])))


@irdl_op_definition
class SetpOp(ElementwiseOp):
    """`setp`: whether `a comparison b`, then combined with the predicate `other`.

    `combine` is and, or or xor.
    """

    name = "ptx.setp"

    a: fields.Operand = fields.operand(REG)
    b: fields.Operand = fields.operand(REG)
    other: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    comparison: fields.String = fields.prop(StringAttr)
    type: fields.String = fields.prop(keyword("type", COMPARISONS))
    combine: fields.OptString = fields.opt_prop(
        keyword("combination", ("", "and", "or", "xor")), default=None, kw_only=True
    )
    ftz: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    result: fields.Result[RegType] = fields.typed_result(REG, type=_compared, init=False)

    traits = traits_def(Pure())

    def check(self) -> None:
        type = self.text("type")
        check_keyword(self, "comparison", self.text("comparison"), COMPARISONS[type], f"for {type}")
        check_flags(self, ("ftz",), ("ftz",) if type in ("f16", "f32") else (), f"for {type}")
        if bool(self.text("combine")) != (self.other is not None):
            raise self.error("combines with a predicate: it needs both 'combine' and 'other'")
        check_type(self, "a", self.a, type)
        check_type(self, "b", self.b, type)
        if self.other is not None:
            check_kind(self, "other", self.other, "pred")
        check_kind(self, "its result", self.result, "pred")
        check_tuples(self, self.operands, self.result)

    def emit(self, out: Writer) -> None:
        combine = self.text("combine")
        head = (
            f"setp.{self.text('comparison')}{'.' * bool(combine)}{combine}"
            f"{'.ftz' * self.flag('ftz')}.{self.text('type')}"
        )
        elementwise(out, head, self.results[0], *self._operands)


@irdl_op_definition
class SelpOp(ElementwiseOp):
    """`selp`: a where the predicate holds, else b."""

    name = "ptx.selp"

    a = operand_def(REG)
    b = operand_def(REG)
    condition = operand_def(REG)
    type = prop_def(keyword("type", SELECTIONS))
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, a: Value, b: Value, condition: Value, type: str) -> None:
        count = max(count_of(a), count_of(b), count_of(condition))
        self.fill((a, b, condition), (reg(TYPE_KINDS[type], count),), type=type)

    def check(self) -> None:
        type = self.text("type")
        for what, value in (("a", self.a), ("b", self.b), ("its result", self.result)):
            check_type(self, what, value, type)
        check_kind(self, "the condition", self.condition, "pred")
        check_tuples(self, self.operands, self.result)

    def emit(self, out: Writer) -> None:
        elementwise(out, f"selp.{self.text('type')}", self.results[0], *self._operands)


def _converted(given: Mapping[str, Any]) -> RegType:
    return reg(CVT_KINDS[given["to"]], count_of(given["a"]))


@irdl_op_definition
class CvtOp(ElementwiseOp):
    """`cvt`: one type to another, element by element; packed pairs to packed pairs too.

    `saturation` is sat or satfinite; `rounding` rn, rz, rna, rni ...
    """

    name = "ptx.cvt"

    a: fields.Operand = fields.operand(REG)
    to: fields.String = fields.prop(StringAttr)
    source: fields.String = fields.prop(StringAttr)
    rounding: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    ftz: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    saturation: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    relu: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    result: fields.Result[RegType] = fields.typed_result(REG, type=_converted, init=False)

    traits = traits_def(Pure())

    def conversion(self) -> Conversion:
        """The entry of the table of conversions; raises `OpError` if there is none."""
        to, source = self.text("to"), self.text("source")
        found = CONVERSIONS.get((to, source))
        if found is None:
            raise self.error(f"does not convert {source} to {to}")
        return found

    def check(self) -> None:
        to, source = self.text("to"), self.text("source")
        _check_modifiers(self, self.conversion(), f"from {source} to {to}")
        check_kind(self, "its operand", self.a, *_kinds(source))
        check_kind(self, "its result", self.result, *_kinds(to))
        check_tuples(self, self.operands, self.result)
        check_tuples(self, (self.result,), self.a)

    def emit(self, out: Writer) -> None:
        head = f"{_cvt_head(self)}.{self.text('source')}"
        result, source = out.names(self.results[0]), out.registers(self._operands[0])
        for to, value in zip(result, source, strict=True):
            out.line(f"{head} {to}, {value}")


def _cvt_head(op: CvtOp | CvtPackOp) -> str:
    """`cvt` with its modifiers, up to the type converted to."""
    saturation, relu, to = op.text("saturation"), "relu" * op.flag("relu"), op.text("to")
    # `satfinite` and `relu` change places between bytes and halves.
    last = (saturation, relu) if to.startswith("e") else (relu, saturation)
    parts = ("cvt", op.text("rounding"), "ftz" * op.flag("ftz"), *last, to)
    return ".".join(part for part in parts if part)


def _check_modifiers(op: CvtOp | CvtPackOp, form: Conversion, where: str) -> None:
    check_keyword(op, "rounding", op.text("rounding"), form.roundings, where)
    check_keyword(op, "saturation", op.text("saturation"), form.saturations, where)
    allowed = ("ftz",) * form.ftz + ("relu",) * form.relu
    check_flags(op, ("ftz", "relu"), allowed, where)
    if op.flag("relu") and op.text("rounding") == "rna":
        raise op.error("has either relu or rounding rna")
    for flag, saturation in (("relu", "sat"), ("ftz", "satfinite")):
        if op.flag(flag) and op.text("saturation") == saturation:
            raise op.error(f"has either {flag} or {saturation}")


def _kinds(type: str) -> tuple[str, ...]:
    """Kinds of registers that hold a converted type; bytes are in wider ones."""
    if type in ("u8", "s8"):
        return ("b16", "b32")
    kind = CVT_KINDS[type]
    return (kind, f"b{kind[1:]}") if kind[0] == "f" else (kind,)


CVT_KINDS = {**TYPE_KINDS, "u8": "b16", "s8": "b16"}


@irdl_op_definition
class CvtPackOp(PtxOp):
    """`cvt.rn.bf16x2.f32 d, high, low`: neighbours of a tuple of f32 as packed pairs.

    Element 2i becomes the lower half of pair i, element 2i + 1 the upper one.
    """

    name = "ptx.cvt_pack"

    READS_FIRST: ClassVar[bool] = False
    a = operand_def(REG)
    to = prop_def(keyword("packed type", PACKINGS))
    rounding = prop_def(StringAttr)
    saturation = opt_prop_def(StringAttr)
    relu = opt_prop_def(UnitAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(
        self,
        a: Value,
        to: str,
        *,
        rounding: str = "rn",
        saturation: str | None = None,
        relu: bool = False,
    ) -> None:
        """`to` is f16x2, bf16x2 (b32 registers), e4m3x2 or e5m2x2 (b16, always satfinite)."""
        if saturation is None and to in ("e4m3x2", "e5m2x2"):
            saturation = "satfinite"
        self.fill(
            (a,),
            (reg(TYPE_KINDS[to], count_of(a) // 2),),
            to=to,
            rounding=rounding,
            saturation=saturation,
            relu=relu,
        )

    def check(self) -> None:
        to = self.text("to")
        _check_modifiers(self, PACKINGS[to], f"from f32 to {to}")
        check_type(self, "its operand", self.a, "f32")
        check_type(self, "its result", self.result, to)
        check_count(self, "its operand", self.a, 2 * count_of(self.result))

    def emit(self, out: Writer) -> None:
        head = f"{_cvt_head(self)}.f32"
        source = out.names(self._operands[0])
        for index, result in enumerate(out.names(self.results[0])):
            out.line(f"{head} {result}, {source[2 * index + 1]}, {source[2 * index]}")
