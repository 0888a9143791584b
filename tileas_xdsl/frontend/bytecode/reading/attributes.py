"""Decoding of attributes: of the kind that the operation fixes, or self-describing ones.

An attribute whose kind the operation fixes (a unit, an enumeration, a constant) is written without
a tag. Where any may stand, a byte says which of the kinds in `_TAGGED` follows, and arrays and
dictionaries contain tagged ones again. Files are not trusted: each read is bounded, nesting is
limited by `MAX_NESTING`, and what a verifier refuses is an error at its byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cuda_tile.hints import OptimizationHintsAttr
from tileas_xdsl.dialects.cuda_tile.types.predicates import BoundedAttr, DivByAttr, SameElementsAttr
from tileas_xdsl.dialects.cuda_tile.types.scalars import FLOAT_CLASSES, bit_width
from tileas_xdsl.dialects.interned import bool_array, int_array, shared
from tileas_xdsl.frontend.bytecode.enumerations import ENUMERATIONS
from tileas_xdsl.frontend.bytecode.layout import AttributeTag
from tileas_xdsl.frontend.bytecode.limits import MAX_INT_LIST, MAX_NESTING
from tileas_xdsl.frontend.bytecode.operations import Kind
from tileas_xdsl.frontend.bytecode.reading.constants import Constants
from tileas_xdsl.frontend.bytecode.reading.cursor import Cursor
from tileas_xdsl.frontend.bytecode.reading.plans import Decode
from tileas_xdsl.frontend.bytecode.reading.strings import Strings

_A = TypeVar("_A", bound=Attribute)

_EVERY, _ALONG = 1, 2
"""The flags of `div_by`."""
_LOWER, _UPPER = 1, 2
"""The flags of `bounded`."""


class Attributes:
    """Reads the attributes of a file."""

    def __init__(self, strings: Strings, types: Sequence[Attribute], constants: Constants) -> None:
        self._strings = strings
        self._types = types
        self._constants = constants
        self._depth = 0

    def decoder(self, kind: Kind | str) -> Decode | None:
        """What reads an attribute of this kind; None if there is nothing to read."""
        if kind is Kind.UNIT:
            return None
        if kind is Kind.CONSTANT:
            return lambda cursor, types: self._constants.elements(cursor, types[0])
        if isinstance(kind, str):
            members = ENUMERATIONS[kind]
            return lambda cursor, _: _member(cursor, kind, members)
        read = _INLINE[kind]
        return lambda cursor, _: read(self, cursor)

    def tagged(self, cursor: Cursor) -> Attribute:
        """Decode a self-describing attribute; raises `BytecodeError`."""
        start = cursor.position
        tag = cursor.byte("the tag of an attribute")
        if tag not in _TAGGED:
            raise cursor.error(message("bytecode.unknown_attribute_tag", tag=tag), start)
        if self._depth >= MAX_NESTING:
            raise cursor.error(f"more than {MAX_NESTING} attributes inside one another", start)
        self._depth += 1
        try:
            return _TAGGED[AttributeTag(tag)](self, cursor)
        except VerifyException as error:
            raise cursor.error(f"an attribute is wrong: {error}", start) from error
        finally:
            self._depth -= 1

    def string(self, cursor: Cursor) -> StringAttr:
        return self._strings.attribute(cursor, "a string")

    def symbol(self, cursor: Cursor) -> Attribute:
        return SymbolRefAttr(self._strings.attribute(cursor, "a symbol"))

    def boolean(self, cursor: Cursor) -> Attribute:
        return IntegerAttr(int(cursor.boolean("a boolean")), i1)

    def array(self, cursor: Cursor) -> Attribute:
        return ArrayAttr([self.tagged(cursor) for _ in range(cursor.count("attributes"))])

    def dictionary(self, cursor: Cursor) -> DictionaryAttr:
        entries: dict[str, Attribute] = {}
        for _ in range(cursor.count("entries", 2)):
            start = cursor.position
            key = self._strings.text(cursor, "a key")
            if not key or key in entries:
                raise cursor.error(f"the key '{key}' is empty or there twice", start)
            entries[key] = self.tagged(cursor)
        return DictionaryAttr(entries)

    def hints(self, cursor: Cursor) -> Attribute:
        start = cursor.position
        value = self.dictionary(cursor)
        try:
            return OptimizationHintsAttr(value)
        except VerifyException as error:
            raise cursor.error(f"hints are wrong: {error}", start) from error

    def type(self, cursor: Cursor) -> Attribute:
        return self._types[cursor.index(len(self._types), "a type", "types")]

    def integer(self, cursor: Cursor) -> Attribute:
        start = cursor.position
        type_ = self.type(cursor)
        if not isinstance(type_, IntegerType):
            raise cursor.error(f"an integer has the type {type_}", start)
        return _integer(cursor, cast(IntegerType, type_))

    def float(self, cursor: Cursor) -> Attribute:
        start = cursor.position
        type_ = self.type(cursor)
        if not isinstance(type_, FLOAT_CLASSES):
            raise cursor.error(f"a float has the type {type_}", start)
        width = bit_width(type_)
        bits = cursor.byte("a float") if width <= 8 else _wide_bits(cursor)
        if bits >> width:
            raise cursor.error(f"{bits:#x} does not fit in {width} bits", start)
        data = bits.to_bytes((width + 7) // 8, "little")
        element: Any = type_
        return FloatAttr(element.unpack(data, 1)[0], element)

    def elements(self, cursor: Cursor) -> Attribute:
        return self._constants.elements(cursor, self.type(cursor))

    def div_by(self, cursor: Cursor) -> Attribute:
        divisor = cursor.varint("a divisor")
        flags = _flags(cursor)
        if flags not in (0, _EVERY | _ALONG):
            message = "a distance and a dimension come together"
            raise cursor.error(message, cursor.position - 1)
        every = cursor.signed("a distance") if flags & _EVERY else None
        along = cursor.signed("a dimension") if flags & _ALONG else None
        return shared(DivByAttr(divisor, every, along))

    def same_elements(self, cursor: Cursor) -> Attribute:
        return SameElementsAttr(cursor.integers(8, "extents", MAX_INT_LIST))

    def bounded(self, cursor: Cursor) -> Attribute:
        flags = _flags(cursor)
        lower = cursor.signed("a bound") if flags & _LOWER else None
        upper = cursor.signed("a bound") if flags & _UPPER else None
        return shared(BoundedAttr(lower, upper))


def _flags(cursor: Cursor) -> int:
    flags = cursor.byte("flags")
    if flags > 3:
        raise cursor.error(f"an attribute has no flags {flags & ~3:#x}", cursor.position - 1)
    return flags


def _member(cursor: Cursor, name: str, members: Sequence[_A]) -> _A:
    start = cursor.position
    number = cursor.varint(name)
    if number >= len(members):
        raise cursor.error(f"{name} is number {number} of {len(members)}", start)
    return members[number]


def _wide_bits(cursor: Cursor) -> int:
    """The bits of a float, taken for a signed number of 64 bits and written as such.

    cuTile Python takes them for a number without a sign, so that those of `f64` get a bit more.
    """
    value = cursor.varint("a float", 65)
    return (value >> 1 ^ -(value & 1)) % (1 << 64)


def _integer(cursor: Cursor, type_: IntegerType) -> Attribute:
    """An integer whose bits stand in the file without a sign."""
    start = cursor.position
    width = type_.width.data
    bits = cursor.varint("an integer")
    if bits >> width:
        raise cursor.error(f"{bits} does not fit in {width} bits", start)
    negative = width > 1 and bits >> (width - 1)
    return IntegerAttr(bits - (1 << width) if negative else bits, type_)


_INLINE: Mapping[Kind, Callable[[Attributes, Cursor], Attribute]] = {
    Kind.I32: lambda _, cursor: _integer(cursor, i32),
    Kind.I64: lambda _, cursor: _integer(cursor, i64),
    Kind.BOOL: Attributes.boolean,
    Kind.STRING: Attributes.string,
    Kind.SYMBOL: Attributes.symbol,
    Kind.I32_ARRAY: lambda _, cursor: int_array(tuple(cursor.integers(4, "numbers", MAX_INT_LIST))),
    Kind.BOOL_ARRAY: lambda _, cursor: bool_array(
        tuple(cursor.boolean("a boolean") for _ in range(cursor.count("booleans")))
    ),
    Kind.ARRAY: Attributes.array,
    Kind.HINTS: Attributes.hints,
    Kind.TAGGED: Attributes.tagged,
}

_TAGGED: Mapping[AttributeTag, Callable[[Attributes, Cursor], Attribute]] = {
    AttributeTag.INTEGER: Attributes.integer,
    AttributeTag.FLOAT: Attributes.float,
    AttributeTag.BOOL: Attributes.boolean,
    AttributeTag.TYPE: Attributes.type,
    AttributeTag.STRING: Attributes.string,
    AttributeTag.ARRAY: Attributes.array,
    AttributeTag.DENSE_ELEMENTS: Attributes.elements,
    AttributeTag.DIV_BY: Attributes.div_by,
    AttributeTag.SAME_ELEMENTS: Attributes.same_elements,
    AttributeTag.DICTIONARY: Attributes.dictionary,
    AttributeTag.OPTIMIZATION_HINTS: Attributes.hints,
    AttributeTag.BOUNDED: Attributes.bounded,
}
