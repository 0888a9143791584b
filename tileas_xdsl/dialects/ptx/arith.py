"""Arithmetic, logic and shifts on integers, floats and packed halves; tuples element by element."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects.ptx.base import REG, PtxOp, Value, count_of, elementwise
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.types import reg
from tileas_xdsl.target.ptx_isa.kinds import TYPE_KINDS

WIDE_KINDS = {"u16": "b32", "s16": "b32", "u32": "b64", "s32": "b64"}
"""Results of `mul.wide` and `mad.wide`."""


class ArithmeticOp(PtxOp):
    """Base: `name{.mode}{.rounding}{.ftz}{.NaN}{.sat}{.relu}.type d, operands`."""

    READS_FIRST: ClassVar[bool] = False
    type = prop_def(StringAttr)
    mode = opt_prop_def(StringAttr)
    rounding = opt_prop_def(StringAttr)
    ftz = opt_prop_def(UnitAttr)
    nan = opt_prop_def(UnitAttr)
    sat = opt_prop_def(UnitAttr)
    relu = opt_prop_def(UnitAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

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


_FLAGS = (("ftz", "ftz"), ("nan", "NaN"), ("sat", "sat"), ("relu", "relu"))


class UnaryOp(ArithmeticOp):
    """Base: one operand."""

    a = operand_def(REG)

    def __init__(
        self,
        a: Value,
        type: str,
        *,
        rounding: str | None = None,
        ftz: bool = False,
    ) -> None:
        super().__init__(
            (a,), (reg(_kind_of_result(self.name, type), count_of(a)),), type=type, rounding=rounding, ftz=ftz
        )


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
        kind = WIDE_KINDS[type] if mode == "wide" else TYPE_KINDS[type]
        super().__init__(
            (a, b),
            (reg(kind, max(count_of(a), count_of(b))),),
            type=type,
            mode=mode,
            rounding=rounding,
            ftz=ftz,
            nan=nan,
            sat=sat,
        )


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
        kind = WIDE_KINDS[type] if mode == "wide" else TYPE_KINDS[type]
        super().__init__(
            (a, b, c),
            (reg(kind, max(count_of(a), count_of(b), count_of(c))),),
            type=type,
            mode=mode,
            rounding=rounding,
            ftz=ftz,
            sat=sat,
            relu=relu,
        )


@irdl_op_definition
class AbsOp(UnaryOp):
    """`abs`: |a|."""

    name = "ptx.abs"


@irdl_op_definition
class NegOp(UnaryOp):
    """`neg`: -a."""

    name = "ptx.neg"


@irdl_op_definition
class NotOp(UnaryOp):
    """`not`: Bits of a inverted."""

    name = "ptx.not"


@irdl_op_definition
class PopcOp(UnaryOp):
    """`popc`: Number of set bits."""

    name = "ptx.popc"


@irdl_op_definition
class ClzOp(UnaryOp):
    """`clz`: Leading zeros."""

    name = "ptx.clz"


@irdl_op_definition
class BrevOp(UnaryOp):
    """`brev`: Bits in reverse."""

    name = "ptx.brev"


@irdl_op_definition
class SqrtOp(UnaryOp):
    """`sqrt`: Square root."""

    name = "ptx.sqrt"


@irdl_op_definition
class RcpOp(UnaryOp):
    """`rcp`: 1 / a."""

    name = "ptx.rcp"


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """`rsqrt`: 1 / sqrt(a)."""

    name = "ptx.rsqrt"


@irdl_op_definition
class Ex2Op(UnaryOp):
    """`ex2`: 2 to the power of a."""

    name = "ptx.ex2"


@irdl_op_definition
class Lg2Op(UnaryOp):
    """`lg2`: Logarithm to base 2."""

    name = "ptx.lg2"


@irdl_op_definition
class SinOp(UnaryOp):
    """`sin`: Sine."""

    name = "ptx.sin"


@irdl_op_definition
class CosOp(UnaryOp):
    """`cos`: Cosine."""

    name = "ptx.cos"


@irdl_op_definition
class TanhOp(UnaryOp):
    """`tanh`: Hyperbolic tangent."""

    name = "ptx.tanh"


@irdl_op_definition
class AddOp(BinaryOp):
    """`add`: a + b."""

    name = "ptx.add"


@irdl_op_definition
class SubOp(BinaryOp):
    """`sub`: a - b."""

    name = "ptx.sub"


@irdl_op_definition
class MulOp(BinaryOp):
    """`mul`: a * b; integers need the mode lo, hi or wide."""

    name = "ptx.mul"


@irdl_op_definition
class DivOp(BinaryOp):
    """`div`: a / b; floats need a rounding, approx or full."""

    name = "ptx.div"


@irdl_op_definition
class RemOp(BinaryOp):
    """`rem`: a modulo b, with the sign of a."""

    name = "ptx.rem"


@irdl_op_definition
class MinOp(BinaryOp):
    """`min`: The smaller one."""

    name = "ptx.min"


@irdl_op_definition
class MaxOp(BinaryOp):
    """`max`: The larger one."""

    name = "ptx.max"


@irdl_op_definition
class AndOp(BinaryOp):
    """`and`: a & b, also on predicates."""

    name = "ptx.and"


@irdl_op_definition
class OrOp(BinaryOp):
    """`or`: a | b, also on predicates."""

    name = "ptx.or"


@irdl_op_definition
class XorOp(BinaryOp):
    """`xor`: a ^ b, also on predicates."""

    name = "ptx.xor"


@irdl_op_definition
class ShlOp(BinaryOp):
    """`shl`: a << b, b of 32 bits."""

    name = "ptx.shl"


@irdl_op_definition
class ShrOp(BinaryOp):
    """`shr`: a >> b, b of 32 bits; signed types shift in the sign."""

    name = "ptx.shr"


@irdl_op_definition
class MadOp(TernaryOp):
    """`mad`: a * b + c; integers need the mode lo, hi or wide."""

    name = "ptx.mad"


@irdl_op_definition
class FmaOp(TernaryOp):
    """`fma`: a * b + c rounded once."""

    name = "ptx.fma"


@irdl_op_definition
class BfeOp(TernaryOp):
    """`bfe`: Bits [b, b + c) of a."""

    name = "ptx.bfe"


@irdl_op_definition
class PrmtOp(TernaryOp):
    """`prmt`: Four bytes of a and b, picked by the digits of c."""

    name = "ptx.prmt"


@irdl_op_definition
class BfiOp(PtxOp):
    """`bfi`: b with its bits [position, position + length) replaced by the low ones of a."""

    name = "ptx.bfi"

    READS_FIRST: ClassVar[bool] = False
    a = operand_def(REG)
    b = operand_def(REG)
    position = operand_def(REG)
    length = operand_def(REG)
    type = prop_def(StringAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(
        self, a: Value, b: Value, position: Value, length: Value, type: str = "b32"
    ) -> None:
        super().__init__((a, b, position, length), (reg(type, count_of(b)),), type=type)

    def emit(self, out: Writer) -> None:
        elementwise(out, f"bfi.{self.text('type')}", self.results[0], *self._operands)


@irdl_op_definition
class Lop3Op(PtxOp):
    """`lop3.b32`: any function of three bits; bit 4 * a + 2 * b + c of `table` is its value."""

    name = "ptx.lop3"

    READS_FIRST: ClassVar[bool] = False
    a = operand_def(REG)
    b = operand_def(REG)
    c = operand_def(REG)
    table = prop_def(IntegerAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, a: Value, b: Value, c: Value, table: int) -> None:
        count = max(count_of(a), count_of(b), count_of(c))
        super().__init__((a, b, c), (reg("b32", count),), table=table)

    def emit(self, out: Writer) -> None:
        tail = f", {self.number('table')}"
        elementwise(out, "lop3.b32", self.results[0], *self._operands, tail=tail)


@irdl_op_definition
class ShfOp(PtxOp):
    """`shf`: the 64 bits of high and low shifted by a count, 32 of them kept."""

    name = "ptx.shf"

    READS_FIRST: ClassVar[bool] = False
    low = operand_def(REG)
    high = operand_def(REG)
    amount = operand_def(REG)
    direction = prop_def(StringAttr)
    mode = prop_def(StringAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(
        self, low: Value, high: Value, amount: Value, direction: str, mode: str = "wrap"
    ) -> None:
        """`direction` is l or r, `mode` wrap or clamp."""
        count = max(count_of(low), count_of(high), count_of(amount))
        super().__init__(
            (low, high, amount), (reg("b32", count),), direction=direction, mode=mode
        )

    def emit(self, out: Writer) -> None:
        head = f"shf.{self.text('direction')}.{self.text('mode')}.b32"
        elementwise(out, head, self.results[0], *self._operands)


OPERATIONS = (
    AbsOp,
    NegOp,
    NotOp,
    PopcOp,
    ClzOp,
    BrevOp,
    SqrtOp,
    RcpOp,
    RsqrtOp,
    Ex2Op,
    Lg2Op,
    SinOp,
    CosOp,
    TanhOp,
    AddOp,
    SubOp,
    MulOp,
    DivOp,
    RemOp,
    MinOp,
    MaxOp,
    AndOp,
    OrOp,
    XorOp,
    ShlOp,
    ShrOp,
    MadOp,
    FmaOp,
    BfeOp,
    PrmtOp,
    BfiOp,
    Lop3Op,
    ShfOp,
)
