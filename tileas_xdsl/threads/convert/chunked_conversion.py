"""Convert the register layout of a tile through a scratch buffer smaller than the tile, in chunks.

The addresses of a whole buffer are cut into ranges; in each round threads store the elements of one
range, meet, load what is theirs of it, and meet again before the next round:

    64 KiB of a tile, 16 KiB of memory:  4 rounds of  store [k * 16 KiB, ...); bar; load; bar

An access of all threads in one range costs one round; one whose threads have addresses in several
ranges is done in each of them by those threads.  So the buffer is chosen in which the order of
elements makes the fewest of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from xdsl.dialects.builtin import i8
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import GetDynSmemOp
from tileas_xdsl.layout.convert.buffers import Buffer, candidates
from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS, warps_of
from tileas_xdsl.layout.convert.shared import SharedPlan
from tileas_xdsl.layout.convert.transfers import Side, Transfer, side_of
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.registers.register_layout import RegisterContents, RegisterLayout
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.index.per_thread_tables import Table, ThreadDigit
from tileas_xdsl.threads.registers.register_array import VectorElement, chosen
from tileas_xdsl.threads.smem.scratch_allocation import allocate_scratch, release_scratch
from tileas_xdsl.threads.smem.table_driven_copy import Moves, load_accesses, store_by_table


@dataclass(frozen=True, eq=False)
class _Chunks:
    """Both layouts of a conversion, and the ranges of the tile that go through one by one."""

    store: Moves
    load: Moves
    size: int
    """Bytes of a range."""
    count: int


def converted_in_chunks(
    e: ThreadBuilder,
    op: Operation,
    tile: RegisterTile,
    plan: SharedPlan,
    digits: Sequence[ThreadDigit],
    limit: int,
) -> list[VectorElement | None]:
    """Return the source of each target register, after rounds through at most `limit` bytes."""
    chunks = _chunks_of(tile.layout, plan.target, plan.elem_bits, limit)
    offset = allocate_scratch(e, op, chunks.size, 8 * ACCESS_BYTES)
    pointer = e.insert(GetDynSmemOp(offset, i8, 8 * ACCESS_BYTES)).result
    found: dict[int, SSAValue] = {}
    for number in range(chunks.count):
        if number:
            synchronize_agent(e)
        store_by_table(e, pointer, within(chunks.store, chunks.size, number), tile)
        synchronize_agent(e)
        part = within(chunks.load, chunks.size, number)
        for access, loaded in load_accesses(e, pointer, part, tile.element, digits):
            known = found.get(access)
            found[access] = (
                loaded if known is None else _merged(e, chunks, (access, number), known, loaded)
            )
    release_scratch(e, offset)
    return _elements(chunks, found)


def _merged(
    e: ThreadBuilder, chunks: _Chunks, at: tuple[int, int], known: SSAValue, loaded: SSAValue
) -> SSAValue:
    """Return what an access has loaded up to a round: its own vector in threads of that round.

    At once, not behind the last round: an access whose threads have addresses in all of them would
    keep a vector of each in registers until then.
    """
    access, number = at
    table = chunks.load.addresses(access)
    index = np.where(table < 0, -1, table // chunks.size)
    is_new = np.where((index < 0) | (index > number), -1, index == number)
    return chosen(e, {0: known, 1: loaded}, is_new)


def _elements(chunks: _Chunks, found: Mapping[int, SSAValue]) -> list[VectorElement | None]:
    """Where each register is."""
    elements: dict[int, VectorElement] = {}
    for access, loaded in found.items():
        registers = chunks.load.registers(access)
        elements.update({register: (loaded, at) for at, register in enumerate(registers)})
    return [elements.get(register) for register in chunks.load.alias]


def within(moves: Moves, size: int, number: int) -> Moves:
    """Return the accesses of the threads whose address is in a range, relative to its start."""
    before = number * size
    addresses = moves.transfer.addresses - before
    inside = (addresses >= 0) & (addresses < size) & (moves.transfer.addresses >= 0)
    masked = replace(moves.transfer, addresses=np.where(inside, addresses, -1))
    return Moves(masked, moves.alias)


@lru_cache(maxsize=64)
def _chunks_of(source: RegisterLayout, target: RegisterContents, bits: int, limit: int) -> _Chunks:
    """The cheapest accesses of any candidate buffer in rounds of at most `limit` bytes."""
    sides = (
        side_of("store", source, bits, DEFAULT_WEIGHTS),
        side_of("load", target, bits, DEFAULT_WEIGHTS),
    )
    best, least = None, float("inf")
    for buffer in candidates(source, target, bits):
        found = [vector_accesses(side, buffer) for side in sides]
        store, load = found
        if store is None or load is None:
            continue
        count = ceil_div(buffer.bytes, limit)
        size = limit if count > 1 else buffer.bytes
        cost = sum(_cost(transfer, size, warps_of(source)) for transfer in (store, load))
        if cost < least:
            alias = sides[1].alias.tolist()
            best = _Chunks(Moves(store, sides[0].alias.tolist()), Moves(load, alias), size, count)
            least = cost
    assert best is not None, "the conversion as a whole has a plan, so some buffer serves"
    return best


def vector_accesses(side: Side, buffer: Buffer) -> Transfer | None:
    """The cheapest accesses that threads may leave out one by one; matrices are of whole warps."""
    vectors: Iterator[Transfer] = (
        transfer for transfer in side.transfers(buffer) if "matrix" not in transfer.instruction
    )
    warps = warps_of(side.fragment)
    return min(vectors, key=lambda t: t.cycles(warps, DEFAULT_WEIGHTS), default=None)


def _cost(transfer: Transfer, size: int, warps: int) -> float:
    """Estimated cycles, with the accesses that are done in several rounds."""
    chunk_index: Table = np.where(transfer.addresses < 0, -1, transfer.addresses // size)
    more = sum(
        len(np.unique(line[line >= 0])) - 1
        for line in (chunk_index[:, k].ravel() for k in range(chunk_index.shape[1]))
    )
    return transfer.cycles(warps, DEFAULT_WEIGHTS) + 2 * more * warps * DEFAULT_WEIGHTS.access
