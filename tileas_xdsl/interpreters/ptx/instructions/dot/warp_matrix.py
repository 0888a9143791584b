"""Warp-level matrix instructions: ldmatrix, stmatrix, movmatrix and mma.sync.

Source: PTX ISA 9.7.14; fragment layouts are those of `tileas_xdsl.target.mma.register_layouts`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, spread, warps_of
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.execution.waits import Absence, reconverge
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.dot.sparse_metadata import (
    SparseMetadata,
    build_metadata,
)
from tileas_xdsl.interpreters.ptx.matrix.smem_operands import ELEMENT_BITS, values_of
from tileas_xdsl.interpreters.ptx.matrix.sparse_operands import spread_along_k
from tileas_xdsl.interpreters.ptx.matrix.wgmma_accumulators import wrap_int32
from tileas_xdsl.interpreters.ptx.matrix.wgmma_computation import rounded_sum
from tileas_xdsl.interpreters.ptx.memory.generic_access import groups, load, store
from tileas_xdsl.interpreters.ptx.numerics.float_formats import decode, singles
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES, UNSIGNED
from tileas_xdsl.layout.tables import flat_table
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.mma.register_layouts import REGISTER_LAYOUTS

WORD = np.dtype(np.uint32)
COUNTS: Mapping[str, int] = {"x1": 1, "x2": 2, "x4": 4}


# ldmatrix and stmatrix: rows of 16 bytes, distributed as the tables of register layouts say

ROWS: Mapping[str, int] = {"m8n8": 8, "m16n16": 16, "m16n8": 8}
"""Rows of 16 bytes of a matrix, as it is in memory; those of bytes are transposed on the way."""


@dataclass(frozen=True)
class _Matrices:
    """What an instruction moves: rows of memory, and which byte of them each register holds."""

    rows: int
    bytes: Array
    """By thread and byte of its registers, the index in all rows."""

    @property
    def registers(self) -> int:
        """The registers of a thread."""
        return self.bytes.shape[1] // 4


def _matrices_of(site: Site, *, stores: bool) -> _Matrices:
    site.ignore(("sync", "aligned"))
    shape = site.choose(ROWS)
    name = site.choose(COUNTS)
    trans = ".trans" if site.flag("trans") else ""
    site.ignore(("shared", "shared::cta"))
    type_ = site.modifiers.pop() if site.modifiers else ""
    layout = f"{site.name}.{shape}.{name}{trans}.{type_}.{'src' if stores else 'dst'}"
    if layout not in REGISTER_LAYOUTS:
        site.fail(f"shape .{shape} of .{type_} is not supported")
    site.no_more()
    site.count(2)
    return _Matrices(ROWS[shape] * COUNTS[name], _bytes_of(layout, 2 if type_ == "b16" else 1))


@lru_cache(maxsize=64)
def _bytes_of(name: str, size: int) -> Array:
    """Return by thread and byte of its registers the index of the byte in memory."""
    layout = REGISTER_LAYOUTS[name]
    table = np.asarray(flat_table(layout.layout)).reshape(layout.values, layout.threads).T
    return (table[:, :, None] * size + np.arange(size)).reshape(layout.threads, -1)


def build_ldmatrix(site: Site) -> Step:
    """`ldmatrix`: load rows of 16 bytes at per-lane addresses, distributed over the warp."""
    what = _matrices_of(site, stores=False)
    dests = [site.destination(p, TYPES["b32"]) for p in site.vector(0, (what.registers,))]
    slot, offset = site.address(1)

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "ldmatrix", absence=Absence.NONE):
            return STOP
        rows = _rows_of(f, slot, offset, what.rows).view(np.uint8).reshape(-1, 16 * what.rows)
        words = np.ascontiguousarray(rows[:, what.bytes]).view(np.uint32)
        columns = np.zeros((len(dests), f.warpgroup.lanes), WORD)
        for location, warp in enumerate(warps_of(f.mask)):
            columns[:, WARP * warp : WARP * warp + WARP] = words[location].T
        for dest, column in zip(dests, columns, strict=True):
            f.r[dest] = column
        return None

    return step


def lanes_with_rows(f: ConvergenceGroup, rows: int) -> int:
    """Return the lanes whose addresses are used, one for each row."""
    mask = 0
    for warp in warps_of(f.mask):
        mask |= ((1 << rows) - 1) << WARP * warp
    return mask


def _rows_of(f: ConvergenceGroup, slot: int, offset: int, rows: int) -> Array:
    """Return the addressed rows, shape (warps x rows, 16 bytes)."""
    mask = f.mask
    f.mask = lanes_with_rows(f, rows)
    found = np.zeros((f.mask.bit_count(), 4), WORD)
    for group in groups(f, f.r[slot], offset, "shared"):
        found[group.rows] = load(f, group, 4, 4)
    f.mask = mask
    return found


def build_stmatrix(site: Site) -> Step:
    """`stmatrix`: the inverse of `ldmatrix`."""
    what = _matrices_of(site, stores=True)
    slot, offset = site.address(0)
    slots = site.fragment(1, (what.registers,), TYPES["b32"])

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "stmatrix", absence=Absence.NONE):
            return STOP
        words = np.stack([spread(f.r[s], f.warpgroup.lanes, WORD) for s in slots], 1)
        cells = words.view(np.uint8).reshape(-1, WARP, 4 * len(slots))[list(warps_of(f.mask))]
        rows = np.zeros((len(cells), 16 * what.rows), np.uint8)
        rows[:, what.bytes] = cells
        mask = f.mask
        f.mask = lanes_with_rows(f, what.rows)
        for group in groups(f, f.r[slot], offset, "shared"):
            store(f, group, rows.reshape(-1, 16).view(np.uint32)[group.rows], 4)
        f.mask = mask
        return None

    return step


def build_movmatrix(site: Site) -> Step:
    """`movmatrix`: transpose an 8x8 matrix of 16-bit elements across a warp."""
    site.ignore(("sync", "aligned"))
    site.choose(("m8n8",))
    site.choose(("trans",))
    site.choose(("b16",))
    site.no_more()
    site.count(2)
    dest, a = site.destination(0, TYPES["b32"]), site.source(1, TYPES["b32"])

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "movmatrix"):
            return STOP
        words = spread(f.r[a], f.warpgroup.lanes, WORD).reshape(-1, WARP)
        cells = np.ascontiguousarray(words).view(np.uint16).reshape(-1, 8, 8)
        flipped = np.ascontiguousarray(cells.transpose(0, 2, 1))
        f.r[dest] = flipped.view(np.uint32).reshape(-1)
        return None

    return step


# mma.sync

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")

FAMILY: Mapping[str, str] = {
    "f16": "16bit", "bf16": "16bit", "tf32": "tf32", "s8": "8bit", "u8": "8bit",
    "e4m3": "8bit", "e5m2": "8bit", "e3m2": "8bit", "e2m3": "8bit", "e2m1": "8bit", "f64": "f64",
}  # fmt: skip
"""By element type, the row of the register-layout table."""

CONTAINERS: Mapping[str, tuple[int, int]] = {
    "e4m3": (0, 0xFF), "e5m2": (0, 0xFF), "e3m2": (0, 0x3F), "e2m3": (0, 0x3F), "e2m1": (2, 0xF),
}  # fmt: skip
"""Where the bits of an element are in its byte: the lowest one, and the mask of all."""


@cache
def locations(name: str) -> tuple[Array, Array]:
    """Return rows and columns of the (thread, value) pairs of a layout, each (threads, values)."""
    layout = REGISTER_LAYOUTS[name]
    table = np.asarray(flat_table(layout.layout)).reshape(
        layout.values, layout.threads
    ).T  # fmt: skip
    return table % layout.tile[0], table // layout.tile[0]


def build_mma(site: Site) -> Step:
    """`mma.sync`, `mma.sp`: D = A B + C of one warp; A may keep only half of its elements."""
    ordered = site.flag("sp::ordered_metadata")
    sparse = site.flag("sp") or ordered
    site.ignore(("sync", "aligned", "row", "col"))
    shape = next((m for m in map(_SHAPE.fullmatch, site.modifiers) if m), None)
    if shape is None:
        site.fail("the shape mMnNkK is missing")
    site.modifiers.remove(shape.group())
    saturate = site.flag("satfinite")
    site.ignore(("kind::f8f6f4",))
    if len(site.modifiers) != 4:
        site.fail("the types of D, A, B and C are expected")
    d, a, b, c = site.modifiers
    family = FAMILY.get(a)
    name = f"mma.m{shape[1]}n{shape[2]}k{int(shape[3]) // (2 if sparse else 1)}.{family}"
    if family is None or FAMILY.get(b) != family or f"{name}.a" not in REGISTER_LAYOUTS:
        site.fail(f"{shape.group()} of .{a} and .{b} is not supported")
    if c != d and not (d == "f32" and c == "f32"):
        site.fail(f".{c} is not added to .{d}")
    site.count(6 if sparse else 4)
    k, metadata = int(shape[3]), None
    if sparse:
        metadata = build_metadata(site, 4, _cell_bits(a), k, ordered=ordered)
    return _mma_step(site, name, (d, a, b), saturate, metadata)


def _mma_step(
    site: Site,
    name: str,
    types: tuple[str, str, str],
    saturate: bool,
    metadata: SparseMetadata | None,
) -> Step:
    d, a, b = types
    halves = 1 if metadata is None else 2
    width = 64 if d == "f64" else 32
    register = TYPES[f"b{width}"]
    counts = {part: _count(f"{name}.{part}", bits, width) for part, bits in
              (("a", _cell_bits(a)), ("b", _cell_bits(b)), ("c", _cell_bits(d)))}  # fmt: skip
    counts["b"] *= halves
    dests = [site.destination(p, register) for p in site.vector(0, (counts["c"],))]
    sources = {"a": register, "b": register, "c": register if d == "f16" else TYPES[d]}
    slots = {
        part: site.fragment(location, (counts[part],), type_)
        for location, (part, type_) in enumerate(sources.items(), 1)
    }

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "mma.sync", absence=Absence.NONE):
            return STOP
        lanes = f.warpgroup.lanes
        words = {
            part: np.stack([spread(f.r[s], lanes, UNSIGNED[width]) for s in found], 1)
            for part, found in slots.items()
        }
        result = np.zeros_like(words["c"])
        for warp in warps_of(f.mask):
            mine = slice(WARP * warp, WARP * warp + WARP)
            left = matrix_of(words["a"][mine], f"{name}.a", a)
            if metadata is not None:
                left = spread_along_k(left, metadata.columns(f, warp))
            halves_of_b = np.split(words["b"][mine], halves, 1)
            right = np.concatenate([matrix_of(half, f"{name}.b", b) for half in halves_of_b], 1)
            total = left @ right.T + matrix_of(words["c"][mine], f"{name}.c", d)
            result[mine] = _registers_of(total, f"{name}.c", d, saturate)
        for i, dest in enumerate(dests):
            f.r[dest] = np.ascontiguousarray(result[:, i])
        return None

    return step


def element_bits(element: str) -> int:
    """Return the bits of an element of an operand or an accumulator."""
    return {"f64": 64, "f32": 32, "s32": 32}.get(element) or ELEMENT_BITS[element]


def _cell_bits(element: str) -> int:
    """Return the bits that an element has in a register: floats of 6 and 4 bits have a byte."""
    return 8 if element in CONTAINERS else element_bits(element)


def _count(name: str, bits: int, width: int) -> int:
    """Return the registers of an operand, at least one."""
    return max(REGISTER_LAYOUTS[name].values * bits // width, 1)


def matrix_of(words: Array, name: str, element: str) -> Array:
    """Decode registers (threads, registers) to a matrix of numbers (rows, columns)."""
    row, column = locations(name)
    cells = np.ascontiguousarray(words).view(UNSIGNED[_cell_bits(element)])[:, : row.shape[1]]
    matrix = np.zeros(REGISTER_LAYOUTS[name].tile, np.float64)
    matrix[row, column] = numbers_of(cells, element)
    return matrix


def numbers_of(cells: Array, element: str) -> Array:
    """Decode the bits of elements, also of accumulators, to doubles."""
    cells = np.ascontiguousarray(cells)
    if element in ("f64", "f32"):
        return decode(cells, element)
    if element in CONTAINERS:
        shift, mask = CONTAINERS[element]
        return singles(cells >> np.uint8(shift) & np.uint8(mask), element).astype(np.float64)
    if element == "s32":
        return cells.view(np.int32).astype(np.float64)
    return values_of(cells, element).astype(np.float64)


def _registers_of(matrix: Array, name: str, element: str, saturate: bool) -> Array:
    row, column = locations(name)
    return words_of(matrix[row, column], element, saturate)


def words_of(cells: Array, element: str, saturate: bool) -> Array:
    """Round elements of D (threads, values) to the words of the registers of each thread."""
    if element == "f64":
        return cells.view(np.uint64)
    if element == "s32":
        return wrap_int32(rounded_sum(cells, "s32", saturate))
    if element == "f16":
        return np.ascontiguousarray(cells.astype(np.float16)).view(np.uint32)
    return cells.astype(np.float32).view(np.uint32)


TABLE = (
    Semantics("ldmatrix", build_ldmatrix, waits=True),
    Semantics("stmatrix", build_stmatrix, waits=True),
    Semantics("movmatrix", build_movmatrix, waits=True),
)
