"""Sparse products into tensor memory: half of A is left out, metadata say which half.

These forms, and the modifiers of `tcgen05.mma`, are checked and lowered one to one.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import StringAttr, UnitAttr, i1, i32
from xdsl.irdl import operand_def, opt_prop_def

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import keyword_among, number_among
from tileas_xdsl.dialects.cute_nvgpu.mma.tcgen05_rules import (
    ONE_OR_TWO_BLOCKS,
    PLAIN_KINDS,
    SCALED_KINDS,
    UmmaForm,
    check_rules,
    check_tensor_target,
)
from tileas_xdsl.dialects.cute_nvgpu.operands import Value, value_of
from tileas_xdsl.dialects.cute_nvgpu.types import SmemDescType
from tileas_xdsl.dialects.field_init import init_fields
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.target_attribute import target_of
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import COLLECTORS

__all__ = ["UmmaBlockScaledSparseOp", "UmmaSparseOp"]

_DESC = SmemDescType()

EXPONENTS = range(16)
"""Exponents of two by which the accumulator may be divided (`scale-input-d`)."""


class SparseProductOp(FieldsOp):
    """A sparse product, with the modifiers of the instruction as attributes."""

    d: fields.Operand = fields.operand(i32)
    a: fields.Operand = fields.operand(_DESC)
    b: fields.Operand = fields.operand(_DESC)
    metadata: fields.Operand = fields.operand(i32)
    descriptor: fields.Operand = fields.operand(i32, position=5)
    accumulate: fields.Operand = fields.operand(i1)
    kind: fields.String = fields.prop(
        keyword_among(PLAIN_KINDS + SCALED_KINDS, "is of kind {known}, not {given}")
    )
    num_cta: fields.Int = fields.prop(ONE_OR_TWO_BLOCKS, default=1)
    collector = opt_prop_def(StringAttr)
    ashift = opt_prop_def(UnitAttr)
    weight_stationary = opt_prop_def(UnitAttr)
    scale_input = opt_prop_def(
        number_among(i32, EXPONENTS, "divides by 2 to the 0 to 15, not {given}")
    )

    def form(self) -> UmmaForm:
        """The form of the instruction."""
        return UmmaForm(
            self.kind.data,
            target_of(self),
            sparse=True,
            scale_input=self.scale_input is not None,
            ashift=self.ashift is not None,
            blocks=value_of(self.num_cta),
            weight_stationary=self.weight_stationary is not None,
            collector="" if self.collector is None else self.collector.data,
        )

    def verify_(self) -> None:
        check_tensor_target(self, "mma")
        form = self.form()
        if form.collector not in COLLECTORS:
            known = ", ".join(filter(None, COLLECTORS))
            raise op_error(self, f"collects A by {known}, not by {form.collector}")
        check_rules(self, form)


@irdl_op_definition
class UmmaSparseOp(SparseProductOp):
    """`tcgen05.mma.sp`: `descriptor` is the word that says formats and shape."""

    name = "cute_nvgpu.arch.mma.SM100.umma_sparse"

    assembly_format = (
        "$a `,` $b `,` $d `metadata` $metadata `descriptor` $descriptor `accumulate` $accumulate"
        " attr-dict"
    )

    def verify_(self) -> None:
        super().verify_()
        if self.kind.data in SCALED_KINDS:
            raise op_error(self, f"has no scales, which kind::{self.kind.data} needs")


@irdl_op_definition
class UmmaBlockScaledSparseOp(SparseProductOp):
    """`tcgen05.mma.sp` with block scales, which lie in tensor memory at `sf_a` and `sf_b`."""

    name = "cute_nvgpu.arch.mma.SM100.umma_block_scaled_sparse"

    sf_a = operand_def(i32)
    sf_b = operand_def(i32)
    scale_vec = opt_prop_def(StringAttr)

    assembly_format = (
        "$a `,` $b `,` $d `scales` $sf_a `,` $sf_b `metadata` $metadata `descriptor` $descriptor"
        " `accumulate` $accumulate attr-dict"
    )

    def __init__(
        self,
        d: Value,
        a: Value,
        b: Value,
        scales: tuple[Value, Value],
        metadata: Value,
        descriptor: Value,
        accumulate: Value,
        kind: str,
        num_cta: int = 1,
        scale_vec: str | None = None,
    ) -> None:
        sf_a, sf_b = scales
        init_fields(
            self,
            sf_a=sf_a,
            sf_b=sf_b,
            d=d,
            a=a,
            b=b,
            metadata=metadata,
            accumulate=accumulate,
            descriptor=descriptor,
            kind=kind,
            num_cta=num_cta,
            scale_vec=scale_vec,
        )

    def form(self) -> UmmaForm:
        vector = "" if self.scale_vec is None else self.scale_vec.data
        return replace(super().form(), block_scale=True, scale_vec=vector)
