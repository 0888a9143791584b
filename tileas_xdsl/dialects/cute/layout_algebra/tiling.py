"""Divides and products of layouts and views.

Dividing `(8,6):(1,8)` by the tile `<4:1, 2:1>` splits each mode in the tile and the rest; the four
divides differ in how they group the parts:

    logical   ((4,2),(2,3)):((1,4),(8,16))       mode by mode
    zipped    ((4,2),(2,3)):((1,8),(4,16))       the tile first, then which tile
    tiled     ((4,2),2,3):((1,8),4,16)           the rest not grouped
    flat      (4,2,2,3):(1,8,4,16)               nothing grouped

Products repeat a block: `(4,2):(1,4)` over `(2,3):(1,2)` is `((4,2),(2,3)):((1,8),(4,16))` blocked,
each repetition beside the last, and `((2,4),(3,2)):((8,1),(16,4))` raked, elements interleaved.
Source: CUTLASS, media/docs/cpp/cute/02_layout_algebra.md.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from xdsl.irdl import operand_def, opt_operand_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl import layout as algebra
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.dialects.cute.base.inference_errors import inference_error
from tileas_xdsl.dialects.cute.base.operands import (
    is_static,
    layout_of,
    on_layout,
    tiler_of,
    tree_of,
)
from tileas_xdsl.dialects.cute.base.operation import AlgebraOp, cute_family_op
from tileas_xdsl.dialects.cute.base.symbolic_values import Tile, Tree, View, symbol
from tileas_xdsl.dialects.cute.layout_algebra.modes import moved
from tileas_xdsl.dialects.cute.types.tuples import IntTupleType, ShapeType, show_tile
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import ComposedLayout, Layout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.expr.expression import Expression, compute
from tileas_xdsl.layout.int_tuple import congruent, flat, is_tuple, rank, show


def tiler_rank(tiler: Any) -> int:
    """How many modes a tiler divides: a layout acts on the whole domain."""
    if isinstance(tiler, (Layout, ComposedLayout)):
        return 1
    return len(tiler.modes) if isinstance(tiler, Tile) else rank(tiler.tree)


def show_tiler(tiler: Any) -> str:
    """A tiler as messages write it, without its type."""
    if isinstance(tiler, Tile):
        return f'#cute.tile<"{show_tile(tiler.modes)}">'
    return show(tiler.tree) if isinstance(tiler, Tree) else str(tiler)


def is_tiler(value: Any) -> bool:
    """Whether a value tiles: a layout, a tile, or a tuple of extents."""
    if isinstance(value, Tree):
        return value.kind in (ShapeType, IntTupleType)
    return isinstance(value, (Layout, Tile))


class TiledOp(AlgebraOp, ABC):
    """An operation on a layout or view and a tiler."""

    input = operand_def()
    tiler = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def check(self, *operands: Any) -> None:
        value, tiler = operands[:2]
        if not is_tiler(tiler):
            raise inference_error(self, message("cute.divide.tiler", type=self.tiler.type))
        if layout_of(value) is None:
            raise inference_error(self, message("cute.divide.input", type=self.input.type))


class DivideOp(TiledOp, ABC):
    """A division by a tiler: a layout divides the whole domain, a tile or shape mode by mode."""

    DIVIDE: ClassVar[Callable[[Any, Any], Any]]

    def check(self, *operands: Any) -> None:
        super().check(*operands)
        value, tiler = operands
        layout: Any = layout_of(value)
        if tiler_rank(tiler) > layout.rank:
            raise inference_error(
                self,
                message("cute.divide.tiler_rank", input=self.input.type, tiler=show_tiler(tiler)),
            )

    def failure(self, error: LayoutError, *operands: Any) -> OpError:
        tiler = show_tiler(operands[1])
        text = message("cute.divide.failed", input=self.input.type, tiler=tiler, reason=error)
        return inference_error(self, text)

    def compute(self, *operands: Any) -> Any:
        value, tiler = operands
        divide = type(self).DIVIDE
        return on_layout(value, lambda layout: divide(layout, tiler_of(tiler)))


LogicalDivideOp = cute_family_op(
    DivideOp,
    "LogicalDivideOp",
    "logical_divide",
    "Each tiled mode is split in two: the tile, and which tile.",
    DIVIDE=algebra.logical_divide,
)
ZippedDivideOp = cute_family_op(
    DivideOp,
    "ZippedDivideOp",
    "zipped_divide",
    "`((tile modes...), (rest modes...))`.",
    DIVIDE=algebra.zipped_divide,
)
TiledDivideOp = cute_family_op(
    DivideOp,
    "TiledDivideOp",
    "tiled_divide",
    "`((tile modes...), rest modes...)`.",
    DIVIDE=algebra.tiled_divide,
)
FlatDivideOp = cute_family_op(
    DivideOp,
    "FlatDivideOp",
    "flat_divide",
    "`(tile modes..., rest modes...)`.",
    DIVIDE=algebra.flat_divide,
)


class ProductOp(TiledOp, ABC):
    """A layout reproduced over another one."""

    PRODUCT: ClassVar[Callable[[Any, Any], Any]]

    def compute(self, *operands: Any) -> Any:
        value, tiler = operands
        product = type(self).PRODUCT
        return on_layout(value, lambda layout: product(layout, tiler_of(tiler)))


LogicalProductOp = cute_family_op(
    ProductOp,
    "LogicalProductOp",
    "logical_product",
    "`(block, where each repetition of it starts)`.",
    PRODUCT=algebra.logical_product,
)
ZippedProductOp = cute_family_op(
    ProductOp,
    "ZippedProductOp",
    "zipped_product",
    "`((block modes...), (repetition modes...))`.",
    PRODUCT=algebra.zipped_product,
)
TiledProductOp = cute_family_op(
    ProductOp,
    "TiledProductOp",
    "tiled_product",
    "`((block modes...), repetition modes...)`.",
    PRODUCT=algebra.tiled_product,
)
FlatProductOp = cute_family_op(
    ProductOp,
    "FlatProductOp",
    "flat_product",
    "`(block modes..., repetition modes...)`.",
    PRODUCT=algebra.flat_product,
)
BlockedProductOp = cute_family_op(
    ProductOp,
    "BlockedProductOp",
    "blocked_product",
    "Mode by mode, blocks kept whole.",
    PRODUCT=algebra.blocked_product,
)
RakedProductOp = cute_family_op(
    ProductOp,
    "RakedProductOp",
    "raked_product",
    "Mode by mode, blocks interleaved.",
    PRODUCT=algebra.raked_product,
)


@irdl_op_definition
class TileToShapeOp(AlgebraOp):
    """A block repeated over a shape, modes in the given order."""

    name = "cute.tile_to_shape"
    block = operand_def()
    trg_shape = operand_def()
    ord_shape = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def check(self, *operands: Any) -> None:
        block, target, order = operands
        if layout_of(block) is None or not all(isinstance(x, Tree) for x in (target, order)):
            types = ", ".join(f"'{operand.type}'" for operand in self.operands)
            raise inference_error(self, message("cute.tile_to_shape.inputs", types=types))
        if rank(target.tree) != rank(order.tree):
            raise inference_error(
                self,
                message(
                    "cute.tile_to_shape.ranks", target=show(target.tree), order=show(order.tree)
                ),
            )
        if not is_static(order.tree):
            raise inference_error(
                self, message("cute.tile_to_shape.static_order", order=show(order.tree))
            )

    def compute(self, *operands: Any) -> Any:
        block, target, order = operands
        tile: Any = algebra.tile_to_shape
        return on_layout(block, partial(tile, target=target.tree, order=order.tree))


@irdl_op_definition
class StencilDivideOp(AlgebraOp):
    """Windows that slide over a layout: `((window modes...), (position modes...))`.

    Along each mode a window has `stencil` elements, `dilation` apart, and there is one at every
    `traversal_stride`-th place that it fits at; `padding_lower` and `padding_upper` are elements
    before and after, by which a view's iterator moves back.
    """

    name = "cute.stencil_divide"
    input = operand_def()
    stencil = operand_def()
    padding_upper = opt_operand_def()
    padding_lower = opt_operand_def()
    traversal_stride = opt_operand_def()
    dilation = opt_operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def check(self, *operands: Any) -> None:
        value, stencil = operands[:2]
        if not isinstance(stencil, Tree):
            raise inference_error(self, message("cute.divide.tiler", type=self.stencil.type))
        layout = layout_of(value)
        if not isinstance(layout, Layout):
            raise inference_error(self, message("cute.divide.input", type=self.input.type))
        if rank(stencil.tree) > layout.rank:
            raise inference_error(
                self,
                message("cute.divide.tiler_rank", input=self.input.type, tiler=show(stencil.tree)),
            )
        if not congruent(stencil.tree, layout.shape):
            raise inference_error(self, message("cute.stencil_divide.shapes"))
        for operand, key in (
            (self.padding_lower, "cute.stencil_divide.padding_lower"),
            (self.padding_upper, "cute.stencil_divide.padding_upper"),
            (self.traversal_stride, "cute.stencil_divide.traversal_stride"),
        ):
            if operand is not None and not congruent(tree_of(symbol(operand), key), layout.shape):
                raise inference_error(self, message(key))

    def failure(self, error: LayoutError, *operands: Any) -> OpError:
        text = message(
            "cute.divide.failed", input=self.input.type, tiler=show(operands[1].tree), reason=error
        )
        return inference_error(self, text)

    def compute(self, *operands: Any) -> Any:
        value, stencil = operands[:2]
        layout: Any = layout_of(value)
        windows = flat(stencil.tree)
        axes = [
            _Axis(*numbers)
            for numbers in zip(
                layout.leaves(),
                windows,
                self._each(self.padding_lower, 0, windows),
                self._each(self.padding_upper, 0, windows),
                self._each(self.traversal_stride, 1, windows),
                self._each(self.dilation, 1, windows),
                strict=True,
            )
        ]
        result = _windows(axes, is_tuple(layout.shape))
        start = sum(axis.start for axis in axes)
        if not isinstance(value, View):
            if any(axis.lower != 0 for axis in axes):
                raise LayoutError("a layout begins at 0: padding before it needs a view")
            return result
        return View(moved(value.iterator, start), result)

    def _each(self, operand: Any, default: int, windows: Sequence[Any]) -> Sequence[Any]:
        if operand is None:
            return (default,) * len(windows)
        numbers = flat(tree_of(symbol(operand), "an operand"))
        if len(numbers) != len(windows):
            raise LayoutError(f"{len(numbers)} numbers for {len(windows)} modes")
        return numbers


class _Axis:
    """One mode over which a window slides."""

    def __init__(
        self, mode: Any, window: Any, lower: Any, upper: Any, step: Any, dilation: Any
    ) -> None:
        self.extent, self.stride = mode
        self.window, self.lower, self.upper = window, lower, upper
        self.step, self.dilation = step, dilation
        for number in (window, lower, upper, step, dilation):
            if not isinstance(number, int | Expression):
                word = "_" if number is None else number
                raise LayoutError(f"windows, paddings, strides and dilations count, unlike {word}")
        for number in (window, step, dilation):
            if isinstance(number, int) and number < 1:
                raise LayoutError(f"windows, strides and dilations are positive, not {number}")

    @property
    def start(self) -> Any:
        """The offset of the first window."""
        return self.stride * (0 - self.lower) if self.lower != 0 else 0

    @property
    def positions(self) -> Any:
        """How many windows fit."""
        reach = (self.window - 1) * self.dilation + 1
        room = self.extent + self.lower + self.upper - reach
        if isinstance(room, int) and room < 0:
            raise LayoutError(f"a window that reaches {reach} elements does not fit")
        return compute("quotient", room, self.step) + 1


def _windows(axes: Sequence[_Axis], nested: bool) -> Layout:
    window = [(axis.window, axis.stride * axis.dilation) for axis in axes]
    position = [(axis.positions, axis.stride * axis.step) for axis in axes]
    if not nested:
        (s0, d0), (s1, d1) = window[0], position[0]
        return Layout((s0, s1), (d0, d1))
    return algebra.make_layout(
        *(
            Layout(tuple(s for s, _ in part), tuple(d for _, d in part))
            for part in (window, position)
        )
    )
