"""Asynchronous matrix products of a warpgroup, and the descriptors of their operands."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    i1,
    i32,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.base.checks import fragment, pointer_to
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.elements import stored_bytes
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma_kinds import ELEMENTS, THREADS, M, ptx_element
from tileas_xdsl.dialects.cute_nvgpu.operands import (
    GROUPS_UNDER_WAY,
    Value,
    optional_number,
    value_of,
)
from tileas_xdsl.dialects.cute_nvgpu.types import SmemDescType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = [
    "MakeGmmaSmemDescOp",
    "MmaSm90Op",
    "SmemDescAddOp",
    "WgmmaCommitOp",
    "WgmmaFenceOp",
    "WgmmaWaitOp",
]

SWIZZLE_PERIODS: Mapping[str, int] = {"128B": 1024, "64B": 512, "32B": 256, "none": 16}
"""Bytes after which the pattern of a swizzle repeats: where an operand may start."""

OFFSET_UNIT = 16
"""Descriptors count in 16 bytes."""

LARGEST_OFFSET = (2**14 - 1) * OFFSET_UNIT

MAJORS = ("k", "mn")

_DESC = SmemDescType()
_SMEM = AddressSpace.SMEM
_SHAPE = DenseArrayBase.constr(i32)


class DescriptorOp(FieldsOp):
    """The descriptor of an operand of a product, in the generation of its target."""

    ptr: fields.Operand = fields.operand()
    swizzle: fields.String = fields.prop(StringAttr, default="128B")
    leading_bytes: fields.Int = fields.prop(IntegerAttr.constr(i32), default=16)
    stride_bytes: fields.Int = fields.prop(IntegerAttr.constr(i32), default=1024)
    result = result_def(_DESC)

    traits = traits_def(Pure())
    assembly_format = (
        "$ptr `swizzle` $swizzle `leading` $leading_bytes `stride` $stride_bytes attr-dict"
        " `:` type($ptr)"
    )

    def verify_(self) -> None:
        period = SWIZZLE_PERIODS.get(self.swizzle.data)
        if period is None:
            known = ", ".join(SWIZZLE_PERIODS)
            raise op_error(self, f"knows the swizzles {known}, not {self.swizzle.data}")
        pointer_to(self, self.ptr, f"start of a pattern {self.swizzle.data}", _SMEM, period)
        for name, attribute in (("leading", self.leading_bytes), ("stride", self.stride_bytes)):
            offset = value_of(attribute)
            if not 0 <= offset <= LARGEST_OFFSET or offset % OFFSET_UNIT:
                raise op_error(
                    self,
                    f"has a {name} offset of 0 to {LARGEST_OFFSET} bytes in steps of "
                    f"{OFFSET_UNIT}, not {offset}",
                )


@irdl_op_definition
class MakeGmmaSmemDescOp(DescriptorOp):
    """The descriptor of an operand that starts at `ptr`.

    For K-major operands with a swizzle, `stride_bytes` is the step between groups of 8 rows and
    `leading_bytes` is not read (16).  For MN-major ones `leading_bytes` is the step between panels.
    """

    name = "cute_nvgpu.make_gmma_smem_desc"


@irdl_op_definition
class SmemDescAddOp(FieldsOp):
    """The descriptor of what lies a number of bytes further on."""

    name = "cute_nvgpu.smem_desc_add"

    desc = operand_def(_DESC)
    bytes = opt_prop_def(IntegerAttr.constr(i32))
    bytes_value = opt_operand_def(i32)
    result = result_def(_DESC)

    traits = traits_def(Pure())
    assembly_format = "$desc (`bytes` $bytes^)? (`by` $bytes_value^)? attr-dict"

    def __init__(self, desc: Value, bytes: int | Value) -> None:
        static, value = (bytes, None) if isinstance(bytes, int) else (None, bytes)
        super().__init__(
            operands=[desc, value],
            result_types=[_DESC],
            properties={"bytes": optional_number(static)},
        )

    def verify_(self) -> None:
        if (self.bytes is None) == (self.bytes_value is None):
            raise op_error(self, "adds a number of bytes or a value")
        if self.bytes is None:
            return
        step = value_of(self.bytes)
        if step % OFFSET_UNIT or not -LARGEST_OFFSET <= step <= LARGEST_OFFSET:
            raise op_error(
                self,
                f"adds up to {LARGEST_OFFSET} bytes in steps of {OFFSET_UNIT}, not {step}",
            )


class _WgmmaActOp(FieldsOp):
    assembly_format = "attr-dict"


@irdl_op_definition
class WgmmaFenceOp(_WgmmaActOp):
    """Orders earlier accesses to registers and shared memory before the products that follow."""

    name = "cute_nvgpu.arch.wgmma_fence"


@irdl_op_definition
class WgmmaCommitOp(_WgmmaActOp):
    """Closes the group of products that were started since the last one."""

    name = "cute_nvgpu.arch.wgmma_commit_group"


@irdl_op_definition
class WgmmaWaitOp(FieldsOp):
    """Waits until at most `count` groups are under way.

    The results are the operands: accumulators that may be read, or products that go on.
    """

    name = "cute_nvgpu.arch.wgmma_wait_group"

    count: fields.Int = fields.prop(GROUPS_UNDER_WAY)
    values: fields.Operands = fields.operands(default=())
    outs: fields.Results = fields.typed_results(type=fields.types_of("values"))

    assembly_format = "$count (`,` $values^ `:` type($values))? attr-dict (`->` type($outs)^)?"

    def verify_(self) -> None:
        if [value.type for value in self.values] != [out.type for out in self.outs]:
            raise op_error(self, "gives back the values that it takes, with their types")
        for value in self.values:
            fragment(self, value.type, "accumulator")


@irdl_op_definition
class MmaSm90Op(FieldsOp):
    """Starts `D = A * B + C` in the registers of C, or `D = A * B` where `scale_d` is false.

    A is a descriptor, or a fragment of four 32-bit registers (then K-major).  The result may be
    read after a wait; until then C and D are no other operation's business.
    """

    name = "cute_nvgpu.arch.mma.SM90"

    a: fields.Operand = fields.operand()
    b: fields.Operand = fields.operand(_DESC)
    c: fields.Operand = fields.operand()
    scale_d: fields.OptOperand = fields.opt_operand(i1, default=None)
    shape: fields.Array = fields.prop(_SHAPE, kw_only=True)
    a_type: fields.Field[StringAttr, Attribute | str] = fields.prop(
        StringAttr, kw_only=True, convert=ptx_element
    )
    b_type: fields.Field[StringAttr, Attribute | str] = fields.prop(
        StringAttr, kw_only=True, convert=ptx_element
    )
    a_major: fields.String = fields.prop(StringAttr, default="k", kw_only=True)
    b_major: fields.String = fields.prop(StringAttr, default="k", kw_only=True)
    result: fields.Result[Attribute] = fields.typed_result(type=fields.type_of("c"))

    assembly_format = (
        "$a `,` $b `,` $c (`scale_d` $scale_d^)? `shape` $shape `elements` $a_type `,` $b_type"
        " `major` $a_major `,` $b_major attr-dict `:` type($a) `,` type($c) `->` type($result)"
    )

    def verify_(self) -> None:
        self._check_elements()
        self._check_shape()
        self._check_accumulator()
        self._check_a()
        self._check_majors()

    def _check_elements(self) -> None:
        a, b = self.a_type.data, self.b_type.data
        for name in (a, b):
            if name not in ELEMENTS:
                raise op_error(self, f"multiplies {', '.join(ELEMENTS)}, not {name}")
        if b not in ELEMENTS[a].partners:
            raise op_error(self, f"has no product of {a} and {b}")

    def _check_shape(self) -> None:
        element, shape = ELEMENTS[self.a_type.data], tuple(self.shape.get_values())
        if len(shape) != 3 or shape[0] != M or shape[2] != element.k:
            raise op_error(
                self,
                f"has shape {M} x N x {element.k} for {element.name}, not "
                f"{' x '.join(map(str, shape))}",
            )
        if shape[1] not in element.n:
            steps = "8" if element.n[-2] == 248 else "16 from 32 on"
            raise op_error(
                self, f"has N 8 to 256 in steps of {steps} for {element.name}, not {shape[1]}"
            )

    def _check_accumulator(self) -> None:
        element, n = ELEMENTS[self.a_type.data], int(self.shape.get_values()[1])
        type_ = fragment(self, self.c.type, "accumulator")
        name, count = ptx_element(type_.get_element_type()), M * n // THREADS
        if name not in element.accumulators:
            allowed = " or ".join(element.accumulators)
            raise op_error(self, f"accumulates {element.name} in {allowed}, not in {name}")
        if type_.get_shape()[0] != count:
            raise op_error(self, f"has {count} accumulators for N = {n}, but got {type_}")
        if self.result.type != type_:
            raise op_error(self, f"gives an accumulator like {type_}, not {self.result.type}")

    def _check_a(self) -> None:
        type_ = self.a.type
        if isinstance(type_, SmemDescType):
            return
        if stored_bytes(type_) != OFFSET_UNIT:
            raise op_error(
                self, f"expects a descriptor or four 32-bit registers as A, but got {type_}"
            )
        held = ptx_element(fragment(self, type_, "A").get_element_type())
        if held not in ("i32", "f32", self.a_type.data):
            raise op_error(self, f"multiplies {self.a_type.data}, but A is {type_}")

    def _check_majors(self) -> None:
        for name, major, type_ in (
            ("A", self.a_major.data, self.a_type.data),
            ("B", self.b_major.data, self.b_type.data),
        ):
            if major not in MAJORS:
                raise op_error(self, f"has {name} k-major or mn-major, not {major}-major")
            if major == "mn" and not ELEMENTS[type_].transposes:
                raise op_error(self, f"reads {type_} k-major only, but {name} is mn-major")
        if self.a_major.data == "mn" and not isinstance(self.a.type, SmemDescType):
            raise op_error(self, "reads A from registers k-major only")
