"""Memory that a block has of its own."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.irdl import prop_def, result_def

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.layout.integers import is_power_of_two


@tileas_op
class AllocaOp(TileasOp):
    """Memory for `num_elem` elements that lives until the end of the region around it.

    It is not pure: each execution has memory of its own, which nothing has written yet.
    """

    name = "nv_tileaa.alloca"

    num_elem = prop_def(IntegerAttr.constr(i64))
    alignment = prop_def(IntegerAttr.constr(i64))
    result = result_def(PtrType)

    assembly_format = (
        "`num_elem` `=` $num_elem `,` `alignment` `=` $alignment attr-dict `:` type($result)"
    )

    def __init__(self, count: int, alignment: int, result_type: PtrType) -> None:
        properties = {
            "num_elem": IntegerAttr(count, i64),
            "alignment": IntegerAttr(alignment, i64),
        }
        super().__init__(properties=properties, result_types=[result_type])

    def verify_(self) -> None:
        if self.num_elem.value.data < 1:
            raise op_error(
                self, f"allocates {self.num_elem.value.data} elements, and takes 1 or more"
            )
        alignment = self.alignment.value.data
        if not is_power_of_two(alignment):
            raise op_error(self, f"is aligned to {alignment} bytes, which is no power of two")
