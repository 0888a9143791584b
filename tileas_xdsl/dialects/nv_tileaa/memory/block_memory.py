"""Memory that a block has of its own."""

from __future__ import annotations

from xdsl.dialects.builtin import i64

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import AT_LEAST_1, POWERS_OF_TWO, number_among
from tileas_xdsl.dialects.nv_tileaa.base import number
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op


@tileas_op
class AllocaOp(TileasOp):
    """Memory for `num_elem` elements that lives until the end of the region around it.

    It is not pure: each execution has memory of its own, which nothing has written yet.
    """

    name = "nv_tileaa.alloca"

    num_elem: fields.Int = fields.prop(
        number_among(i64, AT_LEAST_1, "allocates {given} elements, and takes 1 or more"),
        convert=number,
    )
    alignment: fields.Int = fields.prop(
        number_among(i64, POWERS_OF_TWO, "is aligned to {given} bytes, which is no power of two"),
        convert=number,
    )
    result: fields.Result[PtrType] = fields.typed_result(PtrType, alias="result_type")

    assembly_format = (
        "`num_elem` `=` $num_elem `,` `alignment` `=` $alignment attr-dict `:` type($result)"
    )
