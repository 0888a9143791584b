"""From one element type to another: floats, bits and addresses."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType, i64
from xdsl.ir import Attribute
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.utils.hints import isa

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileaa.base import check_shape, element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import float_mode
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op


class ConversionOp(TileasOp):
    """A value, or each element of a tile, as another type."""

    source: fields.Operand = fields.operand()
    result: fields.Result[Attribute] = fields.typed_result(alias="result_type")

    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def check_elements(self, source: Attribute, result: Attribute) -> str | None:
        """What is wrong with the element types, None if nothing is."""
        raise TypeError("is of a conversion")

    def verify_(self) -> None:
        check_shape(self, "the result", self.result.type, shape_of(self.source.type))
        problem = self.check_elements(*(element_of(v.type) for v in (self.source, self.result)))
        if problem is not None:
            raise op_error(self, problem)


@tileas_op
class FpToFpOp(ConversionOp):
    """A number of another float type: to nearest even, or as `nv_tileas.rounding` says."""

    name = "nv_tileaa.fp_to_fp"

    def check_elements(self, source: Attribute, result: Attribute) -> str | None:
        float_mode(self)
        if isa(source, AnyFloat) and isa(result, AnyFloat) and source != result:
            return None
        return f"converts floats to floats of another type, not {source} to {result}"


@tileas_op
class BitcastOp(ConversionOp):
    """The same bits as another type; a pointer stays one."""

    name = "nv_tileaa.bitcast"

    def check_elements(self, source: Attribute, result: Attribute) -> str | None:
        if isinstance(source, PtrType) and isinstance(result, PtrType):
            same = source.address_space == result.address_space
            return None if same else f"{source} and {result} are pointers to different memories"
        bits = [e.bitwidth for e in (source, result) if isinstance(e, FixedBitwidthType)]
        if len(bits) == len(set(bits)) + 1:
            return None
        return f"reads the bits of {source} as as many, not as {result}"


@tileas_op
class IntToPtrOp(ConversionOp):
    """Numbers of 64 bits as addresses."""

    name = "nv_tileaa.int_to_ptr"

    def check_elements(self, source: Attribute, result: Attribute) -> str | None:
        if source == i64 and isinstance(result, PtrType):
            return None
        return f"makes pointers of i64, not {result} of {source}"


@tileas_op
class PtrToIntOp(ConversionOp):
    """Addresses as numbers of 64 bits."""

    name = "nv_tileaa.ptr_to_int"

    def check_elements(self, source: Attribute, result: Attribute) -> str | None:
        if result == i64 and isinstance(source, PtrType):
            return None
        return f"makes i64 of pointers, not {result} of {source}"
