"""Sparse products of warps, `mma.sp` (PTX ISA 9.7.14.6): half of A is left out, metadata say which.

They are described and checked; they are not lowered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, UnitAttr, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu.mma.mma_sync import FP8, WarpProductOp
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma_kinds import ptx_element
from tileas_xdsl.dialects.cute_nvgpu.operands import Value, flag, number, value_of, word
from tileas_xdsl.target.isa.tables.tensor_cores import MMA, Fragments

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

    a = operand_def()
    b = operand_def()
    c = operand_def()
    metadata = operand_def(i32)
    shape = prop_def(DenseArrayBase.constr(i32))
    a_type = prop_def(StringAttr)
    b_type = prop_def(StringAttr)
    selector = prop_def(IntegerAttr.constr(i32))
    ordered = opt_prop_def(UnitAttr)
    result = result_def()

    traits = traits_def(Pure())
    assembly_format = (
        "$a `,` $b `,` $c `metadata` $metadata `of` $selector (`ordered` $ordered^)? `shape` $shape"
        " `elements` $a_type `,` $b_type attr-dict"
        " `:` type($a) `,` type($b) `,` type($c) `->` type($result)"
    )

    def __init__(
        self,
        operands: Sequence[Value],
        metadata: Value,
        *,
        shape: tuple[int, int, int],
        a_type: Attribute | str,
        b_type: Attribute | str,
        selector: int = 0,
        ordered: bool = False,
    ) -> None:
        a, b, c = (SSAValue.get(value) for value in operands)
        super(WarpProductOp, self).__init__(
            operands=[a, b, c, metadata],
            result_types=[c.type],
            properties={
                "shape": DenseArrayBase.from_list(i32, shape),
                "a_type": word(ptx_element(a_type)),
                "b_type": word(ptx_element(b_type)),
                "selector": number(selector),
                "ordered": flag(ordered),
            },
        )

    def fragments(self) -> Fragments | None:
        """Those of the dense product with half of K, but twice B."""
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
