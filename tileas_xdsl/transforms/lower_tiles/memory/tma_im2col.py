"""Handlers of im2col TMA loads: one instruction per channel panel."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import i16, i32
from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import TmaLoadOp
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.tma.im2col import PIXEL_MODE, Pixels
from tileas_xdsl.dialects.nv_tileas.tma.ops import AsyncTiledTmaLoadOp
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, cast_index, divide, modulo, multiply
from tileas_xdsl.threads.codegen.lowered_values import Lowered
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.tma.bulk_load import load_by
from tileas_xdsl.threads.tma.descriptor_args import described, mask_of
from tileas_xdsl.transforms.lower_tiles.memory.tma_boxes import load_boxes


def tma_load(e: ThreadBuilder, op: AsyncTiledTmaLoadOp) -> Sequence[Lowered]:
    """A column of pixels; other loads as they are."""
    atom = op.atom.data
    if not isinstance(atom, TmaAtom) or atom.mode != PIXEL_MODE:
        return load_boxes(e, op)
    rows = prod(shared_tile(e, op.destination).shape[:-1])
    descriptor, tile = described(e, op, op.desc, op.destination, (rows,))
    pixels = descriptor.recipe.pixels
    if pixels is None:
        raise op_error(op, "loads pixels, but its descriptor says no corners of them")
    tap, *places, channel = [e.scalar(value) for value in op.coords]
    layout = tile.layout
    start = cast_index(e, multiply(e, channel, layout.columns), i32)
    inner = [cast_index(e, place, i32) for place in reversed(places)]
    offsets = _offsets(e, cast_index(e, tap, i32), pixels)
    mask = mask_of(e, op)

    def copies(barrier: SSAValue, elected: SSAValue | None) -> None:
        for panel in range(layout.panels):
            pointer = advance(e, tile.pointer, panel * layout.panel_bytes)
            column = [add(e, start, panel * layout.panel), *inner]
            e.insert(
                TmaLoadOp(
                    descriptor.argument,
                    pointer,
                    barrier,
                    column,
                    mask,
                    elected,
                    mode=PIXEL_MODE,
                    offsets=offsets,
                )
            )

    return [load_by(e, op, copies)]


def _offsets(e: ThreadBuilder, tap: SSAValue, pixels: Pixels) -> list[SSAValue]:
    """Return the im2col offsets of a filter tap as `i16`, the innermost dimension (W) first."""
    found: list[SSAValue] = []
    for extent in pixels.filter[:-1]:
        found.append(modulo(e, tap, extent))
        tap = divide(e, tap, extent)
    return [e.insert(arith.TruncIOp(value, i16)).result for value in (*found, tap)]


HANDLERS: Handlers = {
    AsyncTiledTmaLoadOp: tma_load,
}
