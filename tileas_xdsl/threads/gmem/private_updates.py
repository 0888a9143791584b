"""Atomic updates of data-dependent addresses, privatised: a block first combines its own.

    atomic_rmw add %ones, %counts + %bins      window[0 .. 1023] = 0               shared memory
    of 1024 elements                           bar.sync
                                         ->  for each element:  o = bin
                                               o < 1024:  red.shared.add window[o]
                                               else:      red.global.add counts[o]
                                             bar.sync
                                             for o = thread, thread + 128, ...:
                                               w = window[o];  w != 0:  red.global.add counts[o], w

Updates of few distinct addresses queue up in L2, one after another; those of a warp at random
addresses take one sector each. Shared memory combines what comes to the same address, and what is
left is updated by consecutive lanes, eight to a sector. No extent has to be known: the window is
as many elements behind the base as the tile has, what lies beyond goes to memory as before, and an
entry that nothing came to is not updated. Where offsets are known to be small, as bytes are, the
window has all of them, and no element asks whether it is inside.

Elements whose old values are read get them from both: `red` is `atom`, the flush leaves in each
entry what memory had, and an element combines it with what its own update found in the window. That
is one of the orders that relaxed updates may have: those of a block come one after another.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.values.integer_bounds import upper_bound
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.cute_nvgpu import AtomicRmwOp as UpdateOp
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileas.compute.combiners import identity_of
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic, RmwMode
from tileas_xdsl.dialects.nv_tileas.memory.atomics import AtomicRmwOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp as PointerLoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.xdsl_ops import comparison
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    constant_like,
    i1_constant,
    i32_constant,
    i64_constant,
    logical_and,
    xor,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import thread_id
from tileas_xdsl.threads.gmem.memory_order import MemoryOrder
from tileas_xdsl.threads.gmem.pointers.pointer_elements import Cell, PointerElement, PointerElements
from tileas_xdsl.threads.gmem.pointers.pointer_tiles import followed
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_values import element
from tileas_xdsl.threads.smem.scratch_buffer import Scratch, scratch

COMBINERS: Mapping[RmwMode, type[arith.SignlessIntegerBinaryOperation]] = {
    RmwMode.ADD: arith.AddiOp,
    RmwMode.AND: arith.AndIOp,
    RmwMode.MAX: arith.MaxSIOp,
    RmwMode.MIN: arith.MinSIOp,
    RmwMode.OR: arith.OrIOp,
    RmwMode.UMAX: arith.MaxUIOp,
    RmwMode.UMIN: arith.MinUIOp,
    RmwMode.XOR: arith.XOrIOp,
}
"""What shared memory does to 32-bit integers by one instruction; floats are loops there."""

MIN_ELEMENTS, MAX_ELEMENTS = 256, 8192
"""Of a window: fewer are no gain beside two barriers, more leave no memory to other blocks."""


IN_BLOCK = MemoryOrder(MemSemantic.RELAXED, "cta")


@dataclass(frozen=True)
class _Update:
    """An element's update, of its entry of the window or of memory beyond."""

    each: PointerElement
    entry: SSAValue
    inside: SSAValue | None
    """Whether it is the window's; None if always."""
    before: SSAValue
    """What earlier elements of the block have left in the entry."""
    elsewhere: SSAValue
    """What was in memory, of an element beyond the window."""


@dataclass(frozen=True)
class PrivateUpdates:
    """A block's own partial results of an atomic update, behind the base of its pointers."""

    e: ThreadBuilder
    op: AtomicRmwOp
    base: SSAValue
    """The address that all pointers are counted from."""
    offsets: SSAValue
    """The tile of signed distances from it, in elements."""
    entries: int
    has_all: bool
    """Whether all offsets are in bounds of the entries."""

    @staticmethod
    def of(e: ThreadBuilder, op: AtomicRmwOp) -> PrivateUpdates | None:
        """Return the window of an update; None where it would change what it does, or not pay."""
        made, semantic = op.base.owner, op.mem_semantic
        is_relaxed = semantic is None or semantic.data in (MemSemantic.WEAK, MemSemantic.RELAXED)
        if not is_relaxed or op.element != i32 or e.by_one_thread:
            return None
        if op.rmw_mode.data not in COMBINERS or not isinstance(made, AddPtrOp):
            return None
        # One address for all elements, since the window is a copy of what begins there.
        if not isinstance(made.base.owner, tensor.SplatOp) or not _is_loaded(made.offset):
            return None
        entries = min(prod(shape_of(op.base.type) or ()), MAX_ELEMENTS)
        if entries < MIN_ELEMENTS or entries % e.agent.threads:
            return None
        bound = upper_bound(made.offset)
        has_all = bound is not None and bound < entries
        if bound is not None and has_all:
            entries = align_up(bound + 1, e.agent.threads)
        base = e.scalar(made.base.owner.input)
        return PrivateUpdates(e, op, base, made.offset, entries, has_all)

    @property
    def order(self) -> MemoryOrder:
        """The memory order and scope of the update."""
        return MemoryOrder.of(self.op.mem_semantic, self.op.mem_scope)

    @property
    def combiner(self) -> type[arith.SignlessIntegerBinaryOperation]:
        """The operation that combines two updates of one element."""
        return COMBINERS[self.op.rmw_mode.data]

    @property
    def identity(self) -> int:
        """The operand with which an update changes nothing."""
        found = identity_of(self.combiner.name, i32.bitwidth)
        assert isinstance(found, int)
        return found

    def update(self, where: PointerElements) -> list[tuple[Cell, SSAValue]]:
        """Update all elements; what was there before each of them, if anybody asks."""
        e = self.e
        window = scratch(e, self.op, self.entries, i32)
        thread = add(e, thread_id(e), -WARP * e.agent.first_warp)
        first = advance(e, window.pointer, thread)
        nothing = i32_constant(e, self.identity)
        for k in range(0, self.entries, e.agent.threads):
            e.insert(StoreOp(nothing, first, offset=k))
        synchronize_agent(e)
        offsets = in_registers(e, self.op, self.offsets, where.layout)
        updates = [
            self._update_one(
                window, each, element(e, offsets.parts[each.cell.block], each.cell.register)
            )
            for each in where.elements(once=True)
        ]
        synchronize_agent(e)
        if not any(self.op.result.uses):
            self._flush(where, thread, first)
            return []
        alone = [self._updated_alone(each) for each in updates]
        synchronize_agent(e)
        self._flush(where, thread, first)
        synchronize_agent(e)
        pairs = zip(updates, alone, strict=True)
        return [(one.each.cell, self._before(one, by_itself)) for one, by_itself in pairs]

    def _update_one(self, window: Scratch, each: PointerElement, offset: SSAValue) -> _Update:
        """Update the window if the offset is below its entries, else global memory."""
        e, (value,) = self.e, each.operands
        index = offset if offset.type == i32 else e.insert(arith.TruncIOp(offset, i32)).result
        entry = advance(e, window.pointer, index)
        if self.has_all:
            # A branch around each update takes longer than one that leaves its entry as it is.
            before = self._insert(self._or_nothing(value, each.exists), entry, None, IN_BLOCK)
            return _Update(each, entry, each.exists, before, before)
        limit = constant_like(e, offset, self.entries)
        is_private = e.insert(comparison(offset, limit, "ult")).result
        is_beyond = xor(e, is_private, i1_constant(e, True))
        inside = logical_and(e, each.exists, is_private)
        before = self._insert(value, entry, inside, IN_BLOCK)
        beyond = logical_and(e, each.exists, is_beyond)
        elsewhere = self._insert(value, each.pointer, beyond, self.order)
        return _Update(each, entry, inside, before, elsewhere)

    def _or_nothing(self, value: SSAValue, exists: SSAValue | None) -> SSAValue:
        if exists is None:
            return value
        nothing = i32_constant(self.e, self.identity)
        return self.e.insert(arith.SelectOp(exists, value, nothing)).result

    def _updated_alone(self, update: _Update) -> tuple[SSAValue, SSAValue]:
        """Whether an element's entry is as if nothing had come to it, and then its own update.

        The block leaves memory alone there, for an entry may not even exist: sums that are zero.
        """
        e = self.e
        total = e.insert(LoadOp(update.entry, i32, update.inside)).result
        is_nothing = arith.CmpiOp(total, i32_constant(e, self.identity), "eq")
        is_alone = logical_and(e, update.inside, e.insert(is_nothing).result)
        assert is_alone is not None
        (value,) = update.each.operands
        return is_alone, self._insert(value, update.each.pointer, is_alone, self.order)

    def _before(self, update: _Update, alone: tuple[SSAValue, SSAValue]) -> SSAValue:
        """What was there before an element: what the block has found, and its earlier elements."""
        e, (is_alone, by_itself) = self.e, alone
        found = e.insert(LoadOp(update.entry, i32, update.inside)).result
        both = e.insert(self.combiner(found, update.before)).result
        both = e.insert(arith.SelectOp(is_alone, by_itself, both)).result
        if self.has_all or update.inside is None:
            return both
        return e.insert(arith.SelectOp(update.inside, both, update.elsewhere)).result

    def _flush(self, where: PointerElements, thread: SSAValue, first: SSAValue) -> None:
        """Update memory by entries that something came to, neighbours by neighbouring lanes.

        An entry then is what was there before, if anybody asks.
        """
        e, size = self.e, i32.bitwidth // 8
        start = e.insert(arith.ExtUIOp(thread, i64)).result
        start = e.insert(arith.MuliOp(start, i64_constant(e, size))).result
        address = add(e, self.base, start)
        for k in range(0, self.entries, e.agent.threads):
            value = e.insert(LoadOp(first, i32, offset=k)).result
            nothing = i32_constant(e, self.identity)
            is_changed = e.insert(comparison(value, nothing, "ne")).result
            here = followed(e, add(e, address, i64_constant(e, k * size)), where.type)
            before = self._insert(value, here, is_changed, self.order)
            if any(self.op.result.uses):
                e.insert(StoreOp(before, first, is_changed, offset=k))

    def _insert(
        self, value: SSAValue, pointer: SSAValue, exists: SSAValue | None, order: MemoryOrder
    ) -> SSAValue:
        kind = self.op.rmw_mode.data.value
        made = UpdateOp(kind, value, pointer, exists, order=order.semantics, scope=order.scope)
        return self.e.insert(made).result


def _is_loaded(value: SSAValue) -> bool:
    """Whether a tile is computed of what memory holds, so that elements of it may be equal."""
    seen: set[SSAValue] = set()
    todo = [value]
    while todo:
        owner = todo.pop().owner
        if isinstance(owner, PointerLoadOp | TiledLoadBase):
            return True
        if not isinstance(owner, Operation):
            continue
        read = {value for inner in operations_in(owner) for value in inner.operands} - seen
        seen |= read
        todo += read
    return False
