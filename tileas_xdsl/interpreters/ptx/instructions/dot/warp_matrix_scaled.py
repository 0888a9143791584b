"""`mma.sync ... block_scale` (sm_120a): D = (A * SFA) (B * SFB) + C of one warp.

With `.sp::ordered_metadata` A keeps half of twice the columns, and B has twice the registers.

Of each four threads `thread-id-a` picks the pair whose registers have the scales of a row of A and
of the one eight rows on, `thread-id-b` the thread that has those of a column of B; `byte-id` picks
the first byte.  Not run on hardware.
Sources: PTX ISA 9.7.14.5.14, 9.7.14.6; CUTLASS include/cute/atom/mma_traits_sm120.hpp (SFALayout,
SFBLayout), mma_traits_sm120_sparse.hpp.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, spread, warps_of
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.execution.waits import Absence, reconverge
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.dot.sparse_metadata import (
    SparseMetadata,
    build_metadata,
)
from tileas_xdsl.interpreters.ptx.instructions.dot.warp_matrix import (
    build_mma,
    locations,
    matrix_of,
    numbers_of,
    words_of,
)
from tileas_xdsl.interpreters.ptx.matrix.block_scales import UNSIGNED_FORMATS, scaled, vector_of
from tileas_xdsl.interpreters.ptx.matrix.sparse_operands import spread_along_k
from tileas_xdsl.interpreters.ptx.numerics.float_formats import singles
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES, UNSIGNED
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import SCALED_MMA
from tileas_xdsl.target.mma.register_layouts import REGISTER_LAYOUTS

FAMILY: Mapping[str, str] = {"m16n8k32": "8bit", "m16n8k64": "4bit"}
SPARSE_SHAPES: Mapping[str, str] = {"m16n8k64": "m16n8k32", "m16n8k128": "m16n8k64"}
"""By the shape of a product with a sparse A: that of the dense product with as many registers."""

REGISTERS: Mapping[str, int] = {"a": 4, "b": 2, "c": 4}

QUAD, BYTES = 4, 4
"""Threads that share scales; the bytes of a register."""

B16, B32, F32 = TYPES["b16"], TYPES["b32"], TYPES["f32"]


@dataclass(frozen=True, slots=True)
class _Scales:
    """Slots of the register that has the scales of an operand, of byte and thread."""

    slot: int
    byte: int
    thread: int
    threads: int
    """How many choices of threads there are."""

    def of(self, f: ConvergenceGroup, mine: slice, rows: int, facts: tuple[int, str]) -> Array:
        """Return (rows, count) doubles from the registers of a warp."""
        count, format_ = facts
        lanes = f.warpgroup.lanes
        byte, thread = (
            int(spread(f.r[slot], lanes, UNSIGNED[16])[mine][0])
            for slot in (self.byte, self.thread)
        )
        if byte % count or byte + count > BYTES or thread >= self.threads:
            raise Fault("isa", f"no {count} scales are at byte {byte} of thread {thread} of four")
        row = np.arange(rows)
        lane = QUAD * (row % 8) + self.pair * thread + row // 8
        words = spread(f.r[self.slot], lanes, UNSIGNED[32])[mine]
        name, mask = UNSIGNED_FORMATS[format_]
        found = np.ascontiguousarray(words[lane]).view(np.uint8).reshape(rows, BYTES)
        chosen = found[:, byte : byte + count] & np.uint8(mask)
        return singles(np.ascontiguousarray(chosen), name).astype(np.float64)

    @property
    def pair(self) -> int:
        """Threads of a choice: two for the rows of A, eight apart, one for columns of B."""
        return QUAD // self.threads


@dataclass(frozen=True, slots=True)
class _ScaledProduct:
    """The product of one warp: how its operands are held, and where their scales are."""

    name: str
    """Of the register layouts: `mma.m16n8k32.8bit`."""
    elements: tuple[str, str]
    """Of A and B."""
    scale_layout: tuple[int, str]
    """Scales along K, and their format."""
    scales: tuple[_Scales, _Scales]
    metadata: SparseMetadata | None
    """Of a sparse A."""

    def of_warp(self, f: ConvergenceGroup, warp: int, words: Mapping[str, Array]) -> Array:
        """Return D as words (lanes, registers), from those of A, B and C."""
        of_a, of_b = self.elements
        mine = slice(WARP * warp, WARP * warp + WARP)
        kept = _matrix(words["a"], f"{self.name}.a", of_a)
        sparse = self.metadata
        whole = kept if sparse is None else spread_along_k(kept, sparse.columns(f, warp))
        parts = np.split(words["b"], 1 if sparse is None else 2, 1)
        other = np.concatenate([_matrix(part, f"{self.name}.b", of_b) for part in parts], 1)
        left, right = (
            scaled(matrix, side.of(f, mine, len(matrix), self.scale_layout))
            for side, matrix in zip(self.scales, (whole, other), strict=True)
        )
        row, column = locations(f"{self.name}.c")
        total = (left @ right.T)[row, column] + numbers_of(words["c"], "f32")
        return words_of(total, "f32", saturate=False)


def build_any_mma(site: Site) -> Step:
    """`mma`, with block scales or without."""
    return _build_scaled(site) if "block_scale" in site.modifiers else build_mma(site)


def _build_scaled(site: Site) -> Step:
    sparse = site.flag("sp::ordered_metadata")
    site.ignore(("sync", "aligned", "row", "col"))
    shape = site.choose(SPARSE_SHAPES if sparse else FAMILY)
    shape = SPARSE_SHAPES[shape] if sparse else shape
    kind = site.choose(tuple(f"kind::{name}" for name in SCALED_MMA)).removeprefix("kind::")
    facts = SCALED_MMA[kind]
    vector = vector_of(site) or next(iter(facts.block))
    if shape != facts.shape or vector not in facts.block or len(site.modifiers) != 5:
        site.fail(f"kind::{kind} is {facts.shape} with scale_vec::{' or '.join(facts.block)}")
    _, a, b, _, format_ = site.modifiers
    site.count(10 if sparse else 8)
    halves = 2 if sparse else 1
    dests = [site.destination(p, F32) for p in site.vector(0, (REGISTERS["c"],))]
    slots = {
        "a": site.fragment(1, (REGISTERS["a"],), B32),
        "b": site.fragment(2, (halves * REGISTERS["b"],), B32),
        "c": site.fragment(3, (REGISTERS["c"],), F32),
    }
    k = int(facts.shape.rpartition("k")[2])
    bits = int(FAMILY[shape].removesuffix("bit"))
    metadata = build_metadata(site, 4, bits, 2 * k, ordered=True) if sparse else None
    first = 6 if sparse else 4
    scales_a, scales_b = _scales_at(site, first, 2), _scales_at(site, first + 2, 4)
    name, layout = f"mma.{shape}.{FAMILY[shape]}", (k // facts.block[vector], format_)
    product = _ScaledProduct(name, (a, b), layout, (scales_a, scales_b), metadata)

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "mma.sync", absence=Absence.NONE):
            return STOP
        lanes = f.warpgroup.lanes
        words = {
            part: np.stack([spread(f.r[s], lanes, UNSIGNED[32]) for s in found], 1)
            for part, found in slots.items()
        }
        result = np.zeros_like(words["c"])
        for warp in warps_of(f.mask):
            mine = slice(WARP * warp, WARP * warp + WARP)
            own = {part: table[mine] for part, table in words.items()}
            result[mine] = product.of_warp(f, warp, own)
        for i, dest in enumerate(dests):
            f.r[dest] = np.ascontiguousarray(result[:, i])
        return None

    return step


def _scales_at(site: Site, index: int, threads: int) -> _Scales:
    """Read a register of scales and the pair {byte, thread}."""
    byte, thread = (site.source(p, B16) for p in site.vector(index + 1, (2,)))
    return _Scales(site.source(index, B32), byte, thread, threads)


def _matrix(words: Array, name: str, element: str) -> Array:
    """Decode registers (threads, registers) to numbers (rows, columns)."""
    if not name.endswith((".4bit.a", ".4bit.b")):
        return matrix_of(words, name, element)
    row, column = locations(name)
    cells = np.ascontiguousarray(words).view(np.uint8)
    codes = np.stack([cells & 0xF, cells >> 4], -1).reshape(len(cells), -1)
    matrix = np.zeros(REGISTER_LAYOUTS[name].tile, np.float64)
    matrix[row, column] = singles(np.ascontiguousarray(codes), element)
    return matrix


TABLE = (Semantics("mma", build_any_mma, waits=True),)
