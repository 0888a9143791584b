"""What values of `cute` are in the algebra: trees, layouts and pointers, whose unknown leaves are
`layout.expr.expression.Variable`s that say which leaf of which SSA value they are.

Operations compute with them.  `symbol` makes one of an SSA value, `type_of` says the type of a
result, and `leaves` lists what a value carries at run time; so one definition of an operation gives
its result type and the code for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import gcd
from typing import Any, TypeAlias

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.cute.types.integers import width_and_divisor
from tileas_xdsl.dialects.cute.types.layouts import (
    ComposedLayoutType,
    LayoutType,
    layout_type,
)
from tileas_xdsl.dialects.cute.types.pointers import PtrType, SwizzleType
from tileas_xdsl.dialects.cute.types.tuples import (
    CoordType,
    IntTupleType,
    ShapeType,
    StrideType,
    TileType,
)
from tileas_xdsl.dialects.cute.types.views import (
    ArithTupleIterType,
    CoordTensorType,
    DescIterType,
    HandleViewType,
    MemRefType,
    PointedType,
)
from tileas_xdsl.layout import AxisSum, ComposedLayout, Layout, Swizzle
from tileas_xdsl.layout.expr.expression import Expression, Variable, anonymous, divisor_of
from tileas_xdsl.layout.layout import trusted

TreeTypes: TypeAlias = (
    type[ShapeType]
    | type[StrideType]
    | type[CoordType]
    | type[IntTupleType]
    | type[ArithTupleIterType]
)
Leaf = Callable[[Any], Any]


@dataclass(frozen=True)
class Tree:
    """A shape, stride, coordinate or tuple of integers."""

    kind: TreeTypes
    tree: Any


@dataclass(frozen=True)
class Tile:
    """A tiler, mode by mode."""

    modes: tuple[Layout | None, ...]


@dataclass(frozen=True)
class Number:
    """An integer of the type `type`."""

    type: Attribute
    number: Any


@dataclass(frozen=True)
class Pointer:
    """A place `offset` elements behind the pointer that the SSA value `base` is or begins with."""

    element: Attribute
    space: AddressSpace
    align: int
    swizzle: Swizzle
    base: Any
    offset: Any = 0

    def moved(self, offset: Any) -> Pointer:
        """The place `offset` elements further on."""
        bytes_ = (element_bits(self.element) or 8) // 8
        align = gcd(self.align, divisor_of(offset) * bytes_)
        return replace(self, align=align, offset=self.offset + offset)


@dataclass(frozen=True)
class Handle:
    """A place `offset` units after where `base`, a view that another dialect knows, begins."""

    type: HandleViewType
    base: Any
    offset: Any = 0

    def moved(self, offset: Any) -> Handle:
        """The place `offset` units further on."""
        return replace(self, offset=self.offset + offset)


@dataclass(frozen=True)
class View:
    """An iterator with a layout; the iterator is a pointer, a coordinate or a handle."""

    iterator: Pointer | Tree | Handle
    layout: Layout | ComposedLayout


@dataclass(frozen=True)
class Descriptor:
    """A descriptor iterator."""

    iterator: Pointer
    layout: Layout | ComposedLayout


@dataclass(frozen=True)
class Opaque:
    """A value that the algebra does not look into: an atom, an element."""

    type: Attribute
    value: Any


class _Leaves:
    """Gives each unknown leaf of a type the name of its place in an SSA value."""

    def __init__(self, value: SSAValue, natural: bool) -> None:
        self.value = value
        self.natural = natural
        self.count = 0

    def __call__(self, leaf: Any) -> Any:
        if not isinstance(leaf, Variable):
            return leaf
        key = (self.value, self.count)
        self.count += 1
        return Variable(leaf.width, leaf.divisor, key, self.natural)


def leaf_of(number: Variable) -> tuple[SSAValue, int]:
    """Return the SSA value that a dynamic leaf belongs to, and the index of the leaf in it."""
    return number.key


def map_tree(f: Leaf, tree: Any) -> Any:
    """`f` at every number of a tree, those of scaled bases too."""
    if isinstance(tree, tuple):
        return tuple(map_tree(f, x) for x in tree)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(tree, AxisSum):
        return AxisSum(tuple((axis, f(k)) for axis, k in tree.terms))
    return f(tree)


def map_layout(f: Leaf, layout: Any, f_stride: Leaf | None = None) -> Any:
    """`f` at every number of a layout, extents first; `f_stride` at strides if they differ."""
    strides = f_stride or f
    if isinstance(layout, ComposedLayout):
        if isinstance(layout.outer, Swizzle):
            outer: Any = layout.outer
        else:
            outer = map_layout(f, layout.outer, f_stride)
        offset = strides(layout.offset)
        return ComposedLayout(outer, offset, map_layout(f, layout.inner, f_stride))
    if isinstance(layout, Layout):
        return trusted(map_tree(f, layout.shape), map_tree(strides, layout.stride))
    return layout


def symbol(value: SSAValue) -> Any:
    """The value in the algebra, its unknown leaves named `(value, place)`."""
    found = _Leaves(value, natural=False)
    type_ = value.type
    match type_:
        case ShapeType():
            found.natural = True
            return Tree(ShapeType, map_tree(found, type_.data))
        case StrideType() | CoordType() | IntTupleType() | ArithTupleIterType():
            return Tree(type(type_), map_tree(found, type_.data))
        case TileType():
            return Tile(tuple(_layout(found, mode) for mode in type_.data))
        case LayoutType() | ComposedLayoutType():
            return _layout(found, type_.data)
        case SwizzleType():
            return type_.data
        case PtrType():
            return _pointer(type_, value)
        case MemRefType():
            return View(_pointer(type_, value), _layout(found, type_.layout))
        case DescIterType():
            return Descriptor(_pointer(type_, value), _layout(found, type_.layout))
        case CoordTensorType():
            origin = Tree(ArithTupleIterType, map_tree(found, type_.origin))
            return View(origin, _layout(found, type_.layout))
        case _:
            return _foreign(found, value)


def _foreign(found: _Leaves, value: SSAValue) -> View | Number | Opaque:
    """A view of another dialect, an integer, or what the algebra does not look into."""
    if isinstance(value.type, HandleViewType):
        return View(Handle(value.type, value), _layout(found, value.type.layout))
    return _number(value)


def _number(value: SSAValue) -> Number | Opaque:
    facts = width_and_divisor(value.type)
    if facts is None:
        return Opaque(value.type, value)
    width, divisor = facts
    return Number(value.type, Variable(width, divisor, (value, 0)))


def _layout(found: _Leaves, layout: Any) -> Any:
    """Extents are natural numbers; strides and offsets need not be."""

    def extent(leaf: Any) -> Any:
        found.natural = True
        return found(leaf)

    def stride(leaf: Any) -> Any:
        found.natural = False
        return found(leaf)

    return map_layout(extent, layout, stride)


def _pointer(type_: PtrType | PointedType, value: SSAValue) -> Pointer:
    return Pointer(type_.element_type, type_.space, type_.align, type_.swizzle, value)


def _anonymous_layout(layout: Any) -> Any:
    return map_layout(anonymous, layout)


def type_of(value: Any) -> Attribute:
    """The type of a value of the algebra."""
    match value:
        case Tree():
            return value.kind(map_tree(anonymous, value.tree))
        case Tile():
            return TileType(tuple(_anonymous_layout(mode) for mode in value.modes))
        case Layout() | ComposedLayout():
            return layout_type(_anonymous_layout(value))
        case Swizzle():
            return SwizzleType(value)
        case Pointer():
            return PtrType(value.element, value.space, value.align, value.swizzle)
        case Descriptor():
            return _pointed(DescIterType, value.iterator, value.layout)
        case View(iterator=Pointer() as pointer):
            return _pointed(MemRefType, pointer, value.layout)
        case View(iterator=Tree() as origin):
            start = map_tree(anonymous, origin.tree)
            return CoordTensorType(start, _anonymous_layout(value.layout))
        case View(iterator=Handle() as handle):
            return handle.type.with_layout(_anonymous_layout(value.layout))
        case _:
            return value.type


def _pointed(kind: type[MemRefType | DescIterType], pointer: Pointer, layout: Any) -> Attribute:
    make: Any = kind
    return make(
        pointer.element,
        pointer.space,
        _anonymous_layout(layout),
        pointer.align,
        pointer.swizzle,
    )


def numbers(value: Any) -> Iterator[Any]:
    """Every number of a value, known or not, in the order of its leaves; no pointers."""
    found: list[Any] = []

    def note(leaf: Any) -> Any:
        found.append(leaf)
        return leaf

    match value:
        case Tree():
            map_tree(note, value.tree)
        case Tile():
            for mode in value.modes:
                map_layout(note, mode)
        case Number():
            note(value.number)
        case View(iterator=Tree() as origin):
            map_tree(note, origin.tree)
            map_layout(note, value.layout)
        case View() | Descriptor():
            map_layout(note, value.layout)
        case _:
            map_layout(note, value)
    return iter(found)


def leaves(value: Any) -> list[Expression]:
    """The numbers that the value carries at run time, in order."""
    return [number for number in numbers(value) if isinstance(number, Expression)]


def is_integer(type_: Attribute) -> bool:
    """Whether `type_` is a builtin integer or index."""
    return isinstance(type_, (IntegerType, IndexType))
