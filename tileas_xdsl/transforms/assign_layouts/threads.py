"""How threads access a tile in shared memory: with vectors, or with ldmatrix and stmatrix.

A transaction is an access of a warp to a row of the tile; bank conflicts multiply it by the
wavefronts that it takes beyond the ideal, both counted from the tables of the layouts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.layout.access import vector_addresses, vector_width
from tileas_xdsl.layout.banks import ideal_wavefronts, wavefronts
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.fragment import Fragment
from tileas_xdsl.layout.warp_matrix import COUNTS, Refusal, ldmatrix_fits, stmatrix_fits

Ints: TypeAlias = NDArray[np.int64]

REGISTER_BITS = 32
LANES = 32

MATRIX_ALIGNMENT = 16
"""Bytes that the rows of ldmatrix and stmatrix are aligned to (PTX ISA)."""

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
    fragment: Fragment, addresses: Ints, bits: int, *, stores: bool
) -> Iterator[ThreadAccess]:
    """The ways to move `fragment` from or to the bytes at `addresses`, by column-major index."""
    yield _by_vectors(fragment, addresses, bits, stores=stores)
    by_matrices = _by_matrices(fragment, addresses, bits, stores=stores)
    yield by_matrices
    if not stores:
        yield _expanding(by_matrices, bits)


def registers_of(fragment: Fragment, bits: int) -> float:
    """Registers of a thread that hold its part of a tile."""
    return fragment.values * bits / REGISTER_BITS


def row_steps(fragment: Fragment, elements: int) -> int:
    """Accesses of the first warp to one row, each of so many elements of every lane."""
    rows = prod(fragment.tile[:-1])
    held = fragment.held[:LANES, :elements]
    present = held[held >= 0]
    if not present.size:
        return 1
    covered = np.unique(present[present % rows == present[0] % rows]).size
    return -(-fragment.tile[-1] // covered)


def _by_vectors(fragment: Fragment, addresses: Ints, bits: int, *, stores: bool) -> ThreadAccess:
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
    return ThreadAccess(atom, size, row_steps(fragment, width) * conflicts, registers)


def _by_matrices(fragment: Fragment, addresses: Ints, bits: int, *, stores: bool) -> ThreadAccess:
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
            word = f"{atom}_trans" if transposed else atom
            return ThreadAccess(word, MATRIX_ALIGNMENT, steps * conflicts, registers)
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
