"""Compute the compile-time fields of a tensor map: all but address, extents and strides.

`tileas-separate-host-tma` generates host code that calls cuTensorMapEncodeTiled for each
descriptor. A launch supplies address, extents and strides from the array argument; the rest, a
`Recipe`, follows from the IR:

    %w = nv_tileas.view %a[%n, %c0] : memref<?x64xf16> -> !nv_tileas.tiled_view<8x64xf16, gmem>
    %d = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #nv_tileas<atom tma_load_2d>}

    {argument = 0, box = array<i64: 64, 8>, element = f16, swizzle = "none", window}

Box and swizzle are those of the shared-memory tiles that the transfers through the descriptor
use, since one instruction moves one swizzled panel; the operands of the descriptor hold only if
no transfer says more. The map is then checked with legal stand-ins for what the launch decides,
so that a box or swizzle that the driver would refuse is an error of the compiler.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, Signedness
from xdsl.ir import Attribute, Block, BlockArgument, OpResult, SSAValue

from tileas_xdsl.analysis.memory.tma_descriptors import ArgumentView, constant_box, window_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.enums import OobMode
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import TokenFault, pipelines_of
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp, ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import MakeTiledTmaDescOp
from tileas_xdsl.dialects.nv_tileas.tma.im2col import PIXEL_MODE, Pixels
from tileas_xdsl.dialects.nv_tileas.tma.ops import AsyncTiledAtomicRmwOp, TmaTransferOp
from tileas_xdsl.dialects.nv_tileas.tma.slices import sliced_axis, users_of
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tma.array_slices import map_of_slices
from tileas_xdsl.target.tma.tensor_map import PixelBox, TensorMap, tensor_map_element
from tileas_xdsl.target.tma.tensor_map_rules import check_tensor_map, target_refusal
from tileas_xdsl.threads.pipeline.staged_tiles import staged_tiles
from tileas_xdsl.threads.smem.smem_encoding import layout_of_buffer
from tileas_xdsl.threads.smem.smem_layout import SharedLayout
from tileas_xdsl.threads.tma.descriptor_args import UNSIGNED_REDUCTIONS

BOX_MODES, ROW_MODES = ("tiled", "tiled_at"), ("gather4", "scatter4")
"""Modes whose boxes are tiles, and those whose boxes are rows."""

LEGAL_STRIDE, LEGAL_EXTENT = 1 << 12, 1 << 12
"""Stand-ins for the strides and extents of a launch when the rest of a map is checked."""


@dataclass(frozen=True)
class Recipe:
    """A tensor map of a window of an argument."""

    window: ArgumentView
    element: Attribute
    box: tuple[int, ...]
    """Innermost first."""
    swizzle: str
    nan_fill: bool
    pixels: Pixels | None = None
    """Of columns of pixels (im2col)."""
    slices: int | None = None
    """The dimension along which transfers move slices; None where they move all of the array."""
    is_written: bool = False
    """Whether tiles are stored by it, and none are loaded."""

    @property
    def bits(self) -> int:
        """The bits of an element."""
        return bits_of(self.element)

    @property
    def element_name(self) -> str:
        """What tensor maps call the element."""
        return tensor_map_element(element_name(self.element), self.bits) or ""


def recipe_of(op: MakeTiledTmaDescOp, target: Target) -> Recipe:
    """Return the recipe of a descriptor; raise where no tensor map can express it."""
    window, element = window_of(op.view), op.element_type
    if window is None or element is None:
        raise op_error(
            op, f"describes {op.view.type}, not an array argument from a beginning of its own on"
        )
    box, swizzle = _box_and_swizzle(op)
    nan = op.oob_mode is not None and op.oob_mode.data is OobMode.NAN
    if op.oob_mode is not None and op.oob_mode.data is OobMode.CONSTANT:
        raise op_error(op, "fills with a constant what is out of bounds; hardware has zero and NaN")
    signed, slices = _signed(op, element), sliced_axis(op.result)
    recipe = Recipe(window, signed, box, swizzle, nan, op.pixels, slices, op.is_written)
    _check(op, recipe, target)
    return recipe


def _signed(op: MakeTiledTmaDescOp, element: Attribute) -> Attribute:
    """Return the element type of the map, unsigned where a reduction compares unsigned.

    The type of the map decides how `cp.reduce.async.bulk.tensor` compares for min and max.
    """
    users = users_of(op.result)
    compares = any(
        isinstance(u, AsyncTiledAtomicRmwOp) and u.rmw_mode.data in UNSIGNED_REDUCTIONS
        for u in users
    )
    return IntegerType(bits_of(element), Signedness.UNSIGNED) if compares else element


def _check(op: MakeTiledTmaDescOp, recipe: Recipe, target: Target) -> None:
    """Refuse what the driver would refuse for any arguments, and what the target lacks."""
    if recipe.bits != bits_of(recipe.window.type.element_type):
        raise op_error(op, f"moves elements {recipe.element}, not as wide as those of the view")
    if op.load_mode == PIXEL_MODE and recipe.pixels is None:
        raise op_error(op, "is of columns of pixels, and says no corners of them")
    if not recipe.element_name:
        raise op_error(op, f"tensor maps have no elements {recipe.element}")
    made = template_of(recipe)
    try:
        check_tensor_map(made)
    except TargetError as error:
        raise op_error(op, str(error)) from error
    if (refusal := target_refusal(made, target)) is not None:
        raise op_error(op, f"tensor map: {refusal}")


def template_of(recipe: Recipe) -> TensorMap:
    """Return the map at address 0, with legal extents and strides where only a launch knows them.

    What is refused of it would be refused for any arguments.
    """
    shape = recipe.window.type.get_shape()
    dims = [n if n != DYNAMIC_INDEX and recipe.window.is_whole else LEGAL_EXTENT for n in shape]
    pixels = recipe.pixels
    found = TensorMap(
        recipe.element_name,
        0,
        tuple(reversed(dims)),
        (LEGAL_STRIDE,) * (len(dims) - 1),
        recipe.box,
        swizzle=recipe.swizzle,
        nan_fill=recipe.nan_fill,
        pixels=None if pixels is None else PixelBox(pixels.lower, pixels.upper),
    )
    axis = recipe.slices
    return found if axis is None else map_of_slices(found, len(dims) - 1 - axis)


def _box_and_swizzle(op: MakeTiledTmaDescOp) -> tuple[tuple[int, ...], str]:
    """Return the box and swizzle of the tiles that use a descriptor, one of each."""
    own = constant_box(op)
    if op.pixels is not None:
        own = (own[0], prod(own[1:]))
    found = {_box_of_transfer(user) for user in _transfers(op)} - {None}
    if len(found) > 1:
        listed = " and ".join(sorted(f"boxes {box} {mode}" for box, mode in filter(None, found)))
        raise op_error(op, f"is used to move {listed}; one descriptor has one box")
    if (moved := next(iter(found), None)) is not None:
        return moved
    return own, "none" if op.swizzle_mode is None else op.swizzle_mode.data.value


def _transfers(op: MakeTiledTmaDescOp) -> Iterator[TmaTransferOp]:
    yield from (user for user in users_of(op.result) if isinstance(user, TmaTransferOp))


def _box_of_transfer(op: TmaTransferOp) -> tuple[tuple[int, ...], str] | None:
    mode, found = (
        op.atom.data.mode if isinstance(op.atom.data, TmaAtom) else "",
        _tile(op.operands[1]),
    )
    if found is None:
        return None
    layout, shape = found
    if mode in ROW_MODES:
        return (layout.panel, 1), layout.swizzle
    if mode == PIXEL_MODE:
        return (layout.panel, prod(shape[:-1])), layout.swizzle
    return ((layout.panel, *reversed(shape[:-1])), layout.swizzle) if mode in BOX_MODES else None


def _tile(value: SSAValue) -> tuple[SharedLayout, tuple[int, ...]] | None:
    """Return the layout and extents of a tile in shared memory, None if not known here."""
    if isinstance(value, BlockArgument):
        layout = _stage_layout(value)
        return None if layout is None else (layout, layout.shape)
    assert isinstance(value, OpResult)
    op = value.op
    match op:
        case AllocTensorOp():
            layout = layout_of_buffer(op, op.result.type, [op.result])
            return layout, layout.shape
        case ViewOp() if op.is_whole:
            source = _tile(op.source)
            fits = source is not None and source[1] == shape_of(op.result.type)
            return source if fits else None
        case ExtractSliceOp():
            return _rows(op)
        case _:
            return None


def _rows(op: ExtractSliceOp) -> tuple[SharedLayout, tuple[int, ...]] | None:
    """Return the layout and extents of a slice of whole rows."""
    source, sizes = _tile(op.source), tuple(op.static_sizes.get_values())
    if source is None or len(sizes) != 2 or sizes[1] != source[0].columns:
        return None
    return source[0], sizes


def _stage_layout(value: BlockArgument) -> SharedLayout | None:
    """Return the layout of a tile of a pipeline stage."""
    block: Block = value.block
    stage = block.parent_op()
    if not isinstance(stage, StageOp):
        return None
    pipelines = pipelines_of(stage.operands[0])
    if isinstance(pipelines, TokenFault) or not pipelines:
        return None
    tiles, _ = staged_tiles(pipelines[0])
    return tiles[value.index].layout if value.index < len(tiles) else None
