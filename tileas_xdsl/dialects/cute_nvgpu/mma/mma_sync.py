"""Instructions since sm_80: asynchronous copies of a thread (`cp.async`), MMA of a warp."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, i1, i32
from xdsl.ir import Attribute
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.base.checks import fragment, pointer_to
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.elements import stored_bytes
from tileas_xdsl.dialects.cute_nvgpu.atoms.copies import ASYNC_BYTES
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma_kinds import ptx_element
from tileas_xdsl.dialects.cute_nvgpu.operands import GROUPS_UNDER_WAY, value_of
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import OfBarrierOp
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import MMA, Fragments

__all__ = [
    "CpAsyncCommitOp",
    "CpAsyncMbarrierArriveOp",
    "CpAsyncOp",
    "CpAsyncWaitOp",
    "MmaSm80Op",
    "MmaSm89Op",
]

_NUMBER = IntegerAttr.constr(i32)

WIDTHS = (4, 8, 16)

FP8 = ("e4m3", "e5m2")

ACCUMULATORS = {"i32": "s32"}
"""Accumulator types of MMA instructions that have another name in this dialect."""

REGISTER_BYTES = {"b32": 4, "f32": 4, "f64": 8}


@irdl_op_definition
class CpAsyncOp(FieldsOp):
    """Starts a copy of `bytes` bytes from global to shared memory; the group of it counts it.

    `cache` is `always`, or `global`, past the first cache.  Where `pred` is false nothing happens.
    Bytes past `source_bytes` become zero, and are not read.
    """

    name = "cute_nvgpu.arch.copy.SM80.cp_async"

    smem: fields.Operand = fields.operand()
    gmem: fields.Operand = fields.operand()
    bytes: fields.Int = fields.prop(_NUMBER)
    cache: fields.String = fields.prop(StringAttr, default="always")
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)
    source_bytes: fields.OptOperand = fields.opt_operand(i32, default=None)

    assembly_format = (
        "$gmem `to` $smem `bytes` $bytes (`of` $source_bytes^)? `cache` $cache (`if` $pred^)?"
        " attr-dict `:` type($gmem) `,` type($smem)"
    )

    def verify_(self) -> None:
        size, cache = value_of(self.bytes), self.cache.data
        if size not in WIDTHS:
            raise op_error(self, message("cute_nvgpu.cp_async.vector_width"))
        if cache not in ASYNC_BYTES:
            raise op_error(self, f"uses the caches {' or '.join(ASYNC_BYTES)}, not {cache}")
        if size not in ASYNC_BYTES[cache]:
            raise op_error(self, f"copies 16 bytes past the first cache, not {size}")
        pointer_to(self, self.smem, "destination", AddressSpace.SMEM, size)
        pointer_to(self, self.gmem, "source", AddressSpace.GMEM, size)


@irdl_op_definition
class CpAsyncCommitOp(FieldsOp):
    """Closes the group of asynchronous copies that this thread started since the last one."""

    name = "cute_nvgpu.arch.copy.SM80.cp_async_commit_group"

    assembly_format = "attr-dict"


@irdl_op_definition
class CpAsyncWaitOp(FieldsOp):
    """Waits until at most `count` groups of this thread are under way."""

    name = "cute_nvgpu.arch.copy.SM80.cp_async_wait_group"

    count: fields.Int = fields.prop(GROUPS_UNDER_WAY)

    assembly_format = "$count attr-dict"


@irdl_op_definition
class CpAsyncMbarrierArriveOp(OfBarrierOp):
    """Arrives at an mbarrier when all copies that this thread has started are there.

    The arrival is one of those that the mbarrier was initialised with (PTX ISA, `.noinc`).
    """

    name = "cute_nvgpu.arch.copy.SM80.cp_async_mbarrier_arrive"

    assembly_format = "$ptr attr-dict `:` type($ptr)"


class WarpProductOp(FieldsOp):
    """`D = A * B + C` of a warp, all in registers; A row by row, B column by column."""

    a: fields.Operand = fields.operand()
    b: fields.Operand = fields.operand()
    c: fields.Operand = fields.operand()
    shape: fields.Array = fields.prop(DenseArrayBase.constr(i32), kw_only=True)
    a_type: fields.Field[StringAttr, Attribute | str] = fields.prop(
        StringAttr, kw_only=True, convert=ptx_element
    )
    b_type: fields.Field[StringAttr, Attribute | str] = fields.prop(
        StringAttr, kw_only=True, convert=ptx_element
    )
    result: fields.Result[Attribute] = fields.typed_result(type=fields.type_of("c"))

    traits = traits_def(Pure())
    assembly_format = (
        "$a `,` $b `,` $c `shape` $shape `elements` $a_type `,` $b_type attr-dict"
        " `:` type($a) `,` type($b) `,` type($c) `->` type($result)"
    )
    IS_FP8: ClassVar[bool]

    @property
    def shape_name(self) -> str:
        """As PTX calls it; empty if the shape is none."""
        extents = self.shape.get_values()
        return "m{}n{}k{}".format(*extents) if len(extents) == 3 else ""

    @property
    def sum_type(self) -> str:
        """PTX's name of the type of C and D."""
        name = ptx_element(fragment(self, self.c.type, "accumulator").get_element_type())
        return ACCUMULATORS.get(name, name)

    def fragments(self) -> Fragments | None:
        """The registers of each operand; None if there is no such product."""
        types = (self.sum_type, self.a_type.data, self.b_type.data)
        if (self.a_type.data in FP8) is not self.IS_FP8:
            return None
        return MMA.get((self.shape_name, *types))

    def verify_(self) -> None:
        found = self.fragments()
        if found is None:
            listed = " x ".join(str(extent) for extent in self.shape.get_values())
            raise op_error(
                self,
                f"has no product {listed} of {self.a_type.data} and {self.b_type.data} in "
                f"{self.sum_type}",
            )
        rows = (
            ("A", self.a, found.a, found.kind),
            ("B", self.b, found.b, found.kind),
            ("C", self.c, found.c, found.c_kind),
        )
        for name, value, count, kind in rows:
            fragment(self, value.type, name)
            if stored_bytes(value.type) != count * REGISTER_BYTES[kind]:
                raise op_error(
                    self, f"has {name} in {count} registers of {kind}, not in {value.type}"
                )
        if self.result.type != self.c.type:
            raise op_error(self, f"gives an accumulator like {self.c.type}, not {self.result.type}")


@irdl_op_definition
class MmaSm80Op(WarpProductOp):
    """A product of a warp from sm_80 on."""

    name = "cute_nvgpu.arch.mma.SM80"
    IS_FP8: ClassVar[bool] = False


@irdl_op_definition
class MmaSm89Op(WarpProductOp):
    """A product of floats of 8 bits, from sm_89 on."""

    name = "cute_nvgpu.arch.mma.SM89"
    IS_FP8: ClassVar[bool] = True
