"""Printing, for debugging."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, StringAttr, i32
from xdsl.irdl import operand_def, opt_prop_def, traits_def, var_operand_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.atom.interfaces import TensorMapType
from tileas_xdsl.dialects.cute.base.operation import CuteOp
from tileas_xdsl.dialects.cute.memory.views import check_element
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.dialects.op_definition import irdl_op_definition


@irdl_op_definition
class PrintOp(CuteOp):
    """Prints values by a format: one view of memory, every element of it; or numbers.

    `cute-desugar` makes a loop over the coordinates of a view, which prints the coordinate and the
    element as numbers.
    """

    name = "cute.print"
    values = var_operand_def()
    fmt = opt_prop_def(StringAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @property
    def view(self) -> MemRefType | None:
        """The view that is printed; None if numbers are."""
        first = self.values[0].type if len(self.values) == 1 else None
        return first if isinstance(first, MemRefType) else None

    def verify_(self) -> None:
        if self.view is None and any(isinstance(v.type, MemRefType) for v in self.values):
            raise op_error(self, "prints one view, or numbers")
        if not self.values:
            raise op_error(self, "prints something")


@irdl_op_definition
class PrintViewOp(CuteOp):
    """Prints the elements of a view, with the coordinate of each if it is `verbose`.

    `cute-desugar` makes a loop over the coordinates of it.
    """

    name = "cute.print_view"
    source = operand_def()
    verbose = opt_prop_def(BoolAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @property
    def shows_coordinates(self) -> bool:
        """Whether coordinates are printed."""
        return self.verbose is not None and bool(self.verbose.value.data)

    def verify_(self) -> None:
        check_element(self, self.source)


class PrintTensorMap(CuteOp, ABC):
    """Prints the fields of a tensor map to the file with the number `fd`.

    No source says in which words, so that no pass lowers it.
    """

    KIND: ClassVar[str]
    input = operand_def()
    fd = operand_def(i32)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def verify_(self) -> None:
        type_ = self.input.type
        if not isinstance(type_, TensorMapType) or type_.kind != self.KIND:
            raise op_error(self, f"prints a tensor map of kind {self.KIND}, not {type_}")


@irdl_op_definition
class PrintTmaDescTiledOp(PrintTensorMap):
    """Prints a tensor map for boxes."""

    name = "cute.print_tma_desc_tiled"
    KIND: ClassVar[str] = "tiled"


@irdl_op_definition
class PrintTmaDescIm2colOp(PrintTensorMap):
    """Prints a tensor map for columns of pixels."""

    name = "cute.print_tma_desc_im2col"
    KIND: ClassVar[str] = "im2col"
