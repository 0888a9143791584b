"""Write the chosen layouts into the IR: encodings of tile types, and atoms of operations.

    %a = tiled_load %v[%i] {atom = unknown_copy} : -> tensor<1024xf16>
    %a = tiled_load %v[%i] {atom = ldg}
        : -> tensor<1024xf16, #nv_tileas.blocked<"((8,128)):((1@value,1@thread))">>

Types change in place, in this order: the tiles of each group, with the views and slices of its
buffers; the types of pipeline stages, which list their tiles; then constants and splats, which
are cloned for each layout that uses them, so that several groups may share one; last the atoms.

A slice of a buffer gets a layout of its own only if it begins where the swizzle pattern does: a
multiple of 8 rows. Other slices keep a type without encoding, and are read through the buffer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.layouts.layout_flow import ASSIGNED_LAYOUT
from tileas_xdsl.analysis.layouts.tile_groups import TileGroup
from tileas_xdsl.dialects.nv_tileas.attributes import (
    AtomAttr,
    LayoutAttr,
    LinearEncoding,
    SharedEncoding,
)
from tileas_xdsl.dialects.nv_tileas.compute.scale_tiles import scale_tile
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.same_rows import keeps_rows
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaTransferOp
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tensor_memory import accumulator
from tileas_xdsl.threads.smem.smem_layout import panels_of
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import Choice
from tileas_xdsl.transforms.assign_layouts.candidates.copied_tiles import views_of_copied
from tileas_xdsl.transforms.assign_layouts.candidates.memory.buffers import memory_layout
from tileas_xdsl.transforms.assign_layouts.request import Assignment
from tileas_xdsl.transforms.assign_layouts.spaces.space_requirements import UNDECIDED
from tileas_xdsl.transforms.assign_layouts.writing.rematerialization import rematerialize_free_tiles
from tileas_xdsl.transforms.assign_layouts.writing.stage_types import retype_pipelines
from tileas_xdsl.transforms.assign_layouts.writing.tile_encodings import encoding_of, retype

SWIZZLE_ROWS = 8
"""The period in rows of every shared-memory swizzle (PTX ISA, "Swizzling modes")."""

BULK_ATOMS: Mapping[str, str] = {"cp.async.bulk.tensor": "tma_load"}


def write(a: Assignment, root: Operation) -> None:
    """Write every decision of an assignment."""
    chosen = {
        group: decision.choice
        for group, decision in a.decisions.items()
        if decision.choice is not None
    }
    for group, choice in chosen.items():
        _retype_group(a, group, choice)
    retype_pipelines(root, chosen, a)
    rematerialize_free_tiles(root)
    for group, choice in chosen.items():
        _write_operations(group, choice)


def _retype_group(a: Assignment, group: TileGroup, choice: Choice) -> None:
    encoding = encoding_of(choice)
    for value in group.values:
        if not _is_left_in_memory(value, choice):
            retype(value, encoding)
    for value in group.values:
        if isinstance(choice.layout, MemoryLayout):
            _retype_parts(a, value, choice.layout)
        elif choice.kind is Space.RMEM:
            for seen, layout in views_of_copied(value, choice.layout):
                retype(seen, encoding_of(replace(choice, layout=layout)))
        elif choice.kind is Space.TMEM:
            _retype_slices(a, value)


def _is_left_in_memory(value: SSAValue, choice: Choice) -> bool:
    """Whether a tile loaded from shared memory has no reader that needs registers."""
    is_shared = isinstance(choice.layout, MemoryLayout)
    owner = value.owner
    return (
        is_shared and isinstance(owner, TiledLoadBase) and space_of(owner.view.type) is Space.SMEM
    )


def _retype_parts(a: Assignment, value: SSAValue, layout: MemoryLayout) -> None:
    """Give slices and transposes of a buffer the layouts that follow from the buffer's.

    A part that does not begin at a period of the swizzle keeps its type.
    """
    for use in value.uses:
        part = next((r for r in use.operation.results if r in a.groups.parts), None)
        if part is None or scale_tile(part.type) is not None:
            continue
        layout_of_part = _layout_of_part(layout, a.groups.parts[part])
        if layout_of_part is not None:
            retype(part, SharedEncoding(layout_of_part))
            _retype_parts(a, part, layout_of_part)


def _layout_of_part(layout: MemoryLayout, cut: ExtractSliceOp | ViewOp) -> MemoryLayout | None:
    """Return the layout of a part of a tile; None where it does not follow from the tile."""
    if isinstance(cut, ExtractSliceOp):
        if {*cut.static_strides.get_values()} != {1}:
            return None
        return layout_of_rows(
            layout, cut.static_offsets.get_values(), cut.static_sizes.get_values()
        )
    return _renamed(layout, cut) if keeps_rows(cut) else _transposed(layout)


def _renamed(layout: MemoryLayout, cut: ViewOp) -> MemoryLayout | None:
    """Return the layout of the same rows under another shape."""
    shape = shape_of(cut.result.type) or ()
    found = panels_of(layout, product_each(layout.shape), bits_of(element_of(cut.result.type)))
    return None if isinstance(found, str) else memory_layout(replace(found, shape=shape))


def _retype_slices(a: Assignment, value: SSAValue) -> None:
    """Give column slices of an accumulator in tensor memory the layout of a smaller one."""
    for use in value.uses:
        cut = use.operation
        if isinstance(cut, ExtractSliceOp) and cut.result in a.groups.parts:
            with suppress(TargetError):
                layout = accumulator(*cut.static_sizes.get_values())
                retype(cut.result, LinearEncoding(layout))


def _transposed(layout: MemoryLayout) -> MemoryLayout | None:
    """The layout of the transpose."""
    if layout.layout.rank != 2:
        return None
    rows, columns = layout.layout
    return MemoryLayout(make_layout(columns, rows), layout.swizzle, layout.elem)


def layout_of_rows(
    layout: MemoryLayout, offsets: Sequence[int], sizes: Sequence[int]
) -> MemoryLayout | None:
    """Return the layout of a slice of whole rows that begins at a period of the swizzle, else None.

    `offsets` may be `DYNAMIC_INDEX`, which are multiples of the period by the slice's own check.
    """
    whole = product_each(layout.shape)
    known = [offset for offset in offsets if offset != DYNAMIC_INDEX]
    units = (1,) * (len(whole) - 2)
    if len(whole) < 2 or whole[:-2] != units or sizes[-1] != whole[-1]:
        return None
    if any(offsets[:-2]) or offsets[-1]:
        return None
    # The pattern of a swizzle repeats every 8 rows: only from a multiple of 8 on does the slice
    # show the pattern of the whole.
    if any(offset % SWIZZLE_ROWS for offset in known):
        return None
    (_, step), *more = layout.layout[-2].leaves()
    if more:
        return None
    columns = layout.layout[-1]
    shape, stride = (*units, sizes[-2], columns.shape), (*(0 for _ in units), step, columns.stride)
    return MemoryLayout(Layout(shape, stride), layout.swizzle, layout.elem)


def layout_of_panels(layout: MemoryLayout, columns: int) -> MemoryLayout | None:
    """Return the layout of whole panels of a tile, `columns` of all rows; None if they are none."""
    whole = product_each(layout.shape)
    if len(whole) < 2 or any(extent != 1 for extent in whole[:-2]):
        return None
    (panel, one), *more = layout.layout[-1].leaves()
    if one != 1 or len(more) != 1 or columns % panel:
        return None
    rows, (_, step) = layout.layout[-2], more[0]
    units = (1,) * (len(whole) - 2)
    shape = (*units, rows.shape, (panel, columns // panel))
    stride = (*(0 for _ in units), rows.stride, (1, step))
    return MemoryLayout(Layout(shape, stride), layout.swizzle, layout.elem)


def _write_operations(group: TileGroup, choice: Choice) -> None:
    """Write the layouts that loads and stores work with, and their atoms."""
    for op, candidate in choice.atoms.items():
        if not isinstance(op, TiledLoadBase | TiledStoreOp | TmaTransferOp):
            continue
        if isinstance(choice.layout, MemoryLayout):
            op.attributes[ASSIGNED_LAYOUT] = LayoutAttr(_of_its_tile(op, choice.layout))
        elif space_of(op.operands[0].type) in (None, Space.GMEM):
            op.attributes.setdefault(ASSIGNED_LAYOUT, LayoutAttr(_row_major(group.shape)))
        if op.atom == UNDECIDED and (keyword := _atom(op, candidate.atom)) is not None:
            op.atom = AtomAttr.of(keyword)


def _of_its_tile(op: Operation, layout: MemoryLayout) -> MemoryLayout:
    """Return the layout of the tile that an operation accesses, which may be a view."""
    types = (*op.result_types, *op.operand_types)
    encodings = (tile.encoding for tile in map(as_tile, types) if tile is not None)
    return next((one.data for one in encodings if isinstance(one, SharedEncoding)), layout)


def _atom(op: Operation, chosen: str) -> str | None:
    """Return the atom that fits the chosen layout of an operation; None to leave it unset."""
    if chosen in ("ldg", "stg"):
        return chosen
    if chosen in BULK_ATOMS and isinstance(op, TiledLoadBase):
        shape = shape_of(op.view.type)
        is_global = space_of(op.view.type) in (None, Space.GMEM)
        return f"{BULK_ATOMS[chosen]}_{len(shape)}d" if shape and is_global else None
    return None


def _row_major(shape: tuple[int, ...]) -> MemoryLayout:
    strides = [1] * len(shape)
    for axis in reversed(range(len(shape) - 1)):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return MemoryLayout(Layout(shape, tuple(strides)))
