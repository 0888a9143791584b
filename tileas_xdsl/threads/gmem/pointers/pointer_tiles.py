"""Pointers in thread-level IR: 64-bit addresses, which a tile keeps in registers."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, VectorType, i1, i64
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import IntToPtrOp
from tileas_xdsl.dialects.cute import PtrType as MemoryPointer
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i64_constant, multiply
from tileas_xdsl.threads.registers.vector_values import (
    element,
    element_type,
    joined,
    length,
    repeated,
)

GLOBAL_SPACES = (0, 1)
"""Generic and global memory, as LLVM numbers them for NVPTX; a launch passes global addresses."""


def memory_pointer(op: Operation, pointer: PtrType, alignment: int | None = None) -> MemoryPointer:
    """Return the type of a pointer to global memory; raise for what cannot be loaded through."""
    if pointer.pointee == i1:
        text = "reaches an array of booleans, and threads have bytes: give it as one of i8"
        raise op_error(op, text)
    if pointer.address_space.data not in GLOBAL_SPACES or element_bits(pointer.pointee) is None:
        raise op_error(op, f"follows {pointer}, and only elements of global memory are reached")
    return MemoryPointer(pointer.pointee, "gmem", alignment)


def followed(e: ThreadBuilder, address: SSAValue, type_: MemoryPointer) -> SSAValue:
    """Return the pointer with a given address."""
    return e.insert(IntToPtrOp(address, type_)).result


def distance(e: ThreadBuilder, offset: SSAValue, size: int) -> SSAValue:
    """Return signed element counts in bytes, `i64`, of a scalar or a vector."""
    wide = _widened(e, offset)
    if size == 1:
        return wide
    factor = i64_constant(e, size)
    count = length(wide) if isinstance(wide.type, VectorType) else 0
    return multiply(e, wide, repeated(e, factor, count) if count else factor)


def _widened(e: ThreadBuilder, offset: SSAValue) -> SSAValue:
    if element_type(offset) == i64:
        return offset
    if not isinstance(offset.type, VectorType):
        return _single(e, offset)
    return joined(e, [_single(e, element(e, offset, k)) for k in range(length(offset))])


def _single(e: ThreadBuilder, offset: SSAValue) -> SSAValue:
    kind: Any = arith.IndexCastOp if isinstance(offset.type, IndexType) else arith.ExtSIOp
    return e.insert(kind(offset, i64)).result
