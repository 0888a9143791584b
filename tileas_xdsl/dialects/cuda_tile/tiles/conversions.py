"""From one element type to another: numbers, bits and addresses."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import (
    Float8E8M0FNUType,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    UnitAttr,
)
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
from tileas_xdsl.dialects.cuda_tile.constraints import (
    FLOAT_TILE,
    I8_TILE,
    I64_TILE,
    INT_OR_I4_TILE,
    INT_TILE,
    NUMBER_OR_I4_TILE,
    NUMBER_TILE,
    POINTER_TILE,
)
from tileas_xdsl.dialects.cuda_tile.enums import (
    IntegerOverflowAttr,
    RoundingMode,
    RoundingModeAttr,
    SignednessAttr,
)
from tileas_xdsl.dialects.cuda_tile.matches import same_rank, same_shape
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.syntax.directives import (
    IEEE,
    IEEERounding,
    IntegerRounding,
    Overflow,
    Signed,
    Type,
)
from tileas_xdsl.dialects.cuda_tile.tiles.integers import WRAPS
from tileas_xdsl.dialects.cuda_tile.types.scalars import bit_width, widens
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TileType, element_of

_FROM_TO = "attr-dict `:` custom<Type>(type($from_)) `->` custom<Type>(type($to))"
_SOURCE_RESULT = "attr-dict `:` custom<Type>(type($source)) `->` custom<Type>(type($result))"


class _ConversionOp(CudaTileOp):
    """The value stays nearly the same, its type changes."""

    traits = traits_def(Pure())
    custom_directives = (IEEERounding, IntegerRounding, Overflow, Signed, Type)
    MATCHES: ClassVar = (same_shape("from_", "to"),)


def _widths(op: CudaTileOp) -> tuple[int, int]:
    source, result = (element_of(value.type) for value in (*op.operands, *op.results))
    return bit_width(source), bit_width(result)


@cuda_tile_op
class ExtIOp(_ConversionOp):
    """A wider integer; signed ones are extended by their sign."""

    name = "cuda_tile.exti"

    from_ = operand_def(INT_OR_I4_TILE)
    signedness = prop_def(SignednessAttr)
    to = result_def(INT_OR_I4_TILE)

    assembly_format = f"$from_ custom<Signed>($signedness) {_FROM_TO}"

    def check(self) -> None:
        source, result = _widths(self)
        if result <= source:
            raise self.refuse("cuda_tile.exti.width")


@cuda_tile_op
class TruncIOp(_ConversionOp):
    """A narrower integer: the low bits."""

    name = "cuda_tile.trunci"

    from_ = operand_def(INT_OR_I4_TILE)
    overflow = opt_prop_def(IntegerOverflowAttr, WRAPS)
    to = result_def(INT_OR_I4_TILE)

    assembly_format = f"$from_ custom<Overflow>($overflow) {_FROM_TO}"

    def check(self) -> None:
        source, result = _widths(self)
        if result >= source:
            raise self.refuse("cuda_tile.trunci.width")


@cuda_tile_op
class IToFOp(_ConversionOp):
    """The float that is nearest to an integer."""

    name = "cuda_tile.itof"

    from_ = operand_def(INT_TILE)
    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(RoundingModeAttr)
    to = result_def(FLOAT_TILE)

    assembly_format = (
        f"$from_ custom<Signed>($signedness) custom<IEEERounding>($rounding_mode) {_FROM_TO}"
    )

    def check(self) -> None:
        if isinstance(element_of(self.to.type), Float8E8M0FNUType):
            raise self.refuse("cuda_tile.itof.f8e8m0fnu")
        if self.rounding_mode.data is not RoundingMode.NEAREST_EVEN:
            raise self.refuse("cuda_tile.rounding.nearest_even")


@cuda_tile_op
class FToIOp(_ConversionOp):
    """Convert a float to an integer, rounding towards zero; `saturating` clamps to the range."""

    name = "cuda_tile.ftoi"

    from_ = operand_def(FLOAT_TILE)
    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(RoundingModeAttr)
    saturating = opt_prop_def(UnitAttr)
    to = result_def(INT_TILE)

    assembly_format = (
        "$from_ custom<Signed>($signedness) custom<IntegerRounding>($rounding_mode)"
        f" (`saturating` $saturating^)? {_FROM_TO}"
    )

    def check(self) -> None:
        if self.rounding_mode.data is not RoundingMode.NEAREST_INT_TO_ZERO:
            raise self.refuse("cuda_tile.rounding.nearest_int_to_zero")


@cuda_tile_op
class FToFOp(_ConversionOp):
    """Another float type; which roundings there are depends on both types."""

    name = "cuda_tile.ftof"

    from_ = operand_def(FLOAT_TILE)
    rounding_mode = opt_prop_def(RoundingModeAttr, RoundingModeAttr(RoundingMode.NEAREST_EVEN))
    to = result_def(FLOAT_TILE)

    assembly_format = f"$from_ custom<IEEERounding>($rounding_mode) {_FROM_TO}"

    def check(self) -> None:
        if self.from_.type == self.to.type:
            raise self.refuse("cuda_tile.ftof.no_op")
        modes, key = _float_rule(element_of(self.from_.type), element_of(self.to.type))
        if self.rounding_mode.data not in modes:
            raise self.refuse(key)

    @property
    def rounds_as_in_13_3(self) -> bool:
        """Whether 13.3 has its rounding: to nearest even, and the two of `f8E8M0FNU`."""
        to_powers_of_two = isinstance(element_of(self.to.type), Float8E8M0FNUType)
        return to_powers_of_two or self.rounding_mode.data is RoundingMode.NEAREST_EVEN


def _float_rule(source: Attribute, result: Attribute) -> tuple[tuple[str, ...], str]:
    """The roundings of a conversion between floats, and the message for others.

    The first rule that fits holds: the table of `ftof` in `Ops.td`.
    """
    if isinstance(result, Float8E8M0FNUType):
        return ("zero", "positive_inf"), "cuda_tile.ftof.f8e8m0fnu"
    if bit_width(result) < 16:
        return ("nearest_even",), "cuda_tile.ftof.low_precision"
    if widens(source, result):
        return (*IEEE, "nearest_away"), "cuda_tile.ftof.widening"
    if isinstance(source, Float64Type) and isinstance(result, Float32Type):
        return IEEE, "cuda_tile.ftof.f64_f32"
    if isinstance(source, Float32Type) and isinstance(result, FloatTF32Type):
        return ("nearest_even", "zero", "nearest_away"), "cuda_tile.ftof.f32_tf32"
    return ("nearest_even", "zero"), "cuda_tile.ftof.narrowing"


@cuda_tile_op
class BitcastOp(CudaTileOp):
    """The same bits of each element as another number."""

    name = "cuda_tile.bitcast"

    source = operand_def(NUMBER_TILE)
    result = result_def(NUMBER_TILE)

    traits = traits_def(Pure())
    custom_directives = (Type,)
    MATCHES: ClassVar = (same_shape("source", "result"),)
    assembly_format = f"$source {_SOURCE_RESULT}"

    def check(self) -> None:
        source, result = _widths(self)
        if source != result:
            types = quoted(self.source.type), source, quoted(self.result.type), result
            raise self.refuse(
                "cuda_tile.bitcast.width",
                source=types[0],
                source_width=types[1],
                result=types[2],
                result_width=types[3],
            )


class _PointerCastOp(CudaTileOp):
    """From or to addresses."""

    traits = traits_def(Pure())
    custom_directives = (Type,)
    MATCHES: ClassVar = (same_shape("source", "result"),)


@cuda_tile_op
class IntToPtrOp(_PointerCastOp):
    """An integer as an address."""

    name = "cuda_tile.int_to_ptr"

    source = operand_def(I64_TILE)
    result = result_def(POINTER_TILE)

    assembly_format = f"$source {_SOURCE_RESULT}"


@cuda_tile_op
class PtrToIntOp(_PointerCastOp):
    """An address as an integer."""

    name = "cuda_tile.ptr_to_int"

    source = operand_def(POINTER_TILE)
    result = result_def(I64_TILE)

    assembly_format = f"$source {_SOURCE_RESULT}"


@cuda_tile_op
class PtrToPtrOp(_PointerCastOp):
    """The same address of elements of another type."""

    name = "cuda_tile.ptr_to_ptr"

    source = operand_def(POINTER_TILE)
    result = result_def(POINTER_TILE)

    assembly_format = f"$source {_SOURCE_RESULT}"


def _bits(type_: Attribute) -> int:
    """What a tile takes in memory; `tf32` takes 32 bits."""
    assert isinstance(type_, TileType)
    element = type_.element_type
    return type_.size * (32 if isinstance(element, FloatTF32Type) else bit_width(element))


class _BytesOp(CudaTileOp):
    """A tile of rank 1 as bytes, or the other way round."""

    traits = traits_def(Pure())
    custom_directives = (Type,)
    MATCHES: ClassVar = (same_rank("source", "result"),)

    def check(self) -> None:
        source, result = self.operands[0].type, self.results[0].type
        assert isinstance(source, TileType)
        if source.rank != 1:
            raise self.refuse("cuda_tile.pack.rank")
        widths = _widths(self)
        if widths[0] == widths[1]:
            raise self.refuse("cuda_tile.pack.same_width")
        for type_, key in (
            (source, "cuda_tile.pack.source_bytes"),
            (result, "cuda_tile.pack.result_bytes"),
        ):
            if _bits(type_) % 8:
                raise self.refuse(key)
        if _bits(source) != _bits(result):
            raise self.refuse(
                "cuda_tile.pack.size", source=_bits(source) // 8, result=_bits(result) // 8
            )


@cuda_tile_op
class PackOp(_BytesOp):
    """The bytes of a tile of numbers."""

    name = "cuda_tile.pack"

    source = operand_def(NUMBER_OR_I4_TILE)
    result = result_def(I8_TILE)

    assembly_format = f"$source {_SOURCE_RESULT}"


@cuda_tile_op
class UnpackOp(_BytesOp):
    """The tile of numbers that has these bytes."""

    name = "cuda_tile.unpack"

    source = operand_def(I8_TILE)
    result = result_def(NUMBER_OR_I4_TILE)

    assembly_format = f"$source {_SOURCE_RESULT}"
