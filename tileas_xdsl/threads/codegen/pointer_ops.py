"""Pointer arithmetic of threads."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.dialects.cute import PtrAddOp, RecastPtrOp
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i32_constant


def advance(
    e: ThreadBuilder, pointer: SSAValue, offset: SSAValue | int, alignment: int | None = None
) -> SSAValue:
    """Return a pointer advanced by `offset` elements; `alignment` in bytes where it is known."""
    if isinstance(offset, int):
        if offset == 0:
            return pointer
        offset = i32_constant(e, offset)
    return e.insert(PtrAddOp(pointer, offset, alignment)).result


def recast(e: ThreadBuilder, pointer: SSAValue, element: Attribute) -> SSAValue:
    """Return the same address as a pointer to elements of another type."""
    return e.insert(RecastPtrOp(pointer, element)).result
