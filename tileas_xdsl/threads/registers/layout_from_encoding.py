"""The register layout that the encoding attribute of a tile type describes.

An encoding that is one of the layouts which the lowering has by itself becomes that; any other one
is kept as a table of which thread holds what.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, Operation

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.attributes import (
    TENSOR_MEMORY_AXES,
    BlockedEncoding,
    DotOperandEncoding,
    LinearEncoding,
)
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.integers import ceil_div, is_power_of_two
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES, blocked, blocked_layout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout, is_of_larger_tile
from tileas_xdsl.layout.tables import is_injective
from tileas_xdsl.layout.units import WARP, WORD_BITS
from tileas_xdsl.target.mma.warp_tiles import accumulator_layout, fits_accumulators
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.threads.registers.vector_split import vectors_of

MAX_SPILLED = 4
"""How many times its registers a tile may take of a thread: ptxas spills the others.

Operands and accumulators of products are not, for an instruction needs them all; nor are tiles in
one vector, whose elements no formula gives one at a time.
"""

WIDTHS = (1, 2, 4, 8, 16)
"""Bytes of the widest elements that layouts may have been made for."""


def encoded_layout(e: ThreadBuilder, op: Operation, type_: Attribute) -> RegisterLayout | None:
    """Return the register layout that the encoding of a tile type states; None without one.

    A slice may keep the encoding of the whole tile, which does not apply to it.
    """
    tile = as_tile(type_)
    if tile is None:
        return None
    match tile.encoding:
        case BlockedEncoding() | DotOperandEncoding() | LinearEncoding() as encoding:
            layout = encoding.data
        case _:
            return None
    shape = tuple(tile.get_shape())
    if set(layout.axes()) & TENSOR_MEMORY_AXES or is_of_larger_tile(layout, shape):
        return None
    plain = e.tiles.layout(op, shape, e.agent) if _is_plain(shape) else None
    try:
        found = known_layout(_without_repeats(layout, shape), shape, e.agent, plain)
    except LayoutError as error:
        raise op_error(
            op, f"{e.agent.name} of {e.agent.threads} threads cannot hold {tile}: {error}"
        ) from error
    _check_registers(e, op, tile, found)
    return found


def _check_registers(e: ThreadBuilder, op: Operation, tile: Tile, layout: RegisterLayout) -> None:
    """Check that the registers of a thread suffice, or that ptxas can spill some of them."""
    vectors, most = vectors_of(layout), e.plan.target.registers_per_thread
    bits = bits_of(tile.element_type)
    needed = vectors.elements * bits // WORD_BITS
    is_one_vector = vectors.length == vectors.elements and blocked(layout) is None
    # Of addresses each element is computed where it is read (`scalarize-vectors`).
    is_address = tile.element_type == i64 or isinstance(tile.element_type, PtrType)
    is_whole = not is_address and (isinstance(tile.encoding, DotOperandEncoding) or is_one_vector)
    if needed > (most if is_whole else MAX_SPILLED * most):
        raise op_error(
            op,
            f"{tile} takes {needed} registers of a thread, which has at most {most}: "
            f"{_remedy(e, tile, ceil_div(needed, most))}",
        )


def _remedy(e: ThreadBuilder, tile: Tile, times: int) -> str:
    """What holds a tile that takes so many times the registers of a thread; powers of two."""
    times = 1 << (times - 1).bit_length()
    elements, warps = prod(tile.get_shape()), e.agent.warps
    smaller = f"use a tile of {elements // times} elements where this one has {elements}"
    if times * warps * WARP > e.plan.target.threads_per_block:
        return smaller
    return f"{smaller}, or {times * warps} warps where {warps} hold it now"


def _is_plain(shape: tuple[int, ...]) -> bool:
    return all(is_power_of_two(extent) for extent in shape)


def _without_repeats(layout: Layout, shape: tuple[int, ...]) -> Layout:
    """The layout without replicas that are all in one register."""
    if layout.rank <= len(shape):
        return layout
    modes = tuple(layout) if isinstance(layout.shape, tuple) else (layout,)
    if any(d for _, d in modes[-1].leaves()):
        return layout
    return make_layout(*modes[:-1])


@lru_cache(maxsize=512)
def known_layout(
    layout: Layout, shape: tuple[int, ...], agent: Agent, plain: RegisterLayout | None
) -> RegisterLayout:
    """Return a register layout that agrees with an encoding wherever the encoding has elements.

    Raises `LayoutError` where the encoding is not one of such a tile in the threads of the agent.
    """
    found = RegisterLayout(layout, shape, agent.threads)
    if not is_injective(layout):
        raise LayoutError(f"{layout} keeps two elements in one register")
    held = found.held
    for candidate in _candidates(shape, agent, plain):
        if candidate.values == found.values and ((held < 0) | (held == candidate.held)).all():
            return candidate
    return found


def _candidates(
    shape: tuple[int, ...], agent: Agent, plain: RegisterLayout | None
) -> Iterator[RegisterLayout]:
    """The layouts that the lowering has for tiles of a shape, the usual one first."""
    if plain is not None:
        yield plain
        yield from (
            blocked_layout(shape, agent.warps, width) for width in WIDTHS if width <= ACCESS_BYTES
        )
    if len(shape) == 2 and agent.groups:
        rows, columns = shape
        if fits_accumulators(rows, columns, agent.groups):
            yield accumulator_layout(rows, columns, agent.groups)
            yield accumulator_layout(rows, columns, agent.groups, in_pairs=True)
