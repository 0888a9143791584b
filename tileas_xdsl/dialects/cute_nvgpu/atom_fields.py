"""Values of atoms that change while a kernel runs: an accumulate flag, a barrier, a mask."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.atom.interfaces import AtomField, AtomType
from tileas_xdsl.dialects.cute.types.tiled_atoms import TiledCopyType, TiledMmaType
from tileas_xdsl.dialects.cute_nvgpu.atoms.tma_copies import TmaCopyType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = ["AtomGetValueOp", "AtomSetValueOp", "PrefetchAtomDescOp"]


def _field(op: Operation, type_: Attribute, name: str) -> AtomField:
    if isinstance(type_, TiledCopyType | TiledMmaType):
        type_ = type_.atom
    if not isinstance(type_, AtomType):
        raise op_error(op, f"is about an atom, not {type_}")
    fields = {field.name: field for field in type_.state}
    if name not in fields:
        known = ", ".join(fields) or "no values"
        raise op_error(op, f"names a value of {type_}, which has {known}, not {name}")
    return fields[name]


@irdl_op_definition
class AtomSetValueOp(FieldsOp):
    """The atom with another value."""

    name = "cute_nvgpu.atom.set_value"

    atom: fields.Operand = fields.operand()
    field: fields.String = fields.prop(StringAttr)
    value: fields.Operand = fields.operand()
    result: fields.Result[Attribute] = fields.typed_result(type=fields.type_of("atom"))

    traits = traits_def(Pure())
    assembly_format = "$atom `[` $field `]` `=` $value attr-dict `:` type($atom) `,` type($value) `->` type($result)"  # noqa: E501

    def verify_(self) -> None:
        field = _field(self, self.atom.type, self.field.data)
        if self.value.type != field.type:
            raise op_error(self, f"takes {field.type} as {field.name}, but got {self.value.type}")
        if self.result.type != self.atom.type:
            raise op_error(self, f"gives {self.atom.type}, not {self.result.type}")


@irdl_op_definition
class AtomGetValueOp(FieldsOp):
    """A value of an atom."""

    name = "cute_nvgpu.atom.get_value"

    atom: fields.Operand = fields.operand()
    field: fields.String = fields.prop(StringAttr)
    result: fields.Result[Attribute] = fields.typed_result()

    traits = traits_def(Pure())
    assembly_format = "$atom `[` $field `]` attr-dict `:` type($atom) `->` type($result)"

    def verify_(self) -> None:
        field = _field(self, self.atom.type, self.field.data)
        if self.result.type != field.type:
            raise op_error(self, f"gives {field.type} as {field.name}, not {self.result.type}")


@irdl_op_definition
class PrefetchAtomDescOp(FieldsOp):
    """A prefetch of the tensor map that an atom of TMA executes."""

    name = "cute_nvgpu.prefetch_tma_desc"

    atom: fields.Operand = fields.operand()

    assembly_format = "$atom attr-dict `:` type($atom)"

    def verify_(self) -> None:
        if not isinstance(self.atom.type, TmaCopyType):
            raise op_error(self, f"is about an atom of TMA, not {self.atom.type}")
