"""Loads and stores through pointers, one element each: `nv_tileas.load` and `nv_tileas.store`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, i32, i64
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp as LoadElementOp
from tileas_xdsl.dialects.cute import PtrType as MemoryPointer
from tileas_xdsl.dialects.cute import StoreOp as StoreElementOp
from tileas_xdsl.dialects.nv_tileaa.pointers import pointer_of
from tileas_xdsl.dialects.nv_tileas.memory.element_access import (
    AsyncLoadOp,
    LoadBase,
    LoadOp,
    StoreOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    cast_index,
    extend_to_i64,
    logical_and,
    multiply,
)
from tileas_xdsl.threads.codegen.lowered_values import (
    GlobalView,
    LoadToken,
    Lowered,
    RegisterTile,
    Scalar,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import is_first_thread
from tileas_xdsl.threads.gmem.atomic_rmw import Order
from tileas_xdsl.threads.gmem.bounds_and_vector_width import Window, check_whole_bytes
from tileas_xdsl.threads.gmem.coalesced_access import (
    in_rows,
    load_window,
    order,
    padded,
    padding_of,
    store_window,
)
from tileas_xdsl.threads.gmem.contiguous_pointer_runs import (
    Runs,
    either_loaded,
    either_stored,
)
from tileas_xdsl.threads.gmem.pointer_tiles import followed, memory_pointer
from tileas_xdsl.threads.registers.element_iterator import (
    cells_to_load,
    cells_to_store,
    is_held_once,
    mask_of_cell,
)
from tileas_xdsl.threads.registers.register_tile import (
    as_fragment,
    common_layout,
    in_registers,
    layout_of,
)
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import element, filled
from tileas_xdsl.threads.smem.scratch_buffer import (
    broadcast_from_first_thread,
    read_back,
    spilled,
)
from tileas_xdsl.transforms.lower_tiles.memory.tokens import check_weak, token_of


def load(e: ThreadBuilder, op: LoadOp) -> Sequence[Lowered]:
    """What pointers point to; what is masked is padded."""
    return [loaded(e, op), *token_of(op)]


def async_load(e: ThreadBuilder, op: AsyncLoadOp) -> Sequence[Lowered]:
    """The same: the hardware waits where registers are used."""
    found = loaded(e, op)
    if not isinstance(found, RegisterTile):
        raise op_error(op, "loads a single element in the background, which is not lowered yet")
    return [LoadToken(found), *token_of(op)]


def loaded(e: ThreadBuilder, op: LoadBase) -> Scalar | RegisterTile:
    """The value of a load, in registers; what it acquires is known to all threads."""
    order(e, op)
    if pointer_of(op.base.type) is None:
        return _loaded_at(e, op)
    ordering = Order.of(op.mem_semantic, op.mem_scope)
    found = _loaded_through(e, op, ordering)
    ordering.end(e)
    return found


def _loaded_through(e: ThreadBuilder, op: LoadBase, ordering: Order) -> Scalar | RegisterTile:
    type_ = _pointer(op, op.base)
    if shape_of(op.base.type) is None:
        pointer = followed(e, e.scalar(op.base), type_)
        return Scalar(_loaded_alone(e, op, pointer, type_, ordering))
    layout = common_layout(e, op, op.base.type, [e.get(op.base)])
    base = in_registers(e, op, op.base, layout)
    mask = None if op.mask is None else in_registers(e, op, op.mask, layout)
    padding = padding_of(op.padding_value, type_.element_type)
    alone = ordering.word is not None and not is_held_once(e, layout)
    cells = cells_to_store if alone else cells_to_load

    def one_by_one() -> RegisterTile:
        rows: list[dict[int, SSAValue]] = [{} for _ in base.parts]
        for cell in cells(e, layout, bits_of(i64)):
            exists = logical_and(e, cell.exists, mask_of_cell(e, mask, cell))
            pointer = followed(e, element(e, base.parts[cell.block], cell.register), type_)
            made = LoadElementOp(
                pointer, type_.element_type, exists, order=ordering.word, scope=ordering.scope
            )
            rows[cell.block][cell.register] = padded(e, e.insert(made).result, exists, padding)
        parts = [filled(e, row, vectors_of(layout).length, type_.element_type) for row in rows]
        return RegisterTile(layout, type_.element_type, tuple(parts))

    if ordering.word is not None:
        tile = one_by_one()
        return read_back(e, spilled(e, op, tile), layout) if alone else tile
    runs = Runs.of(e, op.base, base, mask, type_, stored=False)
    return one_by_one() if runs is None else either_loaded(e, runs, padding, one_by_one)


def _loaded_alone(
    e: ThreadBuilder, op: Operation, pointer: SSAValue, type_: MemoryPointer, ordering: Order
) -> SSAValue:
    """Load one element; an ordered load is made by the first thread and broadcast to all."""
    element_ = type_.element_type
    if ordering.word is None:
        return e.insert(LoadElementOp(pointer, element_)).result
    made = LoadElementOp(
        pointer, element_, is_first_thread(e), order=ordering.word, scope=ordering.scope
    )
    return broadcast_from_first_thread(e, op, e.insert(made).result)


def store(e: ThreadBuilder, op: StoreOp) -> Sequence[Lowered]:
    """Each element to where its pointer points; a single one by one thread."""
    order(e, op)
    if pointer_of(op.base.type) is None:
        _store_at(e, op)
        return token_of(op)
    type_, ordering = _pointer(op, op.base), Order.of(op.mem_semantic, op.mem_scope)
    ordering.begin(e)
    if shape_of(op.base.type) is None:
        pointer = followed(e, e.scalar(op.base), type_)
        e.insert(
            StoreElementOp(
                e.scalar(op.value),
                pointer,
                is_first_thread(e),
                order=ordering.word,
                scope=ordering.scope,
            )
        )
        return token_of(op)
    layout = common_layout(e, op, op.value.type, [e.get(op.base), e.get(op.value)])
    base, value = (in_registers(e, op, v, layout) for v in (op.base, op.value))
    mask = None if op.mask is None else in_registers(e, op, op.mask, layout)

    def one_by_one() -> None:
        for cell in cells_to_store(e, layout, bits_of(i64)):
            exists = logical_and(e, cell.exists, mask_of_cell(e, mask, cell))
            pointer = followed(e, element(e, base.parts[cell.block], cell.register), type_)
            single = element(e, value.parts[cell.block], cell.register)
            order_, scope = ordering.word, ordering.scope
            e.insert(StoreElementOp(single, pointer, exists, order=order_, scope=scope))

    runs = None
    if ordering.word is None:
        runs = Runs.of(e, op.base, base, mask, type_, stored=True)
    if runs is None:
        one_by_one()
    else:
        either_stored(e, runs, value, one_by_one)
    return token_of(op)


def _loaded_at(e: ThreadBuilder, op: LoadBase) -> Scalar | RegisterTile:
    """The element at coordinates, or the tile that begins there."""
    check_weak(op, op.mem_semantic)
    view, shape = _view(e, op), shape_of(op.loaded_type())
    coords = [e.scalar(value) for value in op.coords]
    if shape is None:
        pointer = _element_at(e, view, coords)
        return Scalar(e.insert(LoadElementOp(pointer, view.element)).result)
    window = Window.at(e, op, view, shape, coords)
    return load_window(e, op, window, in_rows(e, layout_of(e, op, shape)))


def _store_at(e: ThreadBuilder, op: StoreOp) -> None:
    check_weak(op, op.mem_semantic)
    view, shape = _view(e, op), shape_of(op.value.type)
    coords = [e.scalar(value) for value in op.coords]
    if shape is None:
        pointer = _element_at(e, view, coords)
        e.insert(StoreElementOp(e.scalar(op.value), pointer, is_first_thread(e)))
        return
    tile = in_registers(e, op, op.value)
    tile = as_fragment(e, op, tile, in_rows(e, tile.layout))
    mask = None if op.mask is None else in_registers(e, op, op.mask, tile.layout)
    store_window(e, op, Window.at(e, op, view, shape, coords), tile, mask)


def _view(e: ThreadBuilder, op: LoadBase | StoreOp) -> GlobalView:
    view = e.get(op.base)
    if not isinstance(view, GlobalView):
        raise op_error(
            op,
            f"reaches single elements of {op.base.type}, and only those of global memory are "
            "lowered to threads: use a tiled access",
        )
    check_whole_bytes(op, view)
    return view


def _element_at(e: ThreadBuilder, view: GlobalView, coords: Sequence[SSAValue]) -> SSAValue:
    pointer = view.pointer
    for index, start, stride in zip(coords, view.starts, view.strides, strict=True):
        begin = start if isinstance(start, int) else cast_index(e, start, IndexType())
        here = extend_to_i64(e, cast_index(e, add(e, index, begin), i32))
        factor = stride if isinstance(stride, int) else extend_to_i64(e, cast_index(e, stride, i32))
        pointer = advance(e, pointer, multiply(e, here, factor))
    return pointer


def _pointer(op: Operation, base: SSAValue) -> MemoryPointer:
    pointer = pointer_of(base.type)
    assert pointer is not None
    return memory_pointer(op, pointer)
