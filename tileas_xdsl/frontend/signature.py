"""The signature of a cuTile kernel: its parameters, and their text form.

    A: f16[?, ?], B: f16[?, ?%8], C: f32[?, 128], n: i32, tile=64

Without strides an array is contiguous and row-major.  `?` is any number, `?%8` a multiple of eight,
`128` a constant, for shapes and for strides: `A: f16[?, ?; ?%8, 1]`.  Arrays are aligned to 16
bytes unless `@N` gives another alignment; `A: f16[?] by i64` has extents and strides of 64 bits.
`(T, T, =5)` is a tuple, its last item a constant; `list T` a list of arrays of one type.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, NoReturn, TypeAlias

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.memory.elements import element_hint

ALIGNMENT = 16
"""Bytes of which the address of an array is a multiple: allocators see to it, TMA needs it."""

ELEMENTS: Mapping[str, str] = {
    "i1": "bool_",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "tf32": "tfloat32",
    "f64": "float64",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f4E2M1FN": "float4_e2m1fn",
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
    "ue8m0": "float8_e8m0fnu",
    "e2m1": "float4_e2m1fn",
}
"""Element types by our names, and what `cuda.tile` calls them."""


class SignatureError(ValueError):
    """A text that is no signature; `column` counts its characters from 1."""

    def __init__(self, reason: str, text: str, column: int) -> None:
        super().__init__(f"{reason} at column {column} of the signature '{text}'")
        self.reason = reason
        self.text = text
        self.column = column


@dataclass(frozen=True)
class Extent:
    """What is known of a number: its value, or that it is a multiple of `divisor`."""

    constant: int | None = None
    divisor: int = 1

    @property
    def factor(self) -> int:
        """A number that it is a multiple of; 0 if it is zero."""
        return self.divisor if self.constant is None else self.constant


@dataclass(frozen=True)
class ArrayParameter:
    """An array in global memory; shape and strides count elements, the alignment bytes."""

    name: str
    element: str
    """As `cuda.tile` calls it."""
    shape: tuple[Extent, ...]
    strides: tuple[Extent, ...]
    alignment: int = ALIGNMENT
    index_bits: int = 32
    """The width of extents and strides, and of the indices that the kernel computes from them."""
    may_overlap: bool = False
    """Whether two indices may name one element, as with a stride of 0."""


@dataclass(frozen=True)
class ScalarParameter:
    """A number that a launch gives."""

    name: str
    element: str


@dataclass(frozen=True, eq=False)
class ConstantParameter:
    """A value that is known when the kernel is compiled: a number, a string, None, a member of an
    enumeration or an element type.

    Values of different types are different, `1`, `1.0` and `True`; floats are compared by bits.
    """

    name: str
    value: Any

    @property
    def _key(self) -> tuple[object, ...]:
        value: object = self.value
        bits = struct.pack("<d", value) if isinstance(value, float) else value
        return self.name, value.__class__, bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstantParameter) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@dataclass(frozen=True)
class TupleParameter:
    """A tuple; its items are named `name[0]` and so on."""

    name: str
    items: tuple[Parameter, ...]


@dataclass(frozen=True)
class ListParameter:
    """A list of arrays of one type, whose length a launch gives."""

    name: str
    item: ArrayParameter


Leaf: TypeAlias = ArrayParameter | ScalarParameter | ConstantParameter | ListParameter
Parameter: TypeAlias = Leaf | TupleParameter


def leaves(parameters: Sequence[Parameter]) -> Iterator[Leaf]:
    """Yield the parameters with tuples replaced by their items."""
    for parameter in parameters:
        if isinstance(parameter, TupleParameter):
            yield from leaves(parameter.items)
        else:
            yield parameter


def packed_strides(shape: tuple[Extent, ...]) -> tuple[Extent, ...]:
    """Return the strides of a contiguous row-major array."""
    return tuple(_product(shape[index + 1 :]) for index in range(len(shape)))


def _product(extents: tuple[Extent, ...]) -> Extent:
    factors = prod(extent.factor for extent in extents)
    if all(extent.constant is not None for extent in extents):
        return Extent(factors)
    return Extent(None, factors or 1)


def parse_signature(text: str) -> tuple[Parameter, ...]:
    """The parameters that a text declares, in its order; raises `SignatureError`."""
    return _Parser(text).signature()


def _type_hint(name: str) -> str:
    """`did you mean u8?` for what `cuda.tile` or another library calls a type."""
    same = next((ours for ours, theirs in ELEMENTS.items() if theirs == name), None)
    return f"did you mean {same}?" if same else element_hint(name, ELEMENTS)


_TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+))"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<mark>[][():;,=?%@])"
    r"|\"(?P<text>[^\"]*)\")"
)
_WORDS: Mapping[str, bool | None] = {"True": True, "False": False, "None": None}
_LIST, _BY = "list", "by"
_INDEX_BITS: Mapping[str, int] = {"i32": 32, "i64": 64}


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._kind = self._token = ""
        self._start = 0
        self._advance()

    def signature(self) -> tuple[Parameter, ...]:
        parameters: dict[str, Parameter] = {}
        while self._kind != "end":
            start = self._start
            parameter = self._parameter()
            if parameter.name in parameters:
                self._fail(f"a second parameter '{parameter.name}'", start)
            parameters[parameter.name] = parameter
            if self._kind != "end":
                self._take(",")
        return tuple(parameters.values())

    def _parameter(self) -> Parameter:
        name = self._name("the name of a parameter")
        if self._optional("="):
            return ConstantParameter(name, self._constant())
        if not self._optional(":"):
            self._fail(f"expected ':' and a type, or '=' and a value, after '{name}'")
        return self._typed(name)

    def _typed(self, name: str) -> Parameter:
        """A parameter of the type that follows."""
        if self._optional("("):
            return self._tuple(name)
        start = self._start
        element = self._name("an element type")
        if element == _LIST:
            return self._list(name)
        if element not in ELEMENTS:
            self._fail(f"there is no type '{element}'; {_type_hint(element)}", start)
        if not self._optional("["):
            return ScalarParameter(name, ELEMENTS[element])
        return self._array(name, ELEMENTS[element])

    def _tuple(self, name: str) -> TupleParameter:
        items: list[Parameter] = []
        while not self._optional(")"):
            if items:
                self._take(",")
            item = f"{name}[{len(items)}]"
            is_constant = self._optional("=")
            items.append(
                ConstantParameter(item, self._constant()) if is_constant else self._typed(item)
            )
        return TupleParameter(name, tuple(items))

    def _list(self, name: str) -> ListParameter:
        start = self._start
        item = self._typed(name)
        if not isinstance(item, ArrayParameter):
            self._fail("a list has arrays", start)
        return ListParameter(name, item)

    def _array(self, name: str, element: str) -> ArrayParameter:
        shape = self._extents()
        strides = packed_strides(shape)
        if self._optional(";"):
            start = self._start
            strides = self._extents()
            if len(strides) != len(shape):
                message = f"{len(strides)} strides for {len(shape)} dimensions"
                self._fail(message, start)
        self._take("]")
        alignment = self._positive("an alignment") if self._optional("@") else ALIGNMENT
        return ArrayParameter(name, element, shape, strides, alignment, self._index_bits())

    def _index_bits(self) -> int:
        if self._token != _BY:
            return 32
        self._advance()
        start = self._start
        bits = _INDEX_BITS.get(self._name("'i32' or 'i64'"))
        if bits is None:
            self._fail("indices are 'i32' or 'i64'", start)
        return bits

    def _extents(self) -> tuple[Extent, ...]:
        if self._token in ("]", ";"):
            return ()
        extents = [self._extent()]
        while self._optional(","):
            extents.append(self._extent())
        return tuple(extents)

    def _extent(self) -> Extent:
        if self._kind == "number":
            return Extent(self._integer("a dimension"))
        if not self._optional("?"):
            self._fail("expected '?', '?%N' or a number")
        return Extent(None, self._positive("a divisor") if self._optional("%") else 1)

    def _constant(self) -> bool | int | float | str | None:
        if self._kind == "text":
            text = self._token
            self._advance()
            return text
        if self._token in _WORDS:
            value = _WORDS[self._token]
            self._advance()
            return value
        if self._kind != "number":
            self._fail("expected a number, True, False, None or a text in quotes")
        token = self._token
        self._advance()
        return int(token) if token.lstrip("+-").isdigit() else float(token)

    def _positive(self, what: str) -> int:
        start = self._start
        value = self._integer(what)
        if value == 0:
            self._fail(f"{what} is positive", start)
        return value

    def _integer(self, what: str) -> int:
        if not self._token.isdigit():
            self._fail(f"expected {what}, a whole number that is not negative")
        value = int(self._token)
        self._advance()
        return value

    def _name(self, what: str) -> str:
        if self._kind != "name":
            self._fail(f"expected {what}")
        name = self._token
        self._advance()
        return name

    def _take(self, mark: str) -> None:
        if not self._optional(mark):
            self._fail(f"expected '{mark}'")

    def _optional(self, mark: str) -> bool:
        if self._kind != "mark" or self._token != mark:
            return False
        self._advance()
        return True

    def _advance(self) -> None:
        found = _TOKEN.match(self._text, self._position)
        if found is None:
            rest = self._text[self._position :]
            self._start = self._position + len(rest) - len(rest.lstrip())
            if rest.strip():
                self._fail(f"'{rest.lstrip()[0]}' is not expected")
            self._kind, self._token = "end", ""
            return
        self._kind = found.lastgroup or ""
        self._token = found[self._kind]
        self._start = found.start(self._kind)
        self._position = found.end()

    def _fail(self, reason: str, position: int | None = None) -> NoReturn:
        place = self._start if position is None else position
        raise SignatureError(reason, self._text, place + 1)
