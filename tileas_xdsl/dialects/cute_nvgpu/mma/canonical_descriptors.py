"""Descriptors of operands in shared memory, from the layout of one instruction's operand.

The layout is (MN, K) to elements under the swizzle of the pointer.  It must be canonical, as wgmma
or tcgen05 reads it; `target.canonical_match` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.base.checks import pointer_to
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.cute.types.layouts import LayoutAttr
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.cute_nvgpu.operands import keyword, number
from tileas_xdsl.dialects.cute_nvgpu.types import SmemDescType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import Layout
from tileas_xdsl.target.arch import TARGETS
from tileas_xdsl.target.mma.canonical import MAJORS, MODES, CanonicalLayout, Major, operand_refusal
from tileas_xdsl.target.mma.canonical_match import Mismatch, match_canonical

__all__ = ["GmmaDescriptorOfOp", "UmmaDescriptorOfOp"]

_DESC = SmemDescType()

MESSAGES: Mapping[tuple[str, str, str], str] = {
    ("sm_90a", "k", "mn-size"): "cute_nvgpu.gmma_desc.k_mn_size",
    ("sm_90a", "k", "stride"): "cute_nvgpu.gmma_desc.k_stride",
    ("sm_90a", "k", "profile"): "cute_nvgpu.gmma_desc.k_stride",
    ("sm_90a", "mn", "k-size"): "cute_nvgpu.gmma_desc.mn_k_size",
    ("sm_90a", "mn", "mn-size"): "cute_nvgpu.gmma_desc.mn_stride",
    ("sm_90a", "mn", "stride"): "cute_nvgpu.gmma_desc.mn_stride",
    ("sm_90a", "mn", "profile"): "cute_nvgpu.gmma_desc.mn_stride",
    ("sm_100a", "k", "stride"): "cute_nvgpu.umma_desc.k_stride",
    ("sm_100a", "k", "profile"): "cute_nvgpu.umma_desc.k_offset",
    ("sm_100a", "mn", "k-size"): "cute_nvgpu.umma_desc.mn_k_size",
    ("sm_100a", "mn", "mn-size"): "cute_nvgpu.umma_desc.mn_stride",
    ("sm_100a", "mn", "stride"): "cute_nvgpu.umma_desc.mn_stride",
    ("sm_100a", "mn", "profile"): "cute_nvgpu.umma_desc.mn_offset",
}
"""By target, major and what is wrong with a layout: the literal message."""

ROWS = 8
"""Rows of a core matrix: MN of a K-major operand is a multiple of it."""


class CanonicalDescriptorOp(FieldsOp):
    """The descriptor of an operand, whose offsets follow from its layout."""

    ptr: fields.Operand = fields.operand()
    layout: fields.Field[LayoutAttr, Layout] = fields.prop(LayoutAttr, convert=LayoutAttr)
    major: fields.String = fields.prop(StringAttr, default="k")
    result: fields.Result[Attribute] = fields.typed_result(_DESC, type=_DESC)

    traits = traits_def(Pure())
    assembly_format = "$ptr `layout` $layout `major` $major attr-dict `:` type($ptr)"
    TARGET: ClassVar[str]

    def canonical(self) -> CanonicalLayout:
        """Mode and byte offsets; raises for a layout that is not canonical."""
        type_ = pointer_to(self, self.ptr, "operand", AddressSpace.SMEM, 1)
        layout, major = self.layout.data, self._major()
        if layout.rank != 2:
            raise op_error(self, message("cute_nvgpu.smem_desc.rank", layout=layout))
        bits = element_bits(type_.element_type) or 0
        found = match_canonical(layout, type_.swizzle, bits, major, TARGETS[self.TARGET])
        if isinstance(found, Mismatch):
            raise self._refused(found, type_, major)
        return found

    def _major(self) -> Major:
        major = self.major.data
        if major not in MAJORS:
            raise op_error(self, f"is {' or '.join(MAJORS)}-major, not {major}-major")
        return "k" if major == "k" else "mn"

    def _refused(self, found: Mismatch, type_: PtrType, major: Major) -> OpError:
        if found.fault == "swizzle":
            return op_error(self, message("cute_nvgpu.umma_desc.swizzle", swizzle=type_.swizzle))
        if (self.TARGET, major, found.fault) == ("sm_100a", "k", "mn-size"):
            return op_error(self, message("cute_nvgpu.umma_desc.k_mn_size", rows=ROWS))
        key = MESSAGES.get((self.TARGET, major, found.fault))
        return op_error(self, found.reason if key is None else message(key))

    @property
    def swizzle(self) -> StringAttr:
        """The swizzle mode that the matrix descriptor encodes."""
        return keyword(self.canonical().mode)

    @property
    def leading_bytes(self) -> IntegerAttr:
        """The leading byte offset; 16 where the hardware does not read it."""
        return number(self.canonical().leading_byte_offset or 16)

    @property
    def stride_bytes(self) -> IntegerAttr:
        """The stride byte offset."""
        return number(self.canonical().stride_byte_offset)

    def verify_(self) -> None:
        canonical = self.canonical()
        refusal = operand_refusal(canonical, TARGETS[self.TARGET])
        if refusal is not None:
            raise op_error(self, refusal)
        period = MODES[canonical.mode].alignment
        pointer_to(
            self, self.ptr, f"start of a pattern {canonical.mode}", AddressSpace.SMEM, period
        )


@irdl_op_definition
class GmmaDescriptorOfOp(CanonicalDescriptorOp):
    """The descriptor of an operand of `wgmma`."""

    name = "cute_nvgpu.gmma_smem_desc_of"
    TARGET: ClassVar[str] = "sm_90a"


@irdl_op_definition
class UmmaDescriptorOfOp(CanonicalDescriptorOp):
    """The descriptor of an operand of `tcgen05.mma`."""

    name = "cute_nvgpu.umma_smem_desc_of"
    TARGET: ClassVar[str] = "sm_100a"
