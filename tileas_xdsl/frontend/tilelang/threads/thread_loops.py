"""Writes the statements of programs that name their threads (`thread_programs`)."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, i1, i8
from xdsl.ir import Block

from tileas_xdsl.dialects.tl.buffers import AllocFragmentOp
from tileas_xdsl.dialects.tl.compute import ReduceOp
from tileas_xdsl.dialects.tl.enums import Space
from tileas_xdsl.dialects.tl.loops import ParallelOp
from tileas_xdsl.frontend.tilelang.memory.element_access import store_at
from tileas_xdsl.frontend.tilelang.memory.memory_spaces import space_of
from tileas_xdsl.frontend.tilelang.memory.readable import written_by
from tileas_xdsl.frontend.tilelang.scope import Scope
from tileas_xdsl.frontend.tilelang.threads.thread_programs import HEADERS, all_reduce_of
from tileas_xdsl.frontend.tilelang.threads.thread_roles import roles
from tileas_xdsl.frontend.tilelang.traced.graph import Node
from tileas_xdsl.frontend.tilelang.traced.names import operands

Handler = Callable[[Scope, Node], None]


def by_threads(scope: Scope, node: Node, handler: Handler, write: Handler) -> None:
    """A statement that differs from thread to thread; `handler` writes what one thread does.

    `write` writes a statement in it that is of the block.
    """
    if node.kind == "tirx.Bind":
        _bind(scope, node)
        return
    headers = [found for name in HEADERS if (found := node.optional(name)) is not None]
    differs = any(scope.threads.varies(header) for header in headers)
    if not scope.threads.is_of_block(node):
        with _each_thread(scope, node):
            handler(scope, node)
        return
    if differs and (sides := roles(scope.threads, node)) is not None:
        for side in sides:
            write(scope, side)
        return
    if differs or node.kind == "tirx.Evaluate" or node.kind == "tirx.BufferStore":
        why = "is for some threads, and the block does it as a whole: write T.Parallel"
        raise scope.refusal(f"{scope.threads.named(node)} under the index of a thread", why)
    handler(scope, node)


@contextmanager
def _each_thread(scope: Scope, node: Node) -> Generator[None]:
    """Write what each thread does."""
    threads = scope.threads
    axes = threads.loop_axes(node)
    box = [threads.extents[axis] for axis in axes]
    block = Block(arg_types=[IndexType()] * len(box))
    outer = scope.written
    scope.written = written_by(scope, _stores(node))
    given = dict(zip(axes, block.args, strict=True))
    with scope.within(block, is_iteration=True):
        threads.indices = [
            given[axis] if axis in given else scope.index_constant(0)
            for axis in reversed(range(len(threads.extents)))
        ]
        yield
    scope.threads.indices = []
    scope.written = outer
    scope.insert(ParallelOp(box, block))


def all_reduce(scope: Scope, node: Node, kind: str) -> None:
    """Combine a value of each thread along one dimension of the block."""
    found, threads = all_reduce_of(node), scope.threads
    axes = frozenset[int]() if found is None else threads.axes_of(*found.along)
    if found is None or len(axes) != 1:
        raise scope.refusal("what threads combine", "is one value along one dimension of the block")
    position = len(threads.extents) - 1 - next(iter(axes))
    element = scope.element_type(found.value.dtype)
    each = scope.insert(AllocFragmentOp(threads.box, element)).buffer
    left = tuple(n for k, n in enumerate(threads.box) if k != position) or (1,)
    total = scope.insert(AllocFragmentOp(left, element)).buffer
    is_one = len(threads.box) == 1
    with _each_thread(scope, found.value):
        value = scope.scalar(found.value, element)
        scope.insert(memref.StoreOp.get(value, each, threads.indices))
    scope.insert(ReduceOp(kind, each, total, position, keep_dims=is_one, clear=True))
    if is_one and space_of(scope.buffer(found.result).type) is Space.LOCAL:
        # All threads have the same: a local of the block, which an iteration would have for itself.
        value = scope.insert(memref.LoadOp.get(total, [scope.index_constant(0)])).res
        store_at(scope, found.result, [scope.index_constant(0)], value)
        return
    with _each_thread(scope, found.value):
        kept = [index for k, index in enumerate(threads.indices) if k != position]
        places = [scope.index_constant(0)] if is_one else kept
        value = scope.insert(memref.LoadOp.get(total, places)).res
        store_at(scope, found.result, [scope.index_constant(0)], value)


def _stores(node: Node) -> list[Node]:
    if node.kind == "tirx.BufferStore":
        return [node]
    return [store for part in operands(node) for store in _stores(part)]


def _bind(scope: Scope, node: Node) -> None:
    """A name: its expression, or where that reads memory the values of now, in a fragment."""
    variable, value = node.child("var"), node.child("value")
    if not _reads_memory(value):
        scope.threads.expressions[variable] = value
        return
    type_ = scope.element_type(variable.dtype)
    made = AllocFragmentOp(scope.threads.box, type_)
    made.location = scope.location
    made.buffer.name_hint = variable.text("name")
    first = scope.kernel.first_op
    assert first is not None
    scope.kernel.insert_op_before(made, first)
    with _each_thread(scope, value):
        found = scope.scalar(value, type_)
        if found.type == i1:
            found = scope.insert(arith.ExtUIOp(found, i8)).result
        scope.insert(memref.StoreOp.get(found, made.buffer, scope.threads.indices))
    scope.threads.kept[variable] = made.buffer


def _reads_memory(node: Node) -> bool:
    return node.kind == "tirx.BufferLoad" or any(_reads_memory(part) for part in operands(node))
