"""Loads and stores of a loop body, vectorised over a thread's iterations, in any memory space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects import memref
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.tl.base import element_of, shape_of
from tileas_xdsl.dialects.tl.buffers import AllocLocalOp, storage_of
from tileas_xdsl.inference.program import AccessKind
from tileas_xdsl.threads.codegen.lowered_values import GlobalView
from tileas_xdsl.threads.convert.element_conversion import CARRIERS, map_elements
from tileas_xdsl.threads.index.thread_affine import ThreadAffine, of_table, uniform
from tileas_xdsl.threads.registers.vector_values import zero
from tileas_xdsl.transforms.lower_tl.buffer_locations import (
    FragmentLocation,
    LocalLocation,
    SharedLocation,
)
from tileas_xdsl.transforms.lower_tl.loops import loop_body as bodies
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import (
    LoopBodyState,
    Value,
    local_elements,
)
from tileas_xdsl.transforms.lower_tl.memory import fragment_access as fragments
from tileas_xdsl.transforms.lower_tl.memory import runtime_alignment as aligned
from tileas_xdsl.transforms.lower_tl.memory import vectorized_access as memory
from tileas_xdsl.transforms.lower_tl.memory.fragment_exchange import spilled


def read(
    work: LoopBodyState, op: Operation, buffer: SSAValue, indices: Sequence[ThreadAffine]
) -> Value:
    """Load elements of a buffer: a vector over the iterations, or a scalar if they are uniform."""
    location = work.state.locations[buffer]
    if isinstance(location, LocalLocation):
        return local_elements(work, location)[_position(op, location, indices)]
    if isinstance(location, FragmentLocation):
        if all(index.is_constant for index in indices):
            return fragments.read(work, op, location, indices)
        return _loaded(work, op, _spilled(work, op, location), indices, location.element)
    work.touch(storage_of(buffer), AccessKind.READ)
    return _loaded(work, op, location, indices, location.element)


def _spilled(work: LoopBodyState, op: Operation, location: FragmentLocation) -> SharedLocation:
    """A fragment whose elements are read where only run time knows, in shared memory."""
    if location.storage not in work.spills:
        work.spills[location.storage] = spilled(work.state, op, location)
    return work.spills[location.storage]


def _loaded(
    work: LoopBodyState,
    op: Operation,
    location: GlobalView | SharedLocation,
    indices: Sequence[ThreadAffine],
    element: Attribute,
) -> SSAValue:
    value = aligned.load(memory.Access.of(work, op, location, indices, work.active))
    carrier = CARRIERS.get(element)
    return value if carrier is None else map_elements(work.e, value, carrier.back, element)


def write(
    work: LoopBodyState,
    op: Operation,
    buffer: SSAValue,
    indices: Sequence[ThreadAffine],
    value: SSAValue,
) -> None:
    """Elements put into a buffer; of the copies of an iteration one acts on shared memory."""
    location = work.state.locations[buffer]
    if isinstance(location, FragmentLocation):
        work.spills.pop(location.storage, None)
        fragments.write(work, op, location, indices, value)
        return
    if isinstance(location, LocalLocation):
        _write_local(work, op, location, indices, value)
        return
    carrier = CARRIERS.get(location.element)
    if carrier is not None:
        value = map_elements(work.e, value, carrier.there, carrier.type)
    work.touch(storage_of(buffer), AccessKind.WRITE)
    flags = work.active & work.iterations.first
    aligned.store(memory.Access.of(work, op, location, indices, flags), value)


def _position(op: Operation, location: LocalLocation, indices: Sequence[ThreadAffine]) -> int:
    """The row-major number of an element of a local buffer."""
    position = 0
    for index, extent in zip(indices, location.shape, strict=True):
        number = bodies.known_number(index)
        if number is None:
            raise op_error(op, "takes constant elements of a local buffer: registers have no index")
        if not 0 <= number < extent:
            raise op_error(op, f"touches element {number} of {extent} in a local buffer")
        position = position * extent + number
    return position


def _write_local(
    work: LoopBodyState,
    op: Operation,
    location: LocalLocation,
    indices: Sequence[ThreadAffine],
    value: SSAValue,
) -> None:
    elements, position = local_elements(work, location), _position(op, location, indices)
    mine: Value = value
    for condition, wanted in work.path:
        old = elements[position]
        sides = (mine, old) if wanted else (old, mine)
        mine = bodies.chosen(work, condition, *sides, location.element)
    known = work.known_path
    if not known.all():
        flags = of_table(known.astype(np.int64))
        mine = bodies.chosen(work, flags, mine, elements[position], location.element)
    elements[position] = mine


def load(work: LoopBodyState, op: memref.LoadOp) -> Sequence[Value]:
    """An element of a buffer."""
    return [read(work, op, op.memref, [work.affine(index) for index in op.indices])]


def store(work: LoopBodyState, op: memref.StoreOp) -> Sequence[Value]:
    """An element put into a buffer."""
    value = work.operand(op.value)
    write(work, op, op.memref, [work.affine(index) for index in op.indices], value)
    return ()


def alloc_local(work: LoopBodyState, op: AllocLocalOp) -> Sequence[Value]:
    """A buffer of an iteration."""
    shape, type_ = shape_of(op.buffer.type), element_of(op.buffer.type)
    count = int(np.prod(shape, dtype=np.int64))
    work.state.locations[op.buffer] = LocalLocation(op.buffer, shape, type_, count)
    work.locals[op.buffer] = [zero(work.e, type_) for _ in range(count)]
    return [uniform(0)]


_TABLE: Any = {AllocLocalOp: alloc_local, memref.LoadOp: load, memref.StoreOp: store}

BUFFERS: bodies.Bodies = _TABLE
"""What touches buffers in a body."""
