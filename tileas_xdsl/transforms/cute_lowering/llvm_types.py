"""What values of `cute` are in LLVM: a struct of what run time knows, and nothing for the rest.

* tuples, tiles, composed layouts and views of coordinates: `struct<(leaves)>`;
* layouts: `struct<(struct<(extents)>, struct<(strides)>)>`;
* pointers: `ptr`;
* views of memory: `struct<(ptr, layout)>`, or `ptr` alone if the layout is known;
* descriptors: `struct<(ptr, struct<(extents)>, struct<(strides)>, struct<(B, M, S)>, rank)>`;
* integers with a divisor and indices: an integer.

Leaves that the type knows are left out, but for descriptors, which are read by others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntAttr, IntegerType, i8, i32
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute.base.symbolic_values import (
    Descriptor,
    Number,
    Opaque,
    Pointer,
    Tile,
    Tree,
    View,
    numbers,
    symbol,
)
from tileas_xdsl.dialects.cute.types.address_spaces import SPACE_NUMBERS, AddressSpace
from tileas_xdsl.dialects.cute.types.integers import FastDivisorType, width_and_divisor
from tileas_xdsl.dialects.cute.types.tuples import StrideType
from tileas_xdsl.layout import ComposedLayout, Layout, Swizzle
from tileas_xdsl.layout.expr.expression import DEFAULT_WIDTH, Expression
from tileas_xdsl.layout.int_tuple import flat

Path = tuple[int, ...]
POINTER_FIRST: Path = (0,)


@dataclass(frozen=True)
class Carrier:
    """The LLVM type of a value, and where its pointer and its unknown leaves are in it."""

    type: Attribute
    leaves: Sequence[Path] = ()
    """Of the leaves in the order of `cute.values.leaves`; the value itself is at `()`."""
    pointer: Path | None = None
    constants: Sequence[tuple[Path, int]] = ()
    """What is known, and stored nevertheless, in 32 bits."""


@dataclass(frozen=True)
class Memory:
    """How pointers are written: a host has one address space."""

    host: bool

    def pointer(self, space: AddressSpace) -> llvm.LLVMPointerType:
        """The type of a pointer to an address space."""
        number = 0 if self.host else SPACE_NUMBERS[space]
        return llvm.LLVMPointerType() if number == 0 else llvm.LLVMPointerType(IntAttr(number))


def struct(types: Sequence[Attribute]) -> llvm.LLVMStructType:
    """A struct without a name."""
    return llvm.LLVMStructType.from_type_list(types)


def carrier_of(value: SSAValue, memory: Memory) -> Carrier | None:
    """How a value is carried; None if it carries nothing."""
    if isinstance(value.type, FastDivisorType):
        return Carrier(struct([i32, i32, i8, i8]))
    known = symbol(value)
    match known:
        case Opaque():
            return Carrier(_plain(value.type))
        case Number():
            width, _ = width_and_divisor(value.type) or (DEFAULT_WIDTH, 1)
            return Carrier(IntegerType(width), [()])
        case Pointer():
            return Carrier(memory.pointer(known.space), pointer=())
        case View(iterator=Pointer() as pointer):
            return _view(pointer, known.layout, memory)
        case Descriptor():
            return _descriptor(known, memory)
        case Layout():
            return _layout(known)
        case Tree() | Tile() | View() | ComposedLayout() | Swizzle():
            return _flat(known)
        case _:
            return _flat(known)


class NotCarriedError(ValueError):
    """A value of a type that only the passes of an architecture know."""

    is_for_users = True
    """The message tells a user what to do: it is no bug that it was raised."""


def _plain(type_: Attribute) -> Attribute:
    """A type that LLVM has too."""
    if type_.name.startswith(("cute", "cutlass")):
        raise NotCarriedError(f"{type_} is lowered by the passes of an architecture, not here")
    return type_


def _types(found: Sequence[Expression]) -> list[Attribute]:
    return [IntegerType(number.width) for number in found]


def _unknown(tree: Any) -> list[Expression]:
    return [leaf for leaf in flat(tree) if isinstance(leaf, Expression)]


def _flat(value: Any) -> Carrier | None:
    found = [number for number in numbers(value) if isinstance(number, Expression)]
    if not found:
        return None
    return Carrier(struct(_types(found)), [(n,) for n in range(len(found))])


def _layout(layout: Layout) -> Carrier | None:
    parts = [_unknown(layout.shape), _tree_unknown(layout.stride)]
    if not any(parts):
        return None
    paths = [(index, n) for index, part in enumerate(parts) for n in range(len(part))]
    return Carrier(struct([struct(_types(part)) for part in parts]), paths)


def _tree_unknown(stride: Any) -> list[Expression]:
    """The unknown numbers of strides, those of scaled bases too."""
    return [n for n in numbers(Tree(StrideType, stride)) if isinstance(n, Expression)]


def _view(pointer: Pointer, layout: Layout | ComposedLayout, memory: Memory) -> Carrier:
    type_ = memory.pointer(pointer.space)
    inside = _layout(layout) if isinstance(layout, Layout) else _flat(layout)
    if inside is None:
        return Carrier(type_, pointer=())
    paths = [(1, *path) for path in inside.leaves]
    return Carrier(struct([type_, inside.type]), paths, POINTER_FIRST)


def _descriptor(value: Descriptor, memory: Memory) -> Carrier:
    layout: Any = value.layout
    parts = [flat(layout.shape), flat(layout.stride)]
    paths: list[Path] = []
    constants: list[tuple[Path, int]] = []
    for index, part in enumerate(parts, start=1):
        for n, number in enumerate(part):
            if isinstance(number, Expression):
                paths.append((index, n))
            else:
                constants.append(((index, n), number))
    swizzle = value.iterator.swizzle
    triple = (swizzle.bits, swizzle.base, swizzle.shift)
    constants += [((3, n), number) for n, number in enumerate(triple)]
    constants.append(((4,), layout.rank))
    types = [struct([_leaf_type(number) for number in part]) for part in parts]
    whole = struct([memory.pointer(value.iterator.space), *types, struct([i32] * 3), i32])
    return Carrier(whole, paths, POINTER_FIRST, constants)


def _leaf_type(number: Any) -> Attribute:
    return IntegerType(number.width if isinstance(number, Expression) else DEFAULT_WIDTH)
