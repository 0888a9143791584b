"""Vectorised accesses through pointer tiles that are contiguous along rows.

Where `ColumnRuns` proves that chunks are contiguous, aligned, and under one mask bit, that is all.
Elsewhere run time decides:

    %p = addptr %row, %columns          8 neighbouring f16 pointers in a thread
    load %p                 ->          %whole = (%p7 - %p0 == 14) & (%p0 % 16 == 0) & masks equal
                                        if %whole { ld.global.v4.b32 [%p0] }
                                        else      { 8 x ld.global.b16 [%pk] }

A thread tests the pointers of all of its chunks and takes one branch for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, VectorType
from xdsl.ir import Attribute, Block, Region, SSAValue

from tileas_xdsl.analysis.values.rows.column_runs import ColumnRuns
from tileas_xdsl.analysis.values.rows.strides import row_step
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.cute import PtrType as MemoryPointer
from tileas_xdsl.dialects.cute_nvgpu import AtomicRmwOp
from tileas_xdsl.dialects.cute_nvgpu.threads.atomics import has_update
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import comparison
from tileas_xdsl.layout.registers.blocked import blocked
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i64_constant, logical_and, subtract
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile, Scalar
from tileas_xdsl.threads.gmem.memory_order import MemoryOrder
from tileas_xdsl.threads.gmem.pointers.pointer_elements import PointerElements
from tileas_xdsl.threads.gmem.pointers.pointer_tiles import followed
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import (
    is_first_replica,
    is_holding_warp,
    thread_chunks,
)
from tileas_xdsl.threads.registers.vector_values import element, strip, tile_of_chunks

Access = TypeVar("Access", RegisterTile | Scalar, None)

MAX_ACCESS_BITS = 128
"""Maximum bits of one access, on all targets."""


@dataclass(frozen=True)
class Runs:
    """The pointers of a tile, in chunks of neighbours along rows."""

    e: ThreadBuilder
    base: RegisterTile
    mask: RegisterTile | None
    type: MemoryPointer
    chunks: Sequence[AccessChunk]
    mine: SSAValue | None
    """Whether the thread takes part; None if always."""
    are_known: bool
    """Whether every chunk is known to be contiguous, aligned, and under one mask bit."""

    @staticmethod
    def of(where: PointerElements, *, stored: bool, least: int = 2) -> Runs | None:
        """The runs of pointers that count up by one; None where nothing is known of them.

        A run of one element gains nothing over a plain access: those have two at `least`.
        """
        layout, bits = where.layout, bits_of(where.type.element_type)
        if layout is None:
            return None
        form, e = blocked(layout), where.e
        most = max(MAX_ACCESS_BITS // bits, 1)
        chunks = thread_chunks(e, layout, bits, stored=stored)
        found = [part for chunk in chunks for part in chunk.divided(most)]
        sizes = {chunk.count * bits for chunk in found}
        if max(sizes) > MAX_ACCESS_BITS or min(chunk.count for chunk in found) < least:
            return None
        are_known = _are_known(where, found)
        if not are_known and row_step(where.pointers) != 1:
            return None
        mine = is_first_replica(e, layout) if stored else form and is_holding_warp(e, form)
        base, mask = where.base, where.mask
        assert isinstance(base, RegisterTile)
        assert not isinstance(mask, Scalar)
        return Runs(e, base, mask, where.type, found, mine, are_known)

    def are_whole(self) -> SSAValue:
        """Return an `i1`: every chunk has contiguous, aligned addresses and one mask value."""
        whole: SSAValue | None = None
        for chunk in self.chunks:
            whole = logical_and(self.e, whole, self._is_whole(chunk))
        assert whole is not None
        return whole

    def _is_whole(self, chunk: AccessChunk) -> SSAValue | None:
        e, size = self.e, self.type.element_bytes
        first, last = (self._pointer(chunk, k) for k in (0, chunk.count - 1))
        distance = i64_constant(e, (chunk.count - 1) * size)
        is_run = e.insert(comparison(subtract(e, last, first), distance, "eq")).result
        rest = e.insert(arith.AndIOp(first, i64_constant(e, chunk.count * size - 1))).result
        is_aligned = e.insert(comparison(rest, i64_constant(e, 0), "eq")).result
        found = logical_and(e, is_run, is_aligned)
        if self.mask is None:
            return found
        flags = [element(e, self.mask.parts[chunk.block], k) for k in _registers(chunk)]
        for flag in flags[1:]:
            found = logical_and(e, found, e.insert(comparison(flag, flags[0], "eq")).result)
        return found

    def _pointer(self, chunk: AccessChunk, k: int) -> SSAValue:
        return element(self.e, self.base.parts[chunk.block], chunk.register + k)

    def address(self, chunk: AccessChunk) -> SSAValue:
        """Return the pointer of a whole chunk."""
        align = chunk.count * self.type.element_bytes
        wide = MemoryPointer(self.type.element_type, "gmem", align)
        return followed(self.e, self._pointer(chunk, 0), wide)

    def flag(self, chunk: AccessChunk) -> SSAValue | None:
        """Return the mask bit of a whole chunk."""
        if self.mask is None:
            return None
        return element(self.e, self.mask.parts[chunk.block], chunk.register)

    def _pointer_and_predicate(self, chunk: AccessChunk) -> tuple[SSAValue, SSAValue | None]:
        """Return the pointer of a whole chunk, and its predicate."""
        exists = logical_and(self.e, self.mine, chunk.exists)
        return self.address(chunk), logical_and(self.e, exists, self.flag(chunk))

    def load(self, padding: FloatAttr | IntegerAttr | None) -> RegisterTile:
        """Load all chunks by vector accesses."""

        def loaded(chunk: AccessChunk) -> SSAValue:
            pointer, exists = self._pointer_and_predicate(chunk)
            type_: VectorType[Attribute] = VectorType(self.type.element_type, [chunk.count])
            return self.e.insert(LoadOp(pointer, type_, exists, fill=padding)).result

        found = [(chunk, loaded(chunk)) for chunk in self.chunks]
        return tile_of_chunks(self.e, self.base.layout, self.type.element_type, found)

    def store(self, value: RegisterTile | Scalar) -> None:
        """Store all chunks by vector accesses."""
        for part, pointer, exists in self._parts(value):
            self.e.insert(StoreOp(part, pointer, exists))

    def add(self, value: RegisterTile | Scalar, order: MemoryOrder) -> None:
        """Add all chunks to memory by vectors, whose elements are atomic each."""
        for part, pointer, exists in self._parts(value):
            self.e.insert(
                AtomicRmwOp("add", part, pointer, exists, order=order.semantics, scope=order.scope)
            )

    def can_add(self) -> bool:
        """Return whether one instruction adds a chunk of each length."""
        element = self.type.element_type
        lengths = {chunk.count for chunk in self.chunks}
        return all(has_update("add", VectorType(element, [length])) for length in lengths)

    def _parts(
        self, value: RegisterTile | Scalar
    ) -> Iterator[tuple[SSAValue, SSAValue, SSAValue | None]]:
        """Yield the registers of each chunk, its pointer and its predicate."""
        for chunk in self.chunks:
            part = strip(self.e, value.parts[chunk.block], chunk.register, chunk.count)
            yield part, *self._pointer_and_predicate(chunk)


def _are_known(where: PointerElements, chunks: Sequence[AccessChunk]) -> bool:
    length, *others = {chunk.count for chunk in chunks}
    if others or length & (length - 1):
        return False
    if length == 1:
        return True
    runs = ColumnRuns(length)
    if not runs.counts_up(where.pointers, length * where.type.element_bytes):
        return False
    return where.flags is None or runs.is_uniform(where.flags)


def _registers(chunk: AccessChunk) -> range:
    return range(chunk.register, chunk.register + chunk.count)


def by_chunks_or_elements(
    e: ThreadBuilder, runs: Runs, by_chunks: Callable[[], Access], by_elements: Callable[[], Access]
) -> Access:
    """Access by chunks if all of them are contiguous, perhaps at run time only, else by elements.

    The accesses return the tile that they load; those that store return None.
    """
    if runs.are_known:
        return by_chunks()
    condition, blocks, made = runs.are_whole(), (Block(), Block()), list[Access]()
    for block, access in zip(blocks, (by_chunks, by_elements), strict=True):
        with e.within(block):
            made.append(access())
            e.insert(scf.YieldOp(*(made[-1].parts if made[-1] is not None else ())))
    first = made[0]
    types = [] if first is None else [part.type for part in first.parts]
    branch = e.insert(scf.IfOp(condition, types, Region(blocks[0]), Region(blocks[1])))
    return first if first is None else first.of(branch.results)
