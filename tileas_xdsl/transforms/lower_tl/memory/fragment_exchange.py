"""Register layout conversions of fragments: by renaming, shuffles, or shared memory.

`tl.convert_layout %a to %b` takes the first way that there is:

1. every thread has its elements of %b in some registers of %a: they are renamed, without code;
2. the elements are in the same warp and the planner prefers it: `shfl` (`layout/convert`);
3. %a is stored row-major to shared memory, and after a barrier each thread loads what it has of %b.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.tl.moves import ConvertLayoutOp
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.convert.planner import plan_conversion
from tileas_xdsl.layout.convert.shuffle import ShufflePlan
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.operations.recovery import recover
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE, RegisterLayout
from tileas_xdsl.layout.units import BYTE_BITS
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.convert.element_conversion import CARRIERS, map_elements, storage_type
from tileas_xdsl.threads.convert.register_conversion import converted
from tileas_xdsl.threads.index.thread_affine import of_table
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import (
    joined,
    length,
    one_vector,
    strip,
    tile_of_vector,
    zero,
)
from tileas_xdsl.threads.smem.scratch_allocation import allocate_scratch
from tileas_xdsl.transforms.lower_tl.buffer_locations import FragmentLocation, SharedLocation
from tileas_xdsl.transforms.lower_tl.buffers import row_major
from tileas_xdsl.transforms.lower_tl.loops.iteration_assignment import (
    ThreadIterations,
    packed_in_word,
)
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import LoopBodyState
from tileas_xdsl.transforms.lower_tl.lowering_state import Handler, State
from tileas_xdsl.transforms.lower_tl.memory import vectorized_access as memory
from tileas_xdsl.transforms.lower_tl.memory.fragment_access import gathered

SCRATCH_ALIGNMENT = 128


def scratch_offset(state: State, op: Operation, size: int, name: str) -> int:
    """Bytes of shared memory that an operation has to itself each time that it runs."""
    key = (op, name)
    if key in state.scratch_offsets:
        synchronize_agent(state.e)
    else:
        state.scratch_offsets[key] = allocate_scratch(state.e, op, size, SCRATCH_ALIGNMENT)
    return state.scratch_offsets[key]


def spilled(state: State, op: Operation, location: FragmentLocation) -> SharedLocation:
    """A fragment row-major in shared memory, where all threads see it."""
    e, part = state.e, state.held(location)
    shape, kept, size = location.layout.shape, *stored(location.element)
    offset = scratch_offset(state, op, prod(shape) * size, "fragment")
    made = SharedLocation(offset, shape, row_major(shape, size), kept)
    work = LoopBodyState(state, _iterations(location.layout, location.element))
    if kept != location.element:
        part = map_elements(e, part, CARRIERS[location.element].there, kept)
    indices = [of_table(table) for table in work.iterations.coordinates]
    flags = work.active & work.iterations.first
    memory.store(memory.Access.of(work, op, made, indices, flags), part)
    synchronize_agent(e)
    return made


def stored(element: Attribute) -> tuple[Attribute, int]:
    """The type that elements have in memory, and its bytes."""
    kept = storage_type(element)
    return kept, bits_of(kept) // BYTE_BITS


def taken(
    state: State, op: Operation, source: SharedLocation, location: FragmentLocation
) -> SSAValue:
    """Load the registers of a fragment from its copy in shared memory."""
    work = LoopBodyState(state, _iterations(location.layout, location.element))
    indices = [of_table(table) for table in work.iterations.coordinates]
    value = memory.load(memory.Access.of(work, op, source, indices, work.active))
    if source.element != location.element:
        value = map_elements(state.e, value, CARRIERS[location.element].back, location.element)
    return joined(state.e, [value] * (location.registers if length(value) == 1 else 1))


def _iterations(layout: FragmentMap, element: Attribute) -> ThreadIterations:
    return ThreadIterations.of(layout, packed_in_word(bits_of(element)))


def convert(state: State, op: ConvertLayoutOp) -> None:
    """Move the elements of a fragment to the registers of another layout, the cheapest way."""
    source, target = state.fragment(op, op.source), state.fragment(op, op.target)
    state.hold(target, moved(state, op, source, target))


def moved(
    state: State, op: Operation, source: FragmentLocation, target: FragmentLocation
) -> SSAValue:
    """The registers of `target` with the elements of `source`."""
    registers = _renamed(source.layout, target.layout)
    if registers is not None:
        filled = registers + [0] * (target.registers - len(registers))
        work = LoopBodyState(state, ThreadIterations.once(state.threads))
        value = gathered(work, state.held(source), filled)
        return joined(state.e, [value])
    found = _shuffled(state, op, source, target)
    return taken(state, op, spilled(state, op, source), target) if found is None else found


def _renamed(source: FragmentMap, target: FragmentMap) -> list[int] | None:
    """By register of the target that of the source which all threads have it in; None without."""
    found: list[int] = []
    for slot in range(target.slots):
        wanted = target.held[:, slot]
        fits = (source.held == wanted[:, None]) | (wanted < 0)[:, None]
        columns = np.flatnonzero(fits.all(axis=0))
        if not len(columns):
            return None
        found.append(int(columns[0]))
    return found


def _shuffled(
    state: State, op: Operation, source: FragmentLocation, target: FragmentLocation
) -> SSAValue | None:
    """The registers by shuffles, if the planner prefers that."""
    given, wanted = (register_map(location.layout) for location in (source, target))
    if given is None or wanted is None:
        return None
    bits = BYTE_BITS * stored(source.element)[1]
    try:
        plan = plan_conversion(given, wanted, bits)
    except LayoutError:
        return None
    if not isinstance(plan, ShufflePlan):
        return None
    e = state.e
    part = _resized(state, state.held(source), source, vectors_of(given).elements)
    tile = tile_of_vector(e, given, source.element, part)
    found = one_vector(e, converted(e, op, tile, wanted))
    return _resized(state, found, target, target.registers)


def _resized(state: State, part: SSAValue, location: FragmentLocation, count: int) -> SSAValue:
    """A vector with other registers at its end, which hold nothing."""
    have = length(part)
    if have == count:
        return part
    if have > count:
        return strip(state.e, part, 0, count)
    return joined(state.e, [part, *[zero(state.e, location.element)] * (count - have)])


def register_map(layout: FragmentMap) -> RegisterLayout | None:
    """The layout as the planner takes it; None where it is no layout of digits."""
    axes = tuple(range(len(layout.shape)))
    threads = layout.thread_table.transpose((0, *(axis + 1 for axis in reversed(axes))))
    slots = np.broadcast_to(layout.slot_table.transpose(tuple(reversed(axes))), threads.shape)
    shape = layout.shape if layout.replicas == 1 else (*layout.shape, layout.replicas)
    found = recover({THREAD: threads.ravel(), VALUE: slots.ravel()}, shape)
    if found is None or found[1] != 0:
        return None
    return RegisterLayout(found[0], layout.shape, layout.threads)


_TABLE: Any = {ConvertLayoutOp: convert}

EXCHANGES: Mapping[type[Operation], Handler] = _TABLE
"""Fragments in other registers."""
