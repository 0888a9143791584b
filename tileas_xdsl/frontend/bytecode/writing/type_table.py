"""Writing section Type: the inverse of `types`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    FunctionType,
    IntAttr,
    NoneAttr,
)
from xdsl.ir import Attribute

from tileas_xdsl.dialects.cuda_tile.types.scalars import ELEMENTS
from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, TileType
from tileas_xdsl.dialects.cuda_tile.types.view_types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
)
from tileas_xdsl.frontend.bytecode.layout import (
    DYNAMIC,
    TYPE_SINCE,
    V13_3,
    V13_4,
    TypeTag,
    Version,
)
from tileas_xdsl.frontend.bytecode.reading.types import PADDINGS, PTR_ATTRIBUTES, SCALARS
from tileas_xdsl.frontend.bytecode.writing.output import Output
from tileas_xdsl.frontend.bytecode.writing.unwritable import UnwritableError

_TAGS = {type_: tag for tag, type_ in SCALARS.items()}
_FIRST = (ELEMENTS["i1"], ELEMENTS["i32"])
"""Types that every file of cuTile Python begins with, and so does ours."""


class TypeTable:
    """The types that a file has needed so far."""

    def __init__(self, version: Version) -> None:
        self.entries: list[bytes] = []
        self._numbers: dict[Attribute, int] = {}
        self._objects: dict[int, tuple[Attribute, int]] = {}
        """The same by identity, since types are slow to compare; they are kept alive for it."""
        self._version = version
        for type_ in _FIRST:
            self.number(type_)

    def number(self, type_: Attribute) -> int:
        """The number of a type; raises `UnwritableError` if the version does not have it."""
        known = self._objects.get(id(type_))
        if known is not None:
            return known[1]
        number = self._number(type_)
        self._objects[id(type_)] = type_, number
        return number

    def _number(self, type_: Attribute) -> int:
        found = self._numbers.get(type_)
        if found is None:
            entry = self._entry(type_)
            found = self._numbers[type_] = len(self.entries)
            self.entries.append(entry)
        return found

    def _entry(self, type_: Attribute) -> bytes:
        output = Output()
        if type_ in _TAGS:
            self._tag(output, _TAGS[type_])
            return bytes(output)
        for definition, (tag, write) in _WRITERS.items():
            if isinstance(type_, definition):
                self._tag(output, tag)
                write(self, output, type_)
                return bytes(output)
        raise UnwritableError(f"bytecode has no type {type_}")

    def _tag(self, output: Output, tag: TypeTag) -> None:
        since = TYPE_SINCE.get(tag, self._version)
        if self._version < since:
            name = f"Float{tag.name[1:]}" if tag.name[0] == "F" else tag.name.lower()
            raise UnwritableError(
                f"type '{name}' requires bytecode version {since}+, targeting {self._version}"
            )
        output.varint(tag)

    def pointer(self, output: Output, type_: PtrType) -> None:
        self._flags(output, type_.ptr_attr, V13_4)
        output.varint(self.number(type_.pointee))
        self._choice(output, type_.ptr_attr, PTR_ATTRIBUTES, V13_4)

    def tile(self, output: Output, type_: TileType) -> None:
        output.varint(self.number(type_.element_type))
        output.integers(type_.get_shape(), 8)

    def tensor_view(self, output: Output, type_: TensorViewType) -> None:
        self._flags(output, type_.ptr_attr, V13_4)
        output.varint(self.number(type_.element_type))
        output.integers(_sizes(type_.get_shape()), 8)
        output.integers(_sizes(type_.get_strides()), 8)
        self._choice(output, type_.ptr_attr, PTR_ATTRIBUTES, V13_4)

    def partition_view(self, output: Output, type_: PartitionViewType) -> None:
        self._flags(output, type_.padding_value, V13_3)
        output.integers(type_.get_tile_shape(), 4)
        output.varint(self.number(type_.tensor_view))
        output.integers(_numbers(type_.dim_map), 4)
        if self._version < V13_3:
            output.varint(int(not isinstance(type_.padding_value, NoneAttr)))
        self._padding(output, type_)

    def strided_view(self, output: Output, type_: StridedViewType) -> None:
        self._flags(output, type_.padding_value, V13_3)
        output.integers(type_.get_tile_shape(), 4)
        output.integers(_numbers(type_.traversal_strides), 4)
        output.varint(self.number(type_.tensor_view))
        output.integers(_numbers(type_.dim_map), 4)
        self._padding(output, type_)

    def gather_scatter_view(self, output: Output, type_: GatherScatterViewType) -> None:
        self._flags(output, type_.padding_value, V13_3)
        output.integers(type_.get_tile_shape(), 4)
        output.varint(self.number(type_.tensor_view))
        output.varint(type_.sparse_dim.data)
        self._padding(output, type_)

    def function(self, output: Output, type_: FunctionType) -> None:
        output.varints([self.number(each) for each in type_.inputs])
        output.varints([self.number(each) for each in type_.outputs])

    def _padding(
        self,
        output: Output,
        type_: PartitionViewType | StridedViewType | GatherScatterViewType,
    ) -> None:
        self._choice(output, type_.padding_value, PADDINGS, self._version)

    def _flags(self, output: Output, optional: Attribute, since: Version) -> None:
        if self._version >= since:
            output.varint(int(not isinstance(optional, NoneAttr)))

    def _choice(
        self, output: Output, value: Attribute, choices: tuple[Attribute, ...], since: Version
    ) -> None:
        if isinstance(value, NoneAttr):
            return
        if self._version < since:
            raise UnwritableError(f"{value} needs bytecode {since}, not {self._version}")
        output.varint(choices.index(value))


_WRITERS: Mapping[type[Attribute], tuple[TypeTag, Callable[[TypeTable, Output, Any], None]]] = {
    PtrType: (TypeTag.POINTER, TypeTable.pointer),
    TileType: (TypeTag.TILE, TypeTable.tile),
    TensorViewType: (TypeTag.TENSOR_VIEW, TypeTable.tensor_view),
    PartitionViewType: (TypeTag.PARTITION_VIEW, TypeTable.partition_view),
    StridedViewType: (TypeTag.STRIDED_VIEW, TypeTable.strided_view),
    GatherScatterViewType: (TypeTag.GATHER_SCATTER_VIEW, TypeTable.gather_scatter_view),
    FunctionType: (TypeTag.FUNC, TypeTable.function),
}


def _sizes(sizes: tuple[int, ...]) -> list[int]:
    return [DYNAMIC if size == DYNAMIC_INDEX else size for size in sizes]


def _numbers(values: ArrayAttr[IntAttr]) -> list[int]:
    return [value.data for value in values]
