"""Sparse products of warps, `mma.sp` (PTX ISA 9.7.14.6): half of A is left out, metadata say which.

They are lowered one to one to PTX.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, UnitAttr, i32
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    traits_def,
)
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute_nvgpu.mma.mma_sync import FP8, WarpProductOp
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma_kinds import ptx_element
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import MMA, Fragments

__all__ = ["MmaSm80SparseOp"]

STEP = 2
"""Of K, how many elements there are for each that is kept."""

QUAD = 4
"""Threads that share metadata: K decides how many of them give some."""

DENSE_ONLY = (*FP8, "f64")
"""Elements that this operation does not leave out."""

K_OF_A_THREAD = 16
"""Of K, what the metadata of one thread are for, in its four threads' rows."""


@irdl_op_definition
class MmaSm80SparseOp(WarpProductOp):
    """A product of a warp whose A has half of its elements, as `metadata` says.

    `selector` is the thread, or the pair of them, of each four whose metadata are taken.
    """

    name = "cute_nvgpu.arch.mma.SM80.sparse"
    IS_FP8: ClassVar[bool] = False

    a: fields.Operand = fields.operand()
    b: fields.Operand = fields.operand()
    c: fields.Operand = fields.operand()
    metadata: fields.Operand = fields.operand(i32)
    shape: fields.Array = fields.prop(DenseArrayBase.constr(i32), kw_only=True)
    a_type: fields.Field[StringAttr, Attribute | str] = fields.prop(
        StringAttr, kw_only=True, convert=ptx_element
    )
    b_type: fields.Field[StringAttr, Attribute | str] = fields.prop(
        StringAttr, kw_only=True, convert=ptx_element
    )
    selector: fields.Int = fields.prop(IntegerAttr.constr(i32), default=0, kw_only=True)
    ordered: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    result: fields.Result[Attribute] = fields.typed_result(type=fields.type_of("c"))

    traits = traits_def(Pure())
    assembly_format = (
        "$a `,` $b `,` $c `metadata` $metadata `of` $selector (`ordered` $ordered^)? `shape` $shape"
        " `elements` $a_type `,` $b_type attr-dict"
        " `:` type($a) `,` type($b) `,` type($c) `->` type($result)"
    )

    def fragments(self) -> Fragments | None:
        """The fragments of the dense product with half of K, but twice B."""
        extents = self.shape.get_values()
        if len(extents) != 3 or extents[2] % STEP or self.a_type.data in DENSE_ONLY:
            return None
        m, n, k = extents
        name = f"m{m}n{n}k{k // STEP}"
        dense = MMA.get((name, self.sum_type, self.a_type.data, self.b_type.data))
        return None if dense is None else replace(dense, b=STEP * dense.b)

    @property
    def selectors(self) -> int:
        """How many choices of threads there are."""
        elements = 2 if self.a_type.data == "tf32" else 1
        threads = int(self.shape.get_values()[2]) * elements // K_OF_A_THREAD
        return max(QUAD // max(threads, 1), 1)

    def verify_(self) -> None:
        super().verify_()
        if not 0 <= value_of(self.selector) < self.selectors:
            raise op_error(
                self,
                f"takes the metadata of threads 0 to {self.selectors - 1} of each four, not of "
                f"{value_of(self.selector)}",
            )
