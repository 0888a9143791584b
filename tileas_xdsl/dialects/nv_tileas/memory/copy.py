"""Copies between two tiles in memory."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import opt_attr_def, traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, LayoutAttr
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.interfaces import MemoryConsistency
from tileas_xdsl.dialects.nv_tileas.memory.arguments import Atom, atom_attribute
from tileas_xdsl.dialects.nv_tileas.memory.atoms import check_pair, check_spaces
from tileas_xdsl.dialects.nv_tileas.memory.layout_checks import check_layout
from tileas_xdsl.dialects.nv_tileas.memory.structure import MemoryOp, memory_op
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType


class CopyBase(MemoryOp):
    """Base of the synchronous and the asynchronous copy."""

    source: fields.Operand = fields.operand()
    destination: fields.Operand = fields.operand()

    atom: Atom = fields.prop(AtomAttr, kw_only=True, convert=atom_attribute)
    layout = opt_attr_def(LayoutAttr, attr_name="nv_tileas.layout")

    def verify_(self) -> None:
        source, destination = self.source.type, self.destination.type
        self._check_shapes(source, destination)
        self._check_elements(source, destination)
        check_pair(self, space_of(source), space_of(destination))
        check_spaces(self, self.atom, space_of(source), space_of(destination))
        is_read = space_of(destination) is not Space.GMEM
        check_layout(self, self.layout, destination if is_read else source, self.atom)

    def _check_shapes(self, source: Attribute, destination: Attribute) -> None:
        first, second = shape_of(source), shape_of(destination)
        if first is None or second is None:
            lacking = source if first is None else destination
            raise op_error(self, f"expects a view or a tile, but got {lacking}")
        same = len(first) == len(second) and all(
            a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(first, second, strict=True)
        )
        if not same:
            raise op_error(self, f"copies to the same shape, not from {source} to {destination}")

    def _check_elements(self, source: Attribute, destination: Attribute) -> None:
        first, second = element_of(source), element_of(destination)
        if first != second:
            raise op_error(self, f"copies elements as they are, not {first} to {second}")


@memory_op
class CopyOp(CopyBase):
    """Copies a tile into another one."""

    name = "nv_tileas.copy"

    traits = traits_def(MemoryConsistency(), MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$source `,` $destination attr-dict `:` type($source) `,` type($destination)"


@memory_op
class AsyncCopyOp(CopyBase):
    """Start to copy a tile into another one; the token signals completion."""

    name = "nv_tileas.async.copy"

    result: fields.Result[AsyncTokenType] = fields.typed_result(
        AsyncTokenType, type=AsyncTokenType()
    )

    traits = traits_def(MemoryConsistency())
    assembly_format = (
        "$source `,` $destination attr-dict"
        " `:` type($source) `,` type($destination) `->` type($result)"
    )
