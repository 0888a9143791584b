"""Matrices of a warp in opaque fragments: `wmma.load`, `wmma.mma`, `wmma.store`.

The PTX ISA (9.7.14.4) leaves open which thread has which element of a fragment, as long as all
instructions of a shape agree.  Here a fragment is that of `mma.sync`, block by block:

    m16n16k16    A: one block of 16 x 16     B: two of 8 columns    C: two of 16 x 8
    m32n8k16     A: two                      B: one                 C: two
    m8n32k16     the product transposed: A has the blocks of B, B those of A

Fragments with room for more (A and B of f16 always have 8 registers) hold every element again.
Memory is read and written in chunks of 16 bytes, or whole rows where they are shorter.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Literal

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import (
    Array,
    first_lane,
    lane_list,
    spread,
    warps_of,
)
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.execution.waits import Absence, reconverge
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.dot.warp_matrix import (
    FAMILY,
    element_bits,
    lanes_with_rows,
    locations,
    numbers_of,
    words_of,
)
from tileas_xdsl.interpreters.ptx.instructions.memory.load_store import memory_modifiers
from tileas_xdsl.interpreters.ptx.memory.generic_access import Group, Space, groups, load, store
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES, UNSIGNED
from tileas_xdsl.layout.units import WARP, WORD_BYTES
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import WMMA, WMMA_RESULTS
from tileas_xdsl.target.mma.register_layouts import REGISTER_LAYOUTS

Part = Literal["a", "b", "c"]

CHUNK = 16
"""Bytes of an access to memory."""

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_BLOCKS = {"16bit": "m16n8k16", "tf32": "m16n8k8", "8bit": "m16n8k16", "f64": "m8n8k4"}
"""By family of elements, the `mma.sync` whose fragments are blocks."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A matrix in the registers of a warp."""

    shape: tuple[int, int]
    """A: (m, k), B: (n, k), C: (m, n)."""
    element: str
    index: Array
    """By thread and value of its registers, the element of the matrix, row by row."""
    registers: int

    @property
    def width(self) -> int:
        """The bits of a register."""
        return max(element_bits(self.element), 32)

    def cells(self, words: Array) -> Array:
        """Return the bits of the elements (rows, columns) of the registers of a warp."""
        bits = np.ascontiguousarray(words).view(UNSIGNED[element_bits(self.element)])
        matrix = np.zeros(self.shape, bits.dtype)
        matrix.reshape(-1)[self.index] = bits
        return matrix

    def words(self, cells: Array) -> Array:
        """Return the registers (threads, registers) of the bits of the elements."""
        found = np.ascontiguousarray(cells.reshape(-1)[self.index])
        return found.view(UNSIGNED[self.width])


@lru_cache(maxsize=256)
def fragment(part: Part, shape: tuple[int, int, int], of: str, element: str) -> Fragment:
    """Return the fragment of an operand; `of` is the type of A and B that decides the blocks."""
    m, n, k = shape
    family = FAMILY[of]
    name = f"mma.{_BLOCKS[family]}.{family}"
    transposed = m % REGISTER_LAYOUTS[f"{name}.a"].tile[0] > 0
    rows, columns = {"a": (m, k), "b": (n, k), "c": (m, n)}[part]
    if transposed and part == "c":
        index = _blocks(f"{name}.c", (n, m))
        index = index % m * n + index // m
    else:
        mirrored = {"a": "b", "b": "a"}.get(part, part) if transposed else part
        index = _blocks(f"{name}.{mirrored}", (rows, columns))
    registers = _registers(part, f"m{m}n{n}k{k}", of, element)
    values = registers * max(element_bits(element), 32) // element_bits(element)
    index = np.tile(index, (1, values // index.shape[1]))
    return Fragment((rows, columns), element, index, registers)


def _blocks(name: str, shape: tuple[int, int]) -> Array:
    """Return by thread and value the elements of a matrix that consists of blocks."""
    row, column = locations(name)
    height, width = REGISTER_LAYOUTS[name].tile
    starts = [(i, j) for i in range(0, shape[0], height) for j in range(0, shape[1], width)]
    return np.concatenate([(row + i) * shape[1] + column + j for i, j in starts], 1)


def _registers(part: Part, shape: str, of: str, element: str) -> int:
    if part == "c":
        return WMMA_RESULTS[element][0]
    return WMMA[of].registers[shape]["ab".index(part)]


# Memory


@dataclass(frozen=True, slots=True)
class MatrixAccess:
    """Where a fragment is in memory."""

    fragment: Fragment
    transposed: bool
    """Whether rows in memory are columns of the fragment."""
    space: Space
    address: tuple[int, int]
    stride: int | None
    """The slot of the elements from row to row; None where rows follow one another."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns in memory."""
        rows, columns = self.fragment.shape
        return (columns, rows) if self.transposed else (rows, columns)

    @property
    def chunk(self) -> int:
        """The bytes of one access."""
        return min(CHUNK, self.shape[1] * element_bits(self.fragment.element) // 8)

    def chunk_accesses(self, f: ConvergenceGroup) -> Iterator[tuple[slice, Iterator[Group]]]:
        """Yield accesses of all warps, a chunk a lane: which chunks of a matrix, and by whom."""
        size = self.shape[1] * element_bits(self.fragment.element) // 8
        base, stride = self._uniform(f, size)
        at = np.arange(self.shape[0] * size // self.chunk) * self.chunk
        offsets = at // size * stride + at % size
        for start in range(0, len(at), WARP):
            some = slice(start, min(start + WARP, len(at)))
            each = np.resize(np.resize(offsets[some], WARP), f.warpgroup.lanes)
            with _only(f, lanes_with_rows(f, some.stop - start)):
                value = base + each.astype(np.uint64)
                yield some, groups(f, value, self.address[1], self.space)

    def _uniform(self, f: ConvergenceGroup, size: int) -> tuple[Array, int]:
        """Return the address by lane and the bytes from row to row, the same in a whole warp."""
        lanes, bits = f.warpgroup.lanes, element_bits(self.fragment.element)
        base = spread(f.r[self.address[0]], lanes, np.dtype(np.uint64)).astype(np.uint64)
        if self.stride is None:
            strides = np.full(lanes, size * 8 // bits)
        else:
            strides = spread(f.r[self.stride], lanes, np.dtype(np.uint32)).astype(np.int64)
        for warp in warps_of(f.mask):
            mine = slice(WARP * warp, WARP * warp + WARP)
            if np.ptp(base[mine]) or np.ptp(strides[mine]):
                raise Fault("invalid", "address or stride of wmma differ between lanes of a warp")
        if np.ptp(strides[list(lane_list(f.mask))]):
            raise Fault("unsupported", "strides of wmma that differ between warps are not modelled")
        return base, int(strides[first_lane(f.mask)]) * bits // 8


@contextmanager
def _only(f: ConvergenceGroup, mask: int) -> Generator[None]:
    """Let only some lanes of a group access memory."""
    whole, f.mask = f.mask, mask
    try:
        yield
    finally:
        f.mask = whole


def _shape_of(site: Site) -> tuple[str, tuple[int, int, int]]:
    found = next((m for m in map(_SHAPE.fullmatch, site.modifiers) if m), None)
    if found is None:
        site.fail("the shape mMnNkK is missing")
    site.modifiers.remove(found.group())
    return found.group(), (int(found[1]), int(found[2]), int(found[3]))


def _access(site: Site, part: Part, address: int) -> MatrixAccess:
    site.ignore(("sync", "aligned"))
    layout = site.choose(("row", "col"))
    name, shape = _shape_of(site)
    element = site.modifiers.pop()
    space = memory_modifiers(site)
    site.no_more()
    site.count(2, 3)
    stride = site.source(2, TYPES["u32"]) if len(site.operands) == 3 else None
    found = fragment(part, shape, _operand_type(site, part, name, element), element)
    transposed = (layout == "row") == (part == "b")
    return MatrixAccess(found, transposed, space, site.address(address), stride)


def _operand_type(site: Site, part: Part, shape: str, element: str) -> str:
    """Return a type of A and B that products of this shape have, with this fragment."""
    for name, operands in WMMA.items():
        if shape in operands.registers and element in (
            operands.results if part == "c" else (name,)
        ):
            return name
    return site.fail(f".{element} is not for {shape}")


def build_load(site: Site, part: Part) -> Step:
    """`wmma.load`: a matrix of each warp from memory."""
    access = _access(site, part, 1)
    what = access.fragment
    dests = [
        site.destination(p, TYPES[f"b{what.width}"]) for p in site.vector(0, (what.registers,))
    ]

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, site.name, absence=Absence.NONE):
            return STOP
        warps = warps_of(f.mask)
        words = access.chunk // WORD_BYTES
        matrices = np.zeros((len(warps), _chunks(access), words), np.uint32)
        for some, parts in access.chunk_accesses(f):
            found = np.zeros((len(warps) * (some.stop - some.start), words), np.uint32)
            for group in parts:
                found[group.rows] = load(f, group, WORD_BYTES, words)
            matrices[:, some] = found.reshape(len(warps), -1, words)
        columns = np.zeros((f.warpgroup.lanes, what.registers), UNSIGNED[what.width])
        for matrix, warp in zip(matrices, warps, strict=True):
            cells = matrix.view(UNSIGNED[element_bits(what.element)]).reshape(access.shape)
            mine = slice(WARP * warp, WARP * warp + WARP)
            columns[mine] = what.words(cells.T if access.transposed else cells)
        for i, dest in enumerate(dests):
            f.r[dest] = np.ascontiguousarray(columns[:, i])
        return None

    return step


def _chunks(access: MatrixAccess) -> int:
    rows, columns = access.shape
    return rows * columns * element_bits(access.fragment.element) // 8 // access.chunk


def build_store(site: Site) -> Step:
    """`wmma.store.d`: a matrix of each warp to memory."""
    access = _access(site, "c", 0)
    what = access.fragment
    slots = _sources(site, 1, what)

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, site.name, absence=Absence.NONE):
            return STOP
        warps, words = warps_of(f.mask), _words(f, slots, what)
        matrices = [what.cells(words[WARP * warp : WARP * warp + WARP]) for warp in warps]
        shown = [np.ascontiguousarray(m.T if access.transposed else m) for m in matrices]
        chunks = np.stack([m.view(np.uint32).reshape(_chunks(access), -1) for m in shown])
        for some, parts in access.chunk_accesses(f):
            rows = chunks[:, some].reshape(-1, chunks.shape[2])
            for group in parts:
                store(f, group, rows[group.rows], WORD_BYTES)
        return None

    return step


def _sources(site: Site, operand: int, what: Fragment) -> list[int]:
    return site.fragment(operand, (what.registers,), TYPES[f"b{what.width}"])


def _words(f: ConvergenceGroup, slots: list[int], what: Fragment) -> Array:
    """Return registers as columns (lanes, registers)."""
    dtype = UNSIGNED[what.width]
    return np.stack([spread(f.r[s], f.warpgroup.lanes, dtype) for s in slots], 1)


# Products


def build_mma(site: Site) -> Step:
    """`wmma.mma`: D = A B + C of each warp."""
    site.ignore(("sync", "aligned", "rn", "rz", "rm", "rp"))
    for _ in "ab":
        site.choose(("row", "col"))  # fragments are the same for both
    name, shape = _shape_of(site)
    saturate = site.flag("satfinite")
    types = site.modifiers
    d, of, c = (types[0], "f16", types[1]) if len(types) == 2 else (types[0], types[1], types[-1])
    if of not in WMMA or name not in WMMA[of].registers or not {c, d} <= {*WMMA[of].results}:
        site.fail(f"{name} of .{of} is not supported")
    site.count(4)
    wanted = (("c", d), ("a", of), ("b", of), ("c", c))
    fragments = [fragment(part, shape, of, element) for part, element in wanted]
    result = fragments[0]
    dests = [
        site.destination(p, TYPES[f"b{result.width}"]) for p in site.vector(0, (result.registers,))
    ]
    slots = [_sources(site, i, fragments[i]) for i in (1, 2, 3)]

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, site.name, absence=Absence.NONE):
            return STOP
        words = [_words(f, s, what) for s, what in zip(slots, fragments[1:], strict=True)]
        columns = np.zeros((f.warpgroup.lanes, len(dests)), UNSIGNED[result.width])
        for warp in warps_of(f.mask):
            mine = slice(WARP * warp, WARP * warp + WARP)
            left, right, added = (
                numbers_of(what.cells(w[mine]), what.element)
                for w, what in zip(words, fragments[1:], strict=True)
            )
            total = (left @ right.T + added).reshape(-1)[result.index]
            columns[mine] = words_of(total, d, saturate)
        for i, dest in enumerate(dests):
            f.r[dest] = np.ascontiguousarray(columns[:, i])
        return None

    return step


TABLE = (
    *(
        Semantics(f"wmma.load.{part}", partial(build_load, part=part), waits=True)
        for part in ("a", "b", "c")
    ),
    Semantics("wmma.store.d", build_store, waits=True),
    Semantics("wmma.mma", build_mma, waits=True),
)
