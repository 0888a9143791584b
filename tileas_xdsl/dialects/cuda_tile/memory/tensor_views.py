"""`make_tensor_view`: an address, extents and strides make a tensor in global memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.lexer import Position

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
from tileas_xdsl.dialects.cuda_tile.constraints import SCALAR_INT, SCALAR_POINTER, TENSOR_VIEW
from tileas_xdsl.dialects.cuda_tile.enums import PtrAttr
from tileas_xdsl.dialects.cuda_tile.memory.indexed import SEGMENT_SIZES, segments
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import parse_type, print_type
from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, TileType, element_of
from tileas_xdsl.dialects.cuda_tile.types.view_types import TensorViewType


@dataclass
class _Numbers:
    """`[64, %n]`: numbers, some of them known only at run time."""

    name: str
    position: Position
    values: list[tuple[int, Position]] = field(default_factory=list[tuple[int, Position]])
    operands: list[UnresolvedOperand] = field(default_factory=list[UnresolvedOperand])


def _parse_numbers(parser: Parser, keyword: str, name: str) -> _Numbers:
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    numbers = _Numbers(name, parser.pos)

    def parse_number() -> None:
        position = parser.pos
        value = parser.parse_optional_integer(allow_boolean=False)
        if value is None:
            operand = parser.parse_optional_unresolved_operand()
            if operand is None:
                parser.raise_error(
                    message("cuda_tile.expected.integer_or_value"), at_position=position
                )
            numbers.operands.append(operand)
            value = DYNAMIC_INDEX
        numbers.values.append((value, position))

    parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_number)
    return numbers


@dataclass
class _Types:
    """Shape and strides as parsed from the type after the colon."""

    tensor: TensorViewType
    base: Attribute
    number: Attribute | None
    """The type of the numbers that are known at run time."""


def _as_tensor(parser: Parser, type_: Attribute, position: Position) -> TensorViewType:
    if not isinstance(type_, TensorViewType):
        text = message("cuda_tile.expected.view_type", expected="tensor_view", given=quoted(type_))
        parser.raise_error(text, at_position=position)
    return type_


def _parse_tensor(parser: Parser) -> TensorViewType:
    """`-> tensor_view<...>`."""
    parser.parse_punctuation("->")
    position = parser.pos
    return _as_tensor(parser, parse_type(parser), position)


def _parse_types(parser: Parser) -> _Types:
    """`[BASE [, NUMBER] ->] [NUMBER ->] TENSOR`."""
    position = parser.pos
    first = parse_type(parser)
    if not isinstance(first, TileType):
        tensor = _as_tensor(parser, first, position)
        return _Types(tensor, _base_of(tensor), None)
    if isinstance(first.element_type, PtrType) and parser.parse_optional_punctuation(","):
        number = parse_type(parser)
        return _Types(_parse_tensor(parser), first, number)
    tensor = _parse_tensor(parser)
    if isinstance(first.element_type, PtrType) and _is_static(tensor):
        return _Types(tensor, first, None)
    return _Types(tensor, _base_of(tensor), first)


def _base_of(tensor: TensorViewType) -> TileType:
    """The default type of the base address."""
    return TileType((), PtrType(tensor.element_type))


def _is_static(tensor: TensorViewType) -> bool:
    return DYNAMIC_INDEX not in (*tensor.get_shape(), *tensor.get_strides())


def _word(number: int) -> str:
    return "dynamic" if number == DYNAMIC_INDEX else str(number)


def _compare(parser: Parser, given: _Numbers, expected: Sequence[int]) -> None:
    """Check that shape and strides in front of the colon agree with the type."""
    if len(given.values) != len(expected):
        counts = (given.name, len(expected), len(given.values))
        parser.raise_error(
            message("cuda_tile.tensor.rank", kind=counts[0], expected=counts[1], given=counts[2]),
            at_position=given.position,
        )
    for index, ((value, position), wanted) in enumerate(zip(given.values, expected, strict=True)):
        if value != wanted:
            words = (given.name, index, _word(wanted), _word(value))
            parser.raise_error(
                message(
                    "cuda_tile.tensor.extent",
                    kind=words[0],
                    dim=words[1],
                    expected=words[2],
                    given=words[3],
                ),
                at_position=position,
            )


@cuda_tile_op
class MakeTensorViewOp(CudaTileOp):
    """A tensor in global memory; extents and strides that its type leaves open are operands."""

    name = "cuda_tile.make_tensor_view"

    base = operand_def(SCALAR_POINTER)
    dynamic_shape = var_operand_def(SCALAR_INT)
    dynamic_strides = var_operand_def(SCALAR_INT)
    result = result_def(TENSOR_VIEW)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> MakeTensorViewOp:
        base = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        shape = _parse_numbers(parser, "shape", "shape")
        parser.parse_punctuation(",")
        strides = _parse_numbers(parser, "strides", "stride")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = _parse_types(parser)
        resolved = parser.resolve_operand(base, types.base)
        _compare(parser, shape, types.tensor.get_shape())
        _compare(parser, strides, types.tensor.get_strides())
        numbers = [
            [] if types.number is None else [parser.resolve_operand(o, types.number) for o in some]
            for some in (shape.operands, strides.operands)
        ]
        return cls.create(
            operands=[resolved, *numbers[0], *numbers[1]],
            result_types=[types.tensor],
            properties={SEGMENT_SIZES: segments(1, *map(len, numbers))},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        tensor = self.result.type
        assert isinstance(tensor, TensorViewType)
        printer.print_string(" ")
        printer.print_ssa_value(self.base)
        printer.print_string(", shape = [")
        _print_numbers(printer, tensor.get_shape(), self.dynamic_shape)
        printer.print_string("], strides = [")
        _print_numbers(printer, tensor.get_strides(), self.dynamic_strides)
        printer.print_string("]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        said = [*self._said_of_base(), *(v.type for v in self._dynamic()[:1])]
        if said:
            printer.print_list(said, lambda type_: print_type(printer, type_))
            printer.print_string(" -> ")
        print_type(printer, tensor)

    def _said_of_base(self) -> list[Attribute]:
        """The type of the address, if it is not the one that goes without saying."""
        pointer = element_of(self.base.type)
        said = isinstance(pointer, PtrType) and isinstance(pointer.ptr_attr, PtrAttr)
        return [self.base.type] if said else []

    def _dynamic(self) -> list[SSAValue]:
        return [*self.dynamic_shape, *self.dynamic_strides]

    def check(self) -> None:
        tensor, pointer = self.result.type, element_of(self.base.type)
        assert isinstance(tensor, TensorViewType)
        assert isinstance(pointer, PtrType)
        if tensor.element_type != pointer.pointee:
            elements = (quoted(tensor.element_type), quoted(pointer.pointee))
            raise self.refuse("cuda_tile.tensor.pointee", expected=elements[0], given=elements[1])
        self._check_ptr_attr(pointer, tensor)
        self._check_numbers(tensor)

    def _check_ptr_attr(self, pointer: PtrType, tensor: TensorViewType) -> None:
        has, gives = (isinstance(t.ptr_attr, PtrAttr) for t in (pointer, tensor))
        if has and not gives:
            raise self.refuse("cuda_tile.tensor.loses_ptr_attr", attribute=pointer.ptr_attr)
        if gives and not has:
            raise self.refuse("cuda_tile.tensor.invents_ptr_attr")

    def _check_numbers(self, tensor: TensorViewType) -> None:
        for key, numbers, values in (
            ("cuda_tile.tensor_dynamic.shape", tensor.get_shape(), self.dynamic_shape),
            ("cuda_tile.tensor_dynamic.strides", tensor.get_strides(), self.dynamic_strides),
        ):
            count = numbers.count(DYNAMIC_INDEX)
            if len(values) != count:
                raise self.refuse(key, expected=count, given=len(values))
        expected = None
        for word, index, type_ in self._typed_numbers():
            expected = expected or type_
            if type_ != expected:
                types = (quoted(expected), quoted(type_))
                raise self.refuse(
                    "cuda_tile.tensor_dynamic.type",
                    kind=word,
                    index=index,
                    expected=types[0],
                    given=types[1],
                )

    def _typed_numbers(self) -> Iterator[tuple[str, int, Attribute]]:
        for word, values in (("shape", self.dynamic_shape), ("stride", self.dynamic_strides)):
            for index, value in enumerate(values):
                yield word, index, value.type


def _print_numbers(printer: Printer, numbers: Sequence[int], dynamic: Sequence[SSAValue]) -> None:
    values = iter(dynamic)
    for index, number in enumerate(numbers):
        if index:
            printer.print_string(", ")
        if number == DYNAMIC_INDEX:
            printer.print_ssa_value(next(values))
        else:
            printer.print_string(str(number))
