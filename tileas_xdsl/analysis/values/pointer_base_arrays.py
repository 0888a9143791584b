"""Base arrays of pointer arithmetic: address, extents and strides from kernel arguments.

`make_memref` of parameters of the kernel, with constants here and there and promises in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.ir import BlockArgument, SSAValue

from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileaa.base import Array
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp, DivByAttr
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType

Count: TypeAlias = int | BlockArgument
"""Elements: a constant, or what a launch passes for an argument."""


@dataclass(frozen=True)
class PointedArray:
    """An array whose base address is a pointer argument."""

    pointer: BlockArgument
    type: Array
    sizes: tuple[Count, ...]
    strides: tuple[Count, ...]
    """In elements, as the sizes in the order of the dimensions."""


def pointed_array(value: SSAValue) -> PointedArray | None:
    """The array that a value is, None if a launch does not know all of it."""
    made = without_promises(value).owner
    if not isinstance(made, MakeMemrefOp) or made.offset is not None:
        return None
    pointer = without_promises(made.pointer)
    if not isinstance(pointer, BlockArgument) or not is_parameter(pointer):
        return None
    if not isinstance(pointer.type, PtrType):
        return None
    axes = range(len(made.array.get_shape()))
    sizes = [_count(made.extent(axis)) for axis in axes]
    strides = [_count(made.stride(axis)) for axis in axes]
    known_sizes = tuple(n for n in sizes if n is not None)
    known_strides = tuple(n for n in strides if n is not None)
    if len(known_sizes) + len(known_strides) < 2 * len(axes):
        return None
    return PointedArray(pointer, made.array, known_sizes, known_strides)


def _count(number: SSAValue | int) -> Count | None:
    if isinstance(number, int):
        return number
    value = without_promises(number)
    if isinstance(value, BlockArgument):
        return value if is_parameter(value) else None
    return constant_integer(value)


def is_parameter(value: BlockArgument) -> bool:
    """Whether a launch passes it."""
    function = value.block.parent_op()
    return isinstance(function, func.FuncOp) and value.block is function.body.first_block


def without_promises(value: SSAValue) -> SSAValue:
    """The value about which something is assumed."""
    while isinstance(made := value.owner, AssumeOp):
        value = made.source
    return value


def promised_divisor(value: SSAValue | int) -> int:
    """The largest power of two that is known to divide a number, or the bytes of an address.

    Promises count where the whole kernel has them.  Zero is divided by all, 1 stands for unknown.
    """
    if isinstance(value, int):
        return value & -value if value else 1 << 62
    return max((fact.divisor.data for fact in _promises(value)), default=1)


def _promises(value: SSAValue) -> Iterator[DivByAttr]:
    while isinstance(made := value.owner, AssumeOp):
        always = isinstance(made.parent_op(), func.FuncOp)
        if always and isinstance(fact := made.fact, DivByAttr) and fact.group is None:
            yield fact
        value = made.source
