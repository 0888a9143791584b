"""Check of matrix products: operands and accumulators match the MMA fragment layouts.

A tile of 16 rows and 8 columns of C is in one warp, lane `4 * (row % 8) + column % 8 / 2`
(PTX ISA, mma.m16n8k16 fragments; a wgmma accumulator is four warps of such tiles).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tileas_xdsl.inference.checking.checked_program import CheckedProgram, Mask, holders
from tileas_xdsl.inference.checking.findings import Finding, Rule, first, threads_text
from tileas_xdsl.inference.program import Buffer, Gemm, Scope
from tileas_xdsl.layout.units import WARP


def wrong_products(question: CheckedProgram) -> Iterator[Finding]:
    """Products whose operands or accumulators are not the fragments of an instruction."""
    for index, operation in enumerate(question.program.operations):
        if isinstance(operation, Gemm):
            yield from _product(question, index, operation)


def _product(question: CheckedProgram, number: int, gemm: Gemm) -> Iterator[Finding]:
    a, b, c = (question.program.buffers[name] for name in (gemm.a, gemm.b, gemm.c))
    text = _sizes(question.program.threads, gemm, a, b, c)
    if text:
        yield Finding(Rule.PRODUCT, text, gemm.location)
        return
    held = _held(question, number, c)
    yield from first(_other_lanes(gemm, c, held, c.shape, pack=2))
    warps = _warps(held)
    m, n, count = warps.shape
    tiles = warps.reshape(m // 16, 16, n // 8, 8, count)
    yield from first(_torn_tiles(gemm, c, tiles))
    by_rows, by_columns = tiles.any(axis=(1, 2, 3)), tiles.any(axis=(0, 1, 3))
    if a.scope is Scope.FRAGMENT:
        needed = np.repeat(by_rows, 16, axis=0)
        yield from first(_operand(question, number, gemm, a, gemm.transpose_a, needed))
    if b.scope is Scope.FRAGMENT:
        needed = np.repeat(by_columns, 8, axis=0)
        yield from first(_operand(question, number, gemm, b, not gemm.transpose_b, needed))


def _sizes(threads: int, gemm: Gemm, a: Buffer, b: Buffer, c: Buffer) -> str:
    m, k = reversed(a.shape) if gemm.transpose_a else a.shape
    k2, n = reversed(b.shape) if gemm.transpose_b else b.shape
    if k != k2 or c.shape != (m, n):
        return f"{gemm.a} x {gemm.b} is {m} x {k} by {k2} x {n}, {gemm.c} is {list(c.shape)}"
    if c.scope is not Scope.FRAGMENT:
        return f"{gemm.c} is no fragment"
    if threads % WARP:
        return f"{threads} threads are no whole warps"
    if m % 16 or n % 8:
        return f"{gemm.c} is {m} x {n}: not of 16 x 8 tiles"
    return ""


def _held(question: CheckedProgram, number: int, buffer: Buffer) -> Mask:
    """`(rows, columns, threads)`: which threads hold an element of a matrix."""
    return holders(question.layout(number, buffer.name)).reshape(*buffer.shape, -1)


def _warps(held: Mask) -> Mask:
    """`(rows, columns, warps)`: which warps hold an element."""
    return np.any(held.reshape(*held.shape[:2], -1, WARP), axis=-1)


def _other_lanes(
    gemm: Gemm, buffer: Buffer, held: Mask, shape: tuple[int, ...], pack: int
) -> Iterator[Finding]:
    """Elements in other lanes than those of the instruction; a lane has `pack` neighbours."""
    rows, columns = np.indices(shape)
    lanes = rows % 8 * 4 + columns % (4 * pack) // pack
    elsewhere = lanes[..., None] != np.arange(int(held.shape[2])) % WARP
    for row, column, thread in np.argwhere(held & elsewhere)[:1]:
        text = (
            f"row {row} and column {column} of {buffer.name} lie in lane {thread % WARP} of a warp "
            f"(thread {thread}), where the instruction has them in lane {lanes[row, column]}"
        )
        yield Finding(Rule.PRODUCT, text, gemm.location)


def _torn_tiles(gemm: Gemm, buffer: Buffer, tiles: Mask) -> Iterator[Finding]:
    """Tiles of an instruction that are spread over warps."""
    some, every = tiles.any(axis=(1, 3)), tiles.all(axis=(1, 3))
    for i, j, warp in np.argwhere(some != every)[:1]:
        text = (
            f"the 16 x 8 tile at {buffer.name}[{i * 16}, {j * 8}] lies in warp {warp} in part: "
            f"an instruction needs it whole"
        )
        yield Finding(Rule.PRODUCT, text, gemm.location)


def _operand(
    question: CheckedProgram,
    number: int,
    gemm: Gemm,
    buffer: Buffer,
    transposed: bool,
    needed: Mask,
) -> Iterator[Finding]:
    """Check an operand in registers; `needed`, `(rows, warps)`, marks the warps that use a row."""
    held = _held(question, number, buffer)
    if transposed:
        held = held.swapaxes(0, 1)
    pack = max(1, WARP // buffer.bits)
    yield from _other_lanes(gemm, buffer, held, held.shape[:2], pack)
    for row, column, warp in np.argwhere(needed[:, None] & ~_warps(held))[:1]:
        index = (column, row) if transposed else (row, column)
        owners = threads_text(np.flatnonzero(held[row, column]))
        text = (
            f"{buffer.name}{[int(k) for k in index]} lives in {owners}; warp {warp} multiplies it "
            f"and does not hold it"
        )
        yield Finding(Rule.PRODUCT, text, gemm.location)
