"""Coalesced loads and stores of whole tiles between registers and memory (`ld`/`st`).

Accesses are as wide as a chunk where rows are aligned and end at chunk boundaries; where that is
known only at run time, a uniform branch selects between vector and single-element accesses.
Elements out of bounds are not accessed (`chunk_accesses`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.enums import SpecialPadding, SpecialPaddingAttr
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadBase, StoreBase
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.blocked import blocked
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.known_integers import constant_value
from tileas_xdsl.threads.codegen.lowered_values import (
    GlobalView,
    RegisterTile,
)
from tileas_xdsl.threads.gmem.bounds_and_vector_width import GlobalTile
from tileas_xdsl.threads.gmem.chunk_accesses import Accesses
from tileas_xdsl.threads.gmem.memory_order import MemoryOrder, order
from tileas_xdsl.threads.gmem.rows.rotated_access import (
    Rows,
    begin_rotated,
    load_rotated,
    rows_of,
    store_rotated,
)
from tileas_xdsl.threads.gmem.rows.rotated_row import RotatedRow, RowLoads
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import (
    is_first_replica,
    is_holding_warp,
    thread_chunks,
)
from tileas_xdsl.threads.registers.element_iterator import is_held_once
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.register_tile import (
    as_fragment,
    in_registers,
    layout_of,
)
from tileas_xdsl.threads.registers.vector_values import (
    assembled,
    constant_elements,
    element,
    strip,
    zero_of,
)
from tileas_xdsl.threads.smem.overwritten_tiles import put_shared
from tileas_xdsl.threads.smem.scratch_buffer import exchanged

SPECIAL: Mapping[SpecialPadding, float] = {
    SpecialPadding.NAN: float("nan"),
    SpecialPadding.POS_INF: float("inf"),
    SpecialPadding.NEG_INF: float("-inf"),
    SpecialPadding.NEG_ZERO: -0.0,
}
"""Padding values without a literal."""


def load_tile(e: ThreadBuilder, op: TiledLoadBase) -> RegisterTile:
    """Load the tile of a load operation into registers."""
    source, shape = e.get(op.view), shape_of(op.loaded_type())
    assert shape is not None
    layout = encoded_layout(e, op, op.loaded_type()) or layout_of(e, op, shape)
    if not isinstance(source, GlobalView):
        _check_whole(e, op)
        return in_registers(e, op, op.view, layout)
    layout = in_rows(e, layout)
    order(e, op)
    if op.rotated is not None:
        return load_rotated(e, *rotated_loads(e, op, source, layout))
    return load_window(e, op, GlobalTile.of(e, op, source, shape), layout)


def begin_tile(e: ThreadBuilder, op: TiledLoadBase) -> Callable[[], RegisterTile]:
    """Begin to load a tile of rotated rows; what is returned waits for it."""
    source, type_ = e.get(op.view), op.loaded_type()
    layout = encoded_layout(e, op, type_) or layout_of(e, op, shape_of(type_) or ())
    assert isinstance(source, GlobalView)
    order(e, op)
    return begin_rotated(e, *rotated_loads(e, op, source, in_rows(e, layout)))


def rotated_loads(
    e: ThreadBuilder, op: TiledLoadBase, source: GlobalView, layout: RegisterLayout
) -> tuple[Rows, RegisterLayout, Attribute, Callable[[RotatedRow], RowLoads]]:
    """Return the rows of a load, their layout and elements, and how each of them is loaded."""
    rows = rows_of(e, op, source, layout, _is_owner(e, layout))
    padding = padding_of(op.padding_value, source.element)
    return rows, layout, source.element, partial(RowLoads, e, padding=padding)


def in_rows(e: ThreadBuilder, layout: RegisterLayout) -> RegisterLayout:
    """A layout of rows for the values of rows that are a tile of several dimensions."""
    form = blocked(layout)
    is_column = form is not None and form.is_row_values and len(layout.shape) > 1
    return e.tiles.rows(layout.shape, e.agent) if is_column else layout


def layout_within_rows(e: ThreadBuilder, op: TiledLoadBase) -> RegisterLayout:
    """Return the layout of what is loaded, in which the vectors of threads cross no rows."""
    type_ = op.loaded_type()
    shape = shape_of(type_) or ()
    found = in_rows(e, encoded_layout(e, op, type_) or layout_of(e, op, shape))
    form = blocked(found)
    return e.tiles.rows(shape, e.agent) if form is None or form.crosses_rows else found


def load_window(
    e: ThreadBuilder, op: TiledLoadBase | LoadBase, window: GlobalTile, layout: RegisterLayout
) -> RegisterTile:
    """Load a tile of a global array into the registers of a layout."""
    source = window.view
    mask = None if op.mask is None else in_registers(e, op, op.mask, layout)
    ordering = MemoryOrder.of(op.mem_semantic, op.mem_scope)
    alone = ordering.semantics is not None and not is_held_once(layout)
    guard = is_first_replica(e, layout) if alone else _is_owner(e, layout)
    window = _at_known_columns(e, window, layout)
    accesses = Accesses.of(e, op, window, layout, guard=guard, mask=mask, order=ordering)
    padding = padding_of(op.padding_value, source.element)

    pieces = list(map(window.piece, thread_chunks(e, layout, bits_of(source.element))))

    def load_chunk(accesses: Accesses, piece: AccessChunk) -> SSAValue:
        if window.is_behind(piece):
            return constant_elements(e, padding or zero_of(source.element), piece.count)
        if not accesses.is_whole(piece):
            return accesses.by_elements(piece, padding)
        pointer, exists = accesses.wide(piece)
        type_ = VectorType(source.element, [piece.count])
        return e.insert(LoadOp(pointer, type_, exists, fill=padding, offset=piece.shift)).result

    def load_all(accesses: Accesses) -> list[SSAValue]:
        return [load_chunk(accesses, piece) for piece in pieces]

    # Elements are put together behind the branch: in it that would wait for them, before what
    # comes next is loaded.
    loaded = iter(accesses.chosen(load_all))
    tile = assembled(e, layout, source.element, lambda _: next(loaded))
    return exchanged(e, op, tile, layout) if alone else tile


def _at_known_columns(e: ThreadBuilder, window: GlobalTile, layout: RegisterLayout) -> GlobalTile:
    """Return a tile with what is known of its first column in the shifts of its pieces.

    So tiles of one row have one address in a thread, and know which pieces are in bounds.  Columns
    in front of the array stay as they are: pieces are compared with its end alone.
    """
    column = constant_value(window.starts[-1]) or 0
    if column <= 0:
        return window
    pieces = thread_chunks(e, layout, bits_of(window.view.element))
    may_move = all(piece.span > 1 and column % piece.span == 0 for piece in pieces)
    return replace(window.beginning(e, 0), ahead=column) if may_move else window


def _is_owner(e: ThreadBuilder, layout: RegisterLayout) -> SSAValue | None:
    """Return whether the thread has elements of the tile; None where all threads have."""
    form = blocked(layout)
    return is_holding_warp(e, form) if form is not None and form.is_by_rows else None


def store_tile(e: ThreadBuilder, op: TiledStoreOp) -> None:
    """Store a tile by coalesced accesses of threads, each of its own elements."""
    target = e.get(op.view)
    tile = in_registers(e, op, op.value)
    layout = tile.layout
    if not isinstance(target, GlobalView):
        _check_whole(e, op)
        put_shared(e, op, tile, op.view)
        return
    order(e, op)
    tile = as_fragment(e, op, tile, in_rows(e, layout))
    if op.rotated is not None:
        guard = is_first_replica(e, tile.layout)
        store_rotated(e, rows_of(e, op, target, tile.layout, guard), tile)
        return
    store_window(e, op, GlobalTile.of(e, op, target, layout.shape), tile)


def store_window(
    e: ThreadBuilder,
    op: TiledStoreOp | StoreBase,
    window: GlobalTile,
    tile: RegisterTile,
    mask: RegisterTile | None = None,
) -> None:
    """Store a register tile to a global array."""
    target, layout = window.view, tile.layout
    guard = is_first_replica(e, layout)
    ordering = MemoryOrder.of(op.mem_semantic, op.mem_scope)
    window = _at_known_columns(e, window, layout)
    accesses = Accesses.of(e, op, window, layout, guard=guard, mask=mask, order=ordering)

    def store(accesses: Accesses, piece: AccessChunk, k: int) -> None:
        pointer, exists = accesses.single(piece, k)
        value = element(e, tile.parts[piece.block], piece.register + k)
        e.insert(StoreOp(value, pointer, exists, order=ordering.semantics, scope=ordering.scope))

    def store_all(accesses: Accesses) -> list[SSAValue]:
        chunks = thread_chunks(e, layout, bits_of(target.element), stored=True)
        for piece in map(window.piece, chunks):
            if window.is_behind(piece):
                continue
            if not accesses.is_whole(piece):
                for k in range(piece.count):
                    store(accesses, piece, k)
                continue
            pointer, exists = accesses.wide(piece)
            value = strip(e, tile.parts[piece.block], piece.register, piece.count)
            e.insert(StoreOp(value, pointer, exists, offset=piece.shift))
        return []

    accesses.chosen(store_all)


def _check_whole(e: ThreadBuilder, op: TiledLoadBase | TiledStoreOp) -> None:
    numbers_ = [constant_value(e.scalar(value)) for value in (*op.coords, *op.offsets)]
    if any(numbers_):
        raise op_error(op, "accesses a place in shared memory that is not its beginning")


def padding_of(attribute: Attribute | None, element_: Attribute) -> FloatAttr | IntegerAttr | None:
    """Return the padding value; None for zero, which predicated-off loads give."""
    if attribute is None:
        return None
    if isinstance(attribute, SpecialPaddingAttr):
        assert isinstance(element_, AnyFloat)
        return FloatAttr(SPECIAL[attribute.data], element_)
    assert isa(attribute, FloatAttr | IntegerAttr)
    return attribute if str(attribute.value.data) not in ("0", "0.0") else None
