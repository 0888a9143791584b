"""Register layouts of tcgen05.ld and .st, and copies between tensor and shared memory."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr, TensorType
from xdsl.ir import Attribute

from tileas_xdsl.analysis.memory.tensor_registers import GROUP_THREADS, halves_of_layout, moves_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.attributes import (
    LinearEncoding,
    RegisterEncoding,
    SharedEncoding,
)
from tileas_xdsl.dialects.nv_tileas.spaces import Tile, element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.threads.smem.smem_encoding import encoding_of
from tileas_xdsl.threads.smem.smem_layout import shared_layout
from tileas_xdsl.transforms.assign_layouts.candidates.memory.buffers import memory_layout
from tileas_xdsl.transforms.materialize_convert_layout.plans import fragment_of, sorted_plans


@dataclass(frozen=True)
class Passage:
    """A tile in registers on its way between tensor memory and shared memory."""

    type: Tile
    other: str
    """The atom between registers and shared memory."""


def register_layouts(tile: Attribute, threads: int) -> Sequence[Tile]:
    """The types in registers that tcgen05.ld and .st move a tile from and to, the usual one first.

    None where it lies otherwise than products leave it, its elements fill no cells, or threads do
    not make up whole warpgroups.
    """
    shape, element = shape_of(tile), element_of(tile)
    if element is None or shape is None or len(shape) != 2 or bits_of(element) != WORD_BITS:
        return ()
    halves = None if DYNAMIC_INDEX in shape else _halves(tile, shape)
    if halves is None:
        return ()
    return [
        TensorType(element, shape, LinearEncoding(layout.layout))
        for _, layout in moves_of(*shape, threads // GROUP_THREADS, halves)
        if threads % GROUP_THREADS == 0
    ]


def _halves(type_: Attribute, shape: Sequence[int]) -> int | None:
    """How many ranges of columns of an accumulator a type has in its lanes, 1 if it says nothing.

    None where it is laid out otherwise than products leave it.
    """
    tile = as_tile(type_)
    if tile is None:
        is_view = isinstance(type_, TiledViewType) and not isinstance(type_.layout, NoneAttr)
        return None if is_view else 1
    if not isinstance(tile.encoding, LinearEncoding):
        return 1
    layout: Layout = tile.encoding.data
    return halves_of_layout(layout, shape)


def matches(type_: Attribute, registers: Sequence[Tile], threads: int) -> bool:
    """Whether a tile in registers is in one of several layouts, or in none yet."""
    tile = as_tile(type_)
    if tile is None or not isinstance(tile.encoding, RegisterEncoding):
        return True
    try:
        fragment = fragment_of(tile, threads)
    except LayoutError:
        return False
    return fragment is not None and any(
        other is not None and other.held.tobytes() == fragment.held.tobytes()
        for other in (fragment_of(one, threads) for one in registers)
    )


def through_registers(
    registers: Sequence[Tile], shared: Attribute, threads: int, *, stores: bool
) -> Passage | None:
    """The registers between tensor and shared memory: those that whole matrices move from or to.

    None where no access moves the tile between registers and shared memory as it lies there.
    """
    laid_out = _in_shared_memory(registers[0], shared)
    if laid_out is None:
        return None
    found: list[Passage] = []
    for one in registers:
        ends = (one, laid_out) if stores else (laid_out, one)
        for plan in sorted_plans(*ends, threads):
            found.append(Passage(one, plan.store if stores else plan.load))
    return next((p for p in found if p.other.startswith(("stsm", "ldsm"))), next(iter(found), None))


def _in_shared_memory(like: Tile, type_: Attribute) -> Tile | None:
    """The type of a tile as it lies in shared memory, usually where nothing says how.

    None where the layout is that of another tile.
    """
    shape, element = tuple(like.get_shape()), like.element_type
    memory = encoding_of(type_)
    if memory is None:
        memory = memory_layout(shared_layout(shape, bits_of(element)))
    if product_each(memory.shape) != shape:
        return None
    return TensorType(element, shape, SharedEncoding(memory))


def can_convert(source: Attribute, registers: Tile, threads: int) -> bool:
    """Whether a tile can be loaded into the registers that tcgen05.st empties."""
    return bool(sorted_plans(source, registers, threads))
