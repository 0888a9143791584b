"""Conversions of a tile between register layouts, by the plans of `layout.convert`.

A plan renames registers of each thread, shuffles 32-bit words between the lanes of a warp, or goes
through a buffer in shared memory.  Shuffles, of 16-bit elements (two per word):

    plan:     2 rounds; in each a lane packs the elements that some other lane reads from it
    emitted:  %w0 = make_fragment %r0, %r3              the offered word, by thread from a table
              %x0 = shfl.sync.idx %w0, %lane0           %lane0: the lane that this thread reads
              %w1 = ...; %x1 = shfl.sync.idx %w1, %lane1
              %out = elements of %r*, %x0, %x1          which one, by thread: selects

Elements of 64 bits are shuffled in two halves; `i1` and `index` are carried as `i8` and `i32`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import vector
from xdsl.dialects.builtin import Float32Type, VectorType, i8, i32
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import MakeFragmentOp
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.cute_nvgpu import GetDynSmemOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.convert.plan import Kind, Plan
from tileas_xdsl.layout.convert.planner import plan_conversion
from tileas_xdsl.layout.convert.registers import RegisterPlan
from tileas_xdsl.layout.convert.shared import SharedPlan
from tileas_xdsl.layout.convert.shuffle import ShufflePlan
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import WARP, WORD_BITS
from tileas_xdsl.threads.codegen.barriers import synchronize_agent, synchronize_warp
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.codegen.warp_shuffle import of_lane
from tileas_xdsl.threads.convert.chunked_conversion import converted_in_chunks
from tileas_xdsl.threads.convert.element_conversion import CARRIERS, unrolled_elements
from tileas_xdsl.threads.index.per_thread_tables import ThreadDigit, number_of
from tileas_xdsl.threads.registers.register_array import RegisterFile, VectorElement
from tileas_xdsl.threads.registers.vector_values import (
    element,
    element_type,
    length,
)
from tileas_xdsl.threads.smem.scratch_allocation import allocate_scratch, release_scratch
from tileas_xdsl.threads.smem.table_driven_copy import (
    Moves,
    digits_of,
    load_elements,
    moves_of_buffer,
    store_by_table,
)

Observer: TypeAlias = Callable[[Operation, Plan], None]
"""Told of each conversion that is lowered: the operation that needs it, and its plan."""


def _ignore(op: Operation, plan: Plan) -> None:
    del op, plan


_see: ContextVar[Observer] = ContextVar("conversions", default=_ignore)


@contextmanager
def observed_conversions(see: Observer) -> Generator[None]:
    """Tell `see` of all conversions that are lowered meanwhile, which explanations list."""
    token = _see.set(see)
    try:
        yield
    finally:
        _see.reset(token)


@lru_cache(maxsize=256)
def plan_of(
    source: RegisterLayout,
    target: RegisterLayout,
    bits: int,
    kind: Kind | None = None,
) -> Plan:
    """Return the plan of a conversion, of the given kind if there is one."""
    return plan_conversion(source, target, bits, force=kind)


def converted(
    e: ThreadBuilder,
    op: Operation,
    tile: RegisterTile,
    layout: RegisterLayout,
    kind: Kind | None = None,
) -> RegisterTile:
    """Convert a tile to another register layout, by a plan of the given kind if there is one."""
    if tile.layout == layout:
        return tile
    if tile.element in CARRIERS:
        moved = converted(e, op, carried(e, tile), layout, kind)
        return cast(e, moved, CARRIERS[tile.element].back, tile.element)
    if element_bits(tile.element) is None:
        raise op_error(op, f"threads exchange elements that memory holds, not {tile.element}")
    plan = plan_of(tile.layout, layout, bits_of(tile.element), kind)
    elements = elements_by(e, op, tile, plan, digits_of(layout))
    return RegisterFile(e, tile.element).fragment(layout, elements)


def has_room_for_copies(e: ThreadBuilder) -> bool:
    """Return whether warps may exchange lines in buffers of their own: no memory is scarce."""
    return not e.plan.is_thrifty and e.plan.exchange_limit is None


def elements_by(
    e: ThreadBuilder,
    op: Operation,
    tile: RegisterTile,
    plan: Plan,
    digits: Sequence[ThreadDigit] = (),
) -> list[VectorElement | None]:
    """Return the source of each target register after a plan is carried out."""
    _see.get()(op, plan)
    match plan:
        case RegisterPlan():
            return _renamed(e, tile, plan)
        case ShufflePlan():
            return _shuffled(e, tile, plan)
        case _:
            assert isinstance(plan, SharedPlan)
            return _through_buffer(e, op, tile, plan, digits)


def _renamed(
    e: ThreadBuilder, tile: RegisterTile, plan: RegisterPlan
) -> list[VectorElement | None]:
    """Return the registers of the same thread in another order."""
    file = RegisterFile.of(e, tile)
    registers = plan.registers
    most = registers.max(axis=0)
    if ((registers == most) | (registers < 0)).all():
        return [file.vector_element(v) for v in most.tolist()]
    return file.assembled(registers)


def _shuffled(
    e: ThreadBuilder, tile: RegisterTile, plan: ShufflePlan
) -> list[VectorElement | None]:
    """Shuffle 32-bit words between the lanes of a warp, one per round of the plan."""
    file, per = RegisterFile.of(e, tile), plan.offered.shape[2]
    for value in range(plan.source.values, plan.offset):
        file.elements.pop(value, None)
    words: list[SSAValue] = []
    for index, (reads, offered) in enumerate(zip(plan.source_thread, plan.offered, strict=True)):
        first = plan.offset + index * per
        needed = ((plan.assembly >= first) & (plan.assembly < first + per)).any(axis=1)
        lane = number_of(e, np.where(needed, reads % WARP, -1))
        elements = file.assembled(_offered_to_anybody(offered, reads, needed))
        words.append(_exchanged(e, file.joined(elements), lane))
    for index, word in enumerate(words):
        file.add(plan.offset + index * per, word)
    return file.assembled(plan.assembly)


def _offered_to_anybody(
    offered: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    reads: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    needed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return the elements that threads pack; -1 (any) in threads that no lane reads from."""
    read = np.zeros(len(offered), dtype=np.bool_)
    read[reads[needed]] = True
    return np.where(read[:, None], offered, -1)


def _exchanged(e: ThreadBuilder, word: SSAValue, lane: SSAValue) -> SSAValue:
    """Return the word of another lane: one shuffle of 32 bits, or two for a 64-bit element."""
    kind = element_type(word)
    if bits_of(kind) > WORD_BITS:
        return e.insert(MakeFragmentOp([of_lane(e, element(e, word, 0), lane)])).result
    if kind == i32 or isinstance(kind, Float32Type):
        return e.insert(MakeFragmentOp([of_lane(e, element(e, word, 0), lane)])).result
    bits = e.insert(vector.BitcastOp(word, VectorType(i32, [1]))).result
    moved = of_lane(e, element(e, bits, 0), lane)
    whole = VectorType(kind, [length(word)])
    return e.insert(vector.BitcastOp(e.insert(MakeFragmentOp([moved])).result, whole)).result


def exceeds_limit(e: ThreadBuilder, plan: SharedPlan) -> bool:
    """Return whether a conversion has to go in chunks, as shared memory is scarce."""
    limit = e.plan.exchange_limit
    return limit is not None and plan.bytes > limit


def _through_buffer(
    e: ThreadBuilder,
    op: Operation,
    tile: RegisterTile,
    plan: SharedPlan,
    digits: Sequence[ThreadDigit],
) -> list[VectorElement | None]:
    """Store all registers and load them again; no block barrier where warps read only their own.

    Each warp stores what it reads, where it has a buffer of its own.

    Where memory is scarce, the tile goes in pieces.
    """
    limit = e.plan.exchange_limit
    if limit is not None and exceeds_limit(e, plan):
        return converted_in_chunks(e, op, tile, plan, digits, limit)
    by_warp = not plan.cost.barriers
    offset = allocate_scratch(e, op, plan.bytes, 8 * ACCESS_BYTES, by_warp=by_warp)
    pointer = e.insert(GetDynSmemOp(offset, i8, 8 * ACCESS_BYTES)).result
    if plan.copies > 1:
        store = Moves(plan.store, ())
    else:
        store = moves_of_buffer("store", tile.layout, plan.buffer)
    store_by_table(e, pointer, store, tile)
    if by_warp:
        synchronize_warp(e)
    else:
        synchronize_agent(e)
    moves = Moves(plan.load, plan.alias.tolist())
    loaded = load_elements(e, pointer, moves, tile.element, digits)
    if not by_warp:
        release_scratch(e, offset)
    return loaded


def carried(e: ThreadBuilder, tile: RegisterTile) -> RegisterTile:
    """Return a tile with elements of a storable type."""
    if tile.element not in CARRIERS:
        return tile
    carrier = CARRIERS[tile.element]
    return cast(e, tile, carrier.there, carrier.type)


def cast(e: ThreadBuilder, tile: RegisterTile, kind: Any, type_: Attribute) -> RegisterTile:
    """Convert a tile element by element to another type."""
    parts = tuple(unrolled_elements(e, part, kind, type_) for part in tile.parts)
    return RegisterTile(tile.layout, type_, parts)
