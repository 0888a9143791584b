"""Writing attributes: the inverse of `attributes`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    i1,
)
from xdsl.ir import Attribute, TypeAttribute

from tileas_xdsl.dialects.cuda_tile.hints import OptimizationHintsAttr
from tileas_xdsl.dialects.cuda_tile.types.dense import tile_type_of
from tileas_xdsl.dialects.cuda_tile.types.predicates import BoundedAttr, DivByAttr, SameElementsAttr
from tileas_xdsl.dialects.cuda_tile.types.scalars import bit_width
from tileas_xdsl.frontend.bytecode.enumerations import ENUMERATIONS
from tileas_xdsl.frontend.bytecode.layout import AttributeTag
from tileas_xdsl.frontend.bytecode.operations import Kind
from tileas_xdsl.frontend.bytecode.reading.constants import packed
from tileas_xdsl.frontend.bytecode.writing.output import Numbering, Output
from tileas_xdsl.frontend.bytecode.writing.type_table import TypeTable
from tileas_xdsl.frontend.bytecode.writing.unwritable import UnwritableError

_NUMBERS = {
    member: number for members in ENUMERATIONS.values() for number, member in enumerate(members)
}


class AttributeWriter:
    """Writes attributes into operations; texts, types and constants go into their tables."""

    def __init__(
        self, strings: Numbering[str], types: TypeTable, constants: Numbering[bytes]
    ) -> None:
        self._strings = strings
        self._types = types
        self._constants = constants

    def write(self, output: Output, kind: Kind | str, value: Any) -> None:
        """An attribute of a kind that the reader knows; raises `UnwritableError`."""
        if isinstance(kind, str):
            output.varint(_NUMBERS[value])
            return
        _INLINE[kind](self, output, value)

    def tagged(self, output: Output, value: Attribute) -> None:
        """An attribute after its tag; raises `UnwritableError` if there is no tag for it."""
        if isinstance(value, IntegerAttr) and cast(Any, value).type == i1:
            output.varint(AttributeTag.BOOL)
            self.boolean(output, cast(Any, value))
            return
        for definition, (tag, write) in _TAGGED.items():
            if isinstance(value, definition):
                output.varint(tag)
                write(self, output, value)
                return
        raise UnwritableError(f"bytecode has no attribute {value}")

    def constant(self, output: Output, value: DenseIntOrFPElementsAttr[Any]) -> None:
        data = packed(value)
        entry = Output()
        entry.varint(len(data))
        output.varint(self._constants[bytes(entry) + data])

    def string(self, output: Output, value: StringAttr) -> None:
        output.varint(self._strings[value.data])

    def symbol(self, output: Output, value: SymbolRefAttr) -> None:
        if value.nested_references.data:
            raise UnwritableError(f"bytecode has no nested symbols, {value}")
        output.varint(self._strings[value.root_reference.data])

    def boolean(self, output: Output, value: IntegerAttr[Any]) -> None:
        output.append(value.value.data & 1)

    def array(self, output: Output, value: ArrayAttr[Attribute]) -> None:
        output.varint(len(value.data))
        for each in value.data:
            self.tagged(output, each)

    def dictionary(self, output: Output, value: DictionaryAttr) -> None:
        output.varint(len(value.data))
        for key, each in value.data.items():
            output.varint(self._strings[key])
            self.tagged(output, each)

    def hints(self, output: Output, value: OptimizationHintsAttr) -> None:
        self.dictionary(output, value.value)

    def type(self, output: Output, value: Attribute) -> None:
        output.varint(self._types.number(value))

    def integer(self, output: Output, value: IntegerAttr[Any]) -> None:
        type_: Attribute = value.type
        if not isinstance(type_, IntegerType):
            raise UnwritableError(f"bytecode has no integers of type {type_}")
        self.type(output, cast(Attribute, type_))
        _bits(self, output, value)

    def float(self, output: Output, value: FloatAttr[Any]) -> None:
        self.type(output, value.type)
        width = bit_width(value.type)
        bits = int.from_bytes(value.type.pack((value.value.data,)), "little")
        if width <= 8:
            output.append(bits)
        else:
            output.signed(bits - (1 << 64) if bits >> 63 else bits)

    def elements(self, output: Output, value: DenseIntOrFPElementsAttr[Any]) -> None:
        self.type(output, tile_type_of(value))
        self.constant(output, value)

    def div_by(self, output: Output, value: DivByAttr) -> None:
        output.varint(value.divisor.data)
        _optional_pair(output, *(value.group or (None, None)))

    def same_elements(self, output: Output, value: SameElementsAttr) -> None:
        output.integers([each.data for each in value.values], 8)

    def bounded(self, output: Output, value: BoundedAttr) -> None:
        _optional_pair(output, *value.bounds)


def _optional_pair(output: Output, first: int | None, second: int | None) -> None:
    """Flags for two numbers, and those that are there."""
    output.append((first is not None) | (second is not None) << 1)
    for number in (first, second):
        if number is not None:
            output.signed(number)


def _bits(_: AttributeWriter, output: Output, value: IntegerAttr[Any]) -> None:
    """The bits of an integer, without a sign."""
    output.varint(value.value.data % (1 << value.type.width.data))


def _array(width: int) -> Callable[[AttributeWriter, Output, DenseArrayBase[Any]], None]:
    return lambda _, output, value: output.integers([int(n) for n in value.get_values()], width)


def _booleans(_: AttributeWriter, output: Output, value: DenseArrayBase[Any]) -> None:
    numbers = [int(number) & 1 for number in value.get_values()]
    output.varint(len(numbers))
    output += bytes(numbers)


_Write = Callable[[AttributeWriter, Output, Any], None]

_INLINE: Mapping[Kind, _Write] = {
    Kind.I32: _bits,
    Kind.I64: _bits,
    Kind.BOOL: AttributeWriter.boolean,
    Kind.STRING: AttributeWriter.string,
    Kind.SYMBOL: AttributeWriter.symbol,
    Kind.CONSTANT: AttributeWriter.constant,
    Kind.I32_ARRAY: _array(4),
    Kind.BOOL_ARRAY: _booleans,
    Kind.ARRAY: AttributeWriter.array,
    Kind.HINTS: AttributeWriter.hints,
    Kind.TAGGED: AttributeWriter.tagged,
}

_TAGGED: Mapping[type[Any], tuple[AttributeTag, _Write]] = {
    IntegerAttr: (AttributeTag.INTEGER, AttributeWriter.integer),
    FloatAttr: (AttributeTag.FLOAT, AttributeWriter.float),
    StringAttr: (AttributeTag.STRING, AttributeWriter.string),
    ArrayAttr: (AttributeTag.ARRAY, AttributeWriter.array),
    DenseIntOrFPElementsAttr: (AttributeTag.DENSE_ELEMENTS, AttributeWriter.elements),
    DivByAttr: (AttributeTag.DIV_BY, AttributeWriter.div_by),
    SameElementsAttr: (AttributeTag.SAME_ELEMENTS, AttributeWriter.same_elements),
    DictionaryAttr: (AttributeTag.DICTIONARY, AttributeWriter.dictionary),
    OptimizationHintsAttr: (AttributeTag.OPTIMIZATION_HINTS, AttributeWriter.hints),
    BoundedAttr: (AttributeTag.BOUNDED, AttributeWriter.bounded),
    TypeAttribute: (AttributeTag.TYPE, AttributeWriter.type),
}
