"""Checks that several operations of `tl` share: where they stand, and layouts."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.tl.attributes import FragmentAttr
from tileas_xdsl.dialects.tl.base import enclosing, extents_text, shape_of
from tileas_xdsl.dialects.tl.fragments import FragmentError, layout_of
from tileas_xdsl.dialects.tl.kernel import KernelOp


def check_in_kernel(op: Operation) -> KernelOp:
    """The kernel around `op`; raises where there is none."""
    kernel = enclosing(op, KernelOp)
    if kernel is None:
        raise op_error(op, "stands in a tl.kernel")
    return kernel


def parallel_around(op: Operation) -> Operation | None:
    """The parallel loop around `op`."""
    parent = op.parent_op()
    while parent is not None and parent.name != "tl.parallel":
        parent = parent.parent_op()
    return parent


def check_not_in_loop(op: Operation) -> None:
    """Raise for what the whole block does, inside of a parallel loop."""
    if parallel_around(op) is not None:
        raise op_error(op, "is of the whole block and has no place in a tl.parallel")


def check_layout(
    op: Operation, layout: FragmentAttr | None, shape: tuple[int, ...], threads: int
) -> None:
    """Raise where an annotation is no layout of these extents on so many threads."""
    if layout is None:
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
