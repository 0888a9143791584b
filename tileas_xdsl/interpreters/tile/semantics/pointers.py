"""Arrays behind pointers, assumptions, and addresses of globals.

A pointer is an integer, an address of 64 bits. `make_memref` finds the array that has it and checks
that the last element is inside: at element 4 of an array of 10 f32, a memref `2x4` of strides
`[4, 1]` ends at element 4 + 1 * 4 + 3 = 11, which is a fault.  `assume` returns its value, but a
promise that does not hold is a fault too, since passes rely on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.nv_tileaa.base import element_of
from tileas_xdsl.dialects.nv_tileaa.compute.conversions import BitcastOp, IntToPtrOp, PtrToIntOp
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp, BoundedAttr, DivByAttr, SameElementsAttr
from tileas_xdsl.dialects.nv_tileaa.memory.block_memory import AllocaOp
from tileas_xdsl.dialects.nv_tileaa.memory.globals import GetGlobalOp
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import BasePointerOp
from tileas_xdsl.dialects.nv_tileaa.memory.tokens import JoinMemTokenOp
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.interpreters.tile.execution.agent import Language
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.module_globals import name_of_global
from tileas_xdsl.interpreters.tile.memory.pointers import memory_of
from tileas_xdsl.interpreters.tile.memory.views import View, contiguous
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, dtype_of, unsigned
from tileas_xdsl.interpreters.tile.numerics.integers import unsigned_of, width_of
from tileas_xdsl.interpreters.tile.synchronization.async_tokens import AsyncToken

ADDRESS_BITS = 64


def make_memref(agent: TileAgent, op: MakeMemrefOp, inputs: Sequence[Any]) -> tuple[View]:
    """Return a view of the elements behind a pointer; a fault if its memory has fewer."""
    address: int = agent.value_of(op.pointer)
    memory = memory_of(address, agent.block.device.memories)
    if memory is None:
        raise fault(op, f"shows what is at address {address:#x}, where there is no array")
    element, rank = op.array.element_type, len(op.array.get_shape())
    dtype = dtype_of(element)
    shape = tuple(_count(agent, op.extent(axis)) for axis in range(rank))
    steps = [_count(agent, op.stride(axis)) for axis in range(rank)]
    begin = 0 if op.offset is None else agent.value_of(op.offset)
    offset = address - memory.address + begin * dtype.itemsize
    last = sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
    if prod(shape) and offset + (last + 1) * dtype.itemsize > memory.size:
        raise fault(
            op,
            f"shows {'x'.join(map(str, shape))} elements, the last of which is element "
            f"{offset // dtype.itemsize + last} of {memory.name}, out of bounds",
        )
    strides = tuple(step * dtype.itemsize for step in steps)
    return (View(memory, offset, shape, strides, element, tuple((0, n) for n in shape)),)


def base_pointer(agent: TileAgent, _: BasePointerOp, inputs: Sequence[Any]) -> tuple[int]:
    """Return the address of the first element of an array."""
    view: View = inputs[0]
    agent.block.device.give_address(view.memory)
    return (view.memory.address + view.offset,)


def subview(agent: TileAgent, op: memref.SubviewOp, inputs: Sequence[Any]) -> tuple[View]:
    """Return the part of an array that begins at offsets; a fault if it has more elements."""
    source: View = inputs[0]
    starts, sizes, steps = (
        [next(dynamic) if n == DYNAMIC_INDEX else n for n in static.get_values()]
        for static, dynamic in (
            (op.static_offsets, iter(agent.get_values(op.offsets))),
            (op.static_sizes, iter(agent.get_values(op.sizes))),
            (op.static_strides, iter(agent.get_values(op.strides))),
        )
    )
    part = source.part(starts, sizes, steps)
    if prod(sizes) and not part.is_inside:
        raise fault(op, f"shows {'x'.join(map(str, sizes))} elements, more than its array has")
    return (part.cut(),)


def reinterpret_cast(op: memref.ReinterpretCastOp, inputs: Sequence[Any]) -> tuple[View]:
    """Return the memory of an array in another shape, of constant extents and strides."""
    source: View = inputs[0]
    shape = tuple(op.static_sizes.get_values())
    if prod(shape) != prod(source.shape) or not source.is_contiguous:
        raise fault(op, f"shows {'x'.join(map(str, shape))} elements of another number")
    return (contiguous(source.memory, source.offset, shape, source.element),)


def _count(agent: TileAgent, number: SSAValue | int) -> int:
    """Return a number of elements; integers are read as unsigned."""
    if isinstance(number, int):
        return number
    value: int = agent.value_of(number)
    width = width_of(number.type)
    is_index = isinstance(number.type, IndexType)
    return value if is_index or width is None else unsigned_of(value, width)


def assume(op: AssumeOp, inputs: Sequence[Any]) -> tuple[Any]:
    """Return the value; a fault where the assumption does not hold."""
    value, fact = inputs[0], op.fact
    if isinstance(fact, BoundedAttr):
        _check_bounds(op, value, fact)
    elif isinstance(fact, DivByAttr):
        _check_divisor(op, value, fact)
    elif isinstance(fact, SameElementsAttr):
        _check_same(op, np.asarray(value), fact.chunk.get_values())
    return (value,)


def _check_bounds(op: Operation, value: Any, fact: BoundedAttr) -> None:
    low, high = fact.bounds
    numbers = np.asarray(value, np.int64)
    for bound, wrong in ((low, numbers < (low or 0)), (high, numbers > (high or 0))):
        if bound is not None and wrong.any():
            raise fault(op, f"assumes {fact}, but the value is {int(numbers[wrong].flat[0])}")


def _check_divisor(op: AssumeOp, value: Any, fact: DivByAttr) -> None:
    type_ = op.source.type
    if isinstance(type_, MemRefType):
        numbers = _addresses(value, fact)
    else:
        width = ADDRESS_BITS if isinstance(element_of(type_), PtrType) else width_of(type_)
        assert width is not None
        numbers = _leaders(op, unsigned(np.asarray(value, np.int64), width), fact)
    wrong = numbers % np.asarray(fact.divisor.data, numbers.dtype) != 0
    if wrong.any():
        raise fault(op, f"assumes {fact}, but the value is {int(numbers[wrong].flat[0])}")


def _addresses(array: View, fact: DivByAttr) -> Array:
    """Where an array begins, and by how many bytes the rows are apart that a promise is about."""
    first = array.memory.address + array.offset
    if fact.group is None:
        return np.asarray([first])
    every, along = fact.group
    return np.asarray([first, every * array.strides[along]])


def _leaders(op: AssumeOp, numbers: Array, fact: DivByAttr) -> Array:
    """The numbers that the divisor divides: all, or the first of each group of neighbours."""
    group = fact.group
    if group is None:
        return numbers
    every, along = group
    lines: Array = np.moveaxis(numbers.astype(np.int64), along, -1)
    step = 1
    if isinstance(pointer := element_of(op.source.type), PtrType):
        step = dtype_of(pointer.pointee).itemsize
    extent: int = lines.shape[-1]
    positions: Array = np.arange(extent, dtype=np.int64)
    firsts: Array = lines[..., positions - positions % every]
    if not np.array_equal(firsts + positions % every * step, lines):
        raise fault(op, f"assumes {fact}, but neighbours do not count up")
    return firsts.astype(numbers.dtype)


def _check_same(op: AssumeOp, values: Array, chunk: Sequence[int]) -> None:
    for axis, size in enumerate(chunk):
        lines = np.moveaxis(values, axis, 0)
        if size > 1 and (lines != np.repeat(lines[::size], size, 0)[: len(lines)]).any():
            raise fault(op, f"assumes {op.fact}, but neighbours differ along dimension {axis}")


def join(agent: TileAgent, op: JoinMemTokenOp, inputs: Sequence[Any]) -> tuple[AsyncToken]:
    """Return a token that completes when all operands have."""
    return (AsyncToken("memory accesses", inputs),)


def get_global(agent: TileAgent, op: GetGlobalOp, inputs: Sequence[Any]) -> tuple[int]:
    """Return the address of a global of the module."""
    name = name_of_global(op.global_name.data)
    for memory in agent.block.device.memories:
        if memory.name == name:
            return (memory.address,)
    raise fault(op, f"asks for the address of {name}, and the module has no such global")


def alloca(agent: TileAgent, op: AllocaOp, inputs: Sequence[Any]) -> tuple[int]:
    """Return the address of memory that nothing has written, a new one for each execution."""
    hint = op.result.name_hint
    pointer = op.result.type
    assert isinstance(pointer, PtrType)
    shape = (op.num_elem.value.data,)
    name = f"%{hint}" if hint else "an alloca"
    view = agent.block.allocate(op, agent.name, name, shape, pointer.pointee, Space.GMEM)
    agent.block.device.give_address(view.memory)
    return (view.memory.address,)


def _same(agent: TileAgent, op: Operation, inputs: Sequence[Any]) -> tuple[Any]:
    """Return the address: pointers are integers."""
    return (inputs[0],)


POINTERS = Language(
    effects={
        AllocaOp: alloca,
        AssumeOp: lambda _, op, inputs: assume(op, inputs),
        BasePointerOp: base_pointer,
        BitcastOp: _same,
        GetGlobalOp: get_global,
        IntToPtrOp: _same,
        JoinMemTokenOp: join,
        MakeMemrefOp: make_memref,
        memref.ReinterpretCastOp: lambda _, op, inputs: reinterpret_cast(op, inputs),
        memref.SubviewOp: subview,
        PtrToIntOp: _same,
    },
)
"""Operations of `nv_tileaa` that stay in `nv_tileas`; its `bitcast` is of pointers there."""
