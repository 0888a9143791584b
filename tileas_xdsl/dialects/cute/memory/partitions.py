"""Parts of views: the tile of a block, the elements of a thread, and registers for them."""

from __future__ import annotations

from functools import partial
from typing import Any

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import MemoryAllocEffect, Pure

from tileas_xdsl import layout as algebra
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.dialects.cute.base.inference_errors import inference_error
from tileas_xdsl.dialects.cute.base.operands import (
    has_bases,
    has_static_shape,
    is_static,
    layout_of,
    on_layout,
    tree_of,
)
from tileas_xdsl.dialects.cute.base.operation import AlgebraOp
from tileas_xdsl.dialects.cute.base.symbolic_values import Pointer, Tile, Tree, View
from tileas_xdsl.dialects.cute.layout_algebra.modes import sliced
from tileas_xdsl.dialects.cute.layout_algebra.queries import Projection
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.pointers import natural_alignment
from tileas_xdsl.dialects.cute.types.tuples import CoordAttr, CoordType
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import (
    NO_SWIZZLE,
    ComposedLayout,
    Layout,
    coalesce,
    int_tuple,
    zipped_divide,
)
from tileas_xdsl.layout.composed import innermost
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import is_tuple, rank


@irdl_op_definition
class LocalTileOp(AlgebraOp):
    """The tile at a coordinate of tiles; underscores keep all tiles along a mode.

    `proj` picks modes of the tiler and of the coordinate: those where it has an integer.
    """

    name = "cute.local_tile"
    input = operand_def()
    tile = operand_def()
    coord = operand_def()
    proj = opt_prop_def(CoordAttr)
    result = result_def()
    traits = traits_def(Pure())

    def check(self, *operands: Any) -> None:
        view, tile, coord = operands
        if not isinstance(tile, (Layout, Tile)):
            raise inference_error(self, message("cute.local_tile.tiler", type=self.tile.type))
        if not isinstance(coord, Tree) or coord.kind is not CoordType:
            raise inference_error(self, message("cute.local_tile.coordinate", type=self.coord.type))
        wanted, got = self._ranks(tile, coord)
        if wanted != got:
            shown = CoordAttr(coord.tree)
            text = message("cute.local_tile.coordinate_rank", rank=wanted, coord=shown)
            raise inference_error(self, text)
        if not isinstance(view, View):
            raise inference_error(self, message("cute.local_tile.input", type=self.input.type))

    def _ranks(self, tile: Any, coord: Tree) -> tuple[int, int]:
        if isinstance(tile, Layout):
            return 1, rank(coord.tree)
        return len(tile.modes), rank(coord.tree)

    def compute(self, *operands: Any) -> Any:
        view, tile, coord = operands
        tiler: Any = tile.modes if isinstance(tile, Tile) else tile
        crd = coord.tree
        if self.proj is not None:
            tiler, crd = self._diced(tiler), self._diced(crd)
        divided = on_layout(view, partial(_divided, tiler))
        tiles = divided.layout[1]
        self._check_profile(crd, tiles)
        kept = (None,) * divided.layout[0].rank
        full = (*crd, *(None,) * (tiles.rank - len(crd))) if is_tuple(crd) else crd
        return sliced(divided, (kept, full))

    def _diced(self, value: Any) -> Any:
        assert self.proj is not None
        try:
            return int_tuple.dice(self.proj.data, value)
        except LayoutError as error:
            text = message(
                "cute.local_tile.dice",
                tile=self.tile.type,
                coord=self.coord.type,
                projection=self.proj,
            )
            raise inference_error(self, text) from error

    def _check_profile(self, crd: Any, tiles: Any) -> None:
        """Each number of the coordinate counts tiles along one mode."""
        modes: Any = tiles.shape
        fits = not is_tuple(crd) or (
            len(crd) <= len(modes)
            and all(int_tuple.weakly_congruent(c, s) for c, s in zip(crd, modes, strict=False))
        )
        if not fits:
            text = message("cute.local_tile.coordinate_profile", coord=CoordAttr(crd))
            raise inference_error(self, text)


@irdl_op_definition
class LocalPartitionOp(AlgebraOp):
    """The elements of one thread: those at its place in every tile of the shape of `tiler`.

    `tiler` maps a place in a tile to a thread, and `index` is the thread's number.
    `target_profile`, a coordinate, picks modes of the tiler: those where it has an integer.
    """

    name = "cute.local_partition"
    input = operand_def()
    tiler = operand_def()
    index = operand_def()
    target_profile = opt_operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def check(self, *operands: Any) -> None:
        value, tiler = operands[:2]
        if not isinstance(tiler, Layout):
            raise inference_error(self, message("cute.local_partition.tiler", type=self.tiler.type))
        if not has_static_shape(tiler):
            raise inference_error(
                self, message("cute.local_partition.tiler_shape", type=self.tiler.type)
            )
        if layout_of(value) is None:
            raise inference_error(self, message("cute.input.layout_or_view", type=self.input.type))
        if self.target_profile is not None:
            profile = operands[3]
            if not isinstance(profile, Tree) or profile.kind is not CoordType:
                raise inference_error(
                    self, message("cute.local_partition.profile", type=self.target_profile.type)
                )

    def compute(self, *operands: Any) -> Any:
        value, tiler, index = operands[:3]
        if self.target_profile is not None:
            tiler = algebra.dice(operands[3].tree, tiler)
        coordinate = self._thread_coordinate(tiler, tree_of(index, "the index"))
        extents = int_tuple.product_each(tiler.shape)
        self._check_modes(layout_of(value), extents)
        divided = on_layout(value, partial(_divided, extents))
        layout: Any = layout_of(divided)
        rests = (None,) * layout[1].rank
        return sliced(divided, (coordinate, rests))

    def _thread_coordinate(self, tiler: Layout, index: Any) -> Any:
        """The place in a tile that the tiler maps to a thread, mode by mode."""
        if has_bases(tiler.stride) or not is_static(tiler.stride):
            raise inference_error(self, message("cute.local_partition.coordinate"))
        return tuple(
            int_tuple.crd2idx(int_tuple.idx2crd(index, mode.shape, mode.stride), mode.shape)
            for mode in tiler
        )

    def _check_modes(self, layout: Any, extents: Any) -> None:
        try:
            coalesce(Layout(layout.shape), tuple(1 for _ in extents))
        except LayoutError as error:
            raise inference_error(
                self, message("cute.local_partition.coalesce", type=self.input.type)
            ) from error


def _divided(tiler: Any, layout: Any) -> Any:
    divide: Any = zipped_divide
    return divide(layout, tiler)


@irdl_op_definition
class MakeFragmentLikeOp(Projection):
    """A compact layout in the order of another one; of a view, registers with that layout."""

    name = "cute.make_fragment_like"
    traits = traits_def(MemoryAllocEffect())

    def check(self, *operands: Any) -> None:
        value = operands[0]
        if layout_of(value) is None:
            raise inference_error(
                self, message("cute.make_fragment_like.input", type=self.input.type)
            )
        if isinstance(value, View) and not isinstance(value.iterator, Pointer):
            raise inference_error(
                self, message("cute.make_fragment_like.source", type=self.input.type)
            )
        layout = layout_of(value)
        if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Layout):
            raise inference_error(self, message("cute.make_fragment_like.failed"))

    def failure(self, error: LayoutError, *operands: Any) -> OpError:
        return inference_error(
            self,
            message(
                "cute.make_fragment_like.failed_from", layout=layout_of(operands[0]), reason=error
            ),
        )

    def compute(self, *operands: Any) -> Any:
        value = operands[0]
        layout = innermost(layout_of(value))
        if not (is_static(layout.shape) and is_static(layout.stride)) or has_bases(layout.stride):
            raise LayoutError("registers have a layout with integers that are known")
        fragment = algebra.make_fragment_like(layout)
        if not isinstance(value, View):
            return fragment
        pointer: Any = value.iterator
        return View(registers(pointer.element, self), fragment)


def registers(element: Attribute, base: Any) -> Pointer:
    """The pointer to fresh registers."""
    return Pointer(element, AddressSpace.RMEM, natural_alignment(element), NO_SWIZZLE, base)
