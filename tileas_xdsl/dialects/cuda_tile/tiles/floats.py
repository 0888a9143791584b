"""Arithmetic on tiles of floats, element by element."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects.canonicalized import Canonicalized
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op, tile_function
from tileas_xdsl.dialects.cuda_tile.constraints import BASE_FLOAT_TILE, I1_TILE
from tileas_xdsl.dialects.cuda_tile.enums import (
    ComparisonOrderingAttr,
    ComparisonPredicateAttr,
    RoundingModeAttr,
)
from tileas_xdsl.dialects.cuda_tile.matches import COMPARISON, same_type
from tileas_xdsl.dialects.cuda_tile.syntax.directives import (
    IEEE,
    DivisionRounding,
    Extremes,
    IEEERounding,
    Ordering,
    Predicate,
    SameType2,
    SameType3,
    SameType4,
    Type,
)
from tileas_xdsl.dialects.cuda_tile.tiles.modifiers import (
    check_approximation,
    check_flush,
    check_full,
    check_rounding,
)

_BINARY = (
    "$lhs `,` $rhs custom<IEEERounding>($rounding_mode) (`flush_to_zero` $flush_to_zero^)?"
    " attr-dict `:` custom<SameType3>(type($lhs), type($rhs), type($result))"
)


class _RoundedOp(CudaTileOp):
    """Two floats make one; the rounding can be chosen."""

    lhs = operand_def(BASE_FLOAT_TILE)
    rhs = operand_def(BASE_FLOAT_TILE)
    rounding_mode = prop_def(RoundingModeAttr)
    flush_to_zero = opt_prop_def(UnitAttr)
    result = result_def(BASE_FLOAT_TILE)

    traits = traits_def(Pure())
    custom_directives = (DivisionRounding, IEEERounding, SameType3)
    MATCHES: ClassVar = (same_type("lhs", "rhs", "result"),)

    def check(self) -> None:
        check_rounding(self, IEEE, "cuda_tile.rounding.ieee")
        check_flush(self)


@cuda_tile_op
class AddFOp(_RoundedOp):
    """`lhs + rhs`."""

    name = "cuda_tile.addf"
    traits = traits_def(Pure(), Canonicalized("cuda_tile.FLOAT_SUM_PATTERNS"))
    assembly_format = _BINARY


@cuda_tile_op
class SubFOp(_RoundedOp):
    """`lhs - rhs`."""

    name = "cuda_tile.subf"
    assembly_format = _BINARY


@cuda_tile_op
class MulFOp(_RoundedOp):
    """`lhs * rhs`."""

    name = "cuda_tile.mulf"
    assembly_format = _BINARY


@cuda_tile_op
class DivFOp(_RoundedOp):
    """`lhs / rhs`; `approx` and `full` are faster, with errors of at most 2 ulp."""

    name = "cuda_tile.divf"
    assembly_format = _BINARY.replace("IEEERounding", "DivisionRounding")

    def check(self) -> None:
        check_rounding(self, (*IEEE, "approx", "full"), "cuda_tile.rounding.division")
        check_flush(self)
        check_approximation(self)
        check_full(self)


@cuda_tile_op
class RemFOp(CudaTileOp):
    """`lhs - trunc(lhs / rhs) * rhs`: it has the sign of `lhs`."""

    name = "cuda_tile.remf"

    lhs = operand_def(BASE_FLOAT_TILE)
    rhs = operand_def(BASE_FLOAT_TILE)
    result = result_def(BASE_FLOAT_TILE)

    traits = traits_def(Pure())
    custom_directives = (SameType3,)
    MATCHES: ClassVar = (same_type("lhs", "rhs", "result"),)
    assembly_format = (
        "$lhs `,` $rhs attr-dict `:` custom<SameType3>(type($lhs), type($rhs), type($result))"
    )


@cuda_tile_op
class FmaOp(CudaTileOp):
    """`lhs * rhs + acc`, rounded once."""

    name = "cuda_tile.fma"

    lhs = operand_def(BASE_FLOAT_TILE)
    rhs = operand_def(BASE_FLOAT_TILE)
    acc = operand_def(BASE_FLOAT_TILE)
    rounding_mode = prop_def(RoundingModeAttr)
    flush_to_zero = opt_prop_def(UnitAttr)
    result = result_def(BASE_FLOAT_TILE)

    traits = traits_def(Pure())
    custom_directives = (IEEERounding, SameType4)
    MATCHES: ClassVar = (same_type("lhs", "rhs", "acc", "result"),)
    assembly_format = (
        "$lhs `,` $rhs `,` $acc custom<IEEERounding>($rounding_mode)"
        " (`flush_to_zero` $flush_to_zero^)? attr-dict"
        " `:` custom<SameType4>(type($lhs), type($rhs), type($acc), type($result))"
    )

    def check(self) -> None:
        check_rounding(self, IEEE, "cuda_tile.rounding.ieee")
        check_flush(self)


_EXTREME = (
    "$lhs `,` $rhs custom<Extremes>($flush_to_zero, $propagate_nan)"
    " attr-dict `:` custom<SameType3>(type($lhs), type($rhs), type($result))"
)


class ExtremeOp(CudaTileOp):
    """The smaller or the larger of two; a NaN counts only if both are or with `propagate_nan`."""

    lhs = operand_def(BASE_FLOAT_TILE)
    rhs = operand_def(BASE_FLOAT_TILE)
    propagate_nan = opt_prop_def(UnitAttr)
    flush_to_zero = opt_prop_def(UnitAttr)
    result = result_def(BASE_FLOAT_TILE)

    traits = traits_def(Pure())
    custom_directives = (Extremes, SameType3)
    MATCHES: ClassVar = (same_type("lhs", "rhs", "result"),)

    assembly_format = _EXTREME

    def check(self) -> None:
        check_flush(self)


MaxFOp = tile_function(ExtremeOp, "MaxFOp", "maxf", "The larger one; `+0.0` is larger than `-0.0`.")
MinFOp = tile_function(
    ExtremeOp, "MinFOp", "minf", "The smaller one; `-0.0` is smaller than `+0.0`."
)


@cuda_tile_op
class CmpFOp(CudaTileOp):
    """Whether a relation holds; with a NaN it does if it is `unordered`."""

    name = "cuda_tile.cmpf"

    comparison_predicate = prop_def(ComparisonPredicateAttr)
    comparison_ordering = prop_def(ComparisonOrderingAttr)
    lhs = operand_def(BASE_FLOAT_TILE)
    rhs = operand_def(BASE_FLOAT_TILE)
    result = result_def(I1_TILE)

    traits = traits_def(Pure())
    custom_directives = (Ordering, Predicate, SameType2, Type)
    MATCHES: ClassVar = (same_type("lhs", "rhs"), COMPARISON)
    assembly_format = (
        "custom<Predicate>($comparison_predicate) custom<Ordering>($comparison_ordering)"
        " $lhs `,` $rhs attr-dict `:` custom<SameType2>(type($lhs), type($rhs))"
        " `->` custom<Type>(type($result))"
    )
