"""Constructor arguments of memory operations (keywords, ints, bools) as attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

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

from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
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
from tileas_xdsl.dialects.nv_tileas.memory.tile_size import tile_size
from tileas_xdsl.dialects.nv_tileas.spaces import Tile, element_of
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType

Value: TypeAlias = SSAValue | Operation
Padding: TypeAlias = float | str | Attribute
"""A number, the name of a special value (`"nan"`), or the attribute itself."""


def atom_attribute(atom: AtomAttr | str) -> AtomAttr:
    """Return the atom of a keyword without parameters."""
    return AtomAttr.of(atom) if isinstance(atom, str) else atom


def ordering_properties(
    semantic: MemSemantic | str | None, scope: MemScope | str | None
) -> dict[str, Attribute | None]:
    """Return the memory semantics and scope of their keywords as properties."""
    return {
        "mem_semantic": None if semantic is None else MemSemanticAttr(MemSemantic(semantic)),
        "mem_scope": None if scope is None else MemScopeAttr(MemScope(scope)),
    }


def mode_attribute(mode: RmwMode | str) -> RmwModeAttr:
    """Return the read-modify-write mode of a keyword."""
    return RmwModeAttr(RmwMode(mode))


def flags_attribute(flags: Sequence[bool] | None) -> DenseArrayBase[IntegerType] | None:
    """One flag for each dimension of a tile."""
    return None if flags is None else DenseArrayBase.from_list(i1, [int(flag) for flag in flags])


def flag_attribute(flag: bool | None) -> BoolAttr | None:
    """A flag that may be left open."""
    return None if flag is None else IntegerAttr(int(flag), i1)


def integer_attribute(value: int | None) -> IntegerAttr[IntegerType] | None:
    """A number of 32 bits that may be left open."""
    return None if value is None else IntegerAttr(value, i32)


def padding_attribute(padding: Padding | None, element: Attribute | None) -> Attribute | None:
    """A padding value for elements of type `element`."""
    if padding is None or isinstance(padding, Attribute):
        return padding
    if isinstance(padding, str):
        return SpecialPaddingAttr(SpecialPadding(padding))
    if isinstance(element, AnyFloat):
        return FloatAttr(float(padding), element)
    is_whole = isinstance(padding, int) or padding.is_integer()
    if element is not None and isa(element, IntegerType | IndexType) and is_whole:
        return IntegerAttr(int(padding), element)
    raise ValueError(f"{padding} is no padding value for elements of type {element}")


def token_type(token: Value | None) -> Attribute | None:
    """The type of the token result that goes with a token operand."""
    return None if token is None else SSAValue.get(token).type


def tile_type(view: Value, atom: AtomAttr | str) -> Tile:
    """The type of the tile that `atom` reads from `view`, not laid out yet."""
    type_ = SSAValue.get(view).type
    size, element = tile_size(type_, atom_attribute(atom)), element_of(type_)
    if size is None or element is None:
        raise ValueError(f"{type_} has no tiles")
    return TensorType(element, size)


def delivered(tile: Attribute) -> AsyncTokenType:
    """The token that delivers `tile` when it is waited for."""
    return tile if isinstance(tile, AsyncTokenType) else AsyncTokenType(tile)
