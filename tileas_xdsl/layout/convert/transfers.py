"""One side of a conversion through shared memory: all registers stored, or all loaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.convert.assembly import assembly_cost
from tileas_xdsl.layout.convert.buffers import Buffer
from tileas_xdsl.layout.convert.plan import Weights, per_word, warps_of, words_of
from tileas_xdsl.layout.integers import align_up, ceil_div
from tileas_xdsl.layout.memory.banks import wavefronts
from tileas_xdsl.layout.registers.access import (
    INACTIVE,
    Bools,
    Ints,
    register_order,
    widest_vector,
)
from tileas_xdsl.layout.registers.access import by_warp as of_warps
from tileas_xdsl.layout.registers.register_layout import ElementTable, RegisterContents
from tileas_xdsl.layout.registers.warp_matrix import (
    COUNTS,
    MatrixAccess,
    ldmatrix_fits,
    stmatrix_fits,
)
from tileas_xdsl.layout.units import BYTE_BITS, WARP

Direction: TypeAlias = Literal["store", "load"]

PAIRS = (0, 2, 1, 3)
"""Where a register of `.trans` has two bytes of each of two columns, of which it loads two rows."""


@dataclass(frozen=True, eq=False, slots=True)
class Transfer:
    """Accesses that move the registers of a fragment to or from a buffer."""

    instruction: str
    """What each access is: `st.shared.v4.b32`, `ldmatrix.m8n8.x4`, ..."""
    register: Ints
    """`(moved,)`: the registers that are moved, in the order of the accesses."""
    bits: Ints
    """`(threads, moved)`: the bit address of each moved register, -1 for none."""
    instructions: int
    """Accesses per thread."""
    wavefronts: int
    """Of all warps together."""
    alu: int
    """Instructions per thread that pack or unpack what is moved."""
    addresses: Ints
    """`(warps, instructions, 32)`: the byte address that each lane supplies, -1 for none."""

    def apart(self, pitch: int) -> Transfer:
        """Return the same accesses of a buffer for each warp, `pitch` bytes apart."""
        warp = np.arange(len(self.bits), dtype=np.int64)[:, None] // WARP
        bits = np.where(self.bits < 0, -1, self.bits + BYTE_BITS * pitch * warp)
        first = pitch * np.arange(len(self.addresses), dtype=np.int64)[:, None, None]
        addresses = np.where(self.addresses < 0, self.addresses, self.addresses + first)
        return replace(self, bits=bits, addresses=addresses)

    def cycles(self, warps: int, weights: Weights) -> float:
        """What the side costs apart from latencies."""
        per_warp = self.alu * weights.alu + self.instructions * weights.access
        return self.wavefronts * weights.wavefront + warps * per_warp


@dataclass(frozen=True, eq=False, slots=True)
class Side:
    """A fragment to be stored or loaded, with what all its transfers have in common."""

    direction: Direction
    fragment: RegisterContents
    elem_bits: int
    registers: Ints
    """Registers without those that hold the same as a lower one in every thread."""
    alias: Ints
    """`(values,)`: the lowest register that holds the same in every thread."""
    needed: Bools
    """`(threads, values)`: what must be moved; only the first owner of an element stores it."""
    least_cycles: float
    """No buffer makes the side cheaper."""
    is_by_warp: bool = False
    """Whether each warp stores all that it holds, once: matrices would store replicas, too."""

    def transfers(self, buffer: Buffer) -> Iterator[Transfer]:
        """Every way to move the fragment that is worth comparing."""
        held = self.fragment.held[:, self.registers]
        natural = np.arange(len(self.registers), dtype=np.int64)
        vector = widest_vector(held, buffer.bits, buffer.elem_bits)
        if vector:
            yield self._by_vectors(buffer, self.registers, vector)
        order = register_order(held, buffer.bits)
        if not np.array_equal(order, natural):
            wider = widest_vector(held[:, order], buffer.bits, buffer.elem_bits)
            if wider > vector:
                yield self._by_vectors(buffer, self.registers[order], wider)
        every = np.arange(self.fragment.values, dtype=np.int64)
        for transposed in () if self.is_by_warp else (False, True):
            access = self._by_matrices(buffer, every, transposed)
            if isinstance(access, MatrixAccess):
                yield _matrix_transfer(every, access, self._widening_cost(buffer))
        if (
            buffer.elem_bits == BYTE_BITS
            and not self.is_by_warp
            and self.fragment.values % len(PAIRS) == 0
        ):
            # Of two bytes of two rows registers of products have those of a column side by side.
            pairs = every.reshape(-1, len(PAIRS))[:, PAIRS].ravel()
            access = self._by_matrices(buffer, pairs, transposed=True)
            if isinstance(access, MatrixAccess):
                alu = self._widening_cost(buffer) + len(every) // len(PAIRS)
                yield _matrix_transfer(pairs, access, alu)

    def cheapest(self, buffer: Buffer, weights: Weights) -> Transfer | None:
        """The best transfer; None if no access is possible."""
        warps = warps_of(self.fragment)
        found = self.transfers(buffer)
        return min(found, key=lambda transfer: transfer.cycles(warps, weights), default=None)

    def _by_vectors(self, buffer: Buffer, order: Ints, vector: int) -> Transfer:
        held = self.fragment.held[:, order]
        needed = self.needed[:, order].reshape(len(held), -1, vector).any(axis=2)
        starts = np.where(needed, buffer.addresses[held[:, ::vector]], INACTIVE)
        steps = np.arange(vector, dtype=np.int64) * buffer.elem_bits
        bits = np.where(starts[:, :, None] < 0, -1, starts[:, :, None] * 8 + steps)
        lanes = of_warps(starts)
        width = vector * buffer.elem_bits
        return Transfer(
            f"{'st' if self.direction == 'store' else 'ld'}.shared{_suffix(width)}",
            order,
            bits.reshape(held.shape),
            starts.shape[1],
            int(wavefronts(lanes, width // 8).sum()),
            self._packing_cost(order, vector, buffer.elem_bits) + self._widening_cost(buffer),
            lanes,
        )

    def _widening_cost(self, buffer: Buffer) -> int:
        """Instructions that give each element the bits it has in the buffer, or take them away."""
        if per_word(buffer.elem_bits) == per_word(self.elem_bits):
            return 0
        return 2 * len(self.registers)

    def _packing_cost(self, order: Ints, vector: int, elem_bits: int) -> int:
        """Return the instructions that permute registers into the order of vector accesses."""
        per = per_word(elem_bits)
        stride = align_up(vector, per)
        step, position = np.divmod(np.arange(len(order), dtype=np.int64), vector)
        position += step * stride
        if self.direction == "store":
            moved = np.full(len(order) // vector * stride, -1, dtype=np.int64)
            moved[position] = order
            return assembly_cost(moved[None], elem_bits)
        offset = np.full(self.fragment.values, -1, dtype=np.int64)
        offset[order] = position
        return assembly_cost(offset[self.alias][None], elem_bits)

    def _by_matrices(self, buffer: Buffer, order: Ints, transposed: bool) -> object:
        words = self.fragment.values // per_word(buffer.elem_bits)
        count = max(n for n in COUNTS if words % n == 0)
        fits = stmatrix_fits if self.direction == "store" else ldmatrix_fits
        held = self.fragment.held[:, order]
        return fits(
            ElementTable(held, self.fragment.shape),
            buffer.addresses,
            buffer.elem_bits,
            transposed,
            count,
            bit_in_byte=buffer.bit_in_byte,
        )


def side_of(
    direction: Direction,
    fragment: RegisterContents,
    elem_bits: int,
    weights: Weights,
    *,
    by_warp: bool = False,
) -> Side:
    """What is to be known about one side before any buffer is chosen.

    Stored `by_warp`, each warp stores all that it holds, once.
    """
    _, first, inverse = np.unique(fragment.held, axis=1, return_index=True, return_inverse=True)
    needed = np.greater_equal(fragment.held, 0)
    rows = ceil_div(fragment.elements * elem_bits, 1024)
    if direction == "store":
        groups = warps_of(fragment) if by_warp else 1
        needed = np.concatenate([_first_holders(one) for one in np.split(fragment.held, groups)])
    else:
        held = of_warps(fragment.held).reshape(warps_of(fragment), -1)
        elements = [len(np.unique(warp[warp >= 0])) for warp in held]
        rows = sum(ceil_div(count * elem_bits, 1024) for count in elements)
    words = ceil_div(len(first), per_word(elem_bits)) * words_of(elem_bits)
    accesses = warps_of(fragment) * ceil_div(words, 4)
    return Side(
        direction,
        fragment,
        elem_bits,
        np.sort(first).astype(np.int64),
        first[inverse.ravel()].astype(np.int64),
        needed,
        rows * weights.wavefront + accesses * weights.access,
        by_warp,
    )


def _first_holders(held: Ints) -> Bools:
    """`(threads, values)`: whether no register before this one holds the same element."""
    elements, first = np.unique(held, return_index=True)
    result = np.zeros(held.size, dtype=np.bool_)
    result[first[elements >= 0]] = True
    return result.reshape(held.shape)


def _suffix(width: int) -> str:
    return f".b{width}" if width <= 32 else f".v{width // 32}.b32"


def _matrix_transfer(registers: Ints, access: MatrixAccess, alu: int) -> Transfer:
    return Transfer(
        str(access),
        registers,
        access.register_bits(),
        access.row_addresses.shape[1],
        int(access.wavefronts.sum()),
        alu,
        access.row_addresses,
    )
