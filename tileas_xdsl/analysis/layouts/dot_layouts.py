"""Register layouts of dots on FMA or `mma.sync`: which thread computes what, from which operands.

Warps are laid over batch, rows and columns, so that each multiplies as little and reads as little
as possible.  With `mma`, the 32 lanes hold the fragments of the instruction; with `fma`, lanes are
laid over rows and columns too, and each multiplies a few rows by a few columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from tileas_xdsl.analysis.layouts.digit_layouts import Part, layout_of_parts
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import atom_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp, MatrixProduct
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.integers import ceil_div, power_of_two_below
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import WARP, WORD_BITS
from tileas_xdsl.target.mma.register_layouts import REGISTER_LAYOUTS

BY_THREADS = ("mma", "fma")
"""Families of MMA atoms whose operands and accumulators are in registers of all threads."""

REST = 1 << 30
"""The digit that counts what the others leave."""

QUAD, EIGHT = 4, 8
"""Lanes along K or along columns, and along rows: those of an 8x8 matrix (PTX ISA, mma)."""

PAIR = 2
"""Columns of C that are next to one another in a thread (PTX ISA, mma)."""

HALVES = 2
"""Blocks of eight rows in a tile of C (PTX ISA, mma.m16n8)."""

WIDEST = 4
"""Columns next to one another that a thread multiplies by `fma`."""

SLICE_BITS = 128
"""Of a row of A that a thread reads at once for `fma`."""

LANES_ALONG_ROWS = 8
"""So many lanes have pieces of one row of C for `fma`, where it is long enough."""


@dataclass(frozen=True)
class Extents:
    """M, N, K and batch of a dot; batch is 1 without that dimension."""

    batch: int
    m: int
    n: int
    k: int
    bits: int
    """Of an element of A and B."""
    is_batched: bool = False

    def tile(self, rows: int, columns: int) -> tuple[int, ...]:
        """The shape of a tile of such a product."""
        return (self.batch, rows, columns) if self.is_batched else (rows, columns)


@dataclass(frozen=True)
class Tiling:
    """The distribution of a dot over threads, in 8x8 blocks as `mma` fragments have them."""

    extents: Extents
    warps: tuple[int, int, int]
    """Along batch, rows and columns."""
    step: int
    """Elements of K that are multiplied at once."""
    rows: Sequence[Part]
    columns: Sequence[Part]
    """Of B."""
    accumulator_columns: Sequence[Part]
    depth: Sequence[Part]
    """Of A and B, within a step."""
    threads: int
    """Of the agent."""

    @property
    def steps(self) -> int:
        """How often all threads multiply."""
        return self.extents.k // self.step

    @property
    def batches(self) -> int:
        """Batches of a warp."""
        return max(self.extents.batch // self.warps[0], 1)

    @property
    def accumulator(self) -> RegisterLayout:
        """The layout of C."""
        x = self.extents
        return self._layout(x.tile(x.m, x.n), self.rows, self.accumulator_columns)

    def left(self, depth: int) -> RegisterLayout:
        """The register layout of A with `depth` columns, in steps of `step` columns."""
        return self._layout(self.extents.tile(self.extents.m, depth), self.rows, self._deep)

    def right(self, depth: int) -> RegisterLayout:
        """The register layout of B with `depth` rows, in steps of `step` rows."""
        return self._layout(self.extents.tile(depth, self.extents.n), self._deep, self.columns)

    @property
    def _deep(self) -> Sequence[Part]:
        return (*self.depth, Part(REST, order=9))

    def _layout(
        self, shape: tuple[int, ...], first: Sequence[Part], last: Sequence[Part]
    ) -> RegisterLayout:
        batch, rows, columns = self.warps
        parts = [first, last]
        if self.extents.is_batched:
            parts.insert(0, (Part(batch, WARP * rows * columns), Part(REST, order=8)))
        return layout_of_parts(shape, parts, WARP * batch * rows * columns, self.threads)


def is_by_threads(op: MatrixProduct) -> bool:
    """Return whether a product has its operands and accumulator in registers of all threads."""
    atom = atom_of(op.atom)
    return isinstance(atom, MmaAtom) and atom.instruction in BY_THREADS


def tiling_of(op: DotOp | AsyncDotOp, warps: int) -> Tiling | None:
    """Return the tiling of a product over the warps of an agent; None for other atoms."""
    if not is_by_threads(op):
        return None
    assert op.atom is not None
    make = thread_tiling if op.atom.data.keyword.startswith("fma_") else warp_tiling
    return make(extents_of(op), warps)


def extents_of(op: DotOp | AsyncDotOp) -> Extents:
    """The extents of a product."""
    *batch, m, k = op.a.type.get_shape()
    n, bits = op.b.type.get_shape()[-1], bits_of(op.a.type.element_type)
    return Extents(batch[0] if batch else 1, m, n, k, bits, is_batched=bool(batch))


# Matrix instructions of a warp


def registers_of_k(bits: int) -> int:
    """Registers along K of a row of A in the deepest `mma` of elements of so many bits."""
    return max(deep for width, deep in _DEPTHS if width == bits)


_CLASSES = {"4bit": 4, "8bit": 8, "16bit": 16, "tf32": 32, "f64": 64}
"""By how `target.mma.register_layouts` calls them: bits of the elements of A and B."""

_DEPTHS = [
    (bits, entry.tile[1] * bits // max(QUAD * WORD_BITS, QUAD * bits))
    for name, entry in REGISTER_LAYOUTS.items()
    for kind, bits in _CLASSES.items()
    if name.startswith("mma.m16n8") and name.endswith(f".{kind}.a")
]


def min_depth(bits: int) -> int:
    """The smallest K for which registers of `mma` are not empty in some lanes."""
    return QUAD * register_elements(bits)


def register_elements(bits: int) -> int:
    """Elements of A or B that are next to one another in a register of `mma`."""
    return max(WORD_BITS // bits, 1)


@lru_cache(maxsize=256)
def warp_tiling(x: Extents, warps: int) -> Tiling:
    """Return the tiling of a product over warps by mma.sync: tiles of 16x8, the deepest in K.

    Which rows and which elements of K an instruction calls its first is free.  Elements that fill
    a register or more are read one by one, so lanes have two of K next to one another, and those
    that read shared memory at once have rows apart: 32 lanes get all banks in as few wavefronts as
    there are bytes, of A row by row and of B, swizzled by 128 bytes.  An A of f64, 8 lanes at once:

        lane        0     1     2     3     4     5     6     7        row 4 is swizzled by
        row, k    0,0:1 0,2:3 0,4:5 0,6:7 4,0:1 4,2:3 4,4:5 4,6:7      64 bytes, row 1 by 16
    """
    packed = register_elements(x.bits)
    over = _warps(x, warps, (EIGHT * HALVES, EIGHT))
    _, rows, columns = over
    step = min(x.k, QUAD * packed * registers_of_k(x.bits))
    adjacent = min(PAIR, step // QUAD) if packed == 1 else 1
    near = EIGHT if adjacent == 1 else QUAD * adjacent * x.bits // SLICE_BITS
    of_rows = (Part(near, QUAD * EIGHT // near), Part(EIGHT // near, QUAD))
    down = (*of_rows, Part(HALVES, order=1), Part(rows, WARP), Part(REST, order=6))
    inner = max(x.n // (EIGHT * columns), 1)
    near_blocks = min(inner, PAIR)
    beside = Part(columns, WARP * rows)
    blocks = (Part(near_blocks, order=4), beside, Part(inner // near_blocks, order=5))
    return Tiling(
        x,
        over,
        step,
        rows=down,
        columns=(Part(EIGHT, QUAD), *blocks),
        accumulator_columns=(Part(PAIR), Part(QUAD, 1), *blocks),
        depth=(
            Part(packed),
            Part(adjacent, order=2),
            Part(QUAD, 1),
            Part(step // (QUAD * packed * adjacent), order=3),
        ),
        threads=WARP * warps,
    )


def _warps(x: Extents, warps: int, tile: tuple[int, int]) -> tuple[int, int, int]:
    """Warps along batch, rows and columns: the least work of each, then the least that it reads."""
    tall, wide = ceil_div(x.m, tile[0]), ceil_div(x.n, tile[1])

    def cost(over: tuple[int, int, int]) -> tuple[int, int, int]:
        b, r, c = ceil_div(x.batch, over[0]), ceil_div(tall, over[1]), ceil_div(wide, over[2])
        return b * r * c, b * (r * tile[0] + c * tile[1]), over[2]

    return min(_over(power_of_two_below(warps)), key=cost)


def _over(count: int) -> Iterator[tuple[int, int, int]]:
    """Every way to lay a power of two over three dimensions."""
    powers = [1 << k for k in range(count.bit_length())]
    for batch in powers:
        for rows in powers:
            if count % (batch * rows) == 0:
                yield batch, rows, count // (batch * rows)


# Threads


@lru_cache(maxsize=256)
def thread_tiling(x: Extents, warps: int) -> Tiling:
    """Threads that multiply some rows by some columns, one element of K after another."""
    step = min(x.k, max(SLICE_BITS // x.bits, 1), WIDEST)
    batch, rows, columns = _threads(x, WARP * power_of_two_below(warps))
    beside = min(max(LANES_ALONG_ROWS, WARP // rows), columns)
    above = WARP // beside
    over = (batch, rows // above, columns // beside)
    wide = min(WIDEST, max(x.n // columns, 1))
    down = (Part(above, beside), Part(over[1], WARP), Part(REST, order=4))
    across = (
        Part(wide),
        Part(beside, 1),
        Part(over[2], WARP * over[1]),
        Part(REST, order=3),
    )
    depth = (Part(REST, order=9),)
    return Tiling(x, over, step, down, across, across, depth, threads=WARP * warps)


def _threads(x: Extents, threads: int) -> tuple[int, int, int]:
    """Threads along batch, rows and columns; whole warps along the batch."""

    def cost(over: tuple[int, int, int]) -> tuple[int, int, int]:
        b, r, c = (ceil_div(n, k) for n, k in zip((x.batch, x.m, x.n), over, strict=True))
        return b * r * c, b * (r + c), over[1]

    return min((o for o in _over(threads) if threads // o[0] >= WARP), key=cost)
