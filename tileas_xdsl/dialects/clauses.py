"""Types and attributes written as a list of clauses, which each class says as a table.

    class PipelineType(ClausedType, TypeAttribute):
        kind: StringAttr
        stages: IntAttr
        multicast: IntAttr

        CLAUSES = (Clause(WORD), Clause(INTEGER), Clause(INTEGER, "multicast", " ", default=ONE))

is written `!cutlass.pipeline<tma_async, 3, multicast 2>`.  Clauses are in the order of the
parameters; one that has its default is left out, and so are the brackets where all are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any, ClassVar, NamedTuple

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tileas_xdsl.data_classes import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind of value is read and written."""

    parse: Callable[[AttrParser], Attribute | None]
    """None where something else comes, which a clause that may be left out permits."""
    show: Callable[[Any], str] | None = None
    """None for an attribute that the printer prints: by its alias, where it has one."""


class Clause(NamedTuple):
    """One parameter of a type."""

    form: Form
    key: str = ""
    """What stands in front of it; nothing for a bare value."""
    sign: str = " = "
    """What stands between the key and the value."""
    before: str = ", "
    """What separates it from the one before."""
    default: Attribute | None = None
    """The value that is not written."""


class ClausedType(ParametrizedAttribute):
    """A type or attribute whose parameters are clauses."""

    CLAUSES: ClassVar[Sequence[Clause]]
    END: ClassVar[str] = ">"
    """How the list ends: some have a blank in front of the bracket."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        defaults = [clause.default for clause in cls.CLAUSES]
        is_optional = None not in defaults
        if parser.parse_optional_punctuation("<") is None:
            if is_optional:
                return [value for value in defaults if value is not None]
            parser.raise_error(f"expected '<' and the parameters of {cls.name}")
        found: list[Attribute] = []
        is_comma_read = True
        for clause in cls.CLAUSES:
            value = None
            if is_comma_read or _is_comma_next(parser, clause):
                value = _parse(parser, clause)
                is_comma_read = value is None
            value = clause.default if value is None else value
            if value is None:
                parser.raise_error(f"expected {clause.key or 'another parameter'} of {cls.name}")
            found.append(value)
        parser.parse_punctuation(">")
        return found

    def print_parameters(self, printer: Printer) -> None:
        pairs = zip(self.CLAUSES, self.parameters, strict=True)
        given = [(clause, value) for clause, value in pairs if value != clause.default]
        if not given:
            return
        printer.print_string("<")
        for position, (clause, value) in enumerate(given):
            key = f"{clause.key}{clause.sign}" if clause.key else ""
            printer.print_string(f"{clause.before * (position > 0)}{key}")
            if clause.form.show is None:
                printer.print_attribute(value)
            else:
                printer.print_string(clause.form.show(value))
        printer.print_string(self.END)


def _is_comma_next(parser: AttrParser, clause: Clause) -> bool:
    """Read what separates a clause from the one before; False if the clause is left out."""
    if "," not in clause.before:
        return True
    if clause.default is None:
        parser.parse_punctuation(",")
        return True
    return parser.parse_optional_punctuation(",") is not None


def _parse(parser: AttrParser, clause: Clause) -> Attribute | None:
    """Return the value of a clause; None where another one comes."""
    if clause.key:
        if clause.default is None:
            parser.parse_keyword(clause.key)
        elif parser.parse_optional_keyword(clause.key) is None:
            return None
        if "=" in clause.sign:
            parser.parse_punctuation("=")
    return clause.form.parse(parser)


def _parse_integer(parser: AttrParser) -> IntAttr | None:
    value = parser.parse_optional_integer(allow_boolean=False)
    return None if value is None else IntAttr(value)


def _parse_word(parser: AttrParser) -> StringAttr | None:
    word = parser.parse_optional_identifier()
    return None if word is None else StringAttr(word)


def parameter_of(kind: type[Data[Any]]) -> Form:
    """Return the form of an attribute that reads and prints its own parameter."""

    def show(value: Data[Any]) -> str:
        stream = StringIO()
        value.print_parameter(Printer(stream))
        return stream.getvalue()

    return Form(lambda parser: kind.new(kind.parse_parameter(parser)), show)


def _parse_integers(parser: AttrParser) -> ArrayAttr[IntAttr]:
    found = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
    )
    return ArrayAttr(map(IntAttr, found))


def flag(word: str) -> Form:
    """A keyword that is there or not, of a clause whose default is false."""

    def parse(parser: AttrParser) -> BoolAttr | None:
        is_set = parser.parse_optional_keyword(word) is not None
        return BoolAttr.from_bool(True) if is_set else None

    return Form(parse, lambda _: word)


INTEGER = Form(_parse_integer, lambda value: str(value.data))
INTEGERS = Form(_parse_integers, lambda values: str([value.data for value in values]))
WORD = Form(_parse_word, lambda value: value.data)
TYPE = Form(lambda parser: parser.parse_type())
