"""Types of atoms repeated over threads and values.

`!cute.tiled_copy<ATOM, layout_copy_tv = <"...">, tiler_mn = <"[..;..]">>` copies a tile of shape
`tiler_mn` at a time: `layout_copy_tv` maps (thread, value) to the index in it.  `!cute.tiled_mma<
ATOM, atom_layout_MNK = <"(2,1,1):(1,0,0)">, permutation_MNK = <"[..;..;..]">>` repeats an MMA over
the threads of `atom_layout_MNK`, which maps an atom's place along M, N and K to its number.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.cute.atom.interfaces import CopyAtomType, MmaAtomType
from tileas_xdsl.dialects.cute.types.layouts import LayoutAttr
from tileas_xdsl.dialects.cute.types.tuples import TileAttr
from tileas_xdsl.layout import Layout


def _parse_clause(parser: AttrParser, name: str) -> None:
    parser.parse_keyword(name)
    parser.parse_punctuation("=")


def _parse_layout(parser: AttrParser, name: str) -> LayoutAttr:
    _parse_clause(parser, name)
    return LayoutAttr(LayoutAttr.parse_parameter(parser))


def _parse_tile(parser: AttrParser, name: str) -> TileAttr:
    _parse_clause(parser, name)
    return TileAttr(TileAttr.parse_parameter(parser))


@irdl_attr_definition
class TiledCopyType(ParametrizedAttribute, TypeAttribute):
    """A copy atom repeated over a tile."""

    name = "cute.tiled_copy"
    atom: Attribute
    layout_copy_tv: LayoutAttr
    tiler_mn: TileAttr

    @property
    def thread_values(self) -> Layout:
        """(thread, value) to the index in the tile."""
        return self.layout_copy_tv.data

    def verify(self) -> None:
        if not isinstance(self.atom, CopyAtomType):
            raise VerifyException(f"a tiled copy repeats a copy atom, not {self.atom}")
        if self.thread_values.rank != 2:
            raise VerifyException(
                f"layout_copy_tv is of rank 2, threads and values, not {self.thread_values}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            atom = parser.parse_type()
            parser.parse_punctuation(",")
            layout = _parse_layout(parser, "layout_copy_tv")
            parser.parse_punctuation(",")
            tiler = _parse_tile(parser, "tiler_mn")
        return atom, layout, tiler

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.atom)
            printer.print_string(", layout_copy_tv = ")
            self.layout_copy_tv.print_parameter(printer)
            printer.print_string(", tiler_mn = ")
            self.tiler_mn.print_parameter(printer)


NO_PERMUTATION = TileAttr((None, None, None))
"""No mode is permuted; it is not written."""


@irdl_attr_definition
class TiledMmaType(ParametrizedAttribute, TypeAttribute):
    """An MMA atom repeated over threads."""

    name = "cute.tiled_mma"
    atom: Attribute
    atom_layout_mnk: LayoutAttr
    permutation_mnk: TileAttr

    def __init__(
        self, atom: Attribute, layout: Layout, permutation: TileAttr = NO_PERMUTATION
    ) -> None:
        super().__init__(atom, LayoutAttr(layout), permutation)

    @property
    def atom_layout(self) -> Layout:
        """The place of an atom along M, N, K to its number."""
        return self.atom_layout_mnk.data

    def verify(self) -> None:
        if not isinstance(self.atom, MmaAtomType):
            raise VerifyException(f"a tiled MMA repeats an MMA atom, not {self.atom}")
        if self.atom_layout.rank != 3:
            raise VerifyException(f"atom_layout_MNK is of rank 3, not {self.atom_layout}")
        if len(self.permutation_mnk.data) != 3:
            raise VerifyException("permutation_MNK has three modes")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            atom = parser.parse_type()
            parser.parse_punctuation(",")
            layout = _parse_layout(parser, "atom_layout_MNK")
            permutation = NO_PERMUTATION
            if parser.parse_optional_punctuation(","):
                permutation = _parse_tile(parser, "permutation_MNK")
        return atom, layout, permutation

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.atom)
            printer.print_string(", atom_layout_MNK = ")
            self.atom_layout_mnk.print_parameter(printer)
            if self.permutation_mnk != NO_PERMUTATION:
                printer.print_string(", permutation_MNK = ")
                self.permutation_mnk.print_parameter(printer)
