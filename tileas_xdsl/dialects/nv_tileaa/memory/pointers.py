"""Arithmetic of pointers, on one of them and on tiles of them; it stays legal in `nv_tileas`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import VarConstraint, traits_def
from xdsl.irdl.constraints import AnyAttr
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileaa.base import as_array
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.op_definition import irdl_op_definition

_TILES = Kinds(TensorType)


def pointer_of(type_: Attribute) -> PtrType | None:
    """The type of a pointer, or of the pointers in a tile; None for any other type."""
    inside = cast("TensorType[Attribute]", type_).element_type if _TILES[type(type_)] else type_
    return inside if isinstance(inside, PtrType) else None


@irdl_op_definition
class AddPtrOp(FieldsOp):
    """The pointer `offset` elements further on; for tiles, each pointer by its own offset.

    Offsets are signed.  Space and provenance stay: the result points into the same memory.
    """

    name = "nv_tileaa.addptr"

    _POINTER: ClassVar = VarConstraint("POINTER", AnyAttr())

    base: fields.Operand = fields.operand(_POINTER)
    offset: fields.Operand = fields.operand()
    result: fields.Result[Attribute] = fields.typed_result(
        _POINTER, type=fields.type_of("base"), init=False
    )

    traits = traits_def(Pure())
    assembly_format = "$base `,` $offset attr-dict `:` type($base) `,` type($offset)"

    def verify_(self) -> None:
        base, offset = self.base.type, self.offset.type
        if pointer_of(base) is None:
            raise op_error(self, f"moves a pointer or a tile of pointers, not {base}")
        inside, shape = _taken_apart(offset)
        if not isinstance(inside, IntegerType | IndexType) or shape != _taken_apart(base)[1]:
            raise op_error(self, f"moves {base} by integers of the same shape, not by {offset}")


def _taken_apart(type_: Attribute) -> tuple[Attribute, tuple[int, ...] | None]:
    """Element and shape of a tile; a scalar has no shape."""
    if not _TILES[type(type_)]:
        return type_, None
    tile = cast("TensorType[Attribute]", type_)
    return tile.element_type, tuple(tile.get_shape())


def _pointer_into(given: Mapping[str, Any]) -> Attribute:
    return PtrType(as_array(given["array"]).element_type)


@irdl_op_definition
class BasePointerOp(FieldsOp):
    """The pointer to the first element of an array, which has the provenance of the array."""

    name = "nv_tileaa.base_pointer"

    array: fields.Operand = fields.operand(MemRefType)
    result: fields.Result[Attribute] = fields.typed_result(PtrType, type=_pointer_into, init=False)

    traits = traits_def(Pure())
    assembly_format = "$array attr-dict `:` type($array) `->` type($result)"

    def verify_(self) -> None:
        wanted = _pointer_into({"array": self.array})
        if self.result.type != wanted:
            raise op_error(self, f"is of type {wanted}, not {self.result.type}")
