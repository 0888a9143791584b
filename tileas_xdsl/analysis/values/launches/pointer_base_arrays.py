"""Arrays that a kernel builds of its own arguments: address, extents and strides.

cuTile passes an array as a pointer and integers, and the kernel makes a memref of them, with
`assume` in between. Host code (tensor maps) and alignment analysis need to see through that:

    %q = nv_tileaa.assume #div_by<16>, %ptr
    %a = nv_tileaa.make_memref %q, %m, %n, %s : memref<?x?xf16, strided<[?, 1]>>

    PointedArray(pointer=%ptr, sizes=(%m, %n), strides=(%s, 1));  promised_divisor(%q) = 16
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.ir import BlockArgument, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileaa.base import Array, as_array
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp, DivByAttr
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType

Count: TypeAlias = int | BlockArgument
"""A size or stride in elements: a constant, or the kernel argument that has it."""


@dataclass(frozen=True)
class PointedArray:
    """An array whose base address is a pointer argument."""

    pointer: BlockArgument
    type: Array
    sizes: tuple[Count, ...]
    strides: tuple[Count, ...]
    """In elements, as the sizes in the order of the dimensions."""


def pointed_array(value: SSAValue) -> PointedArray | None:
    """Return the array that a value is; None if it depends on more than kernel arguments."""
    made = without_promises(value).owner
    if isinstance(made, memref.ReinterpretCastOp):
        return _reshaped(made)
    if not isinstance(made, MakeMemrefOp) or made.offset is not None:
        return None
    pointer = without_promises(made.pointer)
    if not isinstance(pointer, BlockArgument) or not is_parameter(pointer):
        return None
    if not isinstance(pointer.type, PtrType):
        return None
    axes = range(len(made.array.get_shape()))
    sizes = [count_of(made.extent(axis)) for axis in axes]
    strides = [count_of(made.stride(axis)) for axis in axes]
    known_sizes = tuple(n for n in sizes if n is not None)
    known_strides = tuple(n for n in strides if n is not None)
    if len(known_sizes) + len(known_strides) < 2 * len(axes):
        return None
    return PointedArray(pointer, made.array, known_sizes, known_strides)


def _reshaped(made: memref.ReinterpretCastOp) -> PointedArray | None:
    """Return an argument in another shape, of constant extents and strides."""
    array = without_promises(made.source)
    if not isinstance(array, BlockArgument) or not is_parameter(array):
        return None
    sizes, strides = made.static_sizes.get_values(), made.static_strides.get_values()
    if made.offsets or made.sizes or made.strides:
        return None
    return PointedArray(array, as_array(made.result), tuple(sizes), tuple(strides))


def count_of(number: SSAValue | int) -> Count | None:
    """Return a size or stride as a constant or a kernel argument; None for any other value."""
    if isinstance(number, int):
        return number
    value = without_promises(number)
    if isinstance(value, BlockArgument):
        return value if is_parameter(value) else None
    return constant_integer(value)


def is_parameter(value: BlockArgument) -> bool:
    """Whether a block argument is a parameter of its function."""
    function = value.block.parent_op()
    return isinstance(function, func.FuncOp) and value.block is function.body.first_block


def array_of(view: SSAValue) -> SSAValue:
    """The array whose tiles a view shows: coordinates of both count the same tiles."""
    while isinstance(made := view.owner, ViewOp) and _shows_all(made):
        view = made.source
    return view


def _shows_all(view: ViewOp) -> bool:
    source, result = view.source.type, view.result.type
    is_array = isinstance(source, MemRefType | TiledViewType)
    same_rank = len(shape_of(source) or ()) == len(shape_of(result) or ())
    is_plain = isinstance(result, TiledViewType) and isinstance(result.layout, NoneAttr)
    return is_array and is_plain and same_rank and view.is_whole


def without_promises(value: SSAValue) -> SSAValue:
    """Return the value under `assume` operations."""
    while isinstance(made := value.owner, AssumeOp):
        value = made.source
    return value


def promised_divisor(value: SSAValue | int) -> int:
    """Return the largest divisor guaranteed for a value, in bytes for an address; 1 if unknown.

    Only assumptions at function level count: what runs before the kernel relies on it. 0 has the
    divisor 2^62.
    """
    if isinstance(value, int):
        return value & -value if value else 1 << 62
    return _largest(_facts(value, inside=False), None)


def stated_divisor(value: SSAValue | int) -> int:
    """Return the divisor that is stated of a value, also inside of loops and branches."""
    if isinstance(value, int):
        return promised_divisor(value)
    return _largest(_facts(value, inside=True), None)


def promised_row_divisor(array: SSAValue, axis: int) -> int:
    """The largest power of two known to divide the bytes from one row along `axis` to the next."""
    return _largest(_facts(array, inside=False), (1, axis))


def _largest(facts: Iterable[DivByAttr], group: tuple[int, int] | None) -> int:
    return max((fact.divisor.data for fact in facts if fact.group == group), default=1)


def _facts(value: SSAValue, *, inside: bool) -> Iterator[DivByAttr]:
    """What `assume` operations state of a value, at function level or anywhere."""
    while isinstance(made := value.owner, AssumeOp):
        counts = inside or isinstance(made.parent_op(), func.FuncOp)
        if counts and isinstance(fact := made.fact, DivByAttr):
            yield fact
        value = made.source
