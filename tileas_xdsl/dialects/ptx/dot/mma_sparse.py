"""`mma.sp`: products of a warp whose A has half of its elements (PTX ISA 9.7.14.6)."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import REG, PtxOp
from tileas_xdsl.dialects.ptx.checks import check_count, check_kind
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.types import RegType
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import MMA, Fragments

__all__ = ["MmaSparseOp"]

STEP = 2
"""Of K, how many elements there are for each that A keeps."""

SELECTORS = 4
"""Threads of which one, or a pair, gives the metadata of a row."""


@irdl_op_definition
class MmaSparseOp(PtxOp):
    """`mma.sp`: D = A * B + C of one warp; `metadata` say which elements of K are in A.

    `selector` is the thread, or the pair of them, of each four whose metadata are taken.
    """

    name = "ptx.mma.sp"

    a: fields.Operand = fields.operand(REG)
    b: fields.Operand = fields.operand(REG)
    c: fields.Operand = fields.operand(REG)
    metadata: fields.Operand = fields.operand(REG)
    shape: fields.Field[StringAttr, str] = fields.prop(StringAttr)
    type: fields.Field[StringAttr, str] = fields.prop(StringAttr)
    a_type: fields.Field[StringAttr, str] = fields.prop(StringAttr)
    b_type: fields.Field[StringAttr, str] = fields.prop(StringAttr)
    selector: fields.OptInt = fields.opt_prop(IntegerAttr, default=0, kw_only=True)
    ordered: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    result: fields.Result[RegType] = fields.typed_result(REG, type=fields.type_of("c"))

    traits = traits_def(Pure())

    def fragments(self) -> Fragments:
        """Return the registers of the dense product whose A is what this one keeps."""
        shape = self.text("shape")
        types = (self.text("type"), self.text("a_type"), self.text("b_type"))
        rows, _, k = shape.partition("k")
        dense = f"{rows}k{int(k) // STEP}" if k.isdigit() else ""
        found = MMA.get((dense, *types))
        if found is None:
            raise self.error(f"has no form {shape} with {', '.join(types)}")
        return found

    def check(self) -> None:
        found = self.fragments()
        for what, value, kind, count in (
            ("A", self.a, found.kind, found.a),
            ("B", self.b, found.kind, STEP * found.b),
            ("C", self.c, found.c_kind, found.c),
            ("D", self.result, found.c_kind, found.c),
            ("the metadata", self.metadata, "b32", 1),
        ):
            check_kind(self, what, value, kind)
            check_count(self, what, value, count)
        if not 0 <= (selector := self.number("selector")) < SELECTORS:
            raise self.error(
                f"takes the metadata of threads 0 to 3 of each four, not of {selector}"
            )
        if found.mma_kind and not self.flag("ordered"):
            raise self.error(f"takes ordered metadata for kind::{found.mma_kind}")

    def emit(self, out: Writer) -> None:
        types = ".".join(self.text(name) for name in ("type", "a_type", "b_type", "type"))
        ordered = "::ordered_metadata" if self.flag("ordered") else ""
        kind = self.fragments().kind_suffix
        head = f"mma.sp{ordered}.sync.aligned.{self.text('shape')}.row.col{kind}.{types}"
        values = (self.results[0], *self._operands[:3])
        fragments = ", ".join(f"{{{', '.join(out.registers(value))}}}" for value in values)
        metadata = out.register(self._operands[3])
        out.line(f"{head} {fragments}, {metadata}, {self.number('selector')}")
