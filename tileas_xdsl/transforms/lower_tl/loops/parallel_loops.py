"""Lower parallel loops, copies and fills by unrolling a thread's iterations.

    tl.parallel (%i, %j) in (16, 32) {                %a, %b: vector<8xf32> of each of 64 threads
      store (load %a[%i, %j]) + ..., %a[%i, %j] }  ->   %a = arith.addf %a, %b : vector<8xf32>

The layout of a loop says which thread has which iterations; iterations of fragments in that layout
are registers, all others accesses to memory, as wide as neighbours allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.tl.base import element_of
from tileas_xdsl.dialects.tl.buffers import storage_of
from tileas_xdsl.dialects.tl.loops import ParallelOp, SerialOp
from tileas_xdsl.dialects.tl.moves import CopyOp, FillOp, Side
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.threads.convert.element_conversion import convert_float
from tileas_xdsl.threads.index.thread_affine import ThreadAffine, uniform
from tileas_xdsl.threads.registers.vector_values import joined
from tileas_xdsl.transforms.lower_tl.buffer_locations import FragmentLocation, LocalLocation
from tileas_xdsl.transforms.lower_tl.loops import loop_body as bodies
from tileas_xdsl.transforms.lower_tl.loops.atomic_add import ATOMICS
from tileas_xdsl.transforms.lower_tl.loops.buffer_access import BUFFERS, read, write
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import LoopBodyState, Value
from tileas_xdsl.transforms.lower_tl.loops.thread_iterations import iterate, owners_of, spread
from tileas_xdsl.transforms.lower_tl.lowering_state import Handler, State

ACCESS_BITS = 128


def parallel(state: State, op: ParallelOp) -> None:
    """The body for all iterations of a thread."""
    owners = owners_of(state, op, op.layout, op.extents)
    types = [v.type for inner in op.body.walk() for v in (*inner.operands, *inner.results)]

    def body(work: LoopBodyState, coordinates: Sequence[ThreadAffine]) -> None:
        work.values.update(zip(op.variables, coordinates, strict=True))
        bodies.run(work, op.body.block, BODIES)

    iterate(state, op, owners, types, body)


def copy(state: State, op: CopyOp) -> None:
    """A region read and written, element by element."""
    owners = owners_of_copy(state, op)
    storages = {storage_of(op.source), storage_of(op.target)}
    if len(storages) == 1 and not isinstance(state.locations[op.source], FragmentLocation):
        raise op_error(op, "copies a buffer onto itself, where one thread may outrun another")
    types = [element_of(op.source.type), element_of(op.target.type)]

    def body(work: LoopBodyState, coordinates: Sequence[ThreadAffine]) -> None:
        value = read(work, op, op.source, indices_of(work, op.source_side, coordinates))
        assert isinstance(value, SSAValue)
        value = convert_float(state.e, value, types[1])
        write(work, op, op.target, indices_of(work, op.target_side, coordinates), value)

    iterate(state, op, owners, types, body)


def indices_of(
    work: LoopBodyState, side: Side, coordinates: Sequence[ThreadAffine]
) -> Sequence[ThreadAffine]:
    """The indices of a side of a copy."""
    found: list[ThreadAffine] = []
    for axis, variable in enumerate(side.variables):
        index = work.affine(side.offsets[axis]) if side.offsets else uniform(0)
        if variable is not None:
            index = index.plus(coordinates[variable])
        found.append(index)
    return found


def owners_of_copy(state: State, op: CopyOp) -> FragmentMap:
    """Return the owner of each element copied: by layout, whole fragment, or all threads."""
    extents = op.loop_extents
    if op.layout is not None:
        return owners_of(state, op, op.layout, extents)
    for side in (op.target_side, op.source_side):
        location = state.locations[side.buffer]
        if not isinstance(location, FragmentLocation):
            continue
        if not side.offsets and location.layout.shape == extents:
            return location.layout
        raise op_error(op, "has no layout: tl-layout-inference gives it one")
    bits = max(bits_of(element_of(side.type)) for side in (op.source, op.target))
    return spread(extents, state.threads, max(ACCESS_BITS // bits, 1))


def fill(state: State, op: FillOp) -> None:
    """One value everywhere."""
    location = state.locations[op.buffer]
    value = state.scalar(op.value)
    if isinstance(location, FragmentLocation):
        state.hold(location, joined(state.e, [value] * location.registers))
        return
    if isinstance(location, LocalLocation):
        state.registers[location.storage] = joined(state.e, [value] * location.registers)
        return
    element = element_of(op.buffer.type)
    owners = (
        spread(op.loop_extents, state.threads, max(ACCESS_BITS // bits_of(element), 1))
        if op.layout is None
        else owners_of(state, op, op.layout, op.loop_extents)
    )
    iterate(
        state,
        op,
        owners,
        [element],
        lambda work, coordinates: write(work, op, op.buffer, coordinates, value),
    )


# control flow inside of an iteration


def branch(work: LoopBodyState, op: scf.IfOp) -> Sequence[Value]:
    """Both arms, each for the iterations that it is for."""
    given: list[Sequence[Value]] = []
    for region, wanted in ((op.true_region, True), (op.false_region, False)):
        with work.under(op.cond, wanted):
            is_needed = bool(region.blocks) and (bool(work.active.any()) or bool(op.results))
            given.append(bodies.run(work, region.block, BODIES) if is_needed else ())
    condition = work.value(op.cond)
    return [
        bodies.chosen(work, condition, first, second, result.type)
        for result, first, second in zip(op.results, *given, strict=True)
    ]


def serial(work: LoopBodyState, op: SerialOp) -> Sequence[Value]:
    """Rounds of constant bounds, written out."""
    for number in op.static_bounds or ():
        work.values[op.variable] = uniform(number)
        bodies.run(work, op.body.block, BODIES)
    return ()


def counted(work: LoopBodyState, op: scf.ForOp) -> Sequence[Value]:
    """Rounds of constant bounds that carry values, written out."""
    bounds = [bodies.known_number(work.value(v)) for v in (op.lb, op.ub, op.step)]
    if any(bound is None for bound in bounds):
        raise op_error(op, "has constant bounds where it stands in a tl.parallel")
    values = [work.value(value) for value in op.iter_args]
    for number in range(*(bound or 0 for bound in bounds)):
        work.values[op.body.block.args[0]] = uniform(number)
        work.values.update(zip(op.body.block.args[1:], values, strict=True))
        values = list(bodies.run(work, op.body.block, BODIES))
    return values


_BODIES: Any = {**BUFFERS, **ATOMICS, scf.ForOp: counted, scf.IfOp: branch, SerialOp: serial}

BODIES: bodies.Bodies = _BODIES
"""What the body of a parallel loop may do besides arithmetic."""

_TABLE: Any = {CopyOp: copy, FillOp: fill, ParallelOp: parallel}

LOOPS: Mapping[type[Operation], Handler] = _TABLE
"""Loops whose iterations threads share."""
