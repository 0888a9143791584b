"""Kernels that name their threads, `T.get_thread_binding`: statements of all threads at once.

What one thread does becomes an iteration of a parallel loop over the threads of a block.  Loops
and branches that all threads take alike, and that tile operations, barriers or stores of the block
stand in, stay around those loops, which are therefore as many as there are statements:

    t = T.get_thread_binding()                  for k in T.serial(4):
    for k in T.serial(4):                           for t in T.Parallel(128):
        x[t] = A[k, t]                                  x[t] = A[k, t]
        T.sync_threads()                   ->       for t in T.Parallel(128):
        sum[0] += x[127 - t]                            sum[t, 0] += x[127 - t]

A buffer private to a thread whose elements differ from thread to thread is a row of a fragment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.frontend.tilelang.traced.graph import Node
from tileas_xdsl.frontend.tilelang.traced.names import names_of, operands

_PRIVATE = ("local", "local.var")

HEADERS = ("condition", "min", "extent")
"""Fields that decide whether or how often the body of a statement is done."""

OF_THREADS = ("tl.atomic_add_elem_op",)
"""Calls that a thread makes for itself; others are of the block."""


@dataclass(frozen=True)
class AllReduce:
    """A value that threads combine along dimensions of the block, each getting the result."""

    value: Node
    result: Node
    """The private buffer of one element that gets it."""
    along: Sequence[Node]
    """Indices of threads."""


def all_reduce_of(node: Node) -> AllReduce | None:
    """The combination that a statement makes; None for any other statement."""
    if node.kind != "tirx.Evaluate" or node.child("value").kind != "tirx.Call":
        return None
    call = node.child("value")
    if call.child("op").data != "tirx.tvm_thread_allreduce":
        return None
    _, value, condition, result, *along = call.children("args")
    if condition.kind != "ir.IntImm" or not condition.number("value"):
        return None
    return AllReduce(value, result.child("buffer"), along)


@dataclass
class ThreadProgram:
    """The threads of a block, where the program names them."""

    extents: tuple[int, ...] = ()
    """Of the block, x first, without those of 1 that come last."""
    axes: dict[Node, int] = field(default_factory=dict[Node, int])
    """Variables that are the index of a thread, with their dimension."""
    varying: dict[Node, frozenset[int]] = field(default_factory=dict[Node, frozenset[int]])
    """Variables and private buffers that differ from thread to thread: along which dimensions."""
    expressions: dict[Node, Node] = field(default_factory=dict[Node, Node])
    """Of variables that are evaluated where they are used."""
    kept: dict[Node, SSAValue] = field(default_factory=dict[Node, SSAValue])
    """Fragments that have the values of variables that read memory."""
    indices: list[SSAValue] = field(default_factory=list[SSAValue])
    """Of the thread that is an iteration, slowest dimension first; empty outside."""
    names: dict[Node, frozenset[Node]] = field(default_factory=dict[Node, frozenset[Node]])

    @property
    def box(self) -> tuple[int, ...]:
        """The extents of loops over the threads: x varies fastest."""
        return tuple(reversed(self.extents))

    def index(self, axis: int) -> SSAValue:
        """The index of the thread that is an iteration."""
        return self.indices[len(self.extents) - 1 - axis]

    def varies(self, node: Node) -> bool:
        """Whether a statement or expression differs from thread to thread."""
        return not self.varying.keys().isdisjoint(names_of(node, self.names))

    def axes_of(self, *nodes: Node) -> frozenset[int]:
        """The dimensions of the block along which statements or expressions differ."""
        named = frozenset[Node]().union(*(names_of(node, self.names) for node in nodes))
        return frozenset[int]().union(*(self.varying[n] for n in named & self.varying.keys()))

    def read(self, body: Node) -> None:
        """Find what differs from thread to thread in the program of a block."""
        self.varying = {variable: frozenset([axis]) for variable, axis in self.axes.items()}
        before: dict[Node, frozenset[int]] = {}
        while before != self.varying:
            before = dict(self.varying)
            self._spread(body, frozenset())

    def _spread(self, node: Node, around: frozenset[int]) -> None:
        """Add what a statement gives a value; conditions around it differ along `around`."""
        if node.kind == "tirx.Bind":
            self._differs(node.child("var"), self.axes_of(node.child("value")))
            return
        if node.kind == "tirx.BufferStore":
            buffer = node.child("buffer")
            if _is_private(buffer):
                parts = [node.child("value"), *node.children("indices")]
                self._differs(buffer, around | self.axes_of(*parts))
            return
        if (combined := all_reduce_of(node)) is not None:
            self._differs(
                combined.result, self.axes_of(combined.value) - self.axes_of(*combined.along)
            )
            return
        headers = [node.optional(name) for name in HEADERS]
        inner = around | self.axes_of(*(header for header in headers if header is not None))
        for part in operands(node):
            self._spread(part, inner)

    def _differs(self, name: Node, axes: frozenset[int]) -> None:
        if axes:
            self.varying[name] = self.varying.get(name, frozenset()) | axes

    def loop_axes(self, node: Node) -> Sequence[int]:
        """The dimensions of the loop over threads that do a statement, slowest first.

        What differs along some dimensions, and stores for all threads to see, is done once.
        """
        leaves = list(_leaves(node))
        is_stored = all(
            leaf.kind == "tirx.BufferStore" and not _is_private(leaf.child("buffer"))
            for leaf in leaves
        )
        is_once = is_stored and bool(leaves)
        used = self.axes_of(node) if is_once else frozenset(range(len(self.extents)))
        return [axis for axis in reversed(range(len(self.extents))) if axis in used]

    def is_of_block(self, node: Node) -> bool:
        """Whether a statement is no iteration of a loop over threads.

        The block does a part of it as a whole, threads exchange values, or a loop has bounds that
        only run time knows.
        """
        leaves = list(_leaves(node))
        is_whole = any(self._is_leaf_of_block(leaf) for leaf in leaves) or _exchanges(leaves)
        return is_whole or _has_unknown_loop(node)

    def named(self, node: Node) -> str:
        """What the block does as a whole in a statement, as TileLang calls it."""
        found = [leaf for leaf in _leaves(node) if self._is_leaf_of_block(leaf)]
        calls = [leaf.child("value") for leaf in found if leaf.kind == "tirx.Evaluate"]
        return f"'{calls[0].child('op').data}'" if calls else "what stands"

    def _is_leaf_of_block(self, leaf: Node) -> bool:
        if leaf.kind == "tirx.BufferStore":
            return not _is_private(leaf.child("buffer")) and not self.varies(leaf)
        if leaf.kind != "tirx.Evaluate":
            return False
        call = leaf.child("value")
        if call.kind != "tirx.Call":
            return False
        name = str(call.child("op").data)
        if name == "tl.tileop.fill":
            return not self.varies(call)
        return name not in OF_THREADS


def _is_private(buffer: Node) -> bool:
    return buffer.child("data").child("type_annotation").text("storage_scope") in _PRIVATE


def _leaves(node: Node) -> Iterable[Node]:
    """Statements that have no statements in them."""
    if node.kind in ("tirx.BufferStore", "tirx.Evaluate", "tirx.Bind"):
        yield node
        return
    for part in operands(node):
        yield from _leaves(part)


def _has_unknown_loop(node: Node) -> bool:
    """Whether there is a loop whose bounds run time knows, which an iteration does not have."""
    if node.kind == "tirx.For" and None in (
        node.child("min").constant,
        node.child("extent").constant,
    ):
        return True
    return any(_has_unknown_loop(part) for part in operands(node))


def _exchanges(leaves: Sequence[Node]) -> bool:
    """Whether one statement reads a shared buffer that another one writes."""
    stores = [leaf for leaf in leaves if leaf.kind == "tirx.BufferStore"]
    shared = {s: s.child("buffer") for s in stores if not _is_private(s.child("buffer"))}
    known: dict[Node, frozenset[Node]] = {}
    return any(
        buffer in _read(leaf, known)
        for store, buffer in shared.items()
        for leaf in leaves
        if leaf is not store
    )


def _read(leaf: Node, known: dict[Node, frozenset[Node]]) -> frozenset[Node]:
    parts = [leaf.child("value")]
    if leaf.kind == "tirx.BufferStore":
        parts += leaf.children("indices")
    return frozenset[Node]().union(*(names_of(part, known) for part in parts))
