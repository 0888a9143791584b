"""Checks that several operations of `tl` share: where they stand, and layouts."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, IntegerType, NoneAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.ir_queries import enclosing, enclosing_ops
from tileas_xdsl.dialects.tl.attributes import FragmentAttr
from tileas_xdsl.dialects.tl.base import (
    Buffer,
    check_scope,
    check_static,
    element_of,
    extents_text,
    shape_of,
)
from tileas_xdsl.dialects.tl.fragments import FragmentError, layout_of
from tileas_xdsl.dialects.tl.kernel import MAX_THREADS, KernelOp
from tileas_xdsl.inference.program import Scope
from tileas_xdsl.layout.axes import ANONYMOUS
from tileas_xdsl.layout.composed import AnyLayout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.tables import table

MAX_ELEMENTS = 1 << 24
"""The elements of a buffer of a block, at most: more than any memory of a block has."""


def check_in_kernel(op: Operation) -> KernelOp:
    """The kernel around `op`; raises where there is none."""
    kernel = enclosing(op, KernelOp)
    if kernel is None:
        raise op_error(op, "stands in a tl.kernel")
    return kernel


def parallel_around(op: Operation) -> Operation | None:
    """The parallel loop around `op`."""
    return next((parent for parent in enclosing_ops(op) if parent.name == "tl.parallel"), None)


def check_not_in_loop(op: Operation) -> None:
    """Raise for what the whole block does, inside of a parallel loop."""
    if parallel_around(op) is not None:
        raise op_error(op, "is of the whole block and has no place in a tl.parallel")


def check_block_buffer(op: Operation, type_: Attribute, scope: Scope) -> None:
    """Raise where a type is no row-major buffer of scalars, of known extents, in a space."""
    check_scope(op, "a buffer", type_, (scope,))
    check_static(op, "a buffer", type_)
    shape = shape_of(type_)
    if any(n < 1 for n in shape):
        raise op_error(op, f"has extents of 1 or more, not {extents_text(shape)}")
    if prod(shape) > MAX_ELEMENTS:
        raise op_error(op, f"has at most {MAX_ELEMENTS} elements, not {prod(shape)}")
    check_row_major(op, type_)
    if not isinstance(element := element_of(type_), AnyFloat | IntegerType | IndexType):
        raise op_error(op, f"has elements that are numbers, not {element}")


def check_row_major(op: Operation, type_: Attribute) -> None:
    """Raise for a buffer whose type has strides."""
    if not isinstance(cast("Buffer", type_).layout, NoneAttr):
        raise op_error(op, f"has a row-major buffer, whose layout is no part of its type: {type_}")


def check_shared_layout(op: Operation, layout: AnyLayout, type_: Attribute) -> None:
    """Raise where byte offsets are not for these extents, or where elements overlap."""
    shape, extents = shape_of(type_), product_each(layout.shape)
    if extents != shape:
        text = f"lays out {extents_text(extents)}, but the buffer is {extents_text(shape)}"
        raise op_error(op, text)
    if any(axis != ANONYMOUS for axis in layout.axes()):
        raise op_error(op, f"has offsets in bytes along no named axis, unlike {layout}")
    size = ceil_div(bits_of(element_of(type_)), 8)
    try:
        offsets = np.sort(table(layout))
    except LayoutError as error:
        raise op_error(op, str(error)) from error
    if offsets[0] < 0 or (offsets % size).any():
        raise op_error(op, f"has elements at multiples of {size} bytes from 0 on, unlike {layout}")
    if (np.diff(offsets) < size).any():
        raise op_error(op, f"puts two elements into the same bytes: {layout}")


def check_layout(
    op: Operation, layout: FragmentAttr | None, shape: tuple[int, ...], threads: int
) -> None:
    """Raise where an annotation is no layout of these extents on so many threads.

    A kernel of more threads than there can be is refused as such: tables of them may not fit.
    """
    if layout is None or threads > MAX_THREADS:
        return
    try:
        layout_of(layout, shape, threads)
    except FragmentError as error:
        raise op_error(op, f"has a layout that {error}") from error


def check_same_shape(op: Operation, verb: str, source: Attribute, target: Attribute) -> None:
    """Raise where two buffers differ in their extents."""
    there, here = shape_of(source), shape_of(target)
    if there != here:
        raise op_error(op, f"{verb} {extents_text(there)} to {extents_text(here)}")


def check_indices(op: Operation, buffer: SSAValue, indices: Sequence[SSAValue]) -> None:
    """Raise where a buffer has not as many dimensions as there are indices."""
    rank = len(shape_of(buffer.type))
    if len(indices) != rank:
        raise op_error(op, f"has {len(indices)} indices for {rank} dimensions of {buffer.type}")


def check_vector(op: Operation, vector: IntegerAttr | None) -> None:
    """Raise where the width of accesses is no positive number."""
    if vector is not None and vector.value.data < 1:
        raise op_error(op, f"accesses 1 element or more at once, not {vector.value.data}")


def kernel_of(function: func.FuncOp) -> KernelOp | None:
    """The kernel of a function; None for a function without one."""
    if not function.body.blocks:
        return None
    return next((op for op in function.body.block.ops if isinstance(op, KernelOp)), None)
