"""Who and where a thread is: special registers, roles, register budgets."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, IntegerType, f32, i1, i32
from xdsl.ir import Attribute
from xdsl.irdl import prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import keyword_among, number_among
from tileas_xdsl.dialects.cute.base.checks import one_of
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.cute_nvgpu.operands import boolean, number, value_of
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = [
    "BlockIdxOp",
    "ClusterRankOp",
    "ElectOneOp",
    "GetDynSmemOp",
    "GetDynSmemSizeOp",
    "GridDimOp",
    "LaneIdxOp",
    "MakeWarpUniformOp",
    "SetMaxRegisterOp",
    "ThreadIdxOp",
    "WarpIdxOp",
]

AXES = ("x", "y", "z")

REGISTERS = range(24, 257, 8)
"""The register counts that `setmaxnreg` takes (PTX ISA 9.7.19.5)."""

LARGEST_ALIGNMENT = 1024
"""How dynamic shared memory is aligned, in bytes: the period of the 128-byte swizzle."""


class _AxisOp(FieldsOp):
    """A special register with one value for each axis."""

    axis: fields.String = fields.prop(
        keyword_among(AXES, "has axis x, y or z, not {given}"), default="x"
    )
    result = result_def(i32)

    assembly_format = "$axis attr-dict"


@irdl_op_definition
class ThreadIdxOp(_AxisOp):
    """The index of the thread in its block."""

    name = "cute_nvgpu.arch.thread_idx"
    traits = traits_def(Pure())


@irdl_op_definition
class BlockIdxOp(_AxisOp):
    """The index of the block in the grid."""

    name = "cute_nvgpu.arch.block_idx"
    traits = traits_def(Pure())


@irdl_op_definition
class GridDimOp(_AxisOp):
    """The number of blocks of the grid."""

    name = "cute_nvgpu.arch.grid_dim"
    traits = traits_def(Pure())


class _IndexOp(FieldsOp):
    """An index that needs no operand."""

    result = result_def(i32)

    assembly_format = "attr-dict"


@irdl_op_definition
class LaneIdxOp(_IndexOp):
    """The index of the thread in its warp, 0 to 31."""

    name = "cute_nvgpu.arch.lane_idx"
    traits = traits_def(Pure())


@irdl_op_definition
class WarpIdxOp(_IndexOp):
    """The index of the warp in its block, in a form whose branches are seen to be uniform.

    Needs a block with one axis, since it is the x index divided by 32.
    """

    name = "cute_nvgpu.arch.warp_idx"
    traits = traits_def(Pure())


@irdl_op_definition
class ClusterRankOp(_IndexOp):
    """The rank of the block in its cluster; 0 without a cluster."""

    name = "cute_nvgpu.arch.cluster_ctarank"
    traits = traits_def(Pure())


@irdl_op_definition
class ElectOneOp(FieldsOp):
    """True for one thread of the warp.  The whole warp executes it."""

    name = "cute_nvgpu.arch.elect_one"

    result = result_def(i1)

    assembly_format = "attr-dict"


@irdl_op_definition
class MakeWarpUniformOp(FieldsOp):
    """A value that is equal in all threads of a warp, in a form in which that is seen."""

    name = "cute_nvgpu.arch.make_warp_uniform"

    value: fields.Operand = fields.operand()
    result: fields.Result[Attribute] = fields.typed_result(type=fields.type_of("value"))

    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `:` type($value) `->` type($result)"

    def verify_(self) -> None:
        one_of(self, self.value, "value", (i32, f32))


@irdl_op_definition
class SetMaxRegisterOp(FieldsOp):
    """Changes how many registers each thread of the warpgroup has.  The warpgroup executes it."""

    name = "cute_nvgpu.arch.setmaxregister"

    count: fields.Int = fields.prop(
        number_among(i32, REGISTERS, "takes 24 to 256 registers in steps of 8, not {given}")
    )
    increase: fields.Field[BoolAttr, bool] = fields.prop(BoolAttr, convert=boolean)

    assembly_format = "$count `increase` `=` $increase attr-dict"


@irdl_op_definition
class GetDynSmemOp(FieldsOp):
    """A place in the dynamic shared memory of the block, `offset` bytes from its start."""

    name = "cute_nvgpu.arch.get_dyn_smem"

    offset = prop_def(IntegerAttr.constr(i32))
    result = result_def(PtrType)

    traits = traits_def(Pure())
    assembly_format = "$offset attr-dict `->` type($result)"

    def __init__(
        self,
        offset: int,
        element: Attribute | None = None,
        align: int | None = None,
    ) -> None:
        super().__init__(
            result_types=[PtrType(element or IntegerType(8), AddressSpace.SMEM, align)],
            properties={"offset": number(offset)},
        )

    def verify_(self) -> None:
        offset, type_ = value_of(self.offset), self.result.type
        if type_.space is not AddressSpace.SMEM:
            raise op_error(self, f"gives a pointer to smem, not {type_}")
        if offset < 0:
            raise op_error(self, f"starts at byte 0 or later, not at {offset}")
        if type_.align > LARGEST_ALIGNMENT:
            raise op_error(
                self,
                f"aligns to {LARGEST_ALIGNMENT} bytes at most, as dynamic shared memory is, "
                f"not to {type_.align}",
            )
        if offset % type_.align:
            raise op_error(self, f"starts at byte {offset}, which is not aligned to {type_.align}")


@irdl_op_definition
class GetDynSmemSizeOp(FieldsOp):
    """The bytes of dynamic shared memory that the launch gave."""

    name = "cute_nvgpu.arch.get_dyn_smem_size"

    result = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "attr-dict"
