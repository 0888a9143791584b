"""Section Type: types by their numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.cuda_tile.enums import PaddingValue, PaddingValueAttr, PtrAttr, PtrClass
from tileas_xdsl.dialects.cuda_tile.types.scalars import ELEMENTS
from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, TileType, TokenType
from tileas_xdsl.dialects.cuda_tile.types.view_types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
)
from tileas_xdsl.dialects.interned import shared
from tileas_xdsl.frontend.bytecode.layout import (
    DYNAMIC,
    TYPE_SINCE,
    V13_3,
    V13_4,
    TypeTag,
    Version,
)
from tileas_xdsl.frontend.bytecode.limits import MAX_RANK
from tileas_xdsl.frontend.bytecode.reading.cursor import Cursor
from tileas_xdsl.frontend.bytecode.reading.tables import Entries, read_table

_T = TypeVar("_T")

SCALARS: Mapping[TypeTag, Attribute] = {
    TypeTag.I1: ELEMENTS["i1"],
    TypeTag.I4: ELEMENTS["i4"],
    TypeTag.I8: ELEMENTS["i8"],
    TypeTag.I16: ELEMENTS["i16"],
    TypeTag.I32: ELEMENTS["i32"],
    TypeTag.I64: ELEMENTS["i64"],
    TypeTag.F16: ELEMENTS["f16"],
    TypeTag.BF16: ELEMENTS["bf16"],
    TypeTag.F32: ELEMENTS["f32"],
    TypeTag.TF32: ELEMENTS["tf32"],
    TypeTag.F64: ELEMENTS["f64"],
    TypeTag.F8E4M3FN: ELEMENTS["f8E4M3FN"],
    TypeTag.F8E5M2: ELEMENTS["f8E5M2"],
    TypeTag.F8E8M0FNU: ELEMENTS["f8E8M0FNU"],
    TypeTag.F4E2M1FN: ELEMENTS["f4E2M1FN"],
    TypeTag.F8E5M3FNU: ELEMENTS["f8E5M3FNU"],
    TypeTag.TOKEN: TokenType(),
}
"""Types that consist of their tag."""

PADDINGS = tuple(PaddingValueAttr(value) for value in PaddingValue)
PTR_ATTRIBUTES = tuple(PtrAttr(value) for value in PtrClass)

_PRESENT = 1
"""The only flag that types have: what comes last is there."""


class Types(Entries[Attribute]):
    """The types of a file."""

    def __init__(self, cursor: Cursor, version: Version) -> None:
        super().__init__(read_table(cursor, cursor.position, 4, "types"), "type")
        self._version = version
        self._cursor = cursor

    def all(self) -> list[Attribute]:
        """Every type by its number; raises `BytecodeError`."""
        return [self.entry(self._cursor, index) for index in range(len(self))]

    def read(self, cursor: Cursor, index: int) -> Attribute:
        start = cursor.position
        tag = _tag(cursor, self._version)
        if tag in SCALARS:
            return SCALARS[tag]
        try:
            return shared(_READERS[tag](self, cursor))
        except VerifyException as error:
            raise cursor.error(f"type {index} is wrong: {error}", start) from error

    def _part(self, cursor: Cursor, what: str) -> Attribute:
        start = cursor.position
        number = cursor.index(len(self), what, "types")
        return self.entry(cursor, number, start)

    def pointer(self, cursor: Cursor) -> Attribute:
        flags = self._flags(cursor, V13_4)
        pointee = self._part(cursor, "the type that a pointer points to")
        return PtrType(pointee, _choice(cursor, flags, PTR_ATTRIBUTES, "a kind of pointer"))

    def tile(self, cursor: Cursor) -> Attribute:
        element = self._part(cursor, "the type of the elements of a tile")
        return TileType(cursor.integers(8, "extents", MAX_RANK), element)

    def tensor_view(self, cursor: Cursor) -> Attribute:
        flags = self._flags(cursor, V13_4)
        element = self._part(cursor, "the type of the elements of a view")
        shape, strides = _sizes(cursor, "extents"), _sizes(cursor, "strides")
        pointer = _choice(cursor, flags, PTR_ATTRIBUTES, "a kind of pointer")
        return TensorViewType(element, shape, strides, pointer)

    def partition_view(self, cursor: Cursor) -> Attribute:
        flags = self._flags(cursor, V13_3)
        tile = _positive(cursor, "extents of a tile")
        tensor = self._tensor_view(cursor)
        dimensions = cursor.integers(4, "dimensions", MAX_RANK)
        if self._version < V13_3:
            flags = int(cursor.boolean("whether there is padding"))
        return PartitionViewType(tile, tensor, dimensions, _padding(cursor, flags))

    def strided_view(self, cursor: Cursor) -> Attribute:
        flags = self._flags(cursor, V13_3)
        tile = _positive(cursor, "extents of a tile")
        steps = _positive(cursor, "strides of tiles")
        tensor = self._tensor_view(cursor)
        dimensions = cursor.integers(4, "dimensions", MAX_RANK)
        return StridedViewType(tile, steps, tensor, dimensions, _padding(cursor, flags))

    def gather_scatter_view(self, cursor: Cursor) -> Attribute:
        flags = self._flags(cursor, V13_3)
        tile = _positive(cursor, "extents of a tile")
        tensor = self._tensor_view(cursor)
        dimension = cursor.varint("a dimension")
        return GatherScatterViewType(tile, tensor, dimension, _padding(cursor, flags))

    def function(self, cursor: Cursor) -> Attribute:
        inputs = self._values(cursor, "a parameter")
        return FunctionType.from_lists(inputs, self._values(cursor, "a result"))

    def _values(self, cursor: Cursor, what: str) -> list[Attribute]:
        """Types of values, which functions are not: nesting them costs memory without end."""
        found: list[Attribute] = []
        for _ in range(cursor.count(f"types of {what}s")):
            start = cursor.position
            found.append(self._part(cursor, f"the type of {what}"))
            if isinstance(found[-1], FunctionType):
                raise cursor.error(f"the type of {what} is a function", start)
        return found

    def _tensor_view(self, cursor: Cursor) -> TensorViewType:
        start = cursor.position
        found = self._part(cursor, "the type of a tensor")
        if not isinstance(found, TensorViewType):
            raise cursor.error(f"{found} is no tensor view", start)
        return found

    def _flags(self, cursor: Cursor, since: Version) -> int:
        if self._version < since:
            return 0
        start = cursor.position
        flags = cursor.varint("flags of a type")
        if flags & ~_PRESENT:
            raise cursor.error(f"a type has no flags {flags & ~_PRESENT:#x}", start)
        return flags


_READERS: dict[TypeTag, Callable[[Types, Cursor], Attribute]] = {
    TypeTag.POINTER: Types.pointer,
    TypeTag.TILE: Types.tile,
    TypeTag.TENSOR_VIEW: Types.tensor_view,
    TypeTag.PARTITION_VIEW: Types.partition_view,
    TypeTag.STRIDED_VIEW: Types.strided_view,
    TypeTag.GATHER_SCATTER_VIEW: Types.gather_scatter_view,
    TypeTag.FUNC: Types.function,
}


def _tag(cursor: Cursor, version: Version) -> TypeTag:
    start = cursor.position
    number = cursor.varint("the tag of a type")
    try:
        tag = TypeTag(number)
    except ValueError:
        raise cursor.error(f"there is no type with the tag {number}", start) from None
    since = TYPE_SINCE.get(tag, version)
    if version < since:
        message = f"type {tag.name.lower()} exists from version {since} on, this is {version}"
        raise cursor.error(message, start)
    return tag


def _sizes(cursor: Cursor, what: str) -> list[int]:
    start = cursor.position
    found = cursor.integers(8, f"{what} of a view", MAX_RANK)
    for size in found:
        if size <= 0 and size != DYNAMIC:
            raise cursor.error(f"{what} of a view are positive, not {size}", start)
    return [DYNAMIC_INDEX if size == DYNAMIC else size for size in found]


def _positive(cursor: Cursor, what: str) -> list[int]:
    start = cursor.position
    found = cursor.integers(4, what, MAX_RANK)
    if any(size <= 0 for size in found):
        raise cursor.error(f"{what} are positive, not {min(found)}", start)
    return found


def _padding(cursor: Cursor, flags: int) -> PaddingValueAttr | None:
    return _choice(cursor, flags, PADDINGS, "a padding value")


def _choice(cursor: Cursor, flags: int, choices: tuple[_T, ...], what: str) -> _T | None:
    if not flags & _PRESENT:
        return None
    start = cursor.position
    number = cursor.varint(what)
    if number >= len(choices):
        raise cursor.error(f"{what} is number {number} of {len(choices)}", start)
    return choices[number]
