"""Whether loads may run where nobody needs their value: in both sides of a choice, after `and`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tileas_xdsl.dialects.tl.base import shape_of
from tileas_xdsl.dialects.tl.enums import Space
from tileas_xdsl.frontend.tilelang.memory.memory_spaces import space_of
from tileas_xdsl.frontend.tilelang.scalars.linear import texts_of
from tileas_xdsl.frontend.tilelang.scalars.ranges import range_of
from tileas_xdsl.frontend.tilelang.scope import Scope
from tileas_xdsl.frontend.tilelang.traced.graph import Node


def is_always_readable(scope: Scope, node: Node) -> bool:
    """Whether all loads of an expression may run where their value is not needed.

    Global memory reads as 0 outside of an array; of other buffers the ranges of the indices show
    whether the element exists.  What another iteration of the loop around may write meanwhile is
    not readable.
    """
    if node.kind == "tirx.BufferLoad" and not (_exists(scope, node) and _is_own(scope, node)):
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


def _is_own(scope: Scope, node: Node) -> bool:
    """Whether no other iteration of the parallel loop around writes the element."""
    written = scope.written.get(node.child("buffer"), set())
    return written <= {texts_of(node.children("indices"))}


def written_by(scope: Scope, stores: Iterable[Node]) -> dict[Node, set[str]]:
    """The elements that iterations of a loop write for others to see, as texts of their indices."""
    found: dict[Node, set[str]] = {}
    for store in stores:
        buffer = store.child("buffer")
        if space_of(scope.buffer(buffer).type) not in (Space.FRAGMENT, Space.LOCAL):
            found.setdefault(buffer, set()).add(texts_of(store.children("indices")))
    return found


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
