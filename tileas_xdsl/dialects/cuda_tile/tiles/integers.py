"""Arithmetic on tiles of integers, element by element, bits included."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import NoMemoryEffect, Pure

from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op, tile_function
from tileas_xdsl.dialects.cuda_tile.constraints import I1_TILE, INT_TILE
from tileas_xdsl.dialects.cuda_tile.enums import (
    ComparisonPredicateAttr,
    IntegerOverflow,
    IntegerOverflowAttr,
    RoundingMode,
    RoundingModeAttr,
    Signedness,
    SignednessAttr,
)
from tileas_xdsl.dialects.cuda_tile.matches import COMPARISON, same_shape, same_type
from tileas_xdsl.dialects.cuda_tile.syntax.directives import (
    DivisionDirection,
    Overflow,
    Predicate,
    SameType2,
    SameType3,
    Signed,
    Type,
)

WRAPS = IntegerOverflowAttr(IntegerOverflow.NONE)
"""Nothing is known about wrap-around."""

_TYPE = "attr-dict `:` custom<SameType3>(type($lhs), type($rhs), type($result))"
_PLAIN = f"$lhs `,` $rhs {_TYPE}"
_OVERFLOW = f"$lhs `,` $rhs custom<Overflow>($overflow) {_TYPE}"
_SIGNED = f"$lhs `,` $rhs custom<Signed>($signedness) {_TYPE}"


class _BinaryOp(CudaTileOp):
    """Two integers make one."""

    lhs = operand_def(INT_TILE)
    rhs = operand_def(INT_TILE)
    result = result_def(INT_TILE)

    traits = traits_def(Pure())
    custom_directives = (DivisionDirection, Overflow, SameType3, Signed)
    MATCHES: ClassVar = (same_type("lhs", "rhs", "result"),)
    assembly_format = _PLAIN


class WrappingOp(_BinaryOp):
    """An operation of which one may know that it does not wrap around."""

    overflow = opt_prop_def(IntegerOverflowAttr, WRAPS)
    assembly_format = _OVERFLOW


AddIOp = tile_function(WrappingOp, "AddIOp", "addi", "`lhs + rhs`.")
SubIOp = tile_function(WrappingOp, "SubIOp", "subi", "`lhs - rhs`.")
MulIOp = tile_function(WrappingOp, "MulIOp", "muli", "`lhs * rhs`, its low half.")
ShLIOp = tile_function(
    WrappingOp, "ShLIOp", "shli", "`lhs` shifted left by `rhs` bits, which is read as unsigned."
)


AndIOp = tile_function(_BinaryOp, "AndIOp", "andi", "The bits that both have.")
OrIOp = tile_function(_BinaryOp, "OrIOp", "ori", "The bits that one has.")
XOrIOp = tile_function(_BinaryOp, "XOrIOp", "xori", "The bits that exactly one has.")


class SignedOp(_BinaryOp):
    """An operation that depends on how its integers are read."""

    signedness = prop_def(SignednessAttr)
    assembly_format = _SIGNED


MaxIOp = tile_function(SignedOp, "MaxIOp", "maxi", "The larger one.")
MinIOp = tile_function(SignedOp, "MinIOp", "mini", "The smaller one.")
ShRIOp = tile_function(
    SignedOp, "ShRIOp", "shri", "`lhs` shifted right by `rhs` bits; zeros or the sign come in."
)


@cuda_tile_op
class RemIOp(CudaTileOp):
    """What a division towards zero leaves; it has the sign of `lhs`."""

    name = "cuda_tile.remi"

    lhs = operand_def(INT_TILE)
    rhs = operand_def(INT_TILE)
    signedness = prop_def(SignednessAttr)
    result = result_def(INT_TILE)

    traits = traits_def(NoMemoryEffect())
    custom_directives = (SameType3, Signed)
    MATCHES: ClassVar = (same_type("result", "lhs", "rhs"), same_shape("result", "lhs", "rhs"))
    assembly_format = _SIGNED


@cuda_tile_op
class DivIOp(CudaTileOp):
    """`lhs / rhs`, rounded towards zero or, by `rounding`, down or up."""

    name = "cuda_tile.divi"

    lhs = operand_def(INT_TILE)
    rhs = operand_def(INT_TILE)
    signedness = prop_def(SignednessAttr)
    rounding = opt_prop_def(RoundingModeAttr, RoundingModeAttr(RoundingMode.ZERO))
    result = result_def(INT_TILE)

    traits = traits_def(NoMemoryEffect())
    custom_directives = (DivisionDirection, SameType3, Signed)
    MATCHES: ClassVar = (same_type("lhs", "rhs", "result"),)
    assembly_format = (
        f"$lhs `,` $rhs custom<Signed>($signedness) custom<DivisionDirection>($rounding) {_TYPE}"
    )

    def check(self) -> None:
        if self.rounding.data not in DivisionDirection.MODES:
            raise self.refuse("cuda_tile.rounding.integer_division")
        down = self.rounding.data is RoundingMode.NEGATIVE_INF
        if down and self.signedness.data is Signedness.UNSIGNED:
            raise self.refuse("cuda_tile.rounding.down_unsigned")


@cuda_tile_op
class MulhiIOp(CudaTileOp):
    """The high half of the product of two unsigned integers."""

    name = "cuda_tile.mulhii"

    x = operand_def(INT_TILE)
    y = operand_def(INT_TILE)
    result = result_def(INT_TILE)

    traits = traits_def(Pure())
    custom_directives = (SameType3,)
    MATCHES: ClassVar = (same_type("x", "y", "result"),)
    assembly_format = "$x `,` $y attr-dict `:` custom<SameType3>(type($x), type($y), type($result))"


class _UnaryOp(CudaTileOp):
    """One integer makes one."""

    source = operand_def(INT_TILE)
    result = result_def(INT_TILE)

    traits = traits_def(Pure())
    custom_directives = (Overflow, SameType2)
    MATCHES: ClassVar = (same_type("source", "result"),)


@cuda_tile_op
class AbsIOp(_UnaryOp):
    """The absolute value of a signed integer, as an unsigned one."""

    name = "cuda_tile.absi"
    assembly_format = "$source attr-dict `:` custom<SameType2>(type($source), type($result))"


@cuda_tile_op
class NegIOp(_UnaryOp):
    """The signed integer with the other sign."""

    name = "cuda_tile.negi"

    overflow = opt_prop_def(IntegerOverflowAttr, WRAPS)

    assembly_format = (
        "$source custom<Overflow>($overflow) attr-dict"
        " `:` custom<SameType2>(type($source), type($result))"
    )

    def check(self) -> None:
        if self.overflow.data is IntegerOverflow.NUW:
            raise self.refuse("cuda_tile.negi.no_unsigned_wrap")


@cuda_tile_op
class CmpIOp(CudaTileOp):
    """Whether a relation holds."""

    name = "cuda_tile.cmpi"

    comparison_predicate = prop_def(ComparisonPredicateAttr)
    lhs = operand_def(INT_TILE)
    rhs = operand_def(INT_TILE)
    signedness = prop_def(SignednessAttr)
    result = result_def(I1_TILE)

    traits = traits_def(Pure())
    custom_directives = (Predicate, SameType2, Signed, Type)
    MATCHES: ClassVar = (same_type("lhs", "rhs"), COMPARISON)
    assembly_format = (
        "custom<Predicate>($comparison_predicate) $lhs `,` $rhs `,` custom<Signed>($signedness)"
        " attr-dict `:` custom<SameType2>(type($lhs), type($rhs)) `->` custom<Type>(type($result))"
    )
