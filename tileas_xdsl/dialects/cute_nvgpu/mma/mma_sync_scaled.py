"""Products of warps with block scales, `mma.sync ... block_scale` of sm_120a (PTX ISA 9.7.14.5.14).

They are lowered one to one to PTX.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import DenseArrayBase, Float32Type, IntegerAttr, i32
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.base.checks import fragment
from tileas_xdsl.dialects.cute.types.elements import stored_bytes
from tileas_xdsl.dialects.cute_nvgpu.atoms.block_scales import check_scales
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.target_attribute import target_of
from tileas_xdsl.target.features import FEATURES, Feature
from tileas_xdsl.target.tiers import meets_any

__all__ = ["MmaSm120BlockScaledOp"]

TARGETS = FEATURES[Feature.WARP_BLOCK_SCALE]

SHAPES = ((16, 8, 32), (16, 8, 64))

SHORT_VECTOR = 16
"""Elements that share a scale of `mxf4nvf4`."""

BYTES: Mapping[str, int] = {"A": 16, "B": 8, "C": 16}
"""Of a thread's registers, what an operand takes."""

IDS: Mapping[str, range] = {"thread_id_a": range(2), "thread_id_b": range(4)}
"""Threads of four whose scale factors are taken: one pair of them for A, one for B."""


@irdl_op_definition
class MmaSm120BlockScaledOp(FieldsOp):
    """`D = (A * SFA) * (B * SFB) + C` of a warp, all in registers.

    `sf_a` and `sf_b` have scale factors of threads; `thread_id_a` and `thread_id_b` say of which.
    """

    name = "cute_nvgpu.arch.mma.SM120.block_scaled"

    a: fields.Operand = fields.operand()
    b: fields.Operand = fields.operand()
    c: fields.Operand = fields.operand()
    sf_a: fields.Operand = fields.operand(i32)
    sf_b: fields.Operand = fields.operand(i32)
    shape: fields.Array = fields.prop(DenseArrayBase.constr(i32), kw_only=True)
    vec_size: fields.Int = fields.prop(IntegerAttr.constr(i32), kw_only=True)
    a_type: fields.Field[TypeAttribute, Attribute] = fields.prop(TypeAttribute, kw_only=True)
    b_type: fields.Field[TypeAttribute, Attribute] = fields.prop(TypeAttribute, kw_only=True)
    sf_type: fields.Field[TypeAttribute, Attribute] = fields.prop(TypeAttribute, kw_only=True)
    thread_id_a: fields.Int = fields.prop(IntegerAttr.constr(i32), default=0, kw_only=True)
    thread_id_b: fields.Int = fields.prop(IntegerAttr.constr(i32), default=0, kw_only=True)
    result: fields.Result[Attribute] = fields.typed_result(type=fields.type_of("c"))

    traits = traits_def(Pure())
    assembly_format = (
        "$a `,` $b `,` $c `scales` $sf_a `of` $thread_id_a `,` $sf_b `of` $thread_id_b"
        " `shape` $shape `elements` $a_type `,` $b_type `scaled` $sf_type `by` $vec_size attr-dict"
        " `:` type($a) `,` type($b) `,` type($c) `->` type($result)"
    )

    @property
    def kind(self) -> tuple[str, str]:
        """The kind of the instruction, and its `.scale_vec`."""
        if self.shape.get_values()[2] == SHAPES[0][2]:
            return "mxf8f6f4", "1X"
        return ("mxf4nvf4", "4X") if value_of(self.vec_size) == SHORT_VECTOR else ("mxf4", "2X")

    def verify_(self) -> None:
        target = target_of(self)
        if target is not None and not meets_any(target, TARGETS):
            raise op_error(self, f"needs {' or '.join(TARGETS)}, but the target is {target}")
        self._check_kind()
        for name, value in (("A", self.a), ("B", self.b), ("C", self.c)):
            fragment(self, value.type, name)
            if stored_bytes(value.type) != BYTES[name]:
                raise op_error(self, f"has {name} in {BYTES[name]} bytes, not in {value.type}")
        if self.result.type != self.c.type:
            raise op_error(self, f"gives an accumulator like {self.c.type}, not {self.result.type}")
        for (name, known), given in zip(
            IDS.items(), (self.thread_id_a, self.thread_id_b), strict=True
        ):
            if value_of(given) not in known:
                raise op_error(self, f"has {name} 0 to {known[-1]}, not {value_of(given)}")

    def _check_kind(self) -> None:
        """Elements, scale factors and their vector are those of one instruction."""
        m, n, k = (*self.shape.get_values(), 0, 0, 0)[:3]
        if (m, n, k) not in SHAPES:
            raise op_error(self, f"has shape 16 x 8 x 32 or 16 x 8 x 64, not {m} x {n} x {k}")
        held = fragment(self, self.c.type, "accumulator").get_element_type()
        if not isinstance(held, Float32Type):
            raise op_error(self, f"sums f32, not {held}")
        elements = (self.a_type, self.b_type, held)
        try:
            check_scales((m, n, k), elements, self.sf_type, value_of(self.vec_size))
        except VerifyException as error:
            raise op_error(self, str(error)) from None
