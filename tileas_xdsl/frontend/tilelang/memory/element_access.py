"""Loads and stores of single elements."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import i1, i8
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.tl.base import shape_of
from tileas_xdsl.frontend.tilelang.graph import Node
from tileas_xdsl.frontend.tilelang.memory.local_buffers import check_kept
from tileas_xdsl.frontend.tilelang.memory.memory_spaces import space_of
from tileas_xdsl.frontend.tilelang.scalars.element_types import BOOLEAN
from tileas_xdsl.frontend.tilelang.scalars.ranges import range_of
from tileas_xdsl.frontend.tilelang.scope import Scope


def load(scope: Scope, node: Node) -> SSAValue:
    """An element that an expression reads."""
    buffer = node.child("buffer")
    check_kept(scope, buffer)
    return load_at(scope, buffer, [scope.index(i) for i in node.children("indices")])


def load_at(scope: Scope, buffer: Node, indices: Sequence[SSAValue]) -> SSAValue:
    """The element at indices; the byte of a boolean as a boolean."""
    found = scope.insert(memref.LoadOp.get(scope.buffer(buffer), indices)).res
    if buffer.dtype != BOOLEAN:
        return found
    return scope.insert(arith.CmpiOp(found, scope.constant(0, i8), "ne")).result


def store_at(scope: Scope, buffer: Node, indices: Sequence[SSAValue], value: SSAValue) -> None:
    """Write an element at indices; a boolean as a byte."""
    if buffer.dtype == BOOLEAN and value.type == i1:
        value = scope.insert(arith.ExtUIOp(value, i8)).result
    scope.insert(memref.StoreOp.get(value, scope.buffer(buffer), indices))


def is_always_readable(scope: Scope, node: Node) -> bool:
    """Whether all loads of an expression may run where their value is not needed.

    Global memory reads as 0 outside of an array; of other buffers the ranges of the indices show
    whether the element exists.
    """
    if node.kind == "tirx.BufferLoad" and not _exists(scope, node):
        return False
    return all(is_always_readable(scope, part) for part in _parts(node))


def _exists(scope: Scope, node: Node) -> bool:
    type_ = scope.buffer(node.child("buffer")).type
    if space_of(type_) is None:
        return True
    ranges = [range_of(i, scope.extents) for i in node.children("indices")]
    return all(
        limits is not None and limits[0] >= 0 and limits[1] < extent
        for limits, extent in zip(ranges, shape_of(type_), strict=True)
    )


def _parts(node: Node) -> Sequence[Node]:
    """The operands of an expression."""
    if node.kind == "tirx.BufferLoad":
        return node.children("indices")
    if node.kind == "tirx.Call":
        return node.children("args")
    fields = ("a", "b", "value", "condition", "true_value", "false_value")
    if not node.kind.startswith("tirx."):
        return []
    return [node.child(name) for name in fields if name in node.data]
