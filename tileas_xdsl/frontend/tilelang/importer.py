"""A PrimFunc of TileLang, right after tracing, as a module with one `tl` kernel.

The trace is TVM's IR before any pass of TileLang: a graph of nodes of `tirx` and calls of `tl`.
Each has one counterpart in the dialect `tl`, written in one walk; `T.Kernel` becomes `tl.kernel`:

    with T.Kernel(2, 2, threads=128) as (bx, by):      tl.kernel (%bx, %by) in (2, 2) threads(128) {
        c = T.alloc_fragment((64, 64), "float32")        %c = tl.alloc_fragment
        for k in T.Pipelined(2, num_stages=2):     ->    tl.pipelined %6 = %3 to %5 stages(2) {
            T.copy(A[by * 64, k * 32], a)                  tl.copy %A[%8, %10] to %a[%11, %12] ...
            T.gemm(a, b, c)                                tl.gemm %a, %b, %c
        for i, j in T.Parallel(64, 64):                  tl.parallel (%19, %20) in (64, 64) {

What has none (barriers by hand, tensor memory by hand) is refused at its line of Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StridedLayoutAttr,
)
from xdsl.ir import Attribute, Block, SSAValue

from tileas_xdsl.dialects.tl.buffers import AllocFragmentOp, AllocLocalOp, AllocSharedOp
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.frontend.tilelang.memory import element_access
from tileas_xdsl.frontend.tilelang.memory.local_buffers import written_by_iterations
from tileas_xdsl.frontend.tilelang.memory.strides import strides_of
from tileas_xdsl.frontend.tilelang.operations.reducers import read_reducers
from tileas_xdsl.frontend.tilelang.scalars import arithmetic, calls
from tileas_xdsl.frontend.tilelang.scalars.conversions import resized
from tileas_xdsl.frontend.tilelang.scalars.element_types import scalar_type
from tileas_xdsl.frontend.tilelang.scope import ExpressionHandler, Scope
from tileas_xdsl.frontend.tilelang.statements import statement, walk
from tileas_xdsl.frontend.tilelang.threads.thread_programs import ThreadProgram
from tileas_xdsl.frontend.tilelang.traced.graph import Node, read_graph
from tileas_xdsl.frontend.tilelang.traced.launches import Launch, launches
from tileas_xdsl.frontend.tilelang.traced.loop_kinds import is_parallel
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.units import WARP

_EXPRESSIONS: dict[str, ExpressionHandler] = {
    **arithmetic.HANDLERS,
    "tirx.BufferLoad": element_access.load,
    "tirx.Call": calls.call,
}

DEFAULT_THREADS = 128
"""The threads of a block where `T.Kernel` names none."""

_AXES = ("blockIdx.x", "blockIdx.y", "blockIdx.z")

_ALLOCATIONS = {
    "shared": AllocSharedOp,
    "shared.dyn": AllocSharedOp,
    "local.fragment": AllocFragmentOp,
    "local": AllocLocalOp,
    "local.var": AllocLocalOp,
}

_WITHOUT_EFFECT = (
    *("tl.launch_threads", "layout_map", "l2_hit_ratio_map", "tl.non_restrict_params"),
    *("reducer_info", "reducer_info_v2"),
)
"""Annotations of a block that are read elsewhere or change no result."""

_REFUSED_SPACES = {
    "shared.barrier": "is a barrier by hand: synchronisation follows from T.Pipelined",
    "shared.cluster_barrier": "is a barrier by hand: synchronisation follows from T.Pipelined",
    "shared.tmem": "is in tensor memory: use a fragment, and the target chooses where it lives",
}


def module_of(text: str) -> ModuleOp:
    """The unverified module of a serialised PrimFunc: a function for each of its launches.

    Functions of several launches are numbered in order (`main`, `main_1`); arrays of global memory
    that the PrimFunc allocates for them are their last arguments.  Raises `DiagnosticError` at the
    line of Python whose construct `tl` does not have.
    """
    function = read_graph(text)
    found = launches(function)
    return ModuleOp(
        [
            _function(function, launch, found.scratch, index)
            for index, launch in enumerate(found.found)
        ]
    )


def _function(function: Node, launch: Launch, scratch: Sequence[Node], number: int) -> func.FuncOp:
    scope = Scope(Block(), expressions=_EXPRESSIONS, line=function.line)
    buffers = dict(function.entries("buffer_map"))
    arguments = [(p, buffers.get(p)) for p in function.children("params")]
    arguments += [(buffer, buffer) for buffer in scratch]
    with scope.at(function):
        types = [_parameter_type(scope, p, buffer) for p, buffer in arguments]
        given = function.child("attrs").named("__dict__").get("global_symbol")
        name = "main" if given is None else str(given.data)
        made = func.FuncOp(f"{name}_{number}" if number else name, (types, []))
        made.location = scope.location
        with scope.within(made.body.block) as block:
            for (parameter, buffer), argument in zip(arguments, block.args, strict=True):
                _define_parameter(scope, parameter, buffer, argument)
            _define_extents(scope, [buffer for _, buffer in arguments if buffer is not None])
            for part in launch.before:
                statement(scope, part)
            with scope.at(launch.loops[0] if launch.loops else launch.body):
                _block(scope, launch.loops, launch.body)
            scope.insert(func.ReturnOp())
    return made


def _parameter_type(scope: Scope, parameter: Node, buffer: Node | None) -> Attribute:
    if buffer is None:
        found = scalar_type(parameter.dtype)
        if found is None:
            name = parameter.text("name")
            raise scope.refusal(f"the argument '{name}' of type {parameter.dtype}", "is none of tl")
        return found
    with scope.at(buffer):
        element = scope.element_type(buffer.dtype)
        shape = [_static(extent) for extent in buffer.children("shape")]
        strides = strides_of(buffer)
        layout = NoneAttr() if strides is None else StridedLayoutAttr(strides)
        return MemRefType(element, shape, layout)


def _static(extent: Node) -> int:
    return DYNAMIC_INDEX if extent.constant is None else extent.constant


def _define_parameter(
    scope: Scope, parameter: Node, buffer: Node | None, argument: SSAValue
) -> None:
    """An array, or a scalar; signed ones are indices inside."""
    argument.name_hint = (buffer or parameter).text("name")
    if buffer is not None:
        scope.define(buffer, argument)
        return
    if parameter.dtype in ("int32", "int64"):
        argument = resized(scope, argument, IndexType(), is_unsigned=False)
    scope.values[parameter] = argument


def _define_extents(scope: Scope, buffers: Sequence[Node]) -> None:
    """The variables that extents of arrays are."""
    for buffer in buffers:
        for axis, extent in enumerate(buffer.children("shape")):
            if extent.kind != "tirx.Var" or extent in scope.values:
                continue
            dimension = memref.DimOp(scope.buffers[buffer], scope.index_constant(axis))
            scope.values[extent] = scope.insert(dimension).result
            scope.values[extent].name_hint = extent.text("name")


def _block(scope: Scope, loops: Sequence[Node], body: Node) -> None:
    by_tag = {loop.child("thread_binding").text("thread_tag"): loop for loop in loops}
    used = [tag for tag in _AXES if tag in by_tag]
    if not used:
        why = "is no kernel of tl: what it does stands in a T.Kernel"
        raise scope.refusal("a function without T.Kernel", why)
    grid: list[SSAValue | int] = []
    for tag in used:
        extent = by_tag[tag].child("extent")
        grid.append(scope.index(extent) if extent.constant is None else extent.constant)
    block = Block(arg_types=[IndexType()] * len(used))
    scope.kernel = block
    with scope.within(block):
        for tag, argument, extent in zip(used, block.args, grid, strict=True):
            variable = by_tag[tag].child("loop_var")
            scope.values[variable] = argument
            argument.name_hint = variable.text("name")
            if isinstance(extent, int):
                scope.extents[variable] = range(extent)
        shape = _threads(scope, body)
        scope.threads = _thread_program(body, shape)
        for part in _sequence(body):
            _allocate(scope, part)
        for loop in walk(body):
            if is_parallel(loop):
                scope.of_iterations |= written_by_iterations(scope, loop)
        for part in _sequence(body):
            statement(scope, part)
    # Statements of threads are loops over those that the program has: the surplus does nothing.
    threads = ceil_div(prod(shape), WARP) * WARP
    scope.insert(KernelOp(threads, block, grid))


def _thread_program(body: Node, shape: tuple[int, ...]) -> ThreadProgram:
    """What differs from thread to thread; nothing where no thread is named."""
    counts = list(shape)
    while len(counts) > 1 and counts[-1] == 1:
        counts.pop()
    found = ThreadProgram(tuple(counts))
    for part in walk(body):
        if part.kind == "tirx.For" and (bound := part.optional("thread_binding")) is not None:
            tag = bound.text("thread_tag")
            found.axes[part.child("loop_var")] = "xyz".index(tag[-1])
        if part.kind == "tirx.Bind" and part.child("value").kind == "tirx.Call":
            call = part.child("value")
            if call.child("op").data == "tl.launch_thread_idx":
                found.axes[part.child("var")] = call.children("args")[0].constant or 0
    found.read(body)
    return found


def _sequence(body: Node) -> Sequence[Node]:
    return body.children("seq") if body.kind == "tirx.SeqStmt" else [body]


def _threads(scope: Scope, body: Node) -> tuple[int, ...]:
    """The threads of a block, x first, which its outermost allocating block says."""
    for part in _sequence(body):
        if part.kind != "tirx.SBlockRealize":
            continue
        extents = part.child("block").named("annotations").get("tl.launch_threads")
        counts = [] if extents is None else [n.constant for n in extents.elements]
        known = [n for n in counts if n is not None]
        if len(known) != len(counts):
            raise scope.refusal("a number of threads that only run time knows", "is none of tl")
        return tuple(known) if known else (DEFAULT_THREADS,)
    return (DEFAULT_THREADS,)


def _allocate(scope: Scope, part: Node) -> None:
    """The buffers of a block, and what its annotations say of them."""
    if part.kind != "tirx.SBlockRealize":
        return
    block = part.child("block")
    for buffer in block.children("alloc_buffers"):
        with scope.at(buffer):
            _allocate_one(scope, buffer)
    annotations = block.named("annotations")
    for name in ("reducer_info", "reducer_info_v2"):
        scope.reducers |= read_reducers(annotations.get(name))
    for name in annotations:
        if name not in _WITHOUT_EFFECT:
            raise scope.refusal(f"the annotation '{name}' of a block", "has no counterpart in tl")


def _allocate_one(scope: Scope, buffer: Node) -> None:
    name = buffer.text("name")
    space = buffer.child("data").child("type_annotation").text("storage_scope")
    allocation = _ALLOCATIONS.get(space)
    if allocation is None:
        why = _REFUSED_SPACES.get(space, f"is in '{space}', which tl does not have")
        raise scope.refusal(f"the buffer '{name}'", why)
    shape = [extent.constant for extent in buffer.children("shape")]
    known = tuple(n for n in shape if n is not None)
    if len(known) != len(shape):
        raise scope.refusal(f"the buffer '{name}'", "has an extent that only run time knows")
    if buffer in scope.threads.varying:
        allocation, known = AllocFragmentOp, (*scope.threads.box, *known)
    made = scope.insert(allocation(known, scope.element_type(buffer.dtype)))
    made.buffer.name_hint = name
    scope.define(buffer, made.buffer)
