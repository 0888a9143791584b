"""Handlers of tiles in memory: allocation, views, slices, loads, and stores of accumulators.

What a memory operation becomes depends on the lowered value
(`threads/codegen/lowered_values.py`) of its operand: a slice of a `SharedTile` or a `TmemTile`
moves a pointer and emits no copy, a slice of a `RegisterTile` selects registers
(`compute/register_slices.py`):

    nv_tileas.extract_slice %s[32, 0][32, 64]   shared memory: the same pointer, first_row = 32
    nv_tileas.extract_slice %s[%i, 0][32, 64]   shared memory: pointer + %i * row_bytes
    nv_tileas.extract_slice %s[0, %i][64, 128]  shared memory: pointer + %i / panel * panel_bytes
    nv_tileas.extract_slice %t[0, %c][128, 32]  tensor memory: column address + %c
    nv_tileas.extract_slice %r[0, 8][64, 8]     wgmma accumulator: registers 4 to 7 of each part

Rows are sliced in multiples of 8, because a shared-memory swizzle repeats every 8 rows: only
then does a slice begin at phase 0 of the pattern, which matrix descriptors require.

`tiled_store` of an accumulator does not convert the layout first. To global memory each thread
stores the rows that it owns, with one bounds test a row; to shared memory stmatrix or pairs of
elements are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, i32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.memory.kept_tiles import is_aligned
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import SliceFragmentOp
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileas.attributes import RegisterEncoding
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    KEPT,
    KEPT_AS_READ,
    AsyncTiledLoadOp,
    TiledLoadBase,
    TiledLoadOp,
    TiledStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.same_rows import keeps_rows
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp, ExtractSliceOp, part_of
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of, space_of
from tileas_xdsl.target.mma.warp_tiles import (
    accumulator_layout,
    has_whole_rows,
    is_accumulator,
    warpgroups_of,
)
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    cast_index,
    multiply,
)
from tileas_xdsl.threads.codegen.known_integers import constant_value, divisor_of
from tileas_xdsl.threads.codegen.lowered_values import (
    BegunLoad,
    GlobalView,
    KeptTile,
    LoadToken,
    Lowered,
    OrderToken,
    PendingTile,
    RegisterTile,
    Scalar,
    SharedTile,
    Splat,
    StoreToken,
    TmemTile,
    Unset,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.gmem.coalesced_access import begin_tile, load_tile, store_tile
from tileas_xdsl.threads.gmem.kept_loads import keep
from tileas_xdsl.threads.gmem.rows.kept_lines import load_line
from tileas_xdsl.threads.gmem.rows.kept_rows import keep_row, read_row
from tileas_xdsl.threads.gmem.rows.own_lines import load_own_line, read_kept_line
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.smem.kept_tile import part_of_kept
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.smem.smem_encoding import layout_of_buffer
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT
from tileas_xdsl.threads.smem.stmatrix_epilogue import write_accumulators
from tileas_xdsl.threads.tma.descriptor_args import wait_for_store
from tileas_xdsl.threads.tmem.tmem_allocation import tensor_tile
from tileas_xdsl.transforms.lower_tiles.compute.register_slices import (
    part_of_registers,
    reshaped,
)
from tileas_xdsl.transforms.lower_tiles.memory.tokens import token_of

MATRIX = 8
"""Rows and columns of the matrices that stmatrix stores."""


def alloc_tensor(e: ThreadBuilder, op: AllocTensorOp) -> Sequence[Lowered]:
    """Lower `alloc_tensor`; a tile in shared memory is allocated at its first use."""
    type_ = op.result.type
    if space_of(type_) is Space.TMEM:
        return [tensor_tile(e, op)]
    if isinstance(type_.encoding, RegisterEncoding):
        return [Unset(tuple(type_.get_shape()), type_.element_type)]
    if space_of(type_) is not Space.SMEM:
        raise op_error(op, f"makes {type_}; tiles without a place are not lowered to threads yet")
    name = f"%{op.result.name_hint or 'tile'}"
    layout = layout_of_buffer(op, type_, [op.result])
    return [PendingTile(layout, type_.element_type, name)]


def view(e: ThreadBuilder, op: ViewOp) -> Sequence[Lowered]:
    """Lower a view: the same memory, or the window of an array at an offset."""
    source = e.get(op.source)
    if isinstance(source, RegisterTile | Splat):
        return [reshaped(e, op, source)]
    if isinstance(source, KeptTile):
        return [reshaped(e, op, in_registers(e, op, op.source))]
    if isinstance(source, PendingTile | SharedTile):
        shown = _shared_view(e, op, source)
        return [reshaped(e, op, in_registers(e, op, op.source)) if shown is None else shown]
    if not isinstance(source, GlobalView) or op.offset is not None:
        raise op_error(op, "shows memory in a way that is not lowered to threads yet")
    shape = shape_of(op.result.type) or ()
    starts = [e.scalar(v) for v in op.indices] or [0] * len(source.extents)
    if len(starts) != len(source.extents) or DYNAMIC_INDEX in shape:
        raise op_error(op, "shows memory in a way that is not lowered to threads yet")
    return [replace(source, starts=_moved(e, source, starts), shape=shape)]


def _shared_view(
    e: ThreadBuilder, op: ViewOp, source: PendingTile | SharedTile
) -> PendingTile | SharedTile | None:
    """View a tile in shared memory under a shape with the same rows.

    None for a view with other rows, which threads read in registers.
    """
    shape = shape_of(op.result.type) or ()
    if op.is_whole and shape == source.shape:
        return source
    if not keeps_rows(op) or (isinstance(source, SharedTile) and source.rows):
        if space_of(op.result.type) is Space.SMEM:
            raise op_error(op, "shows a part of a tile, which is not lowered to threads yet")
        return None
    if isinstance(source, PendingTile):
        shared_tile(e, op.source)
    front, layout = shape[:-2], source.layout
    held = (*front, layout.rows // prod(front), layout.columns) if len(shape) > 1 else shape
    return replace(source, layout=replace(layout, shape=held))


def _moved(
    e: ThreadBuilder, source: GlobalView, starts: Sequence[SSAValue | int]
) -> tuple[SSAValue | int, ...]:
    """Return the start of a view advanced by offsets, by dimension."""
    return tuple(_sum(e, a, b) for a, b in zip(source.starts, starts, strict=True))


def _sum(e: ThreadBuilder, a: SSAValue | int, b: SSAValue | int) -> SSAValue | int:
    if isinstance(a, int):
        return a + b if isinstance(b, int) else add(e, b, a)
    return add(e, a, b)


def extract_slice(e: ThreadBuilder, op: ExtractSliceOp) -> Sequence[Lowered]:
    """Rows of a tile in shared memory, or any part of one in registers."""
    source = e.get(op.source)
    if isinstance(source, KeptTile):
        return [part_of_kept(e, op, source)]
    if isinstance(source, SharedTile) and op.offsets:
        is_of_columns = op.static_offsets.get_values()[-1] == DYNAMIC_INDEX
        take = _panels_somewhere if is_of_columns else _rows_somewhere
        return [take(e, op, source)]
    if isinstance(source, TmemTile):
        return [_tensor_columns(e, op, source)]
    if isinstance(source, Splat):
        return [replace(source, shape=shape_of(op.result.type) or ())]
    if isinstance(source, RegisterTile):
        columns = _columns(e, op, source)
        return [part_of_registers(e, op, source) if columns is None else columns]
    if isinstance(source, SharedTile):
        offsets, sizes = _numbers(e, op)
        return [_rows(op, source, offsets, sizes)]
    raise op_error(op, "takes a part of a tile in a way that is not lowered to threads yet")


def _numbers(e: ThreadBuilder, op: ExtractSliceOp) -> tuple[Sequence[int], Sequence[int]]:
    if any(stride != 1 for stride in op.static_strides.get_values()):
        raise op_error(op, "takes elements that are not next to one another")
    dynamic = iter(op.offsets)
    offsets: list[int] = []
    for static in op.static_offsets.get_values():
        number: int | None = static
        if static == DYNAMIC_INDEX:
            number = _constant(e, next(dynamic))
        if number is None:
            raise op_error(op, "begins at an element that is not known when it is compiled")
        offsets.append(number)
    return offsets, op.static_sizes.get_values()


def _constant(e: ThreadBuilder, value: SSAValue) -> int | None:
    """Return the constant value of a scalar, also one that unrolling made constant."""
    found = e.get(value)
    return constant_value(found.value) if isinstance(found, Scalar) else constant_integer(value)


def _rows(
    op: Operation, source: SharedTile, offsets: Sequence[int], sizes: Sequence[int]
) -> SharedTile:
    if not _are_rows(source, offsets, sizes):
        raise op_error(op, "takes whole rows of a tile in shared memory, not a part of them")
    if offsets[-2] % MATRIX or sizes[-2] % MATRIX:
        raise op_error(op, f"takes rows in groups of {MATRIX}, as swizzles repeat")
    return replace(source, first_row=source.first_row + offsets[-2], rows=sizes[-2])


def _are_rows(source: SharedTile, offsets: Sequence[int], sizes: Sequence[int]) -> bool:
    """Return whether a part of a tile is whole rows of it, and all leading dimensions have extent
    1.

    The first row may be dynamic.
    """
    units = (1,) * (len(sizes) - 2)
    is_matrix = len(sizes) >= 2 and source.layout.shape[:-2] == units
    starts = (*offsets[:-2], *offsets[-1:])
    return is_matrix and not any(starts) and sizes[-1] == source.layout.columns


def _rows_somewhere(e: ThreadBuilder, op: ExtractSliceOp, source: SharedTile) -> SharedTile:
    """Slice whole rows at a run-time offset, a multiple of the swizzle period."""
    static, sizes = op.static_offsets.get_values(), op.static_sizes.get_values()
    strides = op.static_strides.get_values()
    whole = _are_rows(source, static, sizes) and {*strides} == {1}
    if not whole or static[-2] != DYNAMIC_INDEX:
        raise op_error(op, "takes whole rows of a tile in shared memory, not a part of them")
    first = e.scalar(op.offsets[0])
    step = source.layout.row_bytes
    if divisor_of(e, first) * step % ALIGNMENT:
        raise op_error(op, f"begins at a row that is not known to be a multiple of {MATRIX}")
    offset = cast_index(e, multiply(e, first, step), i32)
    pointer = advance(e, source.pointer, offset, ALIGNMENT)
    return replace(source, pointer=pointer, rows=sizes[-2])


def _panels_somewhere(e: ThreadBuilder, op: ExtractSliceOp, source: SharedTile) -> SharedTile:
    """Slice panels of all rows of a tile, from a run-time column on."""
    layout, (*before, _) = source.layout, op.static_offsets.get_values()
    (*_, rows, columns), strides = op.static_sizes.get_values(), op.static_strides.get_values()
    first, all_rows = e.scalar(op.offsets[0]), not source.rows and rows == layout.rows
    if any(before) or {*strides} != {1} or not all_rows or columns % layout.panel:
        raise op_error(op, "takes whole panels of a tile in shared memory, not a part of them")
    if divisor_of(e, first) % layout.panel or layout.panel_bytes % ALIGNMENT:
        raise op_error(op, f"begins at a column that is not known to be one of {layout.describe()}")
    step = layout.panel_bytes // layout.panel
    pointer = advance(e, source.pointer, cast_index(e, multiply(e, first, step), i32), ALIGNMENT)
    part = replace(layout, shape=(*layout.shape[:-1], columns))
    return replace(source, pointer=pointer, layout=part)


def _columns(e: ThreadBuilder, op: ExtractSliceOp, source: RegisterTile) -> RegisterTile | None:
    """Slice whole columns of an accumulator: a range of registers; None for any other part."""
    layout, sizes = source.layout, op.static_sizes.get_values()
    if not is_accumulator(layout) or not has_whole_rows(layout):
        return None
    if any(n != 1 for n in _strides(op)):
        return None
    offsets = [_known_offset(e, n) for n in mixed_offsets(op)]
    first = offsets[1]
    if offsets[0] != 0 or first is None or sizes[0] != layout.shape[0]:
        return None
    if first % MATRIX or sizes[1] % MATRIX:
        return None
    # A thread has 2 of every 4 columns in each of 2 rows: 4 registers for 8 columns, so that
    # column c begins at register c / 2 (PTX ISA, wgmma accumulator fragment D).
    begin, count = first // 2, sizes[1] // 2
    parts = tuple([e.insert(SliceFragmentOp(part, begin, count)).result for part in source.parts])
    return RegisterTile(
        accumulator_layout(sizes[0], sizes[1], warpgroups_of(layout)), source.element, parts
    )


def _strides(op: ExtractSliceOp) -> Sequence[int]:
    return op.static_strides.get_values()


def _known_offset(e: ThreadBuilder, offset: SSAValue | int) -> int | None:
    return offset if isinstance(offset, int) else _constant(e, offset)


def mixed_offsets(op: ExtractSliceOp) -> Sequence[SSAValue | int]:
    """Return the offsets of a slice, `int` where they are static."""
    return part_of(op).offsets


def _tensor_columns(e: ThreadBuilder, op: ExtractSliceOp, source: TmemTile) -> TmemTile:
    """Slice columns of an accumulator in tensor memory."""
    offsets, sizes = op.static_offsets.get_values(), op.static_sizes.get_values()
    whole = len(offsets) == 2 and offsets[0] == 0 and sizes[0] == source.shape[0]
    if not whole or any(stride != 1 for stride in op.static_strides.get_values()):
        raise op_error(op, "takes whole columns of sums in tensor memory, one after the other")
    if source.halves > 1 and sizes[1] != source.shape[1]:
        raise op_error(
            op,
            "takes columns of sums of a pair of CTAs with 64 rows in each, half of which are in "
            "other lanes; it takes all of them, or sums of 128 rows in each",
        )
    first: SSAValue | int = offsets[1]
    if offsets[1] == DYNAMIC_INDEX:
        first = cast_index(e, e.scalar(op.offsets[0]), i32)
    column = _sum(e, first, source.column)
    return replace(source, column=column, shape=tuple(sizes))


def tiled_load(e: ThreadBuilder, op: TiledLoadOp) -> Sequence[Lowered]:
    """Load a tile from memory into registers, but for one that goes to a stage by copies."""
    _await(e, op)
    if op in e.copied_in_chunks:
        return [OrderToken(), *token_of(op)]
    if KEPT not in op.attributes:
        return [load_tile(e, op), *token_of(op)]
    return [read_row(e, op) if is_aligned(op) else read_kept_line(e, op), *token_of(op)]


def async_tiled_load(e: ThreadBuilder, op: AsyncTiledLoadOp) -> Sequence[Lowered]:
    """Load as `tiled_load` does: the hardware scoreboard waits where registers are used.

    A tile that is kept is copied into shared memory, where threads may have chunks of their own.
    """
    _await(e, op)
    return [_started(e, op), *token_of(op)]


def _started(e: ThreadBuilder, op: AsyncTiledLoadOp) -> Lowered:
    if KEPT not in op.attributes:
        return _begun(e, op)
    if op.rotated is None:
        return keep(e, op)
    if is_aligned(op):
        return keep_row(e, op)
    return load_own_line(e, op) if KEPT_AS_READ in op.attributes else load_line(e, op)


def _begun(e: ThreadBuilder, op: AsyncTiledLoadOp) -> LoadToken | BegunLoad:
    """Begin a load into registers; vectors are cut where the same block waits for them."""
    waits = [use.operation for use in op.result.uses]
    is_here = all(isinstance(one, WaitOp) and one.parent is op.parent for one in waits)
    if op.rotated is None or not is_here or not isinstance(e.get(op.view), GlobalView):
        return LoadToken(load_tile(e, op))
    return BegunLoad(begin_tile(e, op))


def _await(e: ThreadBuilder, op: TiledLoadBase | TiledStoreOp) -> None:
    """Wait for a bulk store that the operation is ordered behind; all else is in program order."""
    token = None if op.token is None else e.get(op.token)
    if isinstance(token, StoreToken):
        wait_for_store(e, token)


def tiled_store(e: ThreadBuilder, op: TiledStoreOp) -> Sequence[Lowered]:
    """Store a tile as it is laid out: accumulators to shared memory by `stmatrix`."""
    _await(e, op)
    fragment = e.get(op.value)
    if not isinstance(fragment, RegisterTile) or not is_accumulator(fragment.layout):
        store_tile(e, op)
        return token_of(op)
    if isinstance(e.get(op.view), GlobalView):
        store_tile(e, op)
    else:
        _store_shared(e, op, fragment, shared_tile(e, op.view))
    return token_of(op)


def _store_shared(
    e: ThreadBuilder, op: TiledStoreOp, fragment: RegisterTile, tile: SharedTile
) -> None:
    """Store accumulators to a swizzled tile: stmatrix of 16-bit elements, else pairs."""
    rows, columns = fragment.layout.shape
    if (rows, columns) != (tile.height, tile.layout.columns):
        raise op_error(op, f"stores {rows}x{columns} accumulators to a tile of another shape")
    if any(constant_integer(v) != 0 and _constant(e, v) != 0 for v in op.coords):
        raise op_error(op, "stores to a place in shared memory that is not its beginning")
    write_accumulators(e, fragment, tile)


HANDLERS: Handlers = {
    AllocTensorOp: alloc_tensor,
    AsyncTiledLoadOp: async_tiled_load,
    ExtractSliceOp: extract_slice,
    TiledLoadOp: tiled_load,
    TiledStoreOp: tiled_store,
}
