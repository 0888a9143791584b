"""Functions of tiles of floats, element by element: roots, exponentials, trigonometry."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
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


@cuda_tile_op
class AbsFOp(_UnaryOp):
    """The absolute value."""

    name = "cuda_tile.absf"
    assembly_format = f"$source {_TYPE}"


@cuda_tile_op
class NegFOp(_UnaryOp):
    """The number with the other sign."""

    name = "cuda_tile.negf"
    assembly_format = f"$source {_TYPE}"


@cuda_tile_op
class CeilOp(_UnaryOp):
    """The smallest integer that is not smaller."""

    name = "cuda_tile.ceil"
    assembly_format = f"$source {_TYPE}"


@cuda_tile_op
class FloorOp(_UnaryOp):
    """The largest integer that is not larger."""

    name = "cuda_tile.floor"
    assembly_format = f"$source {_TYPE}"


@cuda_tile_op
class CosOp(_UnaryOp):
    """The cosine."""

    name = "cuda_tile.cos"
    assembly_format = f"$source {_TYPE}"


@cuda_tile_op
class CosHOp(_UnaryOp):
    """The hyperbolic cosine."""

    name = "cuda_tile.cosh"
    assembly_format = f"$source {_TYPE}"


@cuda_tile_op
class SinOp(_UnaryOp):
    """The sine."""

    name = "cuda_tile.sin"
    assembly_format = f"$source {_TYPE}"


@cuda_tile_op
class SinHOp(_UnaryOp):
    """The hyperbolic sine."""

    name = "cuda_tile.sinh"
    assembly_format = f"$source {_TYPE}"


@cuda_tile_op
class TanOp(_UnaryOp):
    """The tangent."""

    name = "cuda_tile.tan"
    assembly_format = f"$source {_TYPE}"


@cuda_tile_op
class LogOp(_UnaryOp):
    """The natural logarithm."""

    name = "cuda_tile.log"
    assembly_format = f"$source {_TYPE}"


@cuda_tile_op
class Log2Op(_UnaryOp):
    """The logarithm to the base 2."""

    name = "cuda_tile.log2"
    assembly_format = f"$source {_TYPE}"


class _FullOp(_UnaryOp):
    """A function that can be approximated."""

    rounding_mode = opt_prop_def(RoundingModeAttr, RoundingModeAttr(RoundingMode.FULL))

    def check(self) -> None:
        check_rounding(self, ("approx", "full"), "cuda_tile.rounding.full")
        check_approximation(self)


@cuda_tile_op
class ExpOp(_FullOp):
    """`e` to this power."""

    name = "cuda_tile.exp"
    assembly_format = f"$source custom<FullRounding>($rounding_mode) {_TYPE}"


@cuda_tile_op
class TanHOp(_FullOp):
    """The hyperbolic tangent."""

    name = "cuda_tile.tanh"
    assembly_format = f"$source custom<FullRounding>($rounding_mode) {_TYPE}"


class _FlushedOp(_UnaryOp):
    """A function that may flush small numbers to zero."""

    flush_to_zero = opt_prop_def(UnitAttr)

    def check(self) -> None:
        check_flush(self)


@cuda_tile_op
class Exp2Op(_FlushedOp):
    """2 to this power."""

    name = "cuda_tile.exp2"
    assembly_format = f"$source (`flush_to_zero` $flush_to_zero^)? {_TYPE}"


@cuda_tile_op
class RsqrtOp(_FlushedOp):
    """One over the square root."""

    name = "cuda_tile.rsqrt"
    assembly_format = f"$source (`flush_to_zero` $flush_to_zero^)? {_TYPE}"


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
