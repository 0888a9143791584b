"""Loops and branches of the block: tiles and tokens that they change are carried.

A variable is carried where an iteration may read what the one before left, or where something
behind the loop reads it; all else is local to an iteration.

    tl.fill %c, 0                                    %0 = arith.constant dense<0.0>
    tl.pipelined %k = 0 to 256 step 64 {             %1 = scf.for %n = 0 to 4 iter_args(%acc = %0) {
      tl.copy %A[%y, %k] to %a                  ->     %a = nv_tileaa.tiled_load %va[%by, %n]
      tl.copy %B[%k, %x] to %b                         %b = nv_tileaa.tiled_load %vb[%n, %bx]
      tl.gemm %a, %b, %c                               %2 = nv_tileaa.dot %a, %b, %acc
    }                                                  scf.yield %2
                                                     }
`%a` and `%b` are written before they are read; `%c` is read first, and carried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.tl.base import element_of, scope_of, shape_of
from tileas_xdsl.dialects.tl.buffers import storage_of
from tileas_xdsl.dialects.tl.checks import parallel_around
from tileas_xdsl.dialects.tl.compute import GemmOp, ReduceOp
from tileas_xdsl.dialects.tl.loops import ParallelOp, PipelinedOp, SerialOp
from tileas_xdsl.inference.program import AccessKind, Scope
from tileas_xdsl.transforms.lower_tl.memory_effects import touches
from tileas_xdsl.transforms.tl_to_tiles.raising import Handler, Raising, Variable
from tileas_xdsl.transforms.tl_to_tiles.scalars.index_forms import IndexForm


def counted(state: Raising, op: SerialOp | PipelinedOp) -> None:
    """A loop of the block, as one that counts its iterations from zero."""
    trips, lower = _trips(state, op), state.scalar(op.lower)
    step = None if op.step is None else state.scalar(op.step)
    known_step = 1 if op.step is None else constant_integer(op.step)
    known_lower = state.indices.constant(op.lower)

    def begin(counter: SSAValue) -> None:
        index = state.insert(arith.IndexCastOp(counter, lower.type)).result
        if known_lower is not None and known_step is not None:
            state.scalars[counter] = index
            form = IndexForm(known_lower, {counter: known_step})
            state.indices.bound[op.variable] = form
            if op.static_bounds is not None:
                state.indices.intervals[counter] = (0, max(len(op.static_bounds) - 1, 0))
        if step is not None:
            index = state.insert(arith.MuliOp(index, step)).result
        if known_lower != 0:
            index = state.insert(arith.AddiOp(index, lower)).result
        state.scalars[op.variable] = index

    zero, one = state.constant(0, i32), state.constant(1, i32)
    _loop(state, op, (zero, trips, one), op.body.block, (), begin)


def _trips(state: Raising, op: SerialOp | PipelinedOp) -> SSAValue:
    if op.static_bounds is not None:
        return state.constant(len(op.static_bounds), i32)
    span = state.scalar(op.upper)
    if state.indices.constant(op.lower) != 0:
        span = state.insert(arith.SubiOp(span, state.scalar(op.lower))).result
    if op.step is not None:
        span = state.insert(arith.CeilDivSIOp(span, state.scalar(op.step))).result
    return state.i32(span)


def carrying(state: Raising, op: scf.ForOp) -> None:
    """A loop that carries scalars."""
    bounds = [state.scalar(bound) for bound in (op.lb, op.ub, op.step)]

    def begin(counter: SSAValue) -> None:
        state.scalars[op.body.block.args[0]] = counter

    _loop(state, op, (bounds[0], bounds[1], bounds[2]), op.body.block, op.iter_args, begin)


def _loop(
    state: Raising,
    op: Operation,
    bounds: tuple[SSAValue, SSAValue, SSAValue],
    body: Block,
    carried: Sequence[SSAValue],
    begin: Callable[[SSAValue], None],
) -> None:
    kept = [variable for variable in _carried(op) if _prepare(state, variable)]
    values = [*(state.scalar(value) for value in carried), *(state.held[v] for v in kept)]
    block = Block(arg_types=[bounds[0].type, *(value.type for value in values)])
    counter, *arguments = block.args
    state.scalars.update(zip(body.args[1:], arguments[: len(carried)], strict=True))
    before = dict(state.held)
    state.held.update(zip(kept, arguments[len(carried) :], strict=True))
    with state.within(block):
        begin(counter)
        state.run(body)
        last = body.last_op
        given = [state.scalar(value) for value in last.operands] if carried and last else []
        state.insert(scf.YieldOp(*given, *(state.tile(variable) for variable in kept)))
    made = state.insert(scf.ForOp(*bounds, values, Region(block)))
    state.held = before
    for variable in _written(op):
        state.held.pop(variable, None)
    state.held.update(zip(kept, made.results[len(carried) :], strict=True))
    state.scalars.update(zip(op.results, made.results[: len(carried)], strict=True))


def _prepare(state: Raising, variable: Variable) -> bool:
    """Whether a variable has a value to carry; what is written in the loop first has zeros."""
    if variable in state.held:
        return True
    if isinstance(variable, tuple):
        state.held[variable] = state.zero(element_of(variable[0].type))
        return True
    if scope_of(variable.type) is Scope.GLOBAL:
        return False
    zeros = state.constant_tile(0, element_of(variable.type), shape_of(variable.type))
    state.held[variable] = zeros
    return True


def _written(op: Operation) -> list[Variable]:
    """Return what an operation and those in it write: buffers, arrays, elements of the block."""
    found = [
        variable
        for inner in op.walk()
        for storage, kind in touches(inner)
        if kind is not AccessKind.READ or scope_of(storage.type) is Scope.GLOBAL
        for variable in _variables(inner, storage)
    ]
    return list(dict.fromkeys(found))


def _variables(op: Operation, storage: SSAValue) -> Iterator[Variable]:
    if scope_of(storage.type) is not Scope.LOCAL:
        yield storage
    elif parallel_around(op) is None:
        yield from ((storage, at) for at in product(*map(range, shape_of(storage.type))))


def _carried(op: Operation) -> Iterator[Variable]:
    """The variables that a loop has to carry."""
    block = op.regions[0].block
    for variable in _written(op):
        if (
            isinstance(variable, tuple)
            or scope_of(variable.type) is Scope.GLOBAL
            or _is_read_first(block, variable)
            or _is_read_outside(op, variable)
        ):
            yield variable


def _is_read_outside(op: Operation, storage: SSAValue) -> bool:
    """Whether something outside of a loop may read what the loop leaves in a buffer."""
    kernel = op
    while (parent := kernel.parent_op()) is not None and parent.name != "func.func":
        kernel = parent
    inner = set(op.walk())
    behind = op.parent_op() is not kernel
    for other in kernel.walk():
        if other is op:
            behind = True
        elif other in inner or not behind:
            continue
        elif any(s is storage for s, _ in touches(other)) and _reads(other, storage):
            return True
    return False


def _reads(op: Operation, storage: SSAValue) -> bool:
    """Whether an operation reads a buffer, or leaves a part of what was in it."""
    match op:
        case GemmOp():
            read = [op.a, op.b] if op.clear is not None else [op.a, op.b, op.c]
            return any(storage_of(value) is storage for value in read)
        case ReduceOp():
            read = [op.source] if op.is_cleared else [op.source, op.target]
            return any(storage_of(value) is storage for value in read)
        case _:
            return any(s is storage and kind is not AccessKind.WRITE for s, kind in touches(op))


def _is_read_first(block: Block, storage: SSAValue) -> bool:
    """Whether an iteration reads a buffer before it has written all of it."""
    return _first_touch(block, storage) is AccessKind.READ


def _first_touch(block: Block, storage: SSAValue) -> AccessKind | None:
    """Return whether a block reads a buffer or writes all of it first; None if it need not.

    What loops and branches write counts for nothing: they may be passed by.
    """
    for op in block.ops:
        inner = (region.block for region in op.regions if region.blocks)
        if isinstance(op, ParallelOp):
            found = _first_touch_of_iterations(op, storage)
        elif op.regions:
            found = AccessKind.READ if any(_is_read_first(b, storage) for b in inner) else None
        elif _reads(op, storage):
            found = AccessKind.READ
        else:
            is_written = any(s is storage for s, _ in touches(op))
            found = AccessKind.WRITE if is_written else None
        if found is not None:
            return found
    return None


def _first_touch_of_iterations(op: ParallelOp, storage: SSAValue) -> AccessKind | None:
    """The same of a parallel loop, which writes all of a buffer or keeps the rest of it."""
    touching = [inner for inner in op.walk() if any(s is storage for s, _ in touches(inner))]
    if not touching:
        return None
    is_whole = touching[0].parent_op() is op and _writes_all(op, storage)
    is_read = not is_whole or _reads(touching[0], storage)
    return AccessKind.READ if is_read else AccessKind.WRITE


def _writes_all(op: ParallelOp, storage: SSAValue) -> bool:
    return prod(op.extents) == prod(shape_of(storage.type))


def branch(state: Raising, op: scf.IfOp) -> None:
    """A condition of the block."""
    written = [v for v in _written(op) if v in state.held]
    before = dict(state.held)
    blocks, given = (Block(), Block()), list[list[SSAValue]]()
    for region, block in zip((op.true_region, op.false_region), blocks, strict=True):
        state.held = dict(before)
        with state.within(block):
            values: list[SSAValue] = []
            if region.blocks:
                state.run(region.block)
                last = region.block.last_op
                values = [state.scalar(v) for v in last.operands] if last and op.results else []
            given.append([*values, *(state.tile(v) for v in written)])
            state.insert(scf.YieldOp(*given[-1]))
    types = [value.type for value in given[0]]
    made = state.insert(
        scf.IfOp(state.scalar(op.cond), types, Region(blocks[0]), Region(blocks[1]))
    )
    count = len(op.results)
    state.held = before
    for variable in _written(op):
        state.held.pop(variable, None)
    state.held.update(zip(written, made.results[count:], strict=True))
    state.scalars.update(zip(op.results, made.results[:count], strict=True))


CONTROL: Mapping[type[Operation], Handler] = {
    SerialOp: counted,
    PipelinedOp: counted,
    scf.ForOp: carrying,
    scf.IfOp: branch,
}
"""Loops and conditions of the block."""
