"""Loads and stores through pointers, one element each: `nv_tileas.load` and `nv_tileas.store`.

    %v = nv_tileas.load %p mask %m          every thread, for each element k that it has:
        : tensor<128x!ptr<f32>>       ->    %v_k = cute.load %p_k if %m_k else the padding

Weak accesses whose pointers turn out at run time to be neighbours are vectors (`Runs`, with the
other form beside it).  Those with a memory order are one access an element, by one of the threads
that have it; what it loads is passed to the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp as LoadElementOp
from tileas_xdsl.dialects.cute import StoreOp as StoreElementOp
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import pointer_of
from tileas_xdsl.dialects.nv_tileas.memory.element_access import (
    AsyncLoadOp,
    LoadBase,
    LoadOp,
    StoreOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    as_int64,
    cast_index,
    logical_and,
    multiply,
)
from tileas_xdsl.threads.codegen.lowered_values import (
    GlobalView,
    LoadToken,
    Lowered,
    OrderToken,
    RegisterTile,
    Scalar,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import is_first_thread
from tileas_xdsl.threads.gmem.bounds_and_vector_width import GlobalTile, check_whole_bytes
from tileas_xdsl.threads.gmem.coalesced_access import (
    in_rows,
    load_window,
    padding_of,
    store_window,
)
from tileas_xdsl.threads.gmem.memory_order import MemoryOrder, order
from tileas_xdsl.threads.gmem.pointers.contiguous_pointer_runs import Runs, by_chunks_or_elements
from tileas_xdsl.threads.gmem.pointers.pointer_elements import PointerElements
from tileas_xdsl.threads.registers.element_iterator import (
    Cell,
)
from tileas_xdsl.threads.registers.register_tile import (
    as_fragment,
    in_registers,
    layout_of,
)
from tileas_xdsl.transforms.lower_tiles.memory.tokens import check_weak, token_of


def load(e: ThreadBuilder, op: LoadOp) -> Sequence[Lowered]:
    """What pointers point to; what is masked is padded."""
    if op in e.copied_in_chunks:
        return [OrderToken(), *token_of(op)]
    return [loaded(e, op), *token_of(op)]


def async_load(e: ThreadBuilder, op: AsyncLoadOp) -> Sequence[Lowered]:
    """Lower as the synchronous load: the hardware waits where registers are used."""
    found = loaded(e, op)
    if not isinstance(found, RegisterTile):
        raise op_error(op, "loads a single element in the background, which is not lowered yet")
    return [LoadToken(found), *token_of(op)]


def loaded(e: ThreadBuilder, op: LoadBase) -> Scalar | RegisterTile:
    """Lower a load to registers; what an acquire observes is visible to all threads."""
    order(e, op)
    if pointer_of(op.base.type) is None:
        return _loaded_at(e, op)
    ordering = MemoryOrder.of(op.mem_semantic, op.mem_scope)
    found = _loaded_through(e, op, ordering)
    ordering.end(e)
    return found


def _loaded_through(e: ThreadBuilder, op: LoadBase, ordering: MemoryOrder) -> Scalar | RegisterTile:
    """Load what pointers point to; in order by one thread each, then known to all."""
    where = PointerElements.of(e, op, op.base, op.mask)
    element_ = where.type.element_type
    padding = padding_of(op.padding_value, element_)
    alone = ordering.semantics is not None and where.is_shared

    def one_by_one() -> Scalar | RegisterTile:
        found: list[tuple[Cell, SSAValue]] = []
        for each in where.elements(once=alone, bits=bits_of(i64)):
            made = LoadElementOp(
                each.pointer,
                element_,
                each.exists,
                fill=padding,
                order=ordering.semantics,
                scope=ordering.scope,
            )
            value = e.insert(made).result
            found.append((each.cell, value))
        return where.collected(found, shared=alone)

    # Elements that have neighbours are joined with those of other loads, element by element.
    is_alone = ordering.semantics is None and e.neighbours.alignment(op) is None
    runs = Runs.of(where, stored=False) if is_alone else None
    if runs is None:
        return one_by_one()
    return by_chunks_or_elements(e, runs, lambda: runs.load(padding), one_by_one)


def store(e: ThreadBuilder, op: StoreOp) -> Sequence[Lowered]:
    """Store each element to where its pointer points, by one thread."""
    order(e, op)
    if pointer_of(op.base.type) is None:
        _store_at(e, op)
        return token_of(op)
    ordering = MemoryOrder.of(op.mem_semantic, op.mem_scope)
    ordering.begin(e)
    where = PointerElements.of(e, op, op.base, op.mask, [op.value])

    def one_by_one() -> None:
        for each in where.elements(once=True, bits=bits_of(i64)):
            order_, scope = ordering.semantics, ordering.scope
            (value,) = each.operands
            e.insert(StoreElementOp(value, each.pointer, each.exists, order=order_, scope=scope))

    runs = Runs.of(where, stored=True) if ordering.semantics is None else None
    if runs is None:
        one_by_one()
    else:
        by_chunks_or_elements(e, runs, lambda: runs.store(where.operands[0]), one_by_one)
    return token_of(op)


def _loaded_at(e: ThreadBuilder, op: LoadBase) -> Scalar | RegisterTile:
    """The element at coordinates, or the tile that begins there."""
    check_weak(op, op.mem_semantic)
    view, shape = _view(e, op, op.base), shape_of(op.loaded_type())
    coords = [e.scalar(value) for value in op.coords]
    if shape is None:
        pointer, exists = _element_at(e, view, coords), _mask(e, op)
        padding = padding_of(op.padding_value, view.element)
        return Scalar(e.insert(LoadElementOp(pointer, view.element, exists, fill=padding)).result)
    window = GlobalTile.at(e, op, view, shape, coords)
    return load_window(e, op, window, in_rows(e, layout_of(e, op, shape)))


def _store_at(e: ThreadBuilder, op: StoreOp) -> None:
    check_weak(op, op.mem_semantic)
    view, shape = _view(e, op, op.base), shape_of(op.value.type)
    coords = [e.scalar(value) for value in op.coords]
    if shape is None:
        pointer = _element_at(e, view, coords)
        exists = logical_and(e, is_first_thread(e), _mask(e, op))
        e.insert(StoreElementOp(e.scalar(op.value), pointer, exists))
        return
    tile = in_registers(e, op, op.value)
    tile = as_fragment(e, op, tile, in_rows(e, tile.layout))
    mask = None if op.mask is None else in_registers(e, op, op.mask, tile.layout)
    store_window(e, op, GlobalTile.at(e, op, view, shape, coords), tile, mask)


def load_element(e: ThreadBuilder, op: memref.LoadOp) -> Sequence[Lowered]:
    """Load one element of an array, in every thread."""
    view = _view(e, op, op.memref)
    pointer = _element_at(e, view, [e.scalar(index) for index in op.indices])
    return [Scalar(e.insert(LoadElementOp(pointer, view.element)).result)]


def store_element(e: ThreadBuilder, op: memref.StoreOp) -> Sequence[Lowered]:
    """Store one element of an array, by one thread."""
    pointer = _element_at(e, _view(e, op, op.memref), [e.scalar(index) for index in op.indices])
    e.insert(StoreElementOp(e.scalar(op.value), pointer, is_first_thread(e)))
    return []


def _view(e: ThreadBuilder, op: Operation, base: SSAValue) -> GlobalView:
    view = e.get(base)
    if not isinstance(view, GlobalView):
        raise op_error(
            op,
            f"reaches single elements of {base.type}, and only those of global memory are "
            "lowered to threads: use a tiled access",
        )
    check_whole_bytes(op, view)
    return view


def _element_at(e: ThreadBuilder, view: GlobalView, coords: Sequence[SSAValue]) -> SSAValue:
    pointer = view.pointer
    for index, start, stride in zip(coords, view.starts, view.strides, strict=True):
        begin = start if isinstance(start, int) else cast_index(e, start, IndexType())
        here = as_int64(e, add(e, index, begin))
        factor = stride if isinstance(stride, int) else as_int64(e, stride)
        pointer = advance(e, pointer, multiply(e, here, factor))
    return pointer


def _mask(e: ThreadBuilder, op: LoadBase | StoreOp) -> SSAValue | None:
    """Return the mask of a single element, if there is one."""
    return None if op.mask is None else e.scalar(op.mask)


HANDLERS: Handlers = {
    AsyncLoadOp: async_load,
    LoadOp: load,
    StoreOp: store,
    memref.LoadOp: load_element,
    memref.StoreOp: store_element,
}
