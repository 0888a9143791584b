"""Memory of a launch through which CTAs transfer tiles: flags of all slots, then what is in them.

    flags   slot 0: a word for each warp | slot 1 | ...       1 while the warp's part is there
    tiles   slot 0: 16 bytes of thread 0, thread 1, ... | the next 16 of each | ... | slot 1 | ...

A warp loads what the same warp of another CTA has stored, in the same registers, so that no other
threads need wait: one lane releases the stores of its warp, all lanes acquire them.

    lanes:     st.global.v4 ...; bar.warp.sync
    one lane:  st.release.gpu(flag, 1)
                      lanes:     while (ld.acquire.gpu(flag) != 1); bar.warp.sync; ld.global.v4 ...
                      one lane:  st.relaxed.gpu(flag, 0)

Flags are zeros before a launch and behind it, and lie where those of every kernel lie, so that all
launches of a stream share the memory.  Source: PTX ISA, memory consistency model (release and
acquire patterns, causality order through barriers).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd
from typing import TypeAlias

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.cute_nvgpu import VoteOp
from tileas_xdsl.dialects.interned import vector_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import comparison
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.kernel_abi import TRANSFER_FLAGS, TRANSFER_ZEROS
from tileas_xdsl.threads.codegen.barriers import synchronize_warp
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    extend_to_i64,
    i32_constant,
    is_equal,
    is_less,
    multiply,
)
from tileas_xdsl.threads.codegen.kernel_signature import transfer_memory
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance, recast
from tileas_xdsl.threads.codegen.thread_ids import is_elected_in_warp, lane_id, warp_id
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import joined, one_vector, strip, tile_of_vector

ACCESS, WORD = 16, 4
"""Bytes of an access of a thread, and of a flag."""

_Held: TypeAlias = tuple[RegisterLayout, Attribute]
"""How threads hold a tile: its layout, and the element."""


def transfer_out(
    e: ThreadBuilder, op: Operation, slot: SSAValue, tiles: Sequence[RegisterTile]
) -> None:
    """Store tiles to a slot, and release it once all lanes of a warp have stored."""
    memory = _Slot(e, op, slot, [(tile.layout, tile.element) for tile in tiles])
    for tile, pointers in zip(tiles, memory.accesses(), strict=True):
        whole = one_vector(e, tile)
        for first, count, pointer in pointers:
            e.insert(StoreOp(strip(e, whole, first, count), pointer))
    synchronize_warp(e)
    one, elected = i32_constant(e, 1), is_elected_in_warp(e)
    e.insert(StoreOp(one, memory.flag, elected, order="release", scope="gpu"))


def transfer_in(
    e: ThreadBuilder, op: Operation, slots: Sequence[SSAValue], types: Sequence[_Held]
) -> Sequence[RegisterTile]:
    """Wait for the tiles of some slots, load them in order and leave these empty.

    Each lane waits for one of several slots: flags are on their way at the same time, and so are
    the tiles behind them.
    """
    waiting = _Slot(e, op, _slot_of_lane(e, slots), types)
    _wait(e, waiting.flag, are_several=len(slots) > 1)
    synchronize_warp(e)
    of_slots = is_less(e, lane_id(e), i32_constant(e, len(slots)))
    clears = of_slots if len(slots) > 1 else is_elected_in_warp(e)
    e.insert(StoreOp(i32_constant(e, 0), waiting.flag, clears, order="relaxed", scope="gpu"))
    found: list[RegisterTile] = []
    for slot in slots:
        memory = _Slot(e, op, slot, types)
        for (layout, element), pointers in zip(types, memory.accesses(), strict=True):
            parts = [
                e.insert(LoadOp(pointer, vector_of(element, count))).result
                for _, count, pointer in pointers
            ]
            found.append(tile_of_vector(e, layout, element, joined(e, parts)))
    return found


def _slot_of_lane(e: ThreadBuilder, slots: Sequence[SSAValue]) -> SSAValue:
    """Return the slot that a lane waits for: its own of the first lanes, the first of others."""
    found = slots[0]
    for number, slot in enumerate(slots[1:], 1):
        is_own = is_equal(e, lane_id(e), number)
        found = e.insert(arith.SelectOp(is_own, slot, found)).result
    return found


def _wait(e: ThreadBuilder, flag: SSAValue, *, are_several: bool) -> None:
    """Wait until a flag is 1, in all lanes, or those of all lanes are.

    Behind a loop that one lane runs, ptxas keeps nothing in uniform registers: 40 instructions more
    in an iteration of a product.
    """
    before, after = Block(), Block()
    with e.within(before):
        found = e.insert(LoadOp(flag, i32, order="acquire", scope="gpu")).result
        is_empty = e.insert(comparison(found, i32_constant(e, 1), "ne")).result
        if are_several:
            is_empty = e.insert(VoteOp(is_empty, "any")).result
        e.insert(scf.ConditionOp(is_empty))
    with e.within(after):
        e.insert(scf.YieldOp())
    e.insert(scf.WhileOp([], [], Region(before), Region(after)))


class _Slot:
    """The memory of a slot for the tiles of an agent."""

    def __init__(
        self, e: ThreadBuilder, op: Operation, slot: SSAValue, types: Sequence[_Held]
    ) -> None:
        if WORD * e.agent.warps > TRANSFER_FLAGS:
            raise op_error(
                op, f"transfers tiles of {e.agent.warps} warps, more than {TRANSFER_FLAGS // WORD}"
            )
        self._e, self._types = e, types
        plan = e.plan
        begin_of_all = transfer_memory(e)
        bytes_ = sum(_bytes(layout, element) for layout, element in types) * e.agent.threads
        plan.transfer_bytes = max(plan.transfer_bytes, align_up(bytes_, TRANSFER_FLAGS))
        warp = warp_id(e)
        flags = add(e, multiply(e, slot, TRANSFER_FLAGS), multiply(e, warp, WORD))
        self.flag = recast(e, advance(e, begin_of_all, flags, WORD), i32)
        thread = add(e, multiply(e, warp, WARP), lane_id(e))
        begin = multiply(e, extend_to_i64(e, slot), plan.transfer_bytes)
        tiles = advance(e, begin_of_all, TRANSFER_ZEROS, TRANSFER_FLAGS)
        self._first = advance(e, tiles, begin, TRANSFER_FLAGS)
        self._thread = thread

    def accesses(self) -> Iterator[Sequence[tuple[int, int, SSAValue]]]:
        """Yield, for each tile, the accesses of a thread: first element, elements, and where."""
        e, offset = self._e, 0
        for layout, element in self._types:
            count = _elements(layout, element)
            size = count * bits_of(element) // 8
            mine = advance(e, self._first, multiply(e, self._thread, size), size)
            found: list[tuple[int, int, SSAValue]] = []
            for first in range(0, vectors_of(layout).elements, count):
                pointer = advance(e, mine, offset, size)
                found.append((first, count, recast(e, pointer, element)))
                offset += size * e.agent.threads
            yield found


def _elements(layout: RegisterLayout, element: Attribute) -> int:
    """Return the elements of an access: as many as divide what a thread has."""
    return gcd(vectors_of(layout).elements, ACCESS * 8 // bits_of(element))


def _bytes(layout: RegisterLayout, element: Attribute) -> int:
    """Return the bytes that a thread has of a tile."""
    return vectors_of(layout).elements * bits_of(element) // 8
