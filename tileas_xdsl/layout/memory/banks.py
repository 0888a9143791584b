"""Shared-memory wavefronts, exactly: how many passes over the 32 banks a warp access takes.

Shared memory has 32 banks of 4 bytes.  A pass serves one word per bank; lanes that want the same
word share it; distinct words of one bank take a pass each.  Accesses of 8 bytes are served for each
half-warp in turn, of 16 bytes for each quarter-warp; an access of 1 or 2 bytes moves its word.
Sources: CUDA C++ Programming Guide, shared memory of compute capability 5.x and later; NVIDIA GTC
2019 S9593 (phases of 128-bit accesses); Triton lib/Tools/GenericSwizzling.cpp, `bankConflicts`.

The phases are not merged here.  On compute capability 7.x NVIDIA reports that vector loads return
twice as fast where lanes n and n^1, or n and n^2, read equal addresses (developer forum, topic
77228); such broadcasts are counted at their plain cost, an upper bound.
"""

from __future__ import annotations

import numpy as np

from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.registers.access import INACTIVE, Bools, Ints, check_access, distinct
from tileas_xdsl.layout.units import WARP

BANKS = 32
BANK_BYTES = 4
ROW_BYTES = BANKS * BANK_BYTES
"""What one wavefront can move."""

ACCESS_BYTES = (1, 2, 4, 8, 16)


def wavefronts(addresses: Ints, width: int, active: Bools | None = None) -> Ints:
    """The number of wavefronts of each warp access.

    `addresses` is `(..., 32)`: the byte address of each lane for an access of `width` bytes (1, 2,
    4, 8 or 16), -1 or `active == False` for a lane that takes no part.  The result has shape
    `(...)`.  Raises `LayoutError` for another width or a misaligned address.
    """
    units, banks = _units_by_phase(addresses, width, active)
    units.sort(axis=-1)
    kept = distinct(units)
    rows = units.size // banks
    first = np.arange(rows, dtype=np.int64).reshape(*units.shape[:-1], 1) * banks
    filled = (first + (units & (banks - 1)))[kept]
    loads = np.bincount(filled, minlength=rows * banks).reshape(*units.shape[:-1], banks)
    return loads.max(axis=-1).sum(axis=-1)


def ideal_wavefronts(addresses: Ints, width: int, active: Bools | None = None) -> Ints:
    """The wavefronts of each access if no bank conflicted: one per phase with an active lane."""
    units, _ = _units_by_phase(addresses, width, active)
    return (units >= 0).any(axis=-1).sum(axis=-1)


def _units_by_phase(addresses: Ints, width: int, active: Bools | None) -> tuple[Ints, int]:
    """`(..., phases, lanes)`: what each lane wants, in units of `max(width, 4)` bytes; the banks.

    An aligned access of 8 or 16 bytes fills 2 or 4 neighbouring banks, so that these count as one
    wide bank.
    """
    if addresses.shape[-1:] != (WARP,):
        raise LayoutError(f"addresses of shape {addresses.shape} are not one for each of 32 lanes")
    if active is not None:
        addresses = np.where(active, addresses, INACTIVE)
    check_access(addresses, width, ACCESS_BYTES)
    unit = max(width, BANK_BYTES)
    banks = ROW_BYTES // unit
    return (addresses // unit).reshape(*addresses.shape[:-1], WARP // banks, banks), banks
