"""Memory that a module has of its own."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, StringAttr, i64
from xdsl.irdl import traits_def
from xdsl.traits import Pure, SymbolOpInterface

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileaa.base import number
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op

Dense = DenseIntOrFPElementsAttr[Any]


@tileas_op
class GlobalOp(TileasOp):
    """Elements in global memory, the same ones for all blocks, with their first values."""

    name = "nv_tileaa.global"

    sym_name: fields.String = fields.prop(StringAttr)
    value: fields.Field[Dense, Dense] = fields.prop(DenseIntOrFPElementsAttr)
    alignment: fields.OptInt = fields.opt_prop(
        IntegerAttr.constr(i64), default=None, convert=number
    )

    traits = traits_def(SymbolOpInterface())
    assembly_format = "$sym_name attr-dict"


@tileas_op
class GetGlobalOp(TileasOp):
    """The address of the first element of a global, with its initial elements.

    The symbol may be defined in another module, so the operation carries the contents itself.
    """

    name = "nv_tileaa.get_global"

    global_name: fields.String = fields.prop(StringAttr)
    result: fields.Result[PtrType] = fields.typed_result(PtrType, alias="result_type")

    traits = traits_def(Pure())
    assembly_format = "$global_name attr-dict `:` type($result)"

    def verify_(self) -> None:
        if not self.global_name.data:
            raise op_error(self, "names a global")
