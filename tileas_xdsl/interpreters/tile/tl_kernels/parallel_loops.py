"""Parallel loops: every operation of the body runs once, on all iterations that come to it.

A value of the body is an array with an entry for each iteration, and a branch runs its side for
those whose condition holds: SIMT with a mask, in numpy. As the order of iterations is not defined,
accesses to memory that some iteration writes are noted and checked when all have run:

    tl.parallel (%i) in (8) { y[%i] = y[%i] + 1 }        each iteration has its element
    tl.parallel (%i) in (8) { y[%i] = y[(%i + 1) % 8] }  a race: iterations 0 and 1 share y[1]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tileas_xdsl.dialects.tl.buffers import AllocLocalOp
from tileas_xdsl.dialects.tl.compute import AtomicAddOp
from tileas_xdsl.dialects.tl.enums import Space, SpaceAttr
from tileas_xdsl.dialects.tl.loops import ParallelOp, SerialOp
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.faults import RuleBroken, fault, located
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Memory
from tileas_xdsl.interpreters.tile.memory.views import View
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, dtype_of
from tileas_xdsl.interpreters.tile.numerics.integers import Value
from tileas_xdsl.interpreters.tile.semantics.agents import dim
from tileas_xdsl.interpreters.tile.tensor_ops.vectorized_body import broadcast_scalars, semantics_of
from tileas_xdsl.interpreters.tile.tl_kernels.buffers import new_local, serial_range
from tileas_xdsl.interpreters.tile.tl_kernels.element_access import (
    ScatteredElements,
    add,
    inside_of,
    offsets_of,
    places_of,
    read,
    write,
)
from tileas_xdsl.interpreters.tile.tl_kernels.iteration_values import (
    Lanes,
    all_lanes,
    variables_of,
    varies,
)
from tileas_xdsl.interpreters.tile.tl_kernels.private_buffers import Private
from tileas_xdsl.interpreters.tile.tl_kernels.races import AccessKind, Event, Log

Results: TypeAlias = Sequence[Value]


class LoopRun:
    """One execution of a parallel loop."""

    def __init__(self, agent: TileAgent, op: ParallelOp) -> None:
        self.agent = agent
        self.op = op
        self.log = Log(op.extents)
        self.lanes = all_lanes(op.extents, agent.value_of)
        self.lanes.set(op.variables, variables_of(op.extents))
        self._private: dict[Memory, Private] = {}
        self._written = {
            cast("View", agent.value_of(buffer)).memory
            for buffer in _stored_buffers(op)
            if not is_local(buffer)
        }

    def run(self) -> None:
        """Run all iterations; a fault where they are not independent."""
        run_block(self, self.lanes, self.op.body.block)
        self.end()

    def end(self) -> None:
        """What is left to do when all iterations have run: were they independent?"""
        self.log.check()
        for private in self._private.values():
            private.end()

    def private(self, op: Operation, view: View) -> Private:
        """The copies of a local buffer."""
        if view.memory not in self._private:
            actor = self.agent.actor(op)
            self._private[view.memory] = Private(view.memory, self.lanes.count, actor)
        return self._private[view.memory]

    def is_written(self, view: View) -> bool:
        """Whether any iteration writes the memory of a buffer that they share."""
        return view.memory in self._written

    def note(
        self,
        op: Operation,
        does: AccessKind,
        lanes: Lanes,
        view: View,
        indices: ScatteredElements,
        values: Array | None = None,
    ) -> None:
        """Note an access of these iterations to a memory that any of them writes."""
        numbers = lanes.numbers
        offsets = np.broadcast_to(offsets_of(view, indices), numbers.shape)
        inside = inside_of(view, indices)
        if inside is not None:
            numbers, offsets = numbers[inside], offsets[inside]
            values = None if values is None else values[inside]
        event = Event(op, does, numbers, offsets, view.dtype.itemsize, values)
        self.log.add(view.memory, event)


def _stored_buffers(op: ParallelOp) -> Sequence[SSAValue]:
    """The buffers that the body writes; those that it allocates are local."""
    found: list[SSAValue] = []
    for inner in op.body.walk():
        if isinstance(inner, memref.StoreOp):
            found.append(inner.memref)
        elif isinstance(inner, AtomicAddOp):
            found.append(inner.buffer)
    return found


def is_local(buffer: SSAValue) -> bool:
    """Whether each iteration has a buffer for itself."""
    space = cast("MemRefType[Attribute]", buffer.type).memory_space
    return isinstance(space, SpaceAttr) and space.data is Space.LOCAL


def run_parallel(agent: TileAgent, op: ParallelOp, _: Sequence[Any]) -> tuple[()]:
    """`tl.parallel`."""
    run = LoopRun(agent, op)
    run.run()
    agent.computed(op, run.lanes.count)
    return ()


def run_block(run: LoopRun, lanes: Lanes, block: Block) -> Results:
    """Run a block for some iterations; what it yields."""
    for op in block.ops:
        run.agent.steps += 1
        if isinstance(op, scf.YieldOp):
            return lanes.all_of(op.arguments)
        try:
            results = HANDLERS.get(type(op), _compute)(run, lanes, op)
        except RuleBroken as error:
            raise located(op, error) from error
        lanes.set(op.results, results)
    return ()


def _compute(_: LoopRun, lanes: Lanes, op: Operation) -> Results:
    operands = broadcast_scalars(op, lanes.all_of(op.operands))
    return semantics_of(op)(op, operands)


def _load(run: LoopRun, lanes: Lanes, op: memref.LoadOp) -> Results:
    view, index = cast("View", lanes.get(op.memref)), lanes.all_of(op.indices)
    if is_local(op.memref):
        indices = _flat_places(lanes, index)
        return (lanes.folded(run.private(op, view).read(view, indices, lanes.numbers)),)
    if run.is_written(view):
        run.note(op, AccessKind.READ, lanes, view, _flat_places(lanes, index))
    return (read(view, places_of(index), run.agent.actor(op)),)


def _store(run: LoopRun, lanes: Lanes, op: memref.StoreOp) -> Results:
    view, indices = (
        cast("View", lanes.get(op.memref)),
        _flat_places(lanes, lanes.all_of(op.indices)),
    )
    values = lanes.flat(lanes.get(op.value), op.value.type)
    if is_local(op.memref):
        run.private(op, view).write(view, indices, values, lanes.numbers)
        return ()
    write(view, indices, values, run.agent.actor(op))
    run.note(op, AccessKind.WRITE, lanes, view, indices, values)
    return ()


def _atomic_add(run: LoopRun, lanes: Lanes, op: AtomicAddOp) -> Results:
    """The sum is rounded at each step; iterations come in order."""
    view, indices = (
        cast("View", lanes.get(op.buffer)),
        _flat_places(lanes, lanes.all_of(op.indices)),
    )
    values = lanes.flat(lanes.get(op.value), op.value.type)
    add(view, indices, values, run.agent.actor(op))
    run.note(op, AccessKind.UPDATE, lanes, view, indices)
    return ()


def _flat_places(lanes: Lanes, index: Sequence[Value]) -> ScatteredElements:
    return [indices.reshape(-1) for indices in places_of(index, lanes.shape)]


def _allocate(run: LoopRun, lanes: Lanes, op: AllocLocalOp) -> Results:
    return (new_local(op),)


def _serial(run: LoopRun, lanes: Lanes, op: SerialOp) -> Results:
    for number in serial_range(op, lanes.all_of(op.operands)):
        lanes.set(op.body.block.args, (number,))
        run_block(run, lanes, op.body.block)
    return ()


def _if(run: LoopRun, lanes: Lanes, op: scf.IfOp) -> Results:
    condition = lanes.get(op.cond)
    if not varies(condition):
        return _arm(run, lanes, op.true_region if condition else op.false_region)
    flat = lanes.flat(condition)
    joined = [np.zeros(lanes.count, dtype_of(type_)) for type_ in op.result_types]
    for region, holds in ((op.true_region, flat), (op.false_region, ~flat)):
        chosen = np.flatnonzero(holds)
        if not chosen.size:
            continue
        inner = lanes.select(chosen)
        for values, value, type_ in zip(
            joined, _arm(run, inner, region), op.result_types, strict=False
        ):
            values[chosen] = inner.flat(value, type_)
    return [lanes.folded(values) for values in joined]


def _arm(run: LoopRun, lanes: Lanes, region: Region) -> Results:
    return run_block(run, lanes, region.block) if region.blocks else ()


def _for(run: LoopRun, lanes: Lanes, op: scf.ForOp) -> Results:
    bounds, carried = lanes.all_of((op.lb, op.ub, op.step)), lanes.all_of(op.iter_args)
    if np.any(np.asarray(bounds[2]) <= 0):
        raise fault(op, "the step of a loop is positive")
    if any(varies(bound) for bound in bounds):
        return _for_each(run, lanes, op, [lanes.flat(bound) for bound in bounds])
    for number in range(*bounds):
        lanes.set(op.body.block.args, (number, *carried))
        carried = list(run_block(run, lanes, op.body.block))
    return carried


def _for_each(run: LoopRun, lanes: Lanes, op: scf.ForOp, bounds: Sequence[Array]) -> Results:
    """A loop whose bounds differ: in each round the iterations that have not ended."""
    number, upper, step = bounds[0].copy(), bounds[1], bounds[2]
    types = [value.type for value in op.iter_args]
    carried = [lanes.flat(lanes.get(v), t).copy() for v, t in zip(op.iter_args, types, strict=True)]
    while (chosen := np.flatnonzero(number < upper)).size:
        inner = lanes.select(chosen)
        inner.set(op.body.block.args, (number[chosen], *[values[chosen] for values in carried]))
        yielded = run_block(run, inner, op.body.block)
        for values, value, type_ in zip(carried, yielded, types, strict=True):
            values[chosen] = inner.flat(value, type_)
        number[chosen] += step[chosen]
    return [lanes.folded(values) for values in carried]


def _dim(run: LoopRun, lanes: Lanes, op: memref.DimOp) -> Results:
    return dim(run.agent, op, lanes.all_of(op.operands))


HANDLERS: Mapping[type[Operation], Callable[[LoopRun, Lanes, Any], Results]] = {
    AllocLocalOp: _allocate,
    AtomicAddOp: _atomic_add,
    SerialOp: _serial,
    memref.DimOp: _dim,
    memref.LoadOp: _load,
    memref.StoreOp: _store,
    scf.ForOp: _for,
    scf.IfOp: _if,
}
"""Operations of a body that are no arithmetic."""
