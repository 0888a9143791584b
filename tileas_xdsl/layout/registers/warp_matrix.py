"""Whether ldmatrix and stmatrix can move a fragment, with the address that each lane supplies.

A warp moves 1, 2 or 4 matrices of 8 rows of 16 bytes; lane `8 * i + r` supplies the address of row
`r` of matrix `i`.  In register `i` lane `4 * r + c` holds word `c` of row `r`; with `.trans` lane
`l` holds half-word `l // 4` of row `2 * (l % 4)` in its low half, that of the next row in its high
half.  Bytes are not looked at, so elements of 4 to 32 bits move alike, with `.trans` those of 4 to
16: two bytes side by side stay so.  Source: PTX ISA, ldmatrix and stmatrix, shape `.m8n8`.

The 8-bit shapes of sm_100a (`.m16n16`, `.m16n8`, always transposed) are not described: CUTLASS's
C++ traits and CuTe DSL disagree about which byte of which register holds which element.
"""

from __future__ import annotations

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.memory.banks import wavefronts
from tileas_xdsl.layout.registers.access import Ints, bit_addresses
from tileas_xdsl.layout.registers.register_layout import RegisterContents
from tileas_xdsl.layout.units import WARP, WORD_BITS

ROWS = 8
"""Rows of a matrix."""

ROW_BITS = 128
HALF_BITS = 16
COUNTS = (1, 2, 4)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an instruction does not fit."""

    reason: str


@dataclass(frozen=True, eq=False, slots=True)
class MatrixAccess:
    """A whole fragment moved by ldmatrix or stmatrix, `count` registers of 32 bits at a time.

    Instruction `k` moves words `k * count, ..., k * count + count - 1` of every thread.
    """

    operation: str
    """`ldmatrix` or `stmatrix`."""
    transposed: bool
    count: int
    """Matrices per instruction: `.x1`, `.x2` or `.x4`."""
    per_word: int
    """Elements in a 32-bit register."""
    row_addresses: Ints
    """`(warps, instructions, 32)`: the byte address that each lane supplies.

    Lanes beyond `8 * count` repeat the rows of the others.
    """
    wavefronts: Ints
    """`(warps, instructions)`: 1 per matrix whose rows are in distinct groups of 4 banks."""

    def register_bits(self) -> Ints:
        """`(threads, values)`: the bit address that each register is moved from or to."""
        elem_bits = WORD_BITS // self.per_word
        warps = self.row_addresses.shape[0]
        rows = self.row_addresses[:, :, : ROWS * self.count].reshape(warps, -1, ROWS, 1) * 8
        bits = rows + np.arange(ROW_BITS // elem_bits, dtype=np.int64) * elem_bits
        result = np.empty((warps, bits.shape[1], WARP * self.per_word), dtype=np.int64)
        result[:, :, _holders(elem_bits, self.transposed)] = bits
        by_lane = result.reshape(warps, -1, WARP, self.per_word).transpose(0, 2, 1, 3)
        return by_lane.reshape(warps * WARP, -1)

    def __str__(self) -> str:
        trans = ".trans" if self.transposed else ""
        return f"{self.operation}.m8n8.x{self.count}{trans}"


def ldmatrix_fits(
    fragment: RegisterContents,
    addresses: Ints,
    elem_bits: int,
    transposed: bool = False,
    count: int = 4,
    *,
    bit_in_byte: Ints | None = None,
) -> MatrixAccess | Refusal:
    """Whether ldmatrix loads `fragment`, register by register, from a tile in shared memory.

    `addresses` is the byte address of each element by its column-major index; elements below 8 bits
    need `bit_in_byte` too.  A refusal names a lane and an element that break the rule.
    """
    return _fits("ldmatrix", fragment, addresses, elem_bits, transposed, count, bit_in_byte)


def stmatrix_fits(
    fragment: RegisterContents,
    addresses: Ints,
    elem_bits: int,
    transposed: bool = False,
    count: int = 4,
    *,
    bit_in_byte: Ints | None = None,
) -> MatrixAccess | Refusal:
    """Whether stmatrix (sm_90 and later) stores `fragment`: the rule of `ldmatrix_fits`."""
    return _fits("stmatrix", fragment, addresses, elem_bits, transposed, count, bit_in_byte)


def _fits(
    operation: str,
    fragment: RegisterContents,
    addresses: Ints,
    elem_bits: int,
    transposed: bool,
    count: int,
    bit_in_byte: Ints | None,
) -> MatrixAccess | Refusal:
    if count not in COUNTS:
        raise LayoutError(f"{operation} moves 1, 2 or 4 matrices, not {count}")
    refusal = _refused_shape(operation, fragment, elem_bits, transposed, count)
    if refusal is not None:
        return refusal
    per_word = WORD_BITS // elem_bits
    where = bit_addresses(addresses, elem_bits, bit_in_byte)
    for held in (fragment.held[:WARP], fragment.held):
        bits = where[_by_row(held, elem_bits, transposed)]
        refusal = _refused_rows(bits, elem_bits, transposed)
        if refusal is not None:
            return refusal
    supplied = _supplied(bits[..., 0] // 8, count)
    first = np.arange(WARP) < ROWS * count
    return MatrixAccess(
        operation, transposed, count, per_word, supplied, wavefronts(supplied, 16, first)
    )


def _refused_shape(
    operation: str, fragment: RegisterContents, elem_bits: int, transposed: bool, count: int
) -> Refusal | None:
    if elem_bits not in (4, 8, 16, 32):
        return Refusal(f"{operation} moves elements of 4, 8, 16 or 32 bits, not of {elem_bits}")
    if transposed and elem_bits > HALF_BITS:
        return Refusal(f"{operation}.trans moves {HALF_BITS} bits at a time, not {elem_bits}")
    if fragment.threads % WARP:
        return Refusal(f"{operation} needs whole warps; there are {fragment.threads} threads")
    chunk = count * WORD_BITS // elem_bits
    if fragment.values % chunk:
        return Refusal(
            f"{operation}.x{count} moves {chunk} registers of {elem_bits} bits at a time; "
            f"there are {fragment.values}"
        )
    if (fragment.held < 0).any():
        thread, register = np.argwhere(fragment.held < 0)[0]
        return Refusal(f"register {register} of thread {thread} is empty: lanes cannot sit out")
    return None


def _holders(elem_bits: int, transposed: bool) -> Ints:
    """`(8, columns)`: `lane * per_word + index in the register` of the owner of each element."""
    per_word = WORD_BITS // elem_bits
    row, column = np.indices((ROWS, ROW_BITS // elem_bits), dtype=np.int64)
    if transposed:
        per_half = HALF_BITS // elem_bits
        half, within = np.divmod(column, per_half)
        return (4 * half + row // 2) * per_word + row % 2 * per_half + within
    return (4 * row + column // per_word) * per_word + column % per_word


def _by_row(held: Ints, elem_bits: int, transposed: bool) -> Ints:
    """`(warps, words, 8, columns)`: the element in the register of each position of a matrix."""
    per_word = WORD_BITS // elem_bits
    by_lane = held.reshape(-1, WARP, held.shape[1] // per_word, per_word)
    by_word = by_lane.transpose(0, 2, 1, 3).reshape(len(by_lane), -1, WARP * per_word)
    return by_word[:, :, _holders(elem_bits, transposed)]


def _refused_rows(bits: Ints, elem_bits: int, transposed: bool) -> Refusal | None:
    """The first row that is not 16 contiguous aligned bytes, as a sentence."""
    owner, per_word = _holders(elem_bits, transposed), WORD_BITS // elem_bits
    start = bits[..., :1]
    columns = np.arange(ROW_BITS // elem_bits, dtype=np.int64)
    apart = np.not_equal(bits, start + columns * elem_bits)
    if apart.any():
        warp, word, row, column = (int(i) for i in np.argwhere(apart)[0])
        lane, element = divmod(int(owner[row, column]), per_word)
        return Refusal(
            f"element {element} of register {word} of lane {lane} in warp {warp} must be element "
            f"{column} of row {row}, {column * elem_bits} bits past its start at byte "
            f"{int(start[warp, word, row, 0]) // 8}; it is "
            f"{int(bits[warp, word, row, column] - start[warp, word, row, 0])} bits past it"
        )
    misaligned = start[..., 0] % ROW_BITS != 0
    if misaligned.any():
        warp, word, row = (int(i) for i in np.argwhere(misaligned)[0])
        lane = int(owner[row, 0]) // per_word
        return Refusal(
            f"row {row} of register {word} in warp {warp} starts at byte "
            f"{int(start[warp, word, row, 0]) // 8} (lane {lane}): rows are aligned to 16 bytes"
        )
    return None


def _supplied(rows: Ints, count: int) -> Ints:
    """Return `(warps, instructions, 32)` lane addresses from `(warps, words, 8)` row addresses."""
    warps, words, _ = rows.shape
    by_instruction = rows.reshape(warps, words // count, ROWS * count)
    return np.tile(by_instruction, (1, 1, WARP // (ROWS * count)))
