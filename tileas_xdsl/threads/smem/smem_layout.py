"""Tiles in shared memory as swizzled panels, and the allocation of a kernel's shared memory.

A tile of rows is cut into panels, each as wide as the swizzle span, since TMA fills one panel by
one box and the swizzle permutes 16-byte units within a span. 64x128 f16 is two panels of 64
columns:

>>> tile = shared_layout((64, 128), 16)
>>> tile.describe()
'64x128, 16 bits, 2 panels of 64, 128B'
>>> tile.panel_bytes, tile.column_offset(64)
(8192, 8192)
>>> tile.addresses()[1, :9].tolist()
[144, 146, 148, 150, 152, 154, 156, 158, 128]

Row 1 begins at byte 128; the swizzle xors its row number (1) into the 16-byte unit, so that columns
0 to 7 and 8 to 15 are exchanged. The layout library decides whether a tile is canonical for matrix
descriptors (`match_canonical`), and at which offset each instruction along K begins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from functools import lru_cache
from math import prod

import numpy as np
from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.elements import element_type
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.registers.access import Ints
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.layout.tables import table
from tileas_xdsl.target.arch import Target, get_target
from tileas_xdsl.target.mma.canonical import (
    MN_MAJOR_OPERANDS,
    CanonicalLayout,
    Major,
    operand_refusal,
)
from tileas_xdsl.target.mma.canonical_match import Mismatch, match_canonical

ALIGNMENT = 1024
"""Alignment of tiles in bytes: the period of the longest swizzle."""

SPANS = (("128B", 128), ("64B", 64), ("32B", 32))
"""Swizzle modes and their spans in bytes, the widest first."""

MBARRIERS = "mbarriers"
"""The name of an allocation of mbarriers in the map of shared memory."""


@dataclass(frozen=True)
class SharedLayout:
    """A tile of rows in shared memory: panels of columns one after another, each row-major."""

    shape: tuple[int, ...]
    bits: int
    swizzle: str
    panel: int
    """Columns of a panel."""

    @property
    def rows(self) -> int:
        """The rows of the tile, all leading dimensions together."""
        return prod(self.shape[:-1])

    @property
    def columns(self) -> int:
        """The extent of the last dimension."""
        return self.shape[-1]

    @property
    def panels(self) -> int:
        """The number of panels."""
        return self.columns // self.panel

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of a panel."""
        return self.panel * self.bits // 8

    @property
    def panel_bytes(self) -> int:
        """Bytes of a panel."""
        return self.rows * self.row_bytes

    @property
    def bytes(self) -> int:
        """Bytes of the tile."""
        return self.panels * self.panel_bytes

    @property
    def swizzle_span(self) -> int:
        """Bytes that the swizzle permutes among themselves, 0 without one."""
        return next((span for name, span in SPANS if name == self.swizzle), 0)

    @property
    def is_by_row(self) -> bool:
        """Whether the swizzle is a function of the row index alone, the same in all panels."""
        if self.swizzle == "none":
            return True
        repeats = 8 * self.swizzle_span
        whole = self.panels == 1 or self.panel_bytes % repeats == 0
        return self.row_bytes == self.swizzle_span and whole

    def addresses(self) -> Ints:
        """`(rows, columns)`: the byte address of each element."""
        row, column = np.indices((self.rows, self.columns), dtype=np.int64)
        panel, inside = column // self.panel, column % self.panel
        linear = (panel * self.rows + row) * self.panel + inside
        return BYTE_SWIZZLES[self.swizzle](linear * self.bits // 8)

    def column_offset(self, columns: int) -> int:
        """Bytes from the start of a row to what is `columns` columns on, before the swizzle."""
        panel, inside = divmod(columns, self.panel)
        return panel * self.panel_bytes + inside * self.bits // 8

    def operand(self, rows: int, columns: int, *, transposed: bool) -> Layout:
        """Return `rows` x `columns` elements as an operand (MN, K), or as (K, MN) if transposed.

        Columns are whole panels, or a part of one.
        """
        step = self.rows * self.panel
        panel, panels = min(self.panel, columns), max(columns // self.panel, 1)
        column = Layout((panel, panels), (1, step))
        if panels == 1:
            column = Layout(panel, 1)
        row = Layout(rows, self.panel)
        modes = (column, row) if transposed else (row, column)
        return Layout(
            (modes[0].shape, modes[1].shape),
            (modes[0].stride, modes[1].stride),
        )

    def canonical(
        self, op: Operation, mn: int, k: int, target: Target, *, major: Major
    ) -> CanonicalLayout:
        """Return the canonical layout of an operand of `mn` x `k` elements.

        Rows are along MN of a K-major operand, and along K of an MN-major one.  Raise where the
        tensor core does not read such elements, or not as they lie.
        """
        found = _canonical(self, mn, k, target.name, major)
        if isinstance(found, CanonicalLayout):
            return found
        raise op_error(op, f"the tensor core cannot read its operand: {found}")

    def describe(self) -> str:
        """Return the layout as text for messages."""
        shape = "x".join(map(str, self.shape))
        return f"{shape}, {self.bits} bits, {self.panels} panels of {self.panel}, {self.swizzle}"


@lru_cache(maxsize=512)
def _canonical(
    shared: SharedLayout, mn: int, k: int, target_name: str, major: Major
) -> CanonicalLayout | str:
    """Match the layout of an operand with the canonical layouts of the target (cached)."""
    is_mn_major, target = major == "mn", get_target(target_name)
    rows, columns = (k, mn) if is_mn_major else (mn, k)
    layout = shared.operand(rows, columns, transposed=is_mn_major)
    found = match_canonical(layout, BYTE_SWIZZLES[shared.swizzle], shared.bits, major, target)
    if isinstance(found, Mismatch):
        return found.reason
    return (operand_refusal(found, target) if is_mn_major else None) or found


def reads_mn_major(instruction: str, bits: int) -> bool:
    """Whether `wgmma` or `tcgen05` take MN-major operands of elements of `bits` bits in panels."""
    modes = MN_MAJOR_OPERANDS.get(instruction, {}).get(bits, ())
    return any(name in modes for name, _ in SPANS)


def shared_layout(shape: Sequence[int], bits: int) -> SharedLayout:
    """Return the layout with the widest swizzle whose span divides the rows of a tile."""
    row = shape[-1] * bits // 8
    for name, span in SPANS:
        if row % span == 0:
            return SharedLayout(tuple(shape), bits, name, span * 8 // bits)
    return SharedLayout(tuple(shape), bits, "none", shape[-1])


@lru_cache(maxsize=512)
def panels_of(memory: MemoryLayout, shape: tuple[int, ...], bits: int) -> SharedLayout | str:
    """Return a memory layout as panels, or the reason why it is not in panels."""
    if product_each(memory.shape) != shape:
        return f"it is a layout of {'x'.join(map(str, product_each(memory.shape)))} tiles"
    if memory.elem is not None and element_type(memory.elem).bits != bits:
        return f"its elements are {memory.elem}, which do not have {bits} bits"
    offsets = table(memory.layout).reshape(shape[::-1]).transpose().reshape(-1, (shape or (1,))[-1])
    rows, columns = offsets.shape
    row, column = np.indices(offsets.shape, dtype=np.int64)
    swizzle = next(name for name, s in BYTE_SWIZZLES.items() if s == memory.byte_swizzle)
    span = dict(SPANS).get(swizzle, 0) * 8 // bits
    adjacent = int(np.argmin(np.append(offsets[0] == column[0], False)))
    for panel in (span, adjacent):
        if panel == 0 or columns % panel or panel == 1 < columns:
            continue
        linear = (column // panel * rows + row) * panel + column % panel
        if np.array_equal(linear, offsets):
            return SharedLayout(shape, bits, swizzle, panel)
    return "it does not put panels of whole rows one after another"


@dataclass(frozen=True)
class Allocation:
    """A range of shared memory."""

    name: str
    offset: int
    bytes: int
    what: str


def allocations_in(table: str) -> Sequence[Allocation]:
    """Return the parts that `SharedMap.table` has written."""
    found: list[Allocation] = []
    for line in table.splitlines()[:-1]:
        span, name, what = re.split(r"\s{2,}", line.strip().replace(" .. ", "..", 1), maxsplit=2)
        begin, end = map(int, span.split(".."))
        found.append(Allocation(name, begin, end - begin, what))
    return found


class SharedMemoryError(OpError):
    """A kernel needs more shared memory than a block has."""

    excess: int = 0
    """The bytes that it needs too many, all allocations together."""


@dataclass
class SharedMap:
    """All shared-memory allocations of a block."""

    target: Target
    parts: list[Allocation] = field(default_factory=list[Allocation])
    bytes: int = 0
    first_excess: SharedMemoryError | None = None
    """The error at the first operation for which there was no room."""
    gaps: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Begin and end of what alignment has left free: barriers of all pipelines share one."""

    def allocate(
        self, op: Operation, name: str, size: int, what: str, alignment: int = ALIGNMENT
    ) -> int:
        """Return the offset of a new allocation; `check` raises where capacity is exceeded."""
        offset = self._in_gap(size, alignment)
        if offset is None:
            offset = align_up(self.bytes, alignment)
            self.gaps.append((self.bytes, offset))
            self.bytes = offset + size
        most = self.target.shared_memory_per_block
        if self.bytes > most and self.first_excess is None:
            text = f"a block needs {self.bytes} bytes of shared memory with it; it has {most}"
            self.first_excess = SharedMemoryError(*op_error(op, text).diagnostics)
        self.parts.append(Allocation(name, offset, size, what))
        return offset

    def _in_gap(self, size: int, alignment: int) -> int | None:
        """Take memory of the first gap that has room, and return where it begins."""
        for index, (begin, end) in enumerate(self.gaps):
            offset = align_up(begin, alignment)
            if offset + size <= end:
                self.gaps[index : index + 1] = [(begin, offset), (offset + size, end)]
                return offset
        return None

    def reserve(self, size: int) -> None:
        """Let a block have `size` bytes at least, for use before that of any allocation."""
        self.bytes = max(self.bytes, size)

    def check(self) -> None:
        """Raise a `SharedMemoryError` if a block has not as much shared memory."""
        if self.first_excess is not None:
            self.first_excess.excess = self.bytes - self.target.shared_memory_per_block
            raise self.first_excess

    def table(self) -> str:
        """The map as text, a line for each part, in the order of their offsets."""
        width = max([15, *(len(part.name) for part in self.parts)])
        lines = [
            f"{part.offset:>8} .. {part.offset + part.bytes:<8} {part.name:<{width}}  {part.what}"
            for part in sorted(self.parts, key=lambda part: part.offset)
        ]
        return "\n".join([*lines, f"{self.bytes:>8} bytes in all"])
