"""Comparisons, selections and conversions; tuples element by element."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tileas_xdsl.dialects.ptx.base import REG, PtxOp, Value, count_of, elementwise
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.types import reg
from tileas_xdsl.target.ptx_isa.kinds import TYPE_KINDS


@irdl_op_definition
class SetpOp(PtxOp):
    """`setp`: whether `a comparison b`, then combined with another predicate."""

    name = "ptx.setp"

    READS_FIRST: ClassVar[bool] = False
    a = operand_def(REG)
    b = operand_def(REG)
    other = opt_operand_def(REG)
    comparison = prop_def(StringAttr)
    type = prop_def(StringAttr)
    combine = opt_prop_def(StringAttr)
    ftz = opt_prop_def(UnitAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(
        self,
        a: Value,
        b: Value,
        comparison: str,
        type: str,
        *,
        combine: str | None = None,
        other: Value | None = None,
        ftz: bool = False,
    ) -> None:
        """`combine` is and, or or xor, with the predicate `other`."""
        super().__init__(
            (a, b, other),
            (reg("pred", max(count_of(a), count_of(b))),),
            comparison=comparison,
            type=type,
            combine=combine,
            ftz=ftz,
        )

    def emit(self, out: Writer) -> None:
        combine = self.text("combine")
        head = (
            f"setp.{self.text('comparison')}{'.' * bool(combine)}{combine}"
            f"{'.ftz' * self.flag('ftz')}.{self.text('type')}"
        )
        elementwise(out, head, self.results[0], *self._operands)


@irdl_op_definition
class SelpOp(PtxOp):
    """`selp`: a where the predicate holds, else b."""

    name = "ptx.selp"

    READS_FIRST: ClassVar[bool] = False
    a = operand_def(REG)
    b = operand_def(REG)
    condition = operand_def(REG)
    type = prop_def(StringAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, a: Value, b: Value, condition: Value, type: str) -> None:
        count = max(count_of(a), count_of(b), count_of(condition))
        super().__init__((a, b, condition), (reg(TYPE_KINDS[type], count),), type=type)

    def emit(self, out: Writer) -> None:
        elementwise(out, f"selp.{self.text('type')}", self.results[0], *self._operands)


@irdl_op_definition
class CvtOp(PtxOp):
    """`cvt`: one type to another, element by element; packed pairs to packed pairs too."""

    name = "ptx.cvt"

    READS_FIRST: ClassVar[bool] = False
    a = operand_def(REG)
    to = prop_def(StringAttr)
    source = prop_def(StringAttr)
    rounding = opt_prop_def(StringAttr)
    ftz = opt_prop_def(UnitAttr)
    saturation = opt_prop_def(StringAttr)
    relu = opt_prop_def(UnitAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(
        self,
        a: Value,
        to: str,
        source: str,
        *,
        rounding: str | None = None,
        ftz: bool = False,
        saturation: str | None = None,
        relu: bool = False,
    ) -> None:
        """`saturation` is sat or satfinite; `rounding` rn, rz, rna, rni ..."""
        super().__init__(
            (a,),
            (reg(CVT_KINDS[to], count_of(a)),),
            to=to,
            source=source,
            rounding=rounding,
            ftz=ftz,
            saturation=saturation,
            relu=relu,
        )

    def head(self) -> str:
        """The instruction with its modifiers."""
        parts = ["cvt", self.text("rounding"), "ftz" * self.flag("ftz")]
        saturation, relu = self.text("saturation"), "relu" * self.flag("relu")
        # Between floats `relu` stands first where both are there.
        parts += [relu, saturation] if saturation == "satfinite" and "x2" not in self.text("to") else [saturation, relu]
        return ".".join(part for part in (*parts, self.text("to"), self.text("source")) if part)

    def emit(self, out: Writer) -> None:
        elementwise(out, self.head(), self.results[0], self._operands[0])


CVT_KINDS = {**TYPE_KINDS, "u8": "b16", "s8": "b16"}


@irdl_op_definition
class CvtPackOp(PtxOp):
    """`cvt.rn.bf16x2.f32 d, high, low`: neighbours of a tuple of f32 as packed pairs.

    Element 2i becomes the lower half of pair i, element 2i + 1 the upper one.
    """

    name = "ptx.cvt_pack"

    READS_FIRST: ClassVar[bool] = False
    a = operand_def(REG)
    to = prop_def(StringAttr)
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
        super().__init__(
            (a,),
            (reg(TYPE_KINDS[to], count_of(a) // 2),),
            to=to,
            rounding=rounding,
            saturation=saturation,
            relu=relu,
        )

    def emit(self, out: Writer) -> None:
        to, saturation = self.text("to"), self.text("saturation")
        relu = ".relu" * self.flag("relu")
        head = f"cvt.{self.text('rounding')}{'.' * bool(saturation)}{saturation}{relu}.{to}.f32"
        source = out.names(self._operands[0])
        for index, result in enumerate(out.names(self.results[0])):
            out.line(f"{head} {result}, {source[2 * index + 1]}, {source[2 * index]}")


OPERATIONS = (SetpOp, SelpOp, CvtOp, CvtPackOp)
