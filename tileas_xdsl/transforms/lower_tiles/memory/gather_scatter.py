"""Handlers of gathers and scatters: per-element indices along some dimensions of an array.

    %t = gather_load %view[%rows, %j]   ->   for each element that the thread holds:
                                             %o = sext(%rows[k]) * stride0 + (%j + start1) * stride1
                                             ld.global [%base + %o], predicated by mask and bounds

Offsets are 64-bit; an index is out of bounds as an unsigned number, so that a negative one is too.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i32, i64
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import GatherLoadOp, ScatterStoreOp
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    bit_width,
    i64_constant,
    logical_and,
    multiply,
)
from tileas_xdsl.threads.codegen.lowered_values import (
    GlobalView,
    Lowered,
    RegisterTile,
    Scalar,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.gmem.bounds_and_vector_width import check_whole_bytes
from tileas_xdsl.threads.gmem.coalesced_access import padding_of
from tileas_xdsl.threads.gmem.memory_order import MemoryOrder, order
from tileas_xdsl.threads.registers.element_iterator import (
    Cell,
    cells_to_load,
    cells_to_store,
    is_held_once,
    mask_of_cell,
)
from tileas_xdsl.threads.registers.register_tile import common_layout, in_registers
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import element, filled
from tileas_xdsl.threads.smem.scratch_buffer import exchanged
from tileas_xdsl.transforms.lower_tiles.memory.tokens import token_of

ALONE = 128
"""Bits of elements of which no access moves two."""

ScatteringOp = GatherLoadOp | ScatterStoreOp


@dataclass(frozen=True)
class Scatter:
    """Where the elements of a tile are in an array: an index for all, or one for each."""

    e: ThreadBuilder
    view: GlobalView
    layout: RegisterLayout
    indices: Sequence[SSAValue | RegisterTile]
    """By dimension of the array."""
    checked: Sequence[bool]
    """Along which dimensions an index may be out of bounds."""
    mask: RegisterTile | None

    @staticmethod
    def of(
        e: ThreadBuilder, op: ScatteringOp, tile: Attribute, values: Sequence[SSAValue]
    ) -> Scatter:
        """Return the element addresses of an operation, in the register layout of its tile."""
        view = e.get(op.view)
        if not isinstance(view, GlobalView):
            raise op_error(op, f"reaches {op.view.type}, and threads scatter in global memory only")
        check_whole_bytes(op, view)
        order(e, op)
        coords = [(value, e.get(value)) for value in op.coords]
        tiles = [found for _, found in coords if not isinstance(found, Scalar)]
        layout = common_layout(e, op, tile, [*(e.get(value) for value in values), *tiles])
        indices = [
            found.value if isinstance(found, Scalar) else in_registers(e, op, value, layout)
            for value, found in coords
        ]
        flags = (False,) * len(indices) if op.in_bounds is None else op.in_bounds.get_values()
        mask = None if op.mask is None else in_registers(e, op, op.mask, layout)
        return Scatter(e, view, layout, indices, [not flag for flag in flags], mask)

    def element_address(self, cell: Cell) -> tuple[SSAValue, SSAValue | None]:
        """The pointer to an element, and whether it is accessed."""
        e, view = self.e, self.view
        exists = logical_and(e, cell.exists, mask_of_cell(e, self.mask, cell))
        offset: SSAValue | None = None
        for axis, index in enumerate(self.indices):
            coordinate = self._coordinate(axis, index, cell)
            if self.checked[axis]:
                exists = logical_and(e, exists, self._is_inside(axis, coordinate))
            term = _scaled(e, coordinate, view.strides[axis])
            offset = term if offset is None else add(e, offset, term)
        assert offset is not None
        return advance(e, view.pointer, offset), exists

    def _coordinate(self, axis: int, index: SSAValue | RegisterTile, cell: Cell) -> SSAValue:
        """An index of the array, `i64`."""
        e, start = self.e, self.view.starts[axis]
        if isinstance(index, RegisterTile):
            index = element(e, index.parts[cell.block], cell.register)
        wide = _wide(e, index)
        return add(e, wide, start if isinstance(start, int) else _wide(e, start))

    def _is_inside(self, axis: int, coordinate: SSAValue) -> SSAValue:
        """Whether an index has an element; as an unsigned number a negative one is too large."""
        e, extent = self.e, self.view.extents[axis]
        limit = i64_constant(e, extent) if isinstance(extent, int) else _wide(e, extent)
        return e.insert(arith.CmpiOp(coordinate, limit, "ult")).result


def _wide(e: ThreadBuilder, value: SSAValue) -> SSAValue:
    """A signed integer as `i64`."""
    if value.type == i64:
        return value
    if isinstance(value.type, IndexType):
        return e.insert(arith.IndexCastOp(value, i64)).result
    if bit_width(value.type) < bit_width(i32):
        value = e.insert(arith.ExtSIOp(value, i32)).result
    return e.insert(arith.ExtSIOp(value, i64)).result


def _scaled(e: ThreadBuilder, coordinate: SSAValue, stride: SSAValue | int) -> SSAValue:
    return multiply(e, coordinate, stride if isinstance(stride, int) else _wide(e, stride))


def gather(e: ThreadBuilder, op: GatherLoadOp) -> Sequence[Lowered]:
    """A tile of elements from anywhere; what is masked or out of bounds is padded."""
    work = Scatter.of(e, op, op.result.type, [])
    type_, layout = work.view.element, work.layout
    padding = padding_of(op.padding_value, type_)
    ordering = MemoryOrder.of(op.mem_semantic, op.mem_scope)
    alone = ordering.semantics is not None and not is_held_once(layout)
    rows: list[dict[int, SSAValue]] = [{} for _ in range(vectors_of(layout).count)]
    for cell in (cells_to_store if alone else cells_to_load)(e, layout, ALONE):
        pointer, exists = work.element_address(cell)
        made = LoadOp(
            pointer, type_, exists, fill=padding, order=ordering.semantics, scope=ordering.scope
        )
        rows[cell.block][cell.register] = e.insert(made).result
    parts = tuple(filled(e, row, vectors_of(layout).length, type_) for row in rows)
    found = RegisterTile(layout, type_, parts)
    return [exchanged(e, op, found, layout) if alone else found, *token_of(op)]


def scatter(e: ThreadBuilder, op: ScatterStoreOp) -> Sequence[Lowered]:
    """Elements to anywhere; nothing is stored out of bounds."""
    work = Scatter.of(e, op, op.value.type, [op.value])
    value = in_registers(e, op, op.value, work.layout)
    ordering = MemoryOrder.of(op.mem_semantic, op.mem_scope)
    for cell in cells_to_store(e, work.layout, ALONE):
        pointer, exists = work.element_address(cell)
        single = element(e, value.parts[cell.block], cell.register)
        e.insert(StoreOp(single, pointer, exists, order=ordering.semantics, scope=ordering.scope))
    return token_of(op)


HANDLERS: Handlers = {
    GatherLoadOp: gather,
    ScatterStoreOp: scatter,
}
