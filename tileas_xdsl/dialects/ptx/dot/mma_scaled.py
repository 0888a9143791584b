"""`mma.sync ... block_scale`: products of a warp with block scales (PTX ISA 9.7.14.5.14)."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import REG, PtxOp
from tileas_xdsl.dialects.ptx.checks import check_count, check_keyword, check_kind
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.types import RegType
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import SCALED_MMA

__all__ = ["MmaScaledOp"]

THREADS_OF_A, THREADS_OF_B = 2, 4
"""Choices of threads of each four that give scales: pairs of them for A, single ones for B."""


@irdl_op_definition
class MmaScaledOp(PtxOp):
    """`D = (A * SFA) * (B * SFB) + C` of one warp, sums in f32.

    `thread_a` and `thread_b` say whose scales are taken, of each four threads: a pair for A, a
    single one for B.  The scales begin at the first byte of their register.
    """

    name = "ptx.mma.block_scale"

    a: fields.Operand = fields.operand(REG)
    b: fields.Operand = fields.operand(REG)
    c: fields.Operand = fields.operand(REG)
    scale_a: fields.Operand = fields.operand(REG)
    scale_b: fields.Operand = fields.operand(REG)
    kind: fields.String = fields.prop(StringAttr)
    scale_vector: fields.String = fields.prop(StringAttr)
    a_type: fields.String = fields.prop(StringAttr)
    b_type: fields.String = fields.prop(StringAttr)
    thread_a: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)
    thread_b: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)
    result: fields.Result[RegType] = fields.typed_result(REG, type=fields.type_of("c"))

    traits = traits_def(Pure())

    def check(self) -> None:
        kind = self.text("kind")
        check_keyword(self, "kind", kind, SCALED_MMA)
        facts, where = SCALED_MMA[kind], f"for {kind}"
        check_keyword(self, "scale vector", self.text("scale_vector"), facts.vectors, where)
        for name in ("a_type", "b_type"):
            check_keyword(
                self, f"element {name[0].upper()}", self.text(name), facts.elements, where
            )
        for what, value, register, count in (
            ("A", self.a, "b32", 4),
            ("B", self.b, "b32", 2),
            ("C", self.c, "f32", 4),
            ("D", self.result, "f32", 4),
            ("the scales of A", self.scale_a, "b32", 1),
            ("the scales of B", self.scale_b, "b32", 1),
        ):
            check_kind(self, what, value, register)
            check_count(self, what, value, count)
        for name, count in (("thread_a", THREADS_OF_A), ("thread_b", THREADS_OF_B)):
            if not 0 <= self.number(name) < count:
                raise self.error(f"has {name} 0 to {count - 1}, not {self.number(name)}")

    def emit(self, out: Writer) -> None:
        facts = SCALED_MMA[self.text("kind")]
        vector = self.text("scale_vector")
        head = (
            f"mma.sync.aligned.{facts.shape}.row.col.kind::{self.text('kind')}.block_scale"
            f"{f'.scale_vec::{vector}' * bool(vector)}"
            f".f32.{self.text('a_type')}.{self.text('b_type')}.f32.{facts.vectors[vector]}"
        )
        values = (self.results[0], *self._operands[:3])
        operands = [f"{{{', '.join(out.registers(value))}}}" for value in values]
        for scale, name in zip(self._operands[3:], ("thread_a", "thread_b"), strict=True):
            operands += [out.register(scale), f"{{0, {self.number(name)}}}"]
        out.line(f"{head} {', '.join(operands)}")
