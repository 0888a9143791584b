"""How threads access a tile in shared memory: with vectors, or with ldmatrix and stmatrix.

A transaction is an access of a warp to a row of the tile; bank conflicts multiply it by the
wavefronts that it takes beyond the ideal, both counted from the tables of the layouts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.memory.banks import ideal_wavefronts, wavefronts
from tileas_xdsl.layout.registers.access import (
    SECTOR_BYTES,
    bit_addresses,
    by_warp,
    coalescing,
    vector_addresses,
    vector_starts,
    vector_width,
)
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.registers.warp_matrix import COUNTS, Refusal, ldmatrix_fits, stmatrix_fits
from tileas_xdsl.layout.units import WARP, WORD_BITS

Ints: TypeAlias = NDArray[np.int64]


MATRIX_ALIGNMENT = 16
"""Bytes that the rows of ldmatrix and stmatrix are aligned to (PTX ISA)."""

WIDEST = 16
"""Bytes of the widest vector."""

M816_FACTOR = 2
"""`ldmatrix.m8n16` reads elements packed into half of the bytes that it leaves in registers."""

M816_BITS = (4, 6)
"""The elements that `ldmatrix.m8n16` expands (PTX ISA)."""


@dataclass(frozen=True, slots=True)
class ThreadAccess:
    """An instruction by which the threads of an agent could move a tile."""

    atom: str
    alignment: int
    """In bytes."""
    transactions: float
    registers: float
    """32-bit registers of a thread."""
    refused: str = ""
    """Why it cannot."""


def thread_accesses(
    fragment: RegisterLayout, addresses: Ints, bits: int, *, stores: bool
) -> Iterator[ThreadAccess]:
    """The ways to move `fragment` from or to the bytes at `addresses`, by column-major index."""
    yield _by_vectors(fragment, addresses, bits, stores=stores)
    by_matrices = _by_matrices(fragment, addresses, bits, stores=stores)
    yield by_matrices
    if not stores:
        yield _expanding(by_matrices, bits)


def registers_of(fragment: RegisterLayout, bits: int) -> float:
    """Registers of a thread that hold its part of a tile."""
    return fragment.values * bits / WORD_BITS


def row_steps(fragment: RegisterLayout, elements: int) -> int:
    """Accesses of the first warp to one row, each of so many elements of every lane."""
    rows = prod(fragment.shape[:-1])
    held = fragment.held[:WARP, :elements]
    present = held[held >= 0]
    if not present.size:
        return 1
    covered = set(present[present % rows == present[0] % rows].tolist())
    return ceil_div(fragment.shape[-1], len(covered))


@lru_cache(maxsize=1024)
def store_steps(fragment: RegisterLayout, elements: int, bits: int) -> float:
    """Stores of the first warp to one row of a tile in global memory, of so many elements each.

    They count as often as they touch more sectors of 32 bytes than their bytes would fill: the L1
    cache keeps what a load leaves over for the next one, and writes every store through.  Rows
    begin at sectors.
    """
    steps = row_steps(fragment, elements)
    lanes = fragment.held[:WARP]
    pitch = ceil_div(fragment.shape[-1] * bits, 8 * SECTOR_BYTES) * SECTOR_BYTES
    rows = prod(fragment.shape[:-1])
    index = np.arange(fragment.elements, dtype=np.int64)
    addresses = index % rows * pitch + index // rows * bits // 8
    try:
        starts = vector_starts(lanes, bit_addresses(addresses, bits), bits, elements)
    except LayoutError:
        return steps
    return steps / coalescing(by_warp(starts), elements * bits // 8)


def _by_vectors(
    fragment: RegisterLayout, addresses: Ints, bits: int, *, stores: bool
) -> ThreadAccess:
    atom, registers = "sts" if stores else "lds", registers_of(fragment, bits)
    try:
        width = vector_width(fragment, addresses, bits)
        if not width:
            raise LayoutError(f"elements of {bits} bits are not accessed one by one")
        lanes = vector_addresses(fragment, addresses, bits, width)
    except LayoutError as error:
        return ThreadAccess(atom, 1, 0, registers, str(error))
    size = width * bits // 8
    conflicts = _ratio(wavefronts(lanes, size), ideal_wavefronts(lanes, size))
    steps = _transactions(fragment, width, size)
    return ThreadAccess(atom, size, steps * conflicts, registers)


def _transactions(fragment: RegisterLayout, width: int, size: int) -> float:
    """Accesses to one row, of 32 bytes at least where vectors of 16 bytes are alone in theirs."""
    steps = row_steps(fragment, width)
    is_alone = size == WIDEST and steps * width == fragment.shape[-1]
    return steps * WIDEST / SECTOR_BYTES if is_alone else steps


def _by_matrices(
    fragment: RegisterLayout, addresses: Ints, bits: int, *, stores: bool
) -> ThreadAccess:
    fits, atom = (stmatrix_fits, "stsm_m88") if stores else (ldmatrix_fits, "ldsm_m88")
    registers, refused = registers_of(fragment, bits), ""
    for transposed in (False, True):
        for count in sorted(COUNTS, reverse=True):
            found = fits(fragment, addresses, bits, transposed, count)
            if isinstance(found, Refusal):
                refused = refused or found.reason
                continue
            steps = row_steps(fragment, count * found.per_word)
            conflicts = float(found.wavefronts.mean()) / count
            keyword = f"{atom}_trans" if transposed else atom
            return ThreadAccess(keyword, MATRIX_ALIGNMENT, steps * conflicts, registers)
    return ThreadAccess(atom, MATRIX_ALIGNMENT, 0, registers, refused)


def _expanding(plain: ThreadAccess, bits: int) -> ThreadAccess:
    """`ldmatrix.m8n16`: half of the transactions, twice the registers."""
    refused = plain.refused
    if not refused and bits not in M816_BITS:
        refused = f"ldmatrix.m8n16 expands elements of 4 or 6 bits, not of {bits}"
    return ThreadAccess(
        "ldsm_m816",
        MATRIX_ALIGNMENT,
        plain.transactions / M816_FACTOR,
        plain.registers * M816_FACTOR,
        refused,
    )


def _ratio(found: Ints, ideal: Ints) -> float:
    least = int(ideal.sum())
    return int(found.sum()) / least if least else 1.0
