"""Fragment layouts of `wgmma` and `mma.sync` operands and accumulators.

Warp partitions and orders of registers are those of TileLang 0.1.15 (`src/cuda/op/gemm.cc` and
`tilelang/cuda/intrinsics/macro`); the registers of one instruction are those of PTX ISA 9.7.14-15.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import gcd

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.decisions import InferenceError
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import Gemm, Program, Scope, WarpPolicy
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout
from tileas_xdsl.layout.expr.expression import Number, dimension, substituted, symbol
from tileas_xdsl.layout.expr.simplification import simplified
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.swizzle import Swizzle
from tileas_xdsl.layout.units import WARPGROUP_WARPS
from tileas_xdsl.target.features import Feature, features_of

WGMMA_ELEMENTS = {
    "f16": {("f16", "f16"), ("f8", "f8")},
    "f32": {("f16", "f16"), ("bf16", "bf16"), ("tf32", "tf32"), ("f8", "f8")},
    "i32": {("i8", "i8")},
}
"""By accumulator, the operands that wgmma takes; `f8` and `i8` stand for all kinds of them."""

ROWS_OF_WARP, COLUMNS_OF_WARP = 16, 8


@dataclass(frozen=True)
class Product:
    """The sizes of `c += a @ b`, the instruction that computes it, and its warps by row, column."""

    m: int
    n: int
    k: int
    is_wgmma: bool
    warps_m: int
    warps_n: int
    words: int = 8
    """Registers of 32 bits along K that an `mma.sync` multiplies: 8, or 4."""

    @property
    def rows_of_warp(self) -> int:
        """How many 16-row tiles each warp has."""
        return self.m // self.warps_m // ROWS_OF_WARP

    @property
    def columns_of_warp(self) -> int:
        """How many columns each warp has."""
        return self.n // self.warps_n

    @property
    def threads(self) -> int:
        """The threads that take part."""
        return 32 * self.warps_m * self.warps_n


def product_of(program: Program, gemm: Gemm) -> Product:
    """How TileLang computes a product: all warps take part, steps of K have 8 registers.

    Raises InferenceError where no partition of warps covers it.
    """
    m, n, k = _sizes(program, gemm)
    warps = program.threads // 32
    is_wgmma = _uses_wgmma(program, gemm, (m, k), warps)
    found = _partition(gemm.policy, (m, n), warps, is_wgmma=is_wgmma)
    if found is None:
        raise InferenceError(
            f"a product of {m}x{n} cannot be spread evenly over {warps} warps: each needs a "
            f"multiple of {ROWS_OF_WARP} rows and {COLUMNS_OF_WARP} columns",
            gemm.location,
        )
    return Product(m, n, k, is_wgmma, *found)


def product_of_some_warps(program: Program, gemm: Gemm) -> Product:
    """How a product is computed by `mma.sync`: by all warps of the block, else by the first ones.

    K that no 8 registers divide is multiplied 4 registers at once.  Raises InferenceError where it
    has no whole tiles of an instruction.
    """
    m, n, k = _sizes(program, gemm)
    if m % ROWS_OF_WARP or n % COLUMNS_OF_WARP:
        raise InferenceError(
            f"a product of {m}x{n} has no whole tiles of {ROWS_OF_WARP} rows and "
            f"{COLUMNS_OF_WARP} columns: pad its buffers",
            gemm.location,
        )
    bits = program.buffers[gemm.a].bits
    words = 8 if k * bits % 256 == 0 else 4
    counts = range(program.threads // 32, 0, -1)
    found = (_partition(gemm.policy, (m, n), warps, is_wgmma=False) for warps in counts)
    return Product(m, n, k, False, *next(filter(None, found)), words)


def _sizes(program: Program, gemm: Gemm) -> tuple[int, int, int]:
    m, n = program.buffers[gemm.c].shape[-2:]
    return m, n, program.buffers[gemm.a].shape[-2 if gemm.transpose_a else -1]


def _partition(
    policy: WarpPolicy, extents: tuple[int, int], warps: int, *, is_wgmma: bool
) -> tuple[int, int] | None:
    """Warps by row and by column, each with the same whole tiles; None where there are none."""
    m, n = extents
    choices = [
        (rows, columns)
        for rows, columns in _partitions(warps)
        if m % (rows * ROWS_OF_WARP) == 0
        and n % (columns * COLUMNS_OF_WARP) == 0
        and (not is_wgmma or rows % WARPGROUP_WARPS == 0)
    ]
    return _chosen(choices, policy, m, n) if choices else None


def accumulator(product: Product, threads: int) -> FragmentMap:
    """The layout of `c`, rows by columns."""
    i, j = dimension(0), dimension(1)
    rows, columns = product.rows_of_warp, product.columns_of_warp
    lane = i % 8 * 4 + j % 8 // 2
    if product.is_wgmma:
        tile = i // 64 % rows
        warp = i // (64 * rows) * WARPGROUP_WARPS + i // 16 % WARPGROUP_WARPS
    else:
        tile = i // 16 % rows
        warp = i // (16 * rows)
    thread = j // columns * (32 * product.warps_m) + warp * 32 + lane
    slot = tile * (columns // 2) + j % columns // 8 * 4 + i % 16 // 8 * 2 + j % 2
    return _fragment((product.m, product.n), thread, slot, threads, 1)


def operand(
    product: Product, name: str, bits: int, is_transposed: bool, threads: int
) -> FragmentMap:
    """The layout of operand `name`, `a` or `b`, in registers, as its buffer stores it.

    Copies are for the warps of other columns (a) or rows (b).
    """
    unit = 32 // bits
    across, depth = dimension(0), dimension(1)
    shape = (product.m if name == "a" else product.n, product.k)
    thread, slot = (
        _left(product, across, depth, unit) if name == "a" else _right(product, across, depth, unit)
    )
    if is_transposed != (name == "b"):
        swapped = [dimension(1), dimension(0)]
        thread = substituted(thread, swapped, [symbol(0)])
        slot = substituted(slot, swapped, [])
        shape = (shape[1], shape[0])
    copies = product.warps_n if name == "a" else product.warps_m
    return _fragment(shape, thread, slot, threads, copies)


def _left(product: Product, i: Number, k: Number, unit: int) -> tuple[Number, Number]:
    rows, replica = product.rows_of_warp, symbol(0)
    lane = i % 8 * 4 + k % (4 * unit) // unit
    if product.is_wgmma:
        warp, tile = i // 16 % product.warps_m, i // (16 * product.warps_m)
    else:
        warp, tile = i // (16 * rows), i // 16 % rows
    thread = replica * (32 * product.warps_m) + warp * 32 + lane
    depth = product.words * unit
    inner = k % depth // (4 * unit) * (2 * unit) + i % 16 // 8 * unit + k % unit
    return thread, (tile + k // depth * rows) * (depth // 2) + inner


def _right(product: Product, j: Number, k: Number, unit: int) -> tuple[Number, Number]:
    columns, replica = product.columns_of_warp, symbol(0)
    width = 16 if columns % 16 == 0 else 8
    tiles = columns // width
    lane = j % 8 * 4 + k % (4 * unit) // unit
    thread = j // columns * (32 * product.warps_m) + replica * 32 + lane
    depth = product.words * unit
    inner = j % width // 8 * (depth // 4) + k % depth // (4 * unit) * unit + k % unit
    return thread, (j // width % tiles + k // depth * tiles) * (width * depth // 32) + inner


def _fragment(
    shape: tuple[int, int], thread: Number, slot: Number, threads: int, replicas: int
) -> FragmentMap:
    return FragmentMap(
        shape,
        simplified(thread, shape, (replicas,)),
        simplified(slot, shape),
        threads,
        replicas,
    )


def continuity(product: Product, name: str, is_transposed: bool) -> int:
    """How many neighbouring elements of a shared operand one wgmma reads along its rows."""
    if is_transposed == (name == "b"):
        return product.k
    return 64 if name == "a" else instruction_columns(product.columns_of_warp)


def instruction_columns(columns: int) -> int:
    """The widest N of wgmma that tiles the columns of a warp."""
    widest = gcd(columns, 256)
    if columns % 16:
        return widest
    return next((n for n in range(256, widest, -16) if columns % n == 0), widest)


def swizzle_of(row: int, bits: int) -> int:
    """The bits of the widest swizzle, 3 for 128 bytes to 0 for none, that rows of so many take."""
    chunk = 128 // bits
    return next((bits for bits in (3, 2, 1) if row % (chunk << bits) == 0), 0)


@lru_cache
def shared_layout(shape: tuple[int, ...], bits: int, swizzle: int) -> AnyLayout:
    """Coordinates to bytes: tiles of `16 << swizzle` bytes by all rows, side by side, swizzled.

    Without a swizzle the array is row-major.
    """
    *rows, columns = shape
    size = bits // 8
    span = min(columns, (128 // bits) << swizzle) if swizzle else columns
    strides: list[int] = []
    total = 1
    for extent in reversed(rows):
        strides.insert(0, span * size * total)
        total *= extent
    inner, inner_strides = (span, columns // span), (size, total * span * size)
    one = span == columns
    layout = Layout((*rows, columns if one else inner), (*strides, size if one else inner_strides))
    return ComposedLayout(Swizzle(swizzle, 4, 3), 0, layout) if swizzle else layout


def _uses_wgmma(program: Program, gemm: Gemm, sizes: tuple[int, int], warps: int) -> bool:
    m, k = sizes
    a, b, c = (program.buffers[name] for name in (gemm.a, gemm.b, gemm.c))
    has_wgmma = Feature.WGMMA in features_of(program.arch)
    if not has_wgmma or b.scope is not Scope.SHARED or m < 64 or warps % WARPGROUP_WARPS:
        return False
    pair = (_kind(a.element), _kind(b.element))
    if pair not in WGMMA_ELEMENTS.get(c.element, set[tuple[str, str]]()) or k % (256 // a.bits):
        return False
    return a.bits == 16 or (gemm.transpose_b and not gemm.transpose_a)


def _kind(element: str) -> str:
    if element.startswith("f8"):
        return "f8"
    return "i8" if element in {"i8", "si8", "ui8"} else element


def _partitions(warps: int) -> Iterator[tuple[int, int]]:
    return ((rows, warps // rows) for rows in range(1, warps + 1) if warps % rows == 0)


def _chosen(choices: list[tuple[int, int]], policy: WarpPolicy, m: int, n: int) -> tuple[int, int]:
    """The most rows, the most columns, or of equal verdicts the fewest rows."""
    if policy is WarpPolicy.FULL_ROW:
        return choices[-1]
    if policy is WarpPolicy.FULL_COL:
        return choices[0]

    def imbalance(choice: tuple[int, int]) -> float:
        rows, columns = choice
        height, width = m / (rows * ROWS_OF_WARP), n / (columns * COLUMNS_OF_WARP)
        return abs(height / width - m / n)

    return min(choices, key=imbalance)
