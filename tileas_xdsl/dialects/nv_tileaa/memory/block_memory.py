"""Memory that a block has of its own."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i64

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.fields import derived_init
from tileas_xdsl.dialects.nv_tileaa.base import number
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.layout.integers import is_power_of_two


@tileas_op
@derived_init
class AllocaOp(TileasOp):
    """Memory for `num_elem` elements that lives until the end of the region around it.

    It is not pure: each execution has memory of its own, which nothing has written yet.
    """

    name = "nv_tileaa.alloca"

    num_elem: fields.Int = fields.prop(IntegerAttr.constr(i64), convert=number)
    alignment: fields.Int = fields.prop(IntegerAttr.constr(i64), convert=number)
    result: fields.Result[PtrType] = fields.typed_result(PtrType, alias="result_type")

    assembly_format = (
        "`num_elem` `=` $num_elem `,` `alignment` `=` $alignment attr-dict `:` type($result)"
    )

    def verify_(self) -> None:
        if self.num_elem.value.data < 1:
            raise op_error(
                self, f"allocates {self.num_elem.value.data} elements, and takes 1 or more"
            )
        alignment = self.alignment.value.data
        if not is_power_of_two(alignment):
            raise op_error(self, f"is aligned to {alignment} bytes, which is no power of two")
