"""Tensor maps that the device changes (PTX ISA 9.7.9.28, 9.7.13.19): in shared memory, field by field.

A warp copies a template, one thread puts in address, extents and strides, the warp publishes the map
in global memory, and every thread that gives it to TMA acquires it before.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i1, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import result_def

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.base.checks import pointer_to
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.dialects.cute_nvgpu.types import TmaDescriptorTiledType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.target.tma.tensor_map import MAX_RANK

__all__ = ["AcquireTmaDescOp", "CopyTmaDescOp", "PublishTmaDescOp", "UpdateTmaDescOp"]

MAP_ALIGNMENT = 128

UPDATED: Mapping[str, Attribute | None] = {
    "global_address": None,
    "global_dim": i32,
    "global_stride": i64,
}
"""The fields that a device changes, in the order in which it does, and the types of their values;
an address is a pointer.  `tensormap.replace` has more, which stay as the template has them."""

_LIMITS: Mapping[str, int] = {"global_dim": MAX_RANK, "global_stride": MAX_RANK - 1}
"""How many there are of a field of dimensions."""


@irdl_op_definition
class CopyTmaDescOp(FieldsOp):
    """The warp copies a tensor map to shared memory, and synchronises.

    The map is an argument of the kernel, or bytes in global memory that `desc` points to.
    """

    name = "cute_nvgpu.copy_tma_desc"

    desc: fields.Operand = fields.operand()
    smem: fields.Operand = fields.operand()

    assembly_format = "$desc `to` $smem attr-dict `:` type($desc) `,` type($smem)"

    def verify_(self) -> None:
        if not isinstance(self.desc.type, TmaDescriptorTiledType):
            pointer_to(self, self.desc, "template", AddressSpace.GMEM, MAP_ALIGNMENT)
        pointer_to(self, self.smem, "map", AddressSpace.SMEM, MAP_ALIGNMENT)


@irdl_op_definition
class UpdateTmaDescOp(FieldsOp):
    """Changes one field of a tensor map in shared memory: address, an extent or a stride in bytes.

    Extents count from the innermost dimension, strides from the one after it.
    """

    name = "cute_nvgpu.update_tma_desc"

    field: fields.String = fields.prop(StringAttr)
    smem: fields.Operand = fields.operand()
    value: fields.Operand = fields.operand()
    ordinal: fields.OptInt = fields.opt_prop(IntegerAttr.constr(i32), default=None)
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)

    assembly_format = (
        "$field (`,` $ordinal^)? `of` $smem `,` $value (`if` $pred^)? attr-dict"
        " `:` type($smem) `,` type($value)"
    )

    def verify_(self) -> None:
        name = self.field.data
        if name not in UPDATED:
            reason = f"the device changes {', '.join(UPDATED)}"
            text = message("cute_nvgpu.update_tma_desc.field", field=name, reason=reason)
            raise op_error(self, text)
        pointer_to(self, self.smem, "map", AddressSpace.SMEM, MAP_ALIGNMENT)
        type_ = UPDATED[name]
        if type_ is None:
            pointer_to(self, self.value, "address", AddressSpace.GMEM, 1)
        elif self.value.type != type_:
            raise op_error(self, f"takes {type_} as {name}, not {self.value.type}")
        self._check_ordinal(name)

    def _check_ordinal(self, name: str) -> None:
        limit = _LIMITS.get(name)
        if (limit is None) != (self.ordinal is None):
            raise op_error(self, f"{name} has {'no' if limit is None else 'an'} ordinal")
        if limit is not None and self.ordinal is not None:
            number = value_of(self.ordinal)
            if not 0 <= number < limit:
                raise op_error(self, f"{name} has ordinals 0 to {limit - 1}, not {number}")


@irdl_op_definition
class PublishTmaDescOp(FieldsOp):
    """The threads of a warp meet and copy a tensor map to global memory, released to TMA."""

    name = "cute_nvgpu.arch.publish_tma_desc"

    smem: fields.Operand = fields.operand()
    gmem: fields.Operand = fields.operand()

    assembly_format = "$smem `to` $gmem attr-dict `:` type($smem) `,` type($gmem)"

    def verify_(self) -> None:
        pointer_to(self, self.smem, "map", AddressSpace.SMEM, MAP_ALIGNMENT)
        pointer_to(self, self.gmem, "place", AddressSpace.GMEM, MAP_ALIGNMENT)


@irdl_op_definition
class AcquireTmaDescOp(FieldsOp):
    """A tensor map that was published in global memory, for the TMA instructions of this thread."""

    name = "cute_nvgpu.arch.acquire_tma_desc"

    gmem: fields.Operand = fields.operand()
    result = result_def(TmaDescriptorTiledType())

    assembly_format = "$gmem attr-dict `:` type($gmem)"

    def verify_(self) -> None:
        pointer_to(self, self.gmem, "place", AddressSpace.GMEM, MAP_ALIGNMENT)
