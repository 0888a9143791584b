"""The operations of `cute`: one syntax, and result types that are inferred.

`%r = cute.name(%a, %b) <{mode = [0]}> : (T, U) -> R`.  Read are also the short forms of listings:
operands without parentheses, no operand types, and `!cute.layout` with nothing after it, or no
type at all, for a result whose type is inferred.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import IRDLOperation, VarResultDef, irdl_attr_definition
from xdsl.parser import Parser
from xdsl.parser.core import UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.dialects.cute.base.inference_errors import inference_error
from tileas_xdsl.dialects.cute.base.symbolic_values import symbol, type_of
from tileas_xdsl.dialects.op_definition import member_op
from tileas_xdsl.layout.errors import LayoutError

T = TypeVar("T", bound="CuteOp")


@irdl_attr_definition
class Unspecified(ParametrizedAttribute, TypeAttribute):
    """Stands for a result type until it is inferred: the name that was written, or nothing.

    It is in no module and no dialect, so that it has the name of none.
    """

    name = "internal.unspecified"
    written: StringAttr


INFERRED = Unspecified(StringAttr(""))


class CuteOp(IRDLOperation):
    """An operation in the syntax of the dialect."""

    def infer(self) -> Sequence[Attribute]:
        """The types of the results; those that are declared, where they say more than operands."""
        return self.result_types

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return parse_cute(cls, parser)

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(")")
        print_properties(self, printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_signature(self, printer)


def cute_family_op(
    family: type[T], class_name: str, mnemonic: str, summary: str, **constants: object
) -> type[T]:
    """Define `cute.MNEMONIC`, which differs from its family in name, meaning and constants."""
    return member_op(family, class_name, f"cute.{mnemonic}", summary, **constants)


class InferredOp(CuteOp):
    """An operation whose result types follow from its operands and properties."""

    @abstractmethod
    def infer(self) -> Sequence[Attribute]:
        """The types of the results; `OpError` where there are none."""

    def verify_(self) -> None:
        inferred, declared = list(self.infer()), list(self.result_types)
        if inferred != declared:
            types = {"inferred": _quoted(inferred), "declared": _quoted(declared)}
            raise op_error(self, message("cuda_tile.inferred_types", **types))


class AlgebraOp(InferredOp):
    """An operation that `compute` defines on values of the algebra (`cute.values`)."""

    @abstractmethod
    def compute(self, *operands: Any) -> Any:
        """The result for these operands; a `LayoutError` says why there is none."""

    def check(self, *operands: Any) -> None:
        """Raise `inference_error` for operands of which there is no result."""

    def failure(self, error: LayoutError, *operands: Any) -> OpError:
        """The error for operands that the algebra refuses."""
        del operands
        return inference_error(self, str(error))

    def result_value(self) -> Any:
        """What the operation gives, in the algebra."""
        operands = [symbol(operand) for operand in self.operands]
        try:
            self.check(*operands)
            return self.compute(*operands)
        except LayoutError as error:
            raise self.failure(error, *operands) from error

    def infer(self) -> Sequence[Attribute]:
        value = self.result_value()
        try:
            return (type_of(value),)
        except (LayoutError, VerifyException) as error:
            raise inference_error(self, str(error)) from error


def built(cls: type[T], operands: Sequence[Any], **properties: Attribute | None) -> T:
    """The operation on `operands`, its result types inferred."""
    values = [SSAValue.get(operand) for operand in operands]
    kept = {name: value for name, value in properties.items() if value is not None}
    return inferred(cls, values, kept, [INFERRED], {})


def inferred(
    cls: type[T],
    operands: Sequence[SSAValue],
    properties: Mapping[str, Attribute],
    results: Sequence[Attribute],
    attributes: Mapping[str, Attribute],
) -> T:
    """The operation, with result types inferred where `results` has `INFERRED`."""
    if not any(isinstance(result, Unspecified) for result in results):
        return _created(cls, operands, properties, results, attributes)
    draft = _created(cls, operands, properties, results, attributes)
    try:
        types = list(draft.infer())
    finally:
        draft.drop_all_references()
    return _created(cls, operands, properties, types, attributes)


def _created(
    cls: type[T],
    operands: Sequence[SSAValue],
    properties: Mapping[str, Attribute],
    results: Sequence[Attribute],
    attributes: Mapping[str, Attribute],
) -> T:
    return cls.create(
        operands=operands,
        result_types=results,
        properties=dict(properties),
        attributes=dict(attributes),
    )


def parse_cute(cls: type[T], parser: Parser) -> T:
    """An operation in the syntax of the dialect."""
    pending = parse_operands(parser)
    properties = parser.parse_optional_properties_dict()
    attributes = parser.parse_optional_attr_dict()
    types, results = parse_signature(parser)
    operands = resolved(parser, pending, types)
    if results is None:
        definitions = cls.get_irdl_definition().results
        results = [INFERRED for _, one in definitions if not isinstance(one, VarResultDef)]
    return inferred(cls, operands, properties, results, attributes)


def parse_operands(parser: Parser) -> list[UnresolvedOperand]:
    """`(%a, %b)` or `%a, %b`."""
    if parser.parse_optional_punctuation("(") is None:
        first = parser.parse_optional_unresolved_operand()
        return [] if first is None else [first, *_more(parser)]
    if parser.parse_optional_punctuation(")"):
        return []
    operands = [parser.parse_unresolved_operand(), *_more(parser)]
    parser.parse_punctuation(")")
    return operands


def _more(parser: Parser) -> list[UnresolvedOperand]:
    found: list[UnresolvedOperand] = []
    while parser.parse_optional_punctuation(","):
        found.append(parser.parse_unresolved_operand())
    return found


def parse_signature(parser: Parser) -> tuple[list[Attribute] | None, list[Attribute] | None]:
    """`: (T, U) -> R`, `: T, U -> R` or `: R`: types of operands and results, None if unsaid."""
    if parser.parse_optional_punctuation(":") is None:
        return None, None
    parenthesised = parser.parse_optional_punctuation("(") is not None
    first = [] if parenthesised and parser.parse_optional_punctuation(")") else _types(parser)
    if parenthesised and first:
        parser.parse_punctuation(")")
    if parser.parse_optional_punctuation("->") is None:
        return None, first
    return first, parse_results(parser)


def parse_results(parser: Parser) -> list[Attribute]:
    """`R`, `(R, S)` or `()`."""
    if parser.parse_optional_punctuation("(") is None:
        return _types(parser)
    if parser.parse_optional_punctuation(")"):
        return []
    found = _types(parser)
    parser.parse_punctuation(")")
    return found


def _types(parser: Parser) -> list[Attribute]:
    found = [parse_type(parser)]
    while parser.parse_optional_punctuation(","):
        found.append(parse_type(parser))
    return found


def parse_type(parser: Parser) -> Attribute:
    """A type; `!cute.layout` without `<...>` is one that is inferred."""
    token = parser._current_token  # pyright: ignore[reportPrivateUsage]
    after = token.span.input.content[token.span.end : token.span.end + 1]
    if token.text in BARE and after != "<":
        parser._consume_token()  # pyright: ignore[reportPrivateUsage]
        return Unspecified(StringAttr(token.text))
    return parser.parse_type()


BARE = frozenset(
    f"!cute.{name}"
    for name in (
        "layout", "composed_layout", "shape", "stride", "coord", "int_tuple", "tile", "swizzle",
        "iter", "view", "memref", "ptr", "coord_tensor",
    )
)  # fmt: skip
"""Names of types that listings write without saying more."""


def resolved(
    parser: Parser, operands: Sequence[UnresolvedOperand], types: Sequence[Attribute] | None
) -> list[SSAValue]:
    """The operands, by their types or, where none are written, as they were defined before."""
    if types is None:
        return [_defined(parser, operand) for operand in operands]
    if len(types) != len(operands):
        parser.raise_error(f"{len(operands)} operands have {len(operands)} types")
    return [
        parser.resolve_operand(operand, type_)
        for operand, type_ in zip(operands, types, strict=True)
    ]


def _defined(parser: Parser, operand: UnresolvedOperand) -> SSAValue:
    values = parser.ssa_values.get(operand.operand_name)
    if values is None or operand.index >= len(values):
        parser.raise_error(
            f"%{operand.operand_name} has no type here and is not defined before",
            operand.span,
        )
    return values[operand.index]


def print_properties(op: Operation, printer: Printer) -> None:
    """` <{name = value}>`; nothing without properties."""
    if op.properties:
        printer.print_string(" <")
        printer.print_attr_dict(op.properties)
        printer.print_string(">")


def print_signature(op: Operation, printer: Printer) -> None:
    """`(T, U) -> R`."""
    with printer.in_parens():
        printer.print_list(op.operand_types, printer.print_attribute)
    printer.print_string(" -> ")
    results = op.result_types
    if len(results) == 1:
        printer.print_attribute(results[0])
        return
    with printer.in_parens():
        printer.print_list(results, printer.print_attribute)


def integers_of(attribute: Attribute | None) -> tuple[int, ...]:
    """The integers of a property that `integers` makes, whatever their width; none if absent."""
    if not isinstance(attribute, ArrayAttr):
        return ()
    found: list[Any] = list(cast(ArrayAttr[Attribute], attribute))
    return tuple(int(x.value.data) for x in found if isinstance(x, IntegerAttr))


def _quoted(types: Sequence[Attribute]) -> str:
    return ", ".join(f"'{t}'" for t in types)
