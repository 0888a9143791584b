"""Copies between registers and shared memory by per-thread tables of offsets.

The layout library finds the widest accesses, or ldmatrix and stmatrix; the code computes the
address of each access from the thread id.

    table of an access   0, 16, ..., 112, 144, 160, ...             bytes, of threads 0, 1, ...
    code                 %o = (tid % 8) * 16 + (tid / 8) * 144      digits of the thread id
    access               %v = ld.shared.v4 [%base + %o]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.cute.types.elements import stored_bytes
from tileas_xdsl.dialects.cute_nvgpu import LdsmOp, StsmOp
from tileas_xdsl.dialects.interned import vector_of
from tileas_xdsl.layout.convert.buffers import Buffer
from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS, warps_of
from tileas_xdsl.layout.convert.transfers import Direction, Transfer, side_of
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile, SharedTile
from tileas_xdsl.threads.codegen.pointer_ops import advance, recast
from tileas_xdsl.threads.index.per_thread_tables import (
    Table,
    ThreadDigit,
    holds,
    tabulated,
)
from tileas_xdsl.threads.registers.register_array import RegisterFile, VectorElement
from tileas_xdsl.threads.registers.vector_split import has_closed_form
from tileas_xdsl.threads.smem.smem_layout import SharedLayout


@dataclass(frozen=True, eq=False)
class Moves:
    """The accesses that move the registers of a layout to or from memory."""

    transfer: Transfer
    alias: Sequence[int]
    """For each register the moved one that it is equal to."""

    @property
    def is_of_matrices(self) -> bool:
        """Whether the accesses are ldmatrix or stmatrix."""
        return "matrix" in self.transfer.instruction

    @property
    def is_transposed(self) -> bool:
        """Whether they transpose the matrices."""
        return self.transfer.instruction.endswith(".trans")

    def registers(self, k: int) -> Sequence[int]:
        """Return the registers that access `k` moves, in order."""
        count = len(self.transfer.register) // self.transfer.instructions
        return self.transfer.register[k * count : (k + 1) * count].tolist()

    def addresses(self, k: int) -> Table:
        """`(threads,)`: the byte offset that each thread supplies to access `k`, -1 for none."""
        return self.transfer.addresses[:, k].ravel()


@lru_cache(maxsize=256)
def moves_of_tile(
    direction: Direction,
    layout: RegisterLayout,
    tile: tuple[SharedLayout, int, int],
) -> Moves:
    """Return the cheapest accesses of a range of rows of a tile."""
    shared, first, count = tile
    shape = layout.shape
    bits = 8 * shared.addresses()[first : first + count].reshape(shape).ravel(order="F")
    return moves_of_buffer(direction, layout, Buffer("the tile", bits, shared.bits))


def moves_of_buffer(direction: Direction, layout: RegisterLayout, buffer: Buffer) -> Moves:
    """Return the cheapest accesses of a buffer; matrices of replicas would be stored twice."""
    side = side_of(direction, layout, buffer.elem_bits, DEFAULT_WEIGHTS)
    found = [
        transfer
        for transfer in side.transfers(buffer)
        if direction == "load" or layout.replicas == 1 or "matrix" not in transfer.instruction
    ]
    if not found:
        raise LayoutError(f"no access moves elements of {buffer.elem_bits} bits")
    warps = warps_of(layout)
    best = min(found, key=lambda transfer: transfer.cycles(warps, DEFAULT_WEIGHTS))
    return Moves(best, side.alias.tolist())


def read_by_table(e: ThreadBuilder, tile: SharedTile, layout: RegisterLayout) -> RegisterTile:
    """Load a tile from shared memory into registers."""
    moves = moves_of_tile("load", layout, _rows_of(tile))
    return load_by_table(e, tile.pointer, moves, layout, tile.element)


def write_by_table(e: ThreadBuilder, fragment: RegisterTile, tile: SharedTile) -> None:
    """Store a register tile to shared memory that no thread still reads."""
    moves = moves_of_tile("store", fragment.layout, _rows_of(tile))
    store_by_table(e, tile.pointer, moves, fragment)


def _rows_of(tile: SharedTile) -> tuple[SharedLayout, int, int]:
    return tile.layout, tile.first_row, tile.height


def load_by_table(
    e: ThreadBuilder, pointer: SSAValue, moves: Moves, layout: RegisterLayout, element: Attribute
) -> RegisterTile:
    """Load all registers of a layout relative to a byte pointer."""
    values = load_elements(e, pointer, moves, element, digits_of(layout))
    return RegisterFile(e, element).fragment(layout, values)


def load_elements(
    e: ThreadBuilder,
    pointer: SSAValue,
    moves: Moves,
    element: Attribute,
    digits: Sequence[ThreadDigit],
) -> list[VectorElement | None]:
    """Load all registers that are moved, relative to a byte pointer; return where each one is."""
    elements: dict[int, VectorElement] = {}
    for k, loaded in load_accesses(e, pointer, moves, element, digits):
        elements.update({register: (loaded, at) for at, register in enumerate(moves.registers(k))})
    return [elements.get(register) for register in moves.alias]


def load_accesses(
    e: ThreadBuilder,
    pointer: SSAValue,
    moves: Moves,
    element: Attribute,
    digits: Sequence[ThreadDigit],
) -> Iterator[tuple[int, SSAValue]]:
    """Load relative to a byte pointer; yield each access that threads make, and its vector."""
    for k in range(moves.transfer.instructions):
        table = moves.addresses(k)
        if (table >= 0).any():
            type_ = vector_of(element, len(moves.registers(k)))
            yield k, _load(e, pointer, moves, table, type_, digits)


def _load(
    e: ThreadBuilder,
    pointer: SSAValue,
    moves: Moves,
    table: Table,
    type_: VectorType[Attribute],
    digits: Sequence[ThreadDigit],
) -> SSAValue:
    if moves.is_of_matrices:
        at = _matrix_pointer(e, pointer, table)
        return e.insert(LdsmOp(at, type_, _words(type_), moves.is_transposed)).result
    at, offset = _pointer(e, pointer, table, type_, digits)
    guard = holds(e, table >= 0, digits)
    return e.insert(LoadOp(at, type_, guard, offset=offset)).result


def store_by_table(
    e: ThreadBuilder, pointer: SSAValue, moves: Moves, fragment: RegisterTile
) -> None:
    """Store the registers that a thread owns first, relative to a byte pointer."""
    file, digits = RegisterFile.of(e, fragment), digits_of(fragment.layout)
    for k in range(moves.transfer.instructions):
        table = moves.addresses(k)
        if not (table >= 0).any():
            continue
        value = file.joined([file.vector_element(register) for register in moves.registers(k)])
        type_ = vector_of(fragment.element, len(moves.registers(k)))
        if moves.is_of_matrices:
            at = _matrix_pointer(e, pointer, table)
            e.insert(StsmOp(at, value, _words(type_), moves.is_transposed))
            continue
        at, offset = _pointer(e, pointer, table, type_, digits)
        e.insert(StoreOp(value, at, holds(e, table >= 0, digits), offset=offset))


def digits_of(layout: RegisterLayout) -> Sequence[ThreadDigit]:
    """Return candidate digits of the thread id for the addresses of a layout."""
    return () if has_closed_form(layout) else layout.thread_digits


def _words(type_: VectorType[Attribute]) -> int:
    """The 32-bit registers, each of a matrix, that a vector fills."""
    return (stored_bytes(type_) or 0) // 4


def _pointer(
    e: ThreadBuilder,
    pointer: SSAValue,
    table: Table,
    type_: VectorType[Attribute],
    digits: Sequence[ThreadDigit],
) -> tuple[SSAValue, int]:
    """Return a pointer to elements, and the offset of the access from it in elements."""
    size = (stored_bytes(type_) or 1) // type_.get_shape()[0]
    value, constant = tabulated(e, table, digits)
    alignment = _alignment(table[table >= 0] - constant)
    if constant < 0 or constant % size:
        value, constant = add(e, value, constant), 0
        alignment = _alignment(table[table >= 0])
    at = recast(e, advance(e, pointer, value, alignment), type_.element_type)
    return at, constant // size


def _alignment(distances: Table) -> int:
    """Return the largest power of two, up to an access, that divides all offsets."""
    joint = int(np.bitwise_or.reduce(distances)) | ACCESS_BYTES
    return joint & -joint


def _matrix_pointer(e: ThreadBuilder, pointer: SSAValue, table: Table) -> SSAValue:
    value, constant = tabulated(e, table)
    if constant % ACCESS_BYTES:
        value, constant = add(e, value, constant), 0
    return advance(e, advance(e, pointer, value, ACCESS_BYTES), constant)
