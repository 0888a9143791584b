"""Memory that a module has of its own."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, StringAttr, i64
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure, SymbolOpInterface

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op

Dense = DenseIntOrFPElementsAttr[Any]


@tileas_op
class GlobalOp(TileasOp):
    """Elements in global memory, the same ones for all blocks, with their first values."""

    name = "nv_tileaa.global"

    sym_name = prop_def(StringAttr)
    value = prop_def(DenseIntOrFPElementsAttr)
    alignment = opt_prop_def(IntegerAttr.constr(i64))

    traits = traits_def(SymbolOpInterface())
    assembly_format = "$sym_name attr-dict"

    def __init__(self, name: str, value: Dense, alignment: int | None = None) -> None:
        properties = {
            "sym_name": StringAttr(name),
            "value": value,
            "alignment": None if alignment is None else IntegerAttr(alignment, i64),
        }
        super().__init__(properties=properties)


@tileas_op
class GetGlobalOp(TileasOp):
    """The address of the first element of a global, with its initial elements.

    The symbol may be defined in another module, so the operation carries the contents itself.
    """

    name = "nv_tileaa.get_global"

    global_name = prop_def(StringAttr)
    result = result_def(PtrType)

    traits = traits_def(Pure())
    assembly_format = "$global_name attr-dict `:` type($result)"

    def __init__(self, name: str, result_type: PtrType) -> None:
        super().__init__(properties={"global_name": StringAttr(name)}, result_types=[result_type])

    def verify_(self) -> None:
        if not self.global_name.data:
            raise op_error(self, "names a global")
