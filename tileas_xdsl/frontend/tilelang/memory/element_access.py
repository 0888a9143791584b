"""Loads and stores of single elements."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import i1, i8
from xdsl.ir import SSAValue

from tileas_xdsl.frontend.tilelang.memory.local_buffers import check_kept
from tileas_xdsl.frontend.tilelang.scalars.element_types import BOOLEAN
from tileas_xdsl.frontend.tilelang.scope import Scope
from tileas_xdsl.frontend.tilelang.traced.graph import Node


def load(scope: Scope, node: Node) -> SSAValue:
    """An element that an expression reads."""
    buffer = node.child("buffer")
    check_kept(scope, buffer)
    return load_at(scope, buffer, [scope.index(i) for i in node.children("indices")])


def load_at(scope: Scope, buffer: Node, indices: Sequence[SSAValue]) -> SSAValue:
    """The element at indices; the byte of a boolean as a boolean."""
    places = [*scope.row(buffer), *indices]
    found = scope.insert(memref.LoadOp.get(scope.buffer(buffer), places)).res
    if buffer.dtype != BOOLEAN:
        return found
    return scope.insert(arith.CmpiOp(found, scope.constant(0, i8), "ne")).result


def store_at(scope: Scope, buffer: Node, indices: Sequence[SSAValue], value: SSAValue) -> None:
    """Write an element at indices; a boolean as a byte."""
    if buffer.dtype == BOOLEAN and value.type == i1:
        value = scope.insert(arith.ExtUIOp(value, i8)).result
    places = [*scope.row(buffer), *indices]
    scope.insert(memref.StoreOp.get(value, scope.buffer(buffer), places))
