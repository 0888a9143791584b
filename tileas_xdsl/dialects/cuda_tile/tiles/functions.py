"""Functions of tiles of floats, element by element: roots, exponentials, trigonometry."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op, tile_function
from tileas_xdsl.dialects.cuda_tile.constraints import BASE_FLOAT_TILE, EXPONENT_TILE
from tileas_xdsl.dialects.cuda_tile.enums import RoundingMode, RoundingModeAttr
from tileas_xdsl.dialects.cuda_tile.matches import same_shape, same_type
from tileas_xdsl.dialects.cuda_tile.syntax.directives import (
    IEEE,
    FullRounding,
    SameType2,
    SameType3,
    SqrtRounding,
    Type,
)
from tileas_xdsl.dialects.cuda_tile.tiles.modifiers import (
    check_approximation,
    check_flush,
    check_rounding,
)

_TYPE = "attr-dict `:` custom<SameType2>(type($source), type($result))"


class _UnaryOp(CudaTileOp):
    """A function of one float."""

    source = operand_def(BASE_FLOAT_TILE)
    result = result_def(BASE_FLOAT_TILE)

    traits = traits_def(Pure())
    custom_directives = (FullRounding, SameType2, SqrtRounding)
    MATCHES: ClassVar = (same_type("source", "result"),)
    assembly_format = f"$source {_TYPE}"


AbsFOp = tile_function(_UnaryOp, "AbsFOp", "absf", "The absolute value.")
NegFOp = tile_function(_UnaryOp, "NegFOp", "negf", "The number with the other sign.")
CeilOp = tile_function(_UnaryOp, "CeilOp", "ceil", "The smallest integer that is not smaller.")
FloorOp = tile_function(_UnaryOp, "FloorOp", "floor", "The largest integer that is not larger.")
CosOp = tile_function(_UnaryOp, "CosOp", "cos", "The cosine.")
CosHOp = tile_function(_UnaryOp, "CosHOp", "cosh", "The hyperbolic cosine.")
SinOp = tile_function(_UnaryOp, "SinOp", "sin", "The sine.")
SinHOp = tile_function(_UnaryOp, "SinHOp", "sinh", "The hyperbolic sine.")
TanOp = tile_function(_UnaryOp, "TanOp", "tan", "The tangent.")
LogOp = tile_function(_UnaryOp, "LogOp", "log", "The natural logarithm.")
Log2Op = tile_function(_UnaryOp, "Log2Op", "log2", "The logarithm to the base 2.")


class _FullOp(_UnaryOp):
    """A function that can be approximated."""

    rounding_mode = opt_prop_def(RoundingModeAttr, RoundingModeAttr(RoundingMode.FULL))

    assembly_format = f"$source custom<FullRounding>($rounding_mode) {_TYPE}"

    def check(self) -> None:
        check_rounding(self, ("approx", "full"), "cuda_tile.rounding.full")
        check_approximation(self)


ExpOp = tile_function(_FullOp, "ExpOp", "exp", "`e` to this power.")
TanHOp = tile_function(_FullOp, "TanHOp", "tanh", "The hyperbolic tangent.")


class _FlushedOp(_UnaryOp):
    """A function that may flush small numbers to zero."""

    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = f"$source (`flush_to_zero` $flush_to_zero^)? {_TYPE}"

    def check(self) -> None:
        check_flush(self)


Exp2Op = tile_function(_FlushedOp, "Exp2Op", "exp2", "2 to this power.")
RsqrtOp = tile_function(_FlushedOp, "RsqrtOp", "rsqrt", "One over the square root.")


@cuda_tile_op
class SqrtOp(_UnaryOp):
    """The square root."""

    name = "cuda_tile.sqrt"

    rounding_mode = prop_def(RoundingModeAttr)
    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = (
        f"$source custom<SqrtRounding>($rounding_mode) (`flush_to_zero` $flush_to_zero^)? {_TYPE}"
    )

    def check(self) -> None:
        check_rounding(self, (*IEEE, "approx"), "cuda_tile.rounding.sqrt")
        check_flush(self)
        check_approximation(self)


@cuda_tile_op
class Atan2Op(CudaTileOp):
    """The angle of the point whose tangent is `x / y`, in its quadrant."""

    name = "cuda_tile.atan2"

    x = operand_def(BASE_FLOAT_TILE)
    y = operand_def(BASE_FLOAT_TILE)
    result = result_def(BASE_FLOAT_TILE)

    traits = traits_def(Pure())
    custom_directives = (SameType3,)
    MATCHES: ClassVar = (same_type("x", "y", "result"),)
    assembly_format = "$x `,` $y attr-dict `:` custom<SameType3>(type($x), type($y), type($result))"


@cuda_tile_op
class FPowFOp(CudaTileOp):
    """`source` to the power `exponent`; it was named `pow` before 13.4."""

    name = "cuda_tile.fpowf"

    source = operand_def(BASE_FLOAT_TILE)
    exponent = operand_def(BASE_FLOAT_TILE)
    result = result_def(BASE_FLOAT_TILE)

    traits = traits_def(Pure())
    custom_directives = (SameType3,)
    MATCHES: ClassVar = (same_type("result", "source", "exponent"),)
    assembly_format = (
        "$source `,` $exponent attr-dict"
        " `:` custom<SameType3>(type($source), type($exponent), type($result))"
    )


@cuda_tile_op
class FPowIOp(CudaTileOp):
    """`source` to an integer power, which is read as signed."""

    name = "cuda_tile.fpowi"

    source = operand_def(BASE_FLOAT_TILE)
    exponent = operand_def(EXPONENT_TILE)
    result = result_def(BASE_FLOAT_TILE)

    traits = traits_def(Pure())
    custom_directives = (SameType2, Type)
    MATCHES: ClassVar = (same_type("result", "source"), same_shape("source", "exponent"))
    assembly_format = (
        "$source `,` $exponent attr-dict `:` custom<SameType2>(type($source), type($result))"
        " `,` custom<Type>(type($exponent))"
    )
