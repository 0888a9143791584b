"""Layouts in registers that are worth comparing for the tiles of a group, widest accesses first.

What hardware or the program fixes comes first: types and conversions, accumulators, fragments of
products; then what a tile is loaded for or made of, and contiguous chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.analysis.layouts.dot_layouts import tiling_of
from tileas_xdsl.analysis.layouts.tile_groups import TileGroup, placed_tile
from tileas_xdsl.analysis.memory.copied_chunks import copied_bytes
from tileas_xdsl.analysis.memory.tensor_registers import TmemTransfer
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.attributes import (
    BlockedEncoding,
    DotOperandEncoding,
    LinearEncoding,
    RegisterEncoding,
    mma_instruction,
)
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.compute.row_order import has_rows_in_pairs
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    TiledLoadBase,
    TiledLoadOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES, blocked
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.mma.warp_tiles import (
    accumulator_layout,
    fits_accumulators,
    operand_layout,
)
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.transforms.assign_layouts.candidates.broadcast_lines import broadcast_line
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import (
    Family,
)
from tileas_xdsl.transforms.assign_layouts.candidates.chunk_layouts import chunk_layouts
from tileas_xdsl.transforms.assign_layouts.candidates.copied_tiles import (
    is_copied,
    layout_of_copied,
)
from tileas_xdsl.transforms.assign_layouts.candidates.dot.wgmma_fragments import (
    fragments,
    slice_of_accumulators,
)
from tileas_xdsl.transforms.assign_layouts.candidates.group_operations import (
    operations_on,
)
from tileas_xdsl.transforms.assign_layouts.candidates.memory.other_side import (
    memory_of,
    memory_of_access,
    stated_alignment,
)
from tileas_xdsl.transforms.assign_layouts.candidates.memory.tensor_memory import (
    tensor_loads,
)
from tileas_xdsl.transforms.assign_layouts.candidates.rearranged_tiles import (
    layouts_without_exchange,
)
from tileas_xdsl.transforms.assign_layouts.candidates.row_values import (
    values_of_rows,
)
from tileas_xdsl.transforms.assign_layouts.candidates.stored_views import (
    layout_of_source,
    stored_values,
)
from tileas_xdsl.transforms.assign_layouts.candidates.transposed_tiles import blocks_for_transpose
from tileas_xdsl.transforms.assign_layouts.candidates.whole_matrices import whole_matrices
from tileas_xdsl.transforms.assign_layouts.request import Assignment

FAMILIES: Mapping[type[Attribute], Family] = {
    BlockedEncoding: Family.BLOCKED,
    DotOperandEncoding: Family.DOT_OPERAND,
    LinearEncoding: Family.LINEAR,
}


@dataclass(frozen=True)
class Option:
    """A layout of a tile in registers."""

    family: Family
    layout: Layout
    vector: int = 0
    """Adjacent elements of a piece; 0 where accesses have to be found from the layout."""
    move: TmemTransfer | None = None
    """How it is loaded from tensor memory."""


def register_options(a: Assignment, group: TileGroup, agent: Agent) -> Sequence[Option]:
    """The layouts that are worth comparing, the widest accesses first."""
    # The order of these tests is the order of constraint: what hardware or the program fixes first.
    for source in (_layouts_of_types, _layouts_of_conversions):
        if fixed := list(dict.fromkeys(source(group))):
            return fixed
    accumulator = _accumulators_of_threads(group, agent) or _accumulators(a, group, agent)
    if accumulator is not None:
        return [_option(accumulator, Family.DOT_OPERAND)]
    fixed = [_option(layout, family) for layout, family in fragments(a, group, agent)]
    if fixed := fixed or _tensor_loads(a, group, agent):
        return fixed
    if any(extent == DYNAMIC_INDEX or extent & (extent - 1) for extent in group.shape):
        return []
    return _related_options(a, group, agent) or _blocked_options(a, group, agent)


def _related_options(a: Assignment, group: TileGroup, agent: Agent) -> Sequence[Option]:
    """Layouts that follow from what a tile is loaded for, reduced from or made of."""
    if _is_only_loaded(group) and (operand := _operand_a(group, agent)) is not None:
        return [Option(Family.DOT_OPERAND, operand)]
    if (values := values_of_rows(a, group, agent)) is not None:
        return [Option(Family.LINEAR, values)]
    for line in (broadcast_line(a, group), stored_values(a, group)):
        if line is not None:
            return [Option(Family.LINEAR, line)]
    if (blocks := blocks_for_transpose(a, group, agent)) is not None:
        return [_option(blocks, Family.LINEAR)]
    if matrices := whole_matrices(a, group, agent):
        return [_option(layout, Family.LINEAR) for layout in matrices]
    if _is_on_chip(a, group):
        return [_option(found, Family.LINEAR) for found in layouts_without_exchange(a, group)]
    return []


def _blocked_options(a: Assignment, group: TileGroup, agent: Agent) -> Sequence[Option]:
    """Layouts of contiguous chunks, the widest accesses first."""
    if is_copied(group):
        return [Option(Family.BLOCKED, layout_of_copied(group, agent, _chunk_element_bytes(group)))]
    chunks = [_option(layout, Family.BLOCKED) for layout in chunk_layouts(a, group, agent)]
    shown = layout_of_source(a, group)
    return chunks if shown is None else [Option(*shown), *chunks]


def _is_on_chip(a: Assignment, group: TileGroup) -> bool:
    """Whether no operation of a group accesses global memory, whose sectors decide before all."""
    memories = {memory_of(a, op, group) for op, _ in operations_on(a, group)}
    return Space.GMEM not in memories


def _option(layout: RegisterLayout, family: Family) -> Option:
    form = blocked(layout)
    return Option(family, layout.layout, 0 if form is None else form.vector)


def _layouts_of_types(group: TileGroup) -> Iterator[Option]:
    """Layouts that types have already."""
    tiles = (placed_tile(value.type) for value in group.values)
    yield from (_encoded(tile.encoding) for tile in tiles if tile and _is_register(tile.encoding))


def _layouts_of_conversions(group: TileGroup) -> Iterator[Option]:
    """Layouts that the group is converted to: conversions are seeds."""
    for value in group.values:
        for use in value.uses:
            if isinstance(use.operation, ConvertLayoutOp):
                encoding = use.operation.result.type.encoding
                yield from (_encoded(encoding),) if _is_register(encoding) else ()


def _is_register(encoding: Attribute) -> bool:
    return isinstance(encoding, RegisterEncoding)


def _encoded(encoding: Attribute) -> Option:
    assert isinstance(encoding, RegisterEncoding)
    return Option(FAMILIES[type(encoding)], encoding.data)


def _accumulators_of_threads(group: TileGroup, agent: Agent) -> RegisterLayout | None:
    """Return the accumulator layout of a dot whose operands are in registers of all threads."""
    products = (v.owner for v in group.values if isinstance(v.owner, DotOp | AsyncDotOp))
    tilings = (tiling_of(op, agent.warps) for op in products)
    return next((tiling.accumulator for tiling in tilings if tiling is not None), None)


def _accumulators(a: Assignment, group: TileGroup, agent: Agent) -> RegisterLayout | None:
    """The accumulators of a product by wgmma, or a slice of those of any product."""
    for value in group.values:
        if isinstance(value.owner, ExtractSliceOp):
            part = slice_of_accumulators(a, value.owner)
            if part is not None:
                return part
    rows, columns = group.shape[-2:] if len(group.shape) > 1 else (0, 0)
    if not fits_accumulators(rows, columns, agent.groups):
        return None
    for value in group.values:
        op = value.owner
        if isinstance(op, DotOp | AsyncDotOp) and mma_instruction(op.atom) == "wgmma":
            in_pairs = has_rows_in_pairs(op)
            return accumulator_layout(rows, columns, agent.groups, in_pairs=in_pairs)
    return None


def _tensor_loads(a: Assignment, group: TileGroup, agent: Agent) -> Sequence[Option]:
    """The layouts that instructions load from tensor memory."""
    options = [
        (_option(layout, Family.LINEAR), move)
        for move, layout in tensor_loads(a, group, agent.groups)
    ]
    return [replace(option, move=move) for option, move in options]


def _is_only_loaded(group: TileGroup) -> bool:
    """Whether a tile comes from shared memory, and nothing says what for."""
    value, *others = group.values
    load = value.owner
    if others or value.uses or not isinstance(load, TiledLoadBase):
        return False
    return memory_of_access(load) is Space.SMEM


def _operand_a(group: TileGroup, agent: Agent) -> Layout | None:
    """The layout in which products take A from registers: what ldmatrix loads."""
    tile = placed_tile(group.values[0].type)
    bits = 0 if tile is None else bits_of(tile.element_type)
    if len(group.shape) != 2 or bits not in (8, 16, 32):
        return None
    return operand_layout(*group.shape, bits, agent.warps)


MIN_COPIED_BYTES = 8
"""Shorter accesses of a tile that is only copied cost more registers, for addresses, than time."""


def _chunk_element_bytes(group: TileGroup) -> int:
    """The element size to lay out a tile that is only copied, so that chunks match its alignment.

    A chunk of 16 bytes holds as many elements as rows are known to be aligned to. The group is
    one tile that is loaded.
    """
    (value,) = group.values
    tile, load = placed_tile(value.type), value.owner
    assert tile is not None
    assert isinstance(load, Operation)
    bits = bits_of(tile.element_type)
    size = max(bits // 8, 1)
    if _goes_to_stage(value):
        assert isinstance(load, TiledLoadOp)
        return size * ACCESS_BYTES // copied_bytes(load)
    stated = stated_alignment(load, bits)
    return size * ACCESS_BYTES // stated if stated >= max(size, MIN_COPIED_BYTES) else size


def _goes_to_stage(value: SSAValue) -> bool:
    """Whether threads copy a tile into a stage, without registers."""
    return any(isinstance(use.operation, CopyOp) for use in value.uses)
