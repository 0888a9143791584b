"""Attributes of `nv_tileas` that carry data: atoms, layouts and the encodings of tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir import Attribute, Data, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from tileas_xdsl.dialects.nv_tileas.atom_reading import AtomError, make_atom, read_atom
from tileas_xdsl.dialects.nv_tileas.atoms import Atom, MmaAtom, Parameter
from tileas_xdsl.dialects.shared_parsing import parse_layout_text, parse_quoted_layout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.output.text import parse_cute_layout, parse_memory_layout
from tileas_xdsl.target.mma.matrix_units import MATRIX_UNITS, MatrixUnit


@irdl_attr_definition
class AtomAttr(Data[Atom], SpacedOpaqueSyntaxAttribute):
    """`#nv_tileas<atom tma_load_2d<box = [64, 128]>>`: the hardware instruction of an operation."""

    name = "nv_tileas.atom"

    @staticmethod
    def of(keyword: str, **parameters: Parameter) -> AtomAttr:
        """Return the attribute of an atom: `AtomAttr.of("tma_load_2d", box=(64, 128))`."""
        return AtomAttr(make_atom(keyword, parameters))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Atom:
        start = parser.pos
        keyword = parser.parse_identifier()
        pairs: Sequence[tuple[str, Parameter]] = ()
        if parser.parse_optional_punctuation("<"):
            pairs = parser.parse_comma_separated_list(
                parser.Delimiter.NONE, lambda: _parse_parameter(parser)
            )
            parser.parse_punctuation(">")
        try:
            return read_atom(keyword, pairs)
        except (AtomError, ValueError) as error:
            raise ParseError(
                Span(start, start + len(keyword), parser.lexer.input), str(error)
            ) from error

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(str(self.data))


def _parse_parameter(parser: AttrParser) -> tuple[str, Parameter]:
    key = parser.parse_identifier()
    if parser.parse_optional_punctuation("=") is None:
        return key, None
    values = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
    )
    if values is not None:
        return key, tuple(values)
    number = parser.parse_optional_integer(allow_boolean=False)
    return key, parser.parse_identifier() if number is None else number


@irdl_attr_definition
class LayoutAttr(Data[MemoryLayout]):
    """`#nv_tileas.layout<(128,64),(64,1),swizzle<3,4,3>>`: the layout assigned to a load or store.

    In the attribute dictionary of an operation `nv_tileas.layout = <...>` is read too.
    """

    name = "nv_tileas.layout"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MemoryLayout:
        return parse_layout_text(parser, parse_memory_layout)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(str(self.data))


@irdl_attr_definition
class SharedEncoding(Data[MemoryLayout]):
    """`#nv_tileas.shared<(128,64),(64,1),swizzle<3,4,3>>`: a tile in shared memory."""

    name = "nv_tileas.shared"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MemoryLayout:
        return parse_layout_text(parser, parse_memory_layout)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(str(self.data))


REGISTER_AXES = frozenset({"thread", "value"})
TENSOR_MEMORY_AXES = frozenset({"lane", "column"})


def _parse_axes_layout(text: str, allowed: tuple[frozenset[str], ...], what: str) -> Layout:
    layout = parse_cute_layout(text)
    if not isinstance(layout, Layout):
        raise LayoutError(f"{what} is a plain layout onto named axes, not {layout}")
    axes = set(layout.axes())
    if not any(axes <= names for names in allowed):
        listed = " or ".join(", ".join(sorted(names)) for names in allowed)
        raise LayoutError(f"{what} maps to the axes {listed}; {layout} does not")
    return layout


def _print_quoted(printer: Printer, layout: Layout) -> None:
    with printer.in_angle_brackets():
        printer.print_string_literal(str(layout))


@irdl_attr_definition
class BlockedEncoding(Data[Layout]):
    """`#nv_tileas.blocked<"(8,4):(4@thread,1@value)">`: registers, blocks of a tile per thread."""

    name = "nv_tileas.blocked"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Layout:
        return parse_quoted_layout(
            parser, lambda text: _parse_axes_layout(text, (REGISTER_AXES,), "a blocked encoding")
        )

    def print_parameter(self, printer: Printer) -> None:
        _print_quoted(printer, self.data)


@irdl_attr_definition
class DotOperandEncoding(Data[Layout]):
    """`#nv_tileas.dot_operand<"...">`: registers, as a matrix instruction reads or writes them."""

    name = "nv_tileas.dot_operand"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Layout:
        return parse_quoted_layout(
            parser,
            lambda text: _parse_axes_layout(text, (REGISTER_AXES,), "a dot operand encoding"),
        )

    def print_parameter(self, printer: Printer) -> None:
        _print_quoted(printer, self.data)


@irdl_attr_definition
class LinearEncoding(Data[Layout]):
    """`#nv_tileas.linear<"...">`: any map to registers (thread, value) or TMEM (lane, column)."""

    name = "nv_tileas.linear"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Layout:
        allowed = (REGISTER_AXES, TENSOR_MEMORY_AXES)
        return parse_quoted_layout(
            parser, lambda text: _parse_axes_layout(text, allowed, "a linear encoding")
        )

    def print_parameter(self, printer: Printer) -> None:
        _print_quoted(printer, self.data)


RegisterEncoding: TypeAlias = BlockedEncoding | DotOperandEncoding | LinearEncoding


def atom_of(attribute: Attribute | None) -> Atom | None:
    """The atom that an attribute holds, None for anything else."""
    return attribute.data if isinstance(attribute, AtomAttr) else None


def mma_instruction(attribute: Attribute | None) -> str | None:
    """The instruction family of an MMA atom, as "wgmma"; None for anything else."""
    atom = atom_of(attribute)
    return atom.instruction if isinstance(atom, MmaAtom) else None


def matrix_unit_of(attribute: Attribute | None) -> MatrixUnit | None:
    """The matrix unit that an MMA atom runs on; None where threads multiply, or no atom says."""
    instruction = mma_instruction(attribute)
    return None if instruction is None else MATRIX_UNITS.get(instruction)
