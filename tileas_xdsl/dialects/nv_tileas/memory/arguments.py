"""Constructor arguments of memory operations (keywords, ints, bools) as attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import (
    AnyFloat,
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.dialects.fields import Field
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, LayoutAttr
from tileas_xdsl.dialects.nv_tileas.enums import (
    MemScope,
    MemScopeAttr,
    MemSemantic,
    MemSemanticAttr,
    RmwMode,
    RmwModeAttr,
    SpecialPadding,
    SpecialPaddingAttr,
)
from tileas_xdsl.dialects.nv_tileas.memory.access_checks import accessed_element
from tileas_xdsl.dialects.nv_tileas.memory.tile_size import tile_size
from tileas_xdsl.dialects.nv_tileas.spaces import Tile, element_of
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType

Value: TypeAlias = SSAValue | Operation
Padding: TypeAlias = float | str | Attribute
"""A number, the name of a special value (`"nan"`), or the attribute itself."""

Atom: TypeAlias = Field[AtomAttr, AtomAttr | str]
Mode: TypeAlias = Field[RmwModeAttr, RmwMode | str]
Semantic: TypeAlias = Field[MemSemanticAttr, MemSemantic | str]
OptSemantic: TypeAlias = Field[MemSemanticAttr | None, MemSemantic | str | None]
OptScope: TypeAlias = Field[MemScopeAttr | None, MemScope | str | None]
OptFlags: TypeAlias = Field[DenseArrayBase[IntegerType] | None, Sequence[bool] | None]
OptFlag: TypeAlias = Field[BoolAttr | None, bool | None]
OptPadding: TypeAlias = Field[Attribute | None, Padding | None]
OptLayout: TypeAlias = Field[LayoutAttr | None, LayoutAttr | None]
OptType: TypeAlias = Field[Attribute | None, Attribute | None]


def atom_attribute(atom: AtomAttr | str) -> AtomAttr:
    """Return the atom of a keyword without parameters."""
    return AtomAttr.of(atom) if isinstance(atom, str) else atom


def semantic_attribute(semantic: MemSemantic | str) -> MemSemanticAttr:
    """Return the memory semantics of a keyword."""
    return MemSemanticAttr(MemSemantic(semantic))


def scope_attribute(scope: MemScope | str) -> MemScopeAttr:
    """Return the memory scope of a keyword."""
    return MemScopeAttr(MemScope(scope))


def mode_attribute(mode: RmwMode | str) -> RmwModeAttr:
    """Return the read-modify-write mode of a keyword."""
    return RmwModeAttr(RmwMode(mode))


def flags_attribute(flags: Sequence[bool] | None) -> DenseArrayBase[IntegerType] | None:
    """One flag for each dimension of a tile."""
    return None if flags is None else DenseArrayBase.from_list(i1, [int(flag) for flag in flags])


def flag_attribute(flag: bool) -> BoolAttr:
    """A flag that may be left open."""
    return IntegerAttr(int(flag), i1)


def integer_attribute(value: int | None) -> IntegerAttr[IntegerType] | None:
    """A number of 32 bits that may be left open."""
    return None if value is None else IntegerAttr(value, i32)


def padding_attribute(padding: Padding, type_: Attribute) -> Attribute:
    """A padding value for the elements of a tile or a view, or for what pointers point to."""
    if isinstance(padding, Attribute):
        return padding
    element = accessed_element(type_)
    if isinstance(padding, str):
        return SpecialPaddingAttr(SpecialPadding(padding))
    if isinstance(element, AnyFloat):
        return FloatAttr(float(padding), element)
    is_whole = isinstance(padding, int) or padding.is_integer()
    if element is not None and isa(element, IntegerType | IndexType) and is_whole:
        return IntegerAttr(int(padding), element)
    raise ValueError(f"{padding} is no padding value for elements of type {element}")


def tile_type(given: Mapping[str, Any]) -> Tile:
    """The type of the tile that `atom` reads from `view`, not laid out yet."""
    type_ = SSAValue.get(given["view"]).type
    size, element = tile_size(type_, atom_attribute(given["atom"])), element_of(type_)
    if size is None or element is None:
        raise ValueError(f"{type_} has no tiles")
    return TensorType(element, size)


def delivered(tile: Attribute) -> AsyncTokenType:
    """The token that delivers `tile` when it is waited for."""
    return tile if isinstance(tile, AsyncTokenType) else AsyncTokenType(tile)
