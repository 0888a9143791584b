"""Element-wise loads and stores through a pointer or a tile of pointers.

A pointer alone is a tile of rank 0: one element, which every thread loads for itself, and which
the first thread alone stores, updates, or loads in an order.

    load %p mask %m        ->   ld.global, in all threads where %m holds
    store %x, %p mask %m   ->   st.global, in the first thread if %m holds
    store %xs, %ps mask %ms ->  st.global for each element that the thread owns and whose bit is set
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import PtrType as MemoryPointer
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import pointer_of
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import logical_and
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile, Scalar
from tileas_xdsl.threads.codegen.thread_ids import is_first_thread
from tileas_xdsl.threads.gmem.pointers.pointer_tiles import followed, memory_pointer
from tileas_xdsl.threads.registers.element_iterator import (
    Cell,
    cells_to_load,
    cells_to_store,
    is_held_once,
)
from tileas_xdsl.threads.registers.register_tile import common_layout, in_registers
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import element, filled
from tileas_xdsl.threads.smem.scratch_buffer import broadcast_from_first_thread, read_back, spilled

ALONE = 128
"""Bits of elements of which no access moves two."""


@dataclass(frozen=True)
class PointerElement:
    """An element in memory as one thread accesses it."""

    pointer: SSAValue
    exists: SSAValue | None
    """Whether this thread accesses it: it acts for the element, and the mask holds."""
    operands: Sequence[SSAValue]
    """The elements of the operands of the access."""
    cell: Cell
    """The register of the tile; of a scalar the only one."""


@dataclass(frozen=True)
class PointerElements:
    """The elements that an access reaches through its pointers."""

    e: ThreadBuilder
    op: Operation
    pointers: SSAValue
    type: MemoryPointer
    layout: RegisterLayout | None
    """Of all tiles of the access; None for a single pointer."""
    base: RegisterTile | Scalar
    operands: Sequence[RegisterTile | Scalar]
    mask: RegisterTile | Scalar | None
    flags: SSAValue | None
    """The mask, as the program has it."""

    @staticmethod
    def of(
        e: ThreadBuilder,
        op: Operation,
        base: SSAValue,
        mask: SSAValue | None,
        operands: Sequence[SSAValue] = (),
    ) -> PointerElements:
        """Return the elements of an access, its tiles in registers of one layout."""
        pointer = pointer_of(base.type)
        assert pointer is not None
        type_, values = memory_pointer(op, pointer), (base, *operands)
        layout = None
        if shape_of(base.type) is not None:
            model = (operands or values)[0].type
            layout = common_layout(e, op, model, [e.get(value) for value in values])

        def lowered(value: SSAValue) -> RegisterTile | Scalar:
            if layout is None:
                return Scalar(e.scalar(value))
            return in_registers(e, op, value, layout)

        first, *others = map(lowered, values)
        lowered_mask = None if mask is None else lowered(mask)
        return PointerElements(e, op, base, type_, layout, first, others, lowered_mask, mask)

    def elements(self, *, once: bool, bits: int = ALONE) -> Iterator[PointerElement]:
        """Return the elements of this thread; `once` if no two threads may access the same one."""
        e = self.e
        for cell in self._cells(once, bits):
            mask = None if self.mask is None else _element(e, self.mask, cell)
            exists = logical_and(e, cell.exists, mask)
            pointer = followed(e, _element(e, self.base, cell), self.type)
            operands = [_element(e, operand, cell) for operand in self.operands]
            yield PointerElement(pointer, exists, operands, cell)

    def _cells(self, once: bool, bits: int) -> Iterator[Cell]:
        if self.layout is None:
            return iter((Cell(0, 0, is_first_thread(self.e) if once else None),))
        return (cells_to_store if once else cells_to_load)(self.e, self.layout, bits)

    @property
    def is_shared(self) -> bool:
        """Return whether several threads hold one element of the access."""
        if self.layout is None:
            return not self.e.by_one_thread
        return not is_held_once(self.layout)

    def collected(
        self, found: Sequence[tuple[Cell, SSAValue]], *, shared: bool = False
    ) -> RegisterTile | Scalar:
        """Return the elements that threads found as one value.

        `shared` if one thread found each and all that hold it need it, through shared memory.
        """
        e, type_ = self.e, self.type.element_type
        if self.layout is None:
            ((_, value),) = found
            return Scalar(broadcast_from_first_thread(e, self.op, value) if shared else value)
        vectors = vectors_of(self.layout)
        rows: list[dict[int, SSAValue]] = [{} for _ in range(vectors.count)]
        for cell, value in found:
            rows[cell.block][cell.register] = value
        parts = tuple(filled(e, row, vectors.length, type_) for row in rows)
        tile = RegisterTile(self.layout, type_, parts)
        return read_back(e, spilled(e, self.op, tile), self.layout) if shared else tile


def _element(e: ThreadBuilder, value: RegisterTile | Scalar, cell: Cell) -> SSAValue:
    if isinstance(value, Scalar):
        return value.value
    return element(e, value.parts[cell.block], cell.register)
