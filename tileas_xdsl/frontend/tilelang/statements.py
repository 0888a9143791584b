"""Statements of a traced kernel: loops, branches, stores, names of values, tile operations.

A kernel of `tl` says what a block does, TileLang also what a thread does. Each statement is read in
one of three ways:

    of the block            tile operations, loops and branches    as they are
    of an iteration         what T.Parallel contains               in the body of tl.parallel
    of each thread          what names `T.get_thread_binding()`    see `thread_programs`

A store outside of any T.Parallel, `S[0] = partial[0] + partial[1]`, is a parallel loop of one
iteration, as a block does it once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.dialects.tl.enums import Space
from tileas_xdsl.dialects.tl.loops import ParallelOp, PipelinedOp, SerialOp
from tileas_xdsl.frontend.tilelang.memory.element_access import store_at
from tileas_xdsl.frontend.tilelang.memory.local_buffers import check_private
from tileas_xdsl.frontend.tilelang.memory.memory_spaces import space_of
from tileas_xdsl.frontend.tilelang.memory.readable import written_by
from tileas_xdsl.frontend.tilelang.memory.regions import for_each
from tileas_xdsl.frontend.tilelang.operations import tile_operations
from tileas_xdsl.frontend.tilelang.operations.reducers import COMBINED, reduce_into, reduction_of
from tileas_xdsl.frontend.tilelang.refusals import HINTS
from tileas_xdsl.frontend.tilelang.scope import Scope
from tileas_xdsl.frontend.tilelang.threads.thread_loops import all_reduce, by_threads
from tileas_xdsl.frontend.tilelang.traced.graph import Node
from tileas_xdsl.frontend.tilelang.traced.loop_kinds import BOUND, PARALLEL, VECTORIZED, is_parallel
from tileas_xdsl.frontend.tilelang.traced.names import names_of

StatementHandler: TypeAlias = Callable[[Scope, Node], None]

_CONTAINERS = ("tirx.SeqStmt", "tirx.SBlockRealize", "tirx.AttrStmt")

_HINTS = ("threadblock_swizzle_pattern", "tl.min_blocks_per_sm")
"""Attributes that change the order or number of resident blocks, not what they compute."""


def statement(scope: Scope, node: Node) -> None:
    """Write a statement."""
    with scope.at(node):
        handler = _HANDLERS.get(node.kind)
        if handler is None:
            hint = HINTS.get(node.kind, "no statement of tl")
            raise scope.refusal(f"'{node.kind.split('.')[-1]}'", f"is {hint}")
        is_leaf = node.kind not in _CONTAINERS
        if is_leaf and not scope.is_iteration and scope.threads.varies(node):
            if node.kind == "tirx.Evaluate":
                _operation(scope, node)
            by_threads(scope, node, handler, statement)
        else:
            handler(scope, node)


def _sequence(scope: Scope, node: Node) -> None:
    for part in node.children("seq"):
        statement(scope, part)


def _realize(scope: Scope, node: Node) -> None:
    statement(scope, node.child("block").child("body"))


def _loop(scope: Scope, node: Node) -> None:
    kind = node.number("kind")
    if kind == BOUND and node.child("loop_var") in scope.threads.axes:
        statement(scope, node.child("body"))
        return
    if kind == BOUND:
        tag = node.child("thread_binding").text("thread_tag")
        raise scope.refusal(f"a loop bound to {tag}", "is of threads: write T.Parallel")
    if not scope.is_iteration and (
        kind == PARALLEL or (kind == VECTORIZED and _is_shared(scope, node))
    ):
        _parallel(scope, node)
        return
    _counted(scope, node)


def _is_shared(scope: Scope, node: Node) -> bool:
    """Whether a vectorised loop writes what all threads have, and not its own locals."""
    stores = [part for part in walk(node) if part.kind == "tirx.BufferStore"]
    spaces = [space_of(scope.buffer(store.child("buffer")).type) for store in stores]
    return Space.LOCAL not in spaces


def walk(node: Node) -> Sequence[Node]:
    """The statements in a statement, itself first."""
    parts: list[Node] = []
    if node.kind == "tirx.SeqStmt":
        parts = list(node.children("seq"))
    elif node.kind == "tirx.SBlockRealize":
        parts = [node.child("block").child("body")]
    elif node.kind.startswith("tirx."):
        fields = ("body", "then_case", "else_case")
        parts = [found for name in fields if (found := node.optional(name)) is not None]
    return [node, *(inner for part in parts for inner in walk(part))]


def _nest(node: Node) -> tuple[Sequence[Node], Node]:
    """The loops that are parallel one directly inside of another, and what the last one does."""
    loops, body = [node], node.child("body")
    while is_parallel(body):
        loops.append(body)
        body = body.child("body")
    return loops, body


def _parallel(scope: Scope, node: Node) -> None:
    loops, body = _nest(node)
    extents = [loop.child("extent").constant for loop in loops]
    known = [n for n in extents if n is not None]
    if len(known) != len(loops):
        raise scope.refusal("T.Parallel of a dynamic extent", "has no counterpart in tl")
    known, body = _bounded(loops, known, body)
    if (found := reduction_of(scope, loops, body)) is not None:
        reduce_into(scope, loops, found)
        return
    check_private(scope, node)
    block = Block(arg_types=[IndexType()] * len(loops))
    scope.written = written_by(scope, [p for p in walk(body) if p.kind == "tirx.BufferStore"])
    with scope.within(block, is_iteration=True):
        for loop, extent, value in zip(loops, known, block.args, strict=True):
            _define(scope, loop, extent, value)
        statement(scope, body)
    scope.written = {}
    width = loops[0].named("annotations").get("coalesced_width")
    made = ParallelOp(known, block, coalesced_width=None if width is None else width.constant)
    scope.insert(made)


def _bounded(
    loops: Sequence[Node], extents: Sequence[int], body: Node
) -> tuple[Sequence[int], Node]:
    """Return the iterations that do something, and what they do.

    Layouts are for all iterations; those that a bound of a variable leaves out have no say:

        for i, j in T.Parallel(32, 64):          for i, j in T.Parallel(16, 64):
            if i < 16: s[i, j] = f[i + 16, j]  ->    s[i, j] = f[i + 16, j]
    """
    found = list(extents)
    while body.kind == "tirx.IfThenElse" and body.optional("else_case") is None:
        condition = body.child("condition")
        if condition.kind != "tirx.LT":
            break
        limit = condition.child("b").constant
        bounded = [
            number
            for number, loop in enumerate(loops)
            if loop.child("loop_var") == condition.child("a") and loop.child("min").constant == 0
        ]
        if limit is None or limit < 1 or not bounded:
            break
        found[bounded[0]] = min(found[bounded[0]], limit)
        body = body.child("then_case")
    return found, body


def _define(scope: Scope, loop: Node, extent: int, value: SSAValue) -> None:
    """The variable of a parallel loop: its least value plus the count."""
    least = loop.child("min")
    variable = loop.child("loop_var")
    if (start := least.constant) is not None:
        scope.extents[variable] = range(start, start + extent)
    if start != 0:
        value = scope.insert(arith.AddiOp(scope.index(least), value)).result
    scope.values[variable] = value


def _counted(scope: Scope, node: Node) -> None:
    least, extent = node.child("min"), node.child("extent")
    lower = scope.index(least)
    upper = scope.index(extent)
    if least.constant != 0:
        upper = scope.insert(arith.AddiOp(lower, upper)).result
    block = Block(arg_types=[IndexType()])
    variable, start, count = node.child("loop_var"), least.constant, extent.constant
    if start is not None and count is not None:
        scope.extents[variable] = range(start, start + count)
        upper = scope.index_constant(start + count)
    scope.values[variable] = block.args[0]
    step = node.optional("step")
    by = None if step is None else scope.index(step)
    with scope.within(block):
        statement(scope, node.child("body"))
    stages = _stages(node)
    made: Operation
    if stages > 1 and not scope.is_iteration:
        made = PipelinedOp(lower, upper, block, stages=stages, step=by)
    else:
        made = SerialOp(lower, upper, block, step=by)
    scope.insert(made)


def _stages(node: Node) -> int:
    found = node.named("annotations").get("num_stages")
    return 0 if found is None else found.constant or 0


def _branch(scope: Scope, node: Node) -> None:
    condition = scope.condition(node.child("condition"))
    sides: list[Region] = []
    for name in ("then_case", "else_case"):
        case = node.optional(name)
        if case is None:
            continue
        block = Block()
        with scope.within(block):
            statement(scope, case)
            scope.insert(scf.YieldOp())
        sides.append(Region(block))
    made = scf.IfOp(condition, [], sides[0], sides[1] if len(sides) > 1 else None)
    scope.insert(made)


def _store(scope: Scope, node: Node) -> None:
    buffer = node.child("buffer")
    value, indices = node.child("value"), node.children("indices")

    def write() -> None:
        places = [scope.index(i) for i in indices]
        store_at(scope, buffer, places, scope.scalar(value, scope.element_type(buffer.dtype)))

    if scope.is_iteration or space_of(scope.buffer(buffer).type) is Space.LOCAL:
        write()
    else:
        for_each(scope, (), lambda _: write())


def _bind(scope: Scope, node: Node) -> None:
    variable, value = node.child("var"), node.child("value")
    if value.kind == "tirx.Call" and value.child("op").data == "tl.launch_thread_idx":
        return
    scope.bound[variable] = value
    named = names_of(value, {})
    if any(name.kind == "tirx.Var" and not scope.is_known(name) for name in named):
        scope.deferred[variable] = value
        return
    scope.values[variable] = scope.scalar(value)


def _evaluate(scope: Scope, node: Node) -> None:
    if (handler := _operation(scope, node)) is not None:
        handler(scope, node.child("value"))


def _operation(scope: Scope, node: Node) -> StatementHandler | None:
    """What writes the call of a statement; None for a number, which does nothing."""
    value = node.child("value")
    if value.kind == "ir.IntImm":
        return None
    name = str(value.child("op").data) if value.kind == "tirx.Call" else value.kind
    handler = tile_operations.HANDLERS.get(name)
    if handler is None:
        hint = HINTS.get(name, "a statement without a counterpart in tl")
        raise scope.refusal(f"'{name}'", f"is {hint}")
    return handler


def _attribute(scope: Scope, node: Node) -> None:
    key = node.text("attr_key")
    if key == "reduce_scope":
        (combined,) = node.child("node").children("result")
        if (kind := COMBINED.get(combined.kind)) is None:
            raise scope.refusal("what threads combine by another function", "is none of tl")
        all_reduce(scope, node.child("body"), kind)
        return
    if key not in _HINTS:
        raise scope.refusal(f"the attribute '{key}'", "has no counterpart in tl")
    statement(scope, node.child("body"))


_HANDLERS: Mapping[str, StatementHandler] = {
    "tirx.SeqStmt": _sequence,
    "tirx.SBlockRealize": _realize,
    "tirx.For": _loop,
    "tirx.IfThenElse": _branch,
    "tirx.BufferStore": _store,
    "tirx.Bind": _bind,
    "tirx.Evaluate": _evaluate,
    "tirx.AttrStmt": _attribute,
}
