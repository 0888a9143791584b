"""Row-major scratch tiles through which threads exchange data in shared memory."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.cute import LoadOp as LoadElementOp
from tileas_xdsl.dialects.cute import StoreOp as StoreElementOp
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.cute_nvgpu import GetDynSmemOp
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, logical_and, multiply
from tileas_xdsl.threads.codegen.lowered_values import RegisterLayout, RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import is_first_thread
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import is_first_replica, thread_chunks
from tileas_xdsl.threads.registers.vector_values import assembled, strip
from tileas_xdsl.threads.smem.scratch_allocation import allocate_scratch, release_scratch


@dataclass(frozen=True)
class Scratch:
    """Elements in shared memory that all threads of the agent may read."""

    pointer: SSAValue
    element: Attribute
    size: int
    """Bytes of an element."""
    offset: int
    """In shared memory."""


def scratch(e: ThreadBuilder, op: Operation, count: int, element: Attribute) -> Scratch:
    """Allocate scratch for elements, which no thread still reads."""
    bits = element_bits(element)
    if bits is None:
        raise op_error(op, f"threads exchange elements that memory holds, not {element}")
    size = bits // 8
    offset = allocate_scratch(e, op, count * size, ACCESS_BYTES)
    pointer = e.insert(GetDynSmemOp(offset, element, ACCESS_BYTES)).result
    return Scratch(pointer, element, size, offset)


def spilled(e: ThreadBuilder, op: Operation, tile: RegisterTile) -> Scratch:
    """Store a tile to scratch, where all threads of the agent may read it."""
    buffer = scratch(e, op, prod(tile.layout.shape), tile.element)
    holds = is_first_replica(e, tile.layout)
    for chunk in thread_chunks(e, tile.layout, 8 * buffer.size, stored=True):
        value = strip(e, tile.parts[chunk.block], chunk.register, chunk.count)
        pointer = chunk_address(e, buffer, chunk, columns_of(tile.layout))
        predicate = logical_and(e, holds, chunk.exists)
        e.insert(StoreOp(value, pointer, predicate, offset=chunk.shift))
    synchronize_agent(e)
    return buffer


def read_back(e: ThreadBuilder, buffer: Scratch, layout: RegisterLayout) -> RegisterTile:
    """Load a tile from scratch into registers of a layout."""

    def load(chunk: AccessChunk) -> SSAValue:
        pointer = chunk_address(e, buffer, chunk, columns_of(layout))
        type_ = VectorType(buffer.element, [chunk.count])
        return e.insert(LoadOp(pointer, type_, chunk.exists, offset=chunk.shift)).result

    return assembled(e, layout, buffer.element, load)


def exchanged(
    e: ThreadBuilder, op: Operation, tile: RegisterTile, layout: RegisterLayout
) -> RegisterTile:
    """Convert a tile to another register layout through row-major scratch."""
    buffer = spilled(e, op, tile)
    moved = read_back(e, buffer, layout)
    release_scratch(e, buffer.offset)
    return moved


def columns_of(layout: RegisterLayout) -> int:
    """The extent of the last dimension."""
    return layout.shape[-1] if layout.shape else 1


def chunk_address(e: ThreadBuilder, buffer: Scratch, chunk: AccessChunk, columns: int) -> SSAValue:
    """Return the address of a chunk of a row-major tile, without its constant offset."""
    offset = chunk.column
    if chunk.row is not None:
        offset = add(e, multiply(e, chunk.row, columns), offset)
    return advance(e, buffer.pointer, offset, chunk.count * buffer.size)


def broadcast_from_first_thread(e: ThreadBuilder, op: Operation, value: SSAValue) -> SSAValue:
    """Return the value of the first thread of the agent in all of its threads."""
    if e.by_one_thread:
        return value
    buffer = scratch(e, op, 1, value.type)
    e.insert(StoreElementOp(value, buffer.pointer, is_first_thread(e)))
    synchronize_agent(e)
    return e.insert(LoadElementOp(buffer.pointer, value.type)).result
