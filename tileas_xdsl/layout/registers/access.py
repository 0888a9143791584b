"""How a fragment accesses memory: vector width, lane addresses, sectors of global memory.

Everything is computed from tables: `addresses` holds the byte address of each element of a tile by
its column-major index.  Elements of fewer than 8 bits also need `bit_in_byte`, the bit offset of
each element inside its byte.  Registers are counted in elements, consecutive ones share a 32-bit
word.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.integers import ceil_div, is_power_of_two
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import WARP

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SECTOR_BYTES = 32
"""The granule in which global memory moves.  Source: Nsight Compute, memory tables."""

INACTIVE = -1
"""The address of a lane that takes no part in an access."""


def bit_addresses(addresses: Ints, elem_bits: int, bit_in_byte: Ints | None = None) -> Ints:
    """The bit address of each element, from byte addresses.

    Raises `LayoutError` for elements below 8 bits without `bit_in_byte`: two of them share a byte
    address.
    """
    if elem_bits >= 8:
        return addresses * 8
    if bit_in_byte is None:
        raise LayoutError(f"byte addresses do not tell {elem_bits}-bit elements apart")
    return addresses * 8 + bit_in_byte


def register_order(held: Ints, addresses: Ints) -> Ints:
    """The registers of a thread in the order of their elements in memory, `(values,)`.

    The first thread that holds all its registers decides.  If vectors of any size work in some
    order of the registers, the same for all threads, they work in this one.
    """
    full = np.flatnonzero((held >= 0).all(axis=1))
    if not full.size:
        return np.arange(held.shape[1], dtype=np.int64)
    return np.argsort(addresses[held[full[0]]], kind="stable").astype(np.int64)


def vector_width(
    fragment: RegisterLayout,
    addresses: Ints,
    elem_bits: int,
    max_bits: int = 128,
    *,
    bit_in_byte: Ints | None = None,
    order: Ints | None = None,
) -> int:
    """Return the largest power-of-two number of elements that one access of a thread can move.

    For loads and stores: consecutive registers of every thread must be contiguous and aligned in
    memory, 8 to `max_bits` bits at a time; a vector of empty registers is skipped.  `order`
    permutes the registers first (`register_order` finds the best one).  0 where not even one
    element can be accessed, as with 6-bit elements or a misaligned one.
    """
    held = fragment.held if order is None else fragment.held[:, order]
    return widest_vector(
        held, bit_addresses(addresses, elem_bits, bit_in_byte), elem_bits, max_bits
    )


def widest_vector(held: Ints, bits: Ints, elem_bits: int, max_bits: int = 128) -> int:
    """`vector_width` of a `(threads, values)` table of elements and the bit address of each."""
    for vector in _sizes(held.shape[1], elem_bits, max_bits):
        parts = (held[:1], held[:WARP], held)
        if all(_misfit(part, bits, elem_bits, vector) is None for part in parts):
            return vector
    return 0


def _sizes(values: int, elem_bits: int, max_bits: int) -> list[int]:
    """Vectors that hardware has an access for and that divide the registers, largest first."""
    sizes = [1 << k for k in range(values.bit_length()) if values % (1 << k) == 0]
    return [n for n in reversed(sizes) if _is_access(n * elem_bits) and n * elem_bits <= max_bits]


def _is_access(bits: int) -> bool:
    return bits >= 8 and is_power_of_two(bits)


def _misfit(held: Ints, bits: Ints, elem_bits: int, vector: int) -> tuple[int, int, str] | None:
    """The first `(thread, step)` whose vector cannot be accessed and why; None if all can."""
    groups = held.reshape(held.shape[0], held.shape[1] // vector, vector)
    present = groups >= 0
    where = bits[groups]
    first = where[:, :, :1]
    full = present.all(axis=2)
    partial = present.any(axis=2) & ~full
    apart = (where != first + np.arange(vector, dtype=np.int64) * elem_bits).any(axis=2)
    misaligned = (first % (vector * elem_bits) != 0)[:, :, 0]
    for wrong, why in (
        (partial, "some of its registers are empty"),
        (apart & full, "its elements are not contiguous"),
        (misaligned & full, f"it is not aligned to {vector * elem_bits} bits"),
    ):
        if wrong.any():
            thread, step = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            return int(thread), int(step), why
    return None


def vector_addresses(
    fragment: RegisterLayout,
    addresses: Ints,
    elem_bits: int,
    vector: int,
) -> Ints:
    """`(warps, values / vector, 32)`: the byte address that each lane accesses, -1 for none.

    Raises `LayoutError` that names a thread where vectors of `vector` elements do not work.
    """
    bits = bit_addresses(addresses, elem_bits)
    return by_warp(vector_starts(fragment.held, bits, elem_bits, vector))


def vector_starts(held: Ints, bits: Ints, elem_bits: int, vector: int) -> Ints:
    """`(threads, values / vector)`: the byte address of each vector, as `vector_addresses`."""
    values = held.shape[1]
    if vector < 1 or values % vector or not _is_access(vector * elem_bits):
        raise LayoutError(
            f"vectors of {vector} x {elem_bits} bits do not move {values} registers: an access "
            f"has 8, 16, 32, 64 or 128 bits and vectors must divide the registers"
        )
    misfit = _misfit(held, bits, elem_bits, vector)
    if misfit is not None:
        thread, step, why = misfit
        raise LayoutError(f"vector {step} of {vector} elements of thread {thread}: {why}")
    first = held[:, ::vector]
    return np.where(first < 0, INACTIVE, bits[first] // 8)


def by_warp(per_thread: Ints) -> Ints:
    """`(warps, steps, 32)` from `(threads, steps)`; missing lanes of the last warp are inactive."""
    threads, steps = per_thread.shape
    warps = ceil_div(threads, WARP)
    padded = np.full((warps * WARP, steps), INACTIVE, dtype=np.int64)
    padded[:threads] = per_thread
    return padded.reshape(warps, WARP, steps).transpose(0, 2, 1)


def check_access(addresses: Ints, width: int, widths: tuple[int, ...]) -> None:
    """Raise `LayoutError` for a width that hardware does not have or a misaligned address."""
    if width not in widths:
        raise LayoutError(f"an access has {', '.join(map(str, widths))} bytes, not {width}")
    wrong = (addresses % width != 0) & (addresses != INACTIVE)
    if wrong.any():
        first = int(addresses[wrong][0])
        raise LayoutError(f"address {first} of a {width}-byte access is not aligned")


def distinct(sorted_rows: Ints) -> Bools:
    """Of rows sorted ascending: which entries are the first of their value, and active."""
    result = np.empty(sorted_rows.shape, dtype=np.bool_)
    np.not_equal(sorted_rows[..., 1:], sorted_rows[..., :-1], out=result[..., 1:])
    result[..., 0] = True
    return result & (sorted_rows >= 0)


def sectors(addresses: Ints, width: int) -> Ints:
    """The number of 32-byte sectors that each warp access touches.

    `addresses` is `(..., 32)`, one byte address per lane of `width` bytes (1 to 32), -1 for an
    inactive lane; the result has shape `(...)`.
    """
    check_access(addresses, width, (1, 2, 4, 8, 16, 32))
    return distinct(np.sort(addresses // SECTOR_BYTES, axis=-1)).sum(axis=-1)


def ideal_sectors(addresses: Ints, width: int) -> Ints:
    """The number of sectors that would hold the bytes of each warp access if they were packed."""
    check_access(addresses, width, (1, 2, 4, 8, 16, 32))
    lanes = distinct(np.sort(addresses, axis=-1)).sum(axis=-1)
    return -(-lanes * width // SECTOR_BYTES)


def coalescing(addresses: Ints, width: int) -> float:
    """Ideal sectors over touched sectors of all accesses together; 1.0 is perfect."""
    touched = int(sectors(addresses, width).sum())
    return int(ideal_sectors(addresses, width).sum()) / touched if touched else 1.0
