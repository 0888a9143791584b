"""Buffers private to a thread, which `tl` has private to an iteration of a parallel loop.

What an iteration writes into one is gone after it, so a kernel that reads it later is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.dialects.tl.enums import Space
from tileas_xdsl.frontend.tilelang.memory.memory_spaces import space_of
from tileas_xdsl.frontend.tilelang.scope import Scope
from tileas_xdsl.frontend.tilelang.traced.graph import Node
from tileas_xdsl.frontend.tilelang.traced.names import operands


def written_by_iterations(scope: Scope, loop: Node) -> set[Node]:
    """The private buffers that the iterations of a parallel loop write."""
    return {
        buffer
        for buffer, is_store in _accesses(loop)
        if is_store
        and (value := scope.buffers.get(buffer)) is not None
        and space_of(value.type) is Space.LOCAL
    }


def check_private(scope: Scope, loop: Node) -> None:
    """Raise where an iteration reads what another loop wrote into a private buffer.

    A buffer that iterations write has to be written in each loop before it is read there.
    """
    first: dict[Node, bool] = {}
    for buffer, is_store in _accesses(loop):
        first.setdefault(buffer, is_store)
    for buffer, is_store in first.items():
        if buffer in scope.of_iterations and not is_store:
            raise _kept(scope, buffer)


def check_kept(scope: Scope, buffer: Node) -> None:
    """Raise where the block reads a private buffer that iterations write."""
    if buffer in scope.of_iterations and not scope.is_iteration:
        raise _kept(scope, buffer)


def _kept(scope: Scope, buffer: Node) -> DiagnosticError:
    why = "is read after the T.Parallel that writes it: use a fragment for it"
    return scope.refusal(f"the local buffer '{buffer.text('name')}'", why)


def _accesses(node: Node) -> Iterator[tuple[Node, bool]]:
    """Buffers in the order in which a statement accesses them, and whether it stores."""
    if node.kind in ("tirx.BufferStore", "tirx.BufferLoad"):
        for part in operands(node):
            yield from _accesses(part)
        yield node.child("buffer"), node.kind == "tirx.BufferStore"
        return
    for part in operands(node):
        yield from _accesses(part)
