"""Pointers as addresses: the arrays of a launch are far apart in one address space.

A pointer is a 64-bit integer, a tile of pointers an array of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Attribute, Operation

from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp, pointer_of
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Memory
from tileas_xdsl.interpreters.tile.numerics.element_types import dtype_of, is_array
from tileas_xdsl.interpreters.tile.numerics.integers import INDEX_BITS, Value, wrap

Semantics: TypeAlias = Callable[[Any, Sequence[Value]], tuple[Value, ...]]
"""Return the results of an operation on its operands."""

FIRST_ADDRESS = 1 << 32

APART = 1 << 24
"""Bytes between two arrays, so that an out-of-bounds pointer does not point into another one."""


def give_addresses(memories: Sequence[Memory], before: Sequence[Memory] = ()) -> None:
    """Assign addresses to memories, far apart from one another and from those `before`."""
    last = before[-1] if before else None
    address = FIRST_ADDRESS if last is None else last.address + (last.size // APART + 2) * APART
    for memory in memories:
        memory.address = address
        address += (memory.size // APART + 2) * APART


def memory_of(address: int, memories: Sequence[Memory]) -> Memory | None:
    """Return the memory of an address, or the one before it; None before all of them."""
    found: Memory | None = None
    for memory in memories:
        if memory.address and memory.address <= address:
            found = memory
    return found


def size_of_pointee(type_: Attribute) -> int:
    """Return the size of the pointee of a pointer type in bytes."""
    pointer = pointer_of(type_)
    assert pointer is not None
    return dtype_of(pointer.pointee).itemsize


def add_pointer(op: AddPtrOp, operands: Sequence[Value]) -> tuple[Value]:
    """`nv_tileaa.addptr`."""
    base, offset = operands
    size = size_of_pointee(op.base.type)
    if is_array(base) or is_array(offset):
        return (np.asarray(base, np.int64) + np.asarray(offset, np.int64) * size,)
    return (wrap(base + offset * size, INDEX_BITS),)


POINTERS: Mapping[type[Operation], Semantics] = {AddPtrOp: add_pointer}
