"""Asynchronous prefetch into shared memory by `cp.async`.

Source: PTX ISA 9.7.9.25, cp.async.  What is out of bounds becomes 0 by a store.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.cute_nvgpu import CpAsyncOp
from tileas_xdsl.dialects.cute_nvgpu.mma.mma_sync import WIDTHS
from tileas_xdsl.dialects.tl.base import element_of
from tileas_xdsl.dialects.tl.moves import CopyOp
from tileas_xdsl.threads.codegen.integer_ops import i1_constant, logical_and, xor
from tileas_xdsl.threads.codegen.lowered_values import GlobalView
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.convert.element_conversion import CARRIERS
from tileas_xdsl.threads.gmem.async_copies import PAST_THE_FIRST_CACHE
from tileas_xdsl.threads.index.thread_affine import ThreadAffine
from tileas_xdsl.threads.registers.vector_values import joined, zero
from tileas_xdsl.transforms.lower_tl.buffer_locations import SharedLocation
from tileas_xdsl.transforms.lower_tl.loops import parallel_loops as loops
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import LoopBodyState
from tileas_xdsl.transforms.lower_tl.loops.thread_iterations import iterate
from tileas_xdsl.transforms.lower_tl.lowering_state import State
from tileas_xdsl.transforms.lower_tl.memory import runtime_alignment as aligned
from tileas_xdsl.transforms.lower_tl.memory.vectorized_access import (
    Access,
    VectorAccess,
    load_vector,
    store_vector,
)


def start(state: State, op: CopyOp) -> None:
    """Start a copy of global to shared memory; pieces that cannot go alone are moved at once."""
    source, target = state.locations[op.source], state.locations[op.target]
    assert isinstance(source, GlobalView)
    assert isinstance(target, SharedLocation)
    if element_of(op.source.type) in CARRIERS:
        loops.copy(state, op)
        return

    def body(work: LoopBodyState, coordinates: Sequence[ThreadAffine]) -> None:
        flags = work.active & work.iterations.first
        read = Access.of(
            work, op, source, loops.indices_of(work, op.source_side, coordinates), flags
        )
        at = loops.indices_of(work, op.target_side, coordinates)
        put = Access.of(work, op, target, at, flags)
        if (put.flags & ~read.flags).any():
            value = aligned.load(read)
            aligned.store(put, value)
            return
        aligned.act(read, lambda one: _start(one, put))

    types = [element_of(op.source.type)]
    iterate(state, op, loops.owners_of_copy(state, op), types, body)


def _start(read: Access, put: Access) -> None:
    for piece in read.pieces:
        for part in _parts(put, piece):
            if part.count * read.size in WIDTHS:
                _start_piece(read, put, part)
            else:
                store_vector(put, part, load_vector(read, part), partial(_both, read))


def _both(read: Access, piece: VectorAccess) -> SSAValue | None:
    return logical_and(read.work.e, read.thread(piece), read.asked(piece))


def _parts(put: Access, piece: VectorAccess) -> Sequence[VectorAccess]:
    """A piece, or its elements if shared memory does not have them side by side."""
    if put.is_piece(piece.first, piece.count):
        return [piece]
    return [VectorAccess(piece.first + k, 1) for k in range(piece.count)]


def _start_piece(read: Access, put: Access, piece: VectorAccess) -> None:
    e, size = read.work.e, piece.count * read.size
    thread, inside = _both(read, piece), read.inside(piece)
    shared, array = (advance(e, *one.address(piece), size) for one in (put, read))
    cache = "global" if size == PAST_THE_FIRST_CACHE else "always"
    e.insert(CpAsyncOp(shared, array, size, cache, logical_and(e, thread, inside)))
    if inside is None:
        return
    outside = logical_and(e, thread, xor(e, inside, i1_constant(e, True)))
    nothing = zero(e, put.element)
    many = joined(e, [nothing] * piece.count) if piece.count > 1 else nothing
    assert piece.count == 1 or isinstance(many.type, VectorType)
    store_vector(put, piece, many, lambda _: outside)
