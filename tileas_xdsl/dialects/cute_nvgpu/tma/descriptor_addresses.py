"""Addresses of tensor maps as values."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.irdl import result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute_nvgpu.atoms.tma_copies import DESCRIPTOR
from tileas_xdsl.dialects.cute_nvgpu.types import TmaDescriptorIm2colType, TmaDescriptorTiledType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = [
    "CastTmaDescToIntegerOp",
    "GetGridConstantPointerOp",
    "GetTmaDescAddrOp",
]


class _OfMapOp(FieldsOp):
    """Something of a tensor map that is an argument of the kernel."""

    desc: fields.Operand = fields.operand()

    assembly_format = "$desc attr-dict `:` type($desc)"

    def verify_(self) -> None:
        if not isinstance(self.desc.type, TmaDescriptorTiledType | TmaDescriptorIm2colType):
            raise op_error(self, f"expects a tensor map, but got {self.desc.type}")


@irdl_op_definition
class GetTmaDescAddrOp(_OfMapOp):
    """The address of a tensor map, as atoms of TMA take it."""

    name = "cute_nvgpu.get_tma_desc_addr"

    result = result_def(DESCRIPTOR)
    traits = traits_def(Pure())


@irdl_op_definition
class GetGridConstantPointerOp(_OfMapOp):
    """The address of an argument that all blocks share, which are tensor maps."""

    name = "cute_nvgpu.get_grid_constant_pointer"

    result = result_def(DESCRIPTOR)
    traits = traits_def(Pure())


@irdl_op_definition
class CastTmaDescToIntegerOp(_OfMapOp):
    """The address of a tensor map as a number."""

    name = "cute_nvgpu.cast_tma_desc_to_integer"

    result = result_def(i64)
    traits = traits_def(Pure())
