"""The launches of a PrimFunc: each `T.Kernel` of it, in order, and the arrays between them.

Two launches that pass partial results on in global memory are

    partial = T.alloc_global((4, 128), T.float32)
    with T.Kernel(4, threads=128) as split: ...
    with T.Kernel(1, threads=128) as whole: ...

and become two functions, each with the arguments of the PrimFunc and then `partial`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.frontend.tilelang.traced.graph import Node


@dataclass(frozen=True)
class Launch:
    """One `T.Kernel`."""

    before: Sequence[Node]
    """Statements of the host that it stands after, as names of values."""
    loops: Sequence[Node]
    """The loops over blocks, outermost first; none where there is no `T.Kernel`."""
    body: Node
    """What a block does."""


@dataclass(frozen=True)
class Launches:
    """What a PrimFunc launches."""

    scratch: Sequence[Node]
    """Arrays of global memory that the function allocates."""
    found: Sequence[Launch]


def launches(function: Node) -> Launches:
    """Find the launches of a PrimFunc; where there is none, its body is one without loops."""
    body, scratch = function.child("body"), list[Node]()
    if body.kind == "tirx.SBlockRealize" and body.child("block").text("name_hint") == "root":
        scratch = list(body.child("block").children("alloc_buffers"))
        body = body.child("block").child("body")
    parts = body.children("seq") if body.kind == "tirx.SeqStmt" else [body]
    if not any(_is_launch(part) for part in parts):
        return Launches(scratch, [Launch((), (), body)])
    found: list[Launch] = []
    for index, part in enumerate(parts):
        if _is_launch(part):
            before = [p for p in parts[:index] if not _is_launch(p)]
            found.append(Launch(before, *_unwrapped(part)))
    return Launches(scratch, found)


def _is_launch(node: Node) -> bool:
    return node.kind == "tirx.For" and node.optional("thread_binding") is not None


def _unwrapped(node: Node) -> tuple[Sequence[Node], Node]:
    loops: list[Node] = []
    while _is_launch(node):
        loops.append(node)
        node = node.child("body")
    return loops, node
