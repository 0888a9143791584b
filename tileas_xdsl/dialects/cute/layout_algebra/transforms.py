"""The algebra of layouts: the layout package as operations, with the messages of their failures.

What a view is given instead of a layout, its iterator is kept.
"""

from __future__ import annotations

from abc import ABC
from functools import partial
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.irdl import operand_def, opt_operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl import layout as algebra
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.dialects.cute.base.inference_errors import inference_error
from tileas_xdsl.dialects.cute.base.operands import (
    extents_of,
    has_static_shape,
    layout_of,
    on_layout,
    shape_of,
    tiler_of,
    tree_of,
)
from tileas_xdsl.dialects.cute.base.operation import AlgebraOp, integers_of
from tileas_xdsl.dialects.cute.base.symbolic_values import Tile, Tree, View, symbol, type_of
from tileas_xdsl.dialects.cute.layout_algebra.queries import Projection, coordinates_of
from tileas_xdsl.dialects.cute.layout_algebra.tuples import add_trees
from tileas_xdsl.dialects.cute.types.tuples import IntTupleType, ShapeType
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import ComposedLayout, Layout, Swizzle, int_tuple
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import congruent, is_tuple, show

Bits = IntegerAttr
_algebra: Any = algebra


class ProfiledOp(AlgebraOp, ABC):
    """An operation on a layout, mode by mode where a profile says so."""

    input = operand_def()
    target_profile = opt_operand_def()
    result = result_def()
    traits = traits_def(Pure())

    @property
    def profile(self) -> Any:
        """The profile; None without one."""
        if self.target_profile is None:
            return None
        return tree_of(symbol(self.target_profile), "a profile")


@irdl_op_definition
class CoalesceOp(ProfiledOp):
    """The same function with fewest modes."""

    name = "cute.coalesce"

    def compute(self, *operands: Any) -> Any:
        return on_layout(operands[0], partial(_algebra.coalesce, profile=self.profile))


@irdl_op_definition
class FilterOp(ProfiledOp):
    """The layout without its modes of stride 0 and of extent 1, coalesced."""

    name = "cute.filter"

    def compute(self, *operands: Any) -> Any:
        return on_layout(operands[0], partial(_algebra.filter, profile=self.profile))


@irdl_op_definition
class FilterZerosOp(ProfiledOp):
    """The layout with extent 1 where its stride is 0, or the stride of a profile is."""

    name = "cute.filter_zeros"

    def check(self, *operands: Any) -> None:
        layout = layout_of(operands[0])
        if layout is None:
            raise inference_error(self, message("cute.filter_zeros.input", type=self.input.type))
        if self.target_profile is None:
            return
        profile = operands[1]
        if not isinstance(profile, Tree) or profile.kind is not ShapeType:
            raise inference_error(
                self, message("cute.filter_zeros.profile_type", type=self.target_profile.type)
            )
        if not congruent(profile.tree, layout.shape):
            shapes = {"src": show(layout.shape), "target": show(profile.tree)}
            raise inference_error(self, message("cute.filter_zeros.profile", **shapes))

    def compute(self, *operands: Any) -> Any:
        return on_layout(operands[0], algebra.filter_zeros)


@irdl_op_definition
class ComplementOp(AlgebraOp):
    """The layout of the offsets that another one leaves out, up to a size or shape."""

    name = "cute.complement"
    input = operand_def()
    cotarget = opt_operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        layout = layout_of(operands[0])
        if layout is None:
            raise LayoutError(f"expected a layout, not {type_of(operands[0])}")
        target = None if self.cotarget is None else shape_of(operands[1])
        return algebra.complement(layout, target)


@irdl_op_definition
class CompositionOp(AlgebraOp):
    """`lhs` after `rhs`: the result maps c to lhs(rhs(c)) and has the profile of `rhs`."""

    name = "cute.composition"
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        lhs, rhs = operands
        tiler = tiler_of(rhs)
        if isinstance(lhs, Swizzle):
            if not isinstance(tiler, (Layout, ComposedLayout)):
                raise LayoutError(f"a swizzle is composed with a layout, not {type_of(rhs)}")
            return algebra.composition(lhs, tiler)
        return on_layout(lhs, lambda layout: algebra.composition(layout, tiler))


class InverseOp(Projection, ABC):
    """An inverse of a layout."""

    def plain(self, value: Any) -> Any:
        """The layout, with extents that are known."""
        if not isinstance(value, (Layout, ComposedLayout)):
            raise inference_error(self, message("cute.inverse.input", type=self.input.type))
        return value


@irdl_op_definition
class RightInverseOp(InverseOp):
    """The layout R with L(R(i)) == i, as far as there is one."""

    name = "cute.right_inverse"

    def failure(self, error: LayoutError, *operands: Any) -> OpError:
        return inference_error(
            self, message("cute.right_inverse.failed", type=self.input.type, reason=error)
        )

    def compute(self, *operands: Any) -> Any:
        layout = self.plain(operands[0])
        if not has_static_shape(layout):
            raise inference_error(
                self, message("cute.right_inverse.static_shape", type=self.input.type)
            )
        return algebra.right_inverse(layout)


@irdl_op_definition
class LeftInverseOp(InverseOp):
    """The layout R with R(L(i)) == i."""

    name = "cute.left_inverse"

    def compute(self, *operands: Any) -> Any:
        layout = self.plain(operands[0])
        if not has_static_shape(layout):
            raise inference_error(self, message("cute.left_inverse.dynamic_shape", layout=layout))
        return algebra.left_inverse(layout)


@irdl_op_definition
class RecastLayoutOp(Projection):
    """The layout of the same memory, counting elements of `new_type_bits`."""

    name = "cute.recast_layout"
    new_type_bits = prop_def(Bits)
    old_type_bits = prop_def(Bits)

    def check(self, *operands: Any) -> None:
        if not isinstance(operands[0], (Layout, ComposedLayout)):
            raise inference_error(self, message("cute.recast_layout.input", type=self.input.type))

    def failure(self, error: LayoutError, *operands: Any) -> OpError:
        return inference_error(
            self, message("cute.recast_layout.failed", layout=operands[0], reason=error)
        )

    def compute(self, *operands: Any) -> Any:
        old, new = (int(b.value.data) for b in (self.old_type_bits, self.new_type_bits))
        return algebra.recast_layout(operands[0], old, new)


@irdl_op_definition
class ShapeDivOp(AlgebraOp):
    """The shape divided by another; of each two numbers one divides the other."""

    name = "cute.shape_div"
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def failure(self, error: LayoutError, *operands: Any) -> OpError:
        return inference_error(
            self, message("cute.shape_div.failed", a=self.lhs.type, b=self.rhs.type)
        )

    def compute(self, *operands: Any) -> Any:
        a, b = (extents_of(operand, "a shape") for operand in operands)
        kind: Any = operands[0].kind if isinstance(operands[0], Tree) else IntTupleType
        return Tree(kind, int_tuple.shape_div(a, b))


@irdl_op_definition
class CeilDivOp(AlgebraOp):
    """How many tiles cover each mode, rounded up: congruent to the input at the top."""

    name = "cute.ceil_div"
    input = operand_def()
    tiler = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        value, tiler = operands
        shape, tiles = shape_of(value), tiler_of(tiler)
        kind: Any = value.kind if isinstance(value, Tree) else ShapeType
        return Tree(kind, covering(shape, tiles))


def covering(shape: Any, tiler: Any) -> Any:
    """How many tiles cover a shape: mode by mode for a tuple of tilers."""
    if isinstance(tiler, Layout):
        return int_tuple.ceil_div(shape, tiler.size())
    if tiler is None:
        return 1
    if not is_tuple(tiler):
        return int_tuple.ceil_div(shape, tiler)
    tiles: tuple[Any, ...] = tiler
    if not is_tuple(shape) or len(tiles) > len(shape):
        raise LayoutError(f"a tiler of {len(tiles)} modes for the shape {show(shape)}")
    covered = [covering(s, t) for s, t in zip(shape, tiles, strict=False)]
    return (*covered, *shape[len(tiles) :])


# Modes


@irdl_op_definition
class GroupModesOp(Projection):
    """Modes `begin` to `end`, which is excluded, as one nested mode."""

    name = "cute.group_modes"
    begin = prop_def(Bits)
    end = prop_def(Bits)

    def check(self, *operands: Any) -> None:
        value = operands[0]
        if layout_of(value) is None and not isinstance(value, Tree):
            raise inference_error(self, message("cute.group_modes.input", type=self.input.type))

    def compute(self, *operands: Any) -> Any:
        value = operands[0]
        shape = shape_of(value)
        begin, end = self._range(int_tuple.rank(shape))
        if isinstance(value, Tree):
            return Tree(value.kind, algebra.group(value.tree, begin, end))
        return on_layout(value, lambda layout: algebra.group(layout, begin, end))

    def _range(self, rank: int) -> tuple[int, int]:
        begin, end = int(self.begin.value.data), int(self.end.value.data)
        if not -rank <= begin < rank:
            raise inference_error(
                self, message("cute.group_modes.begin_range", begin=begin, rank=rank)
            )
        if not -rank + 1 <= end <= rank:
            raise inference_error(self, message("cute.group_modes.end_range", end=end, rank=rank))
        first = begin + rank if begin < 0 else begin
        last = end + rank if end < 0 else end
        if first >= last:
            text = message(
                "cute.group_modes.empty_range", begin=begin, first=first, end=end, last=last
            )
            raise inference_error(self, text)
        return first, last


class ModeListOp(Projection, ABC):
    """An operation with a list of modes."""

    mode = prop_def()

    @property
    def modes(self) -> tuple[int, ...]:
        """The list."""
        return integers_of(self.mode)


@irdl_op_definition
class SelectOp(ModeListOp):
    """The listed modes; a mode may be listed more than once."""

    name = "cute.select"

    def compute(self, *operands: Any) -> Any:
        value, modes = operands[0], self.modes
        if not modes:
            raise inference_error(self, message("cute.select.results", modes=""))
        rank = len(value.modes) if isinstance(value, Tile) else int_tuple.rank(shape_of(value))
        if not all(0 <= mode < rank for mode in modes):
            shown = ", ".join(map(str, modes))
            raise inference_error(
                self, message("cute.select.modes", modes=shown, type=self.input.type)
            )
        if isinstance(value, Tile):
            return Tile(tuple(value.modes[mode] for mode in modes))
        if isinstance(value, Tree):
            return Tree(value.kind, algebra.select(value.tree, *modes))
        return on_layout(value, lambda layout: algebra.select(layout, *modes))


class CutOp(AlgebraOp, ABC):
    """What a coordinate leaves of a layout, view or tuple."""

    input = operand_def()
    coord = operand_def()
    result = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class SliceOp(CutOp):
    """The modes under underscores; a view's iterator moves to the coordinate."""

    name = "cute.slice"

    def compute(self, *operands: Any) -> Any:
        value, coord = operands
        crd = tree_of(coord, "a coordinate")
        if isinstance(value, Tree):
            return Tree(value.kind, int_tuple.slice_(crd, value.tree))
        return sliced(value, crd)


def sliced(value: Any, crd: Any) -> Any:
    """The part of a layout or view under the underscores of a coordinate."""
    layout = layout_of(value)
    if layout is None:
        raise LayoutError(f"expected a layout, a view or a tuple, not {type_of(value)}")
    part = layout.slice(crd)
    if not isinstance(value, View):
        return part
    offset = layout.index(crd) if isinstance(layout, Layout) else 0
    return View(moved(value.iterator, offset), part)


def moved(iterator: Any, offset: Any) -> Any:
    """An iterator further on: a pointer by elements, a coordinate by a coordinate."""
    if not isinstance(iterator, Tree):
        return iterator.moved(offset)
    if isinstance(offset, int) and offset == 0:
        return iterator
    return Tree(iterator.kind, add_trees(iterator.tree, coordinates_of(offset)))


@irdl_op_definition
class DiceOp(CutOp):
    """The modes under integers: what `slice` drops."""

    name = "cute.dice"

    def compute(self, *operands: Any) -> Any:
        value, coord = operands
        crd = tree_of(coord, "a coordinate")
        if isinstance(value, Tree):
            return Tree(value.kind, int_tuple.dice(crd, value.tree))
        if isinstance(value, Tile):
            return Tile(int_tuple.dice(crd, value.modes))
        layout = layout_of(value)
        if layout is None:
            raise LayoutError(f"expected a layout or a tuple, not {type_of(value)}")
        return algebra.dice(crd, layout)


class RankOp(Projection, ABC):
    """An operation that brings a layout to a rank, with modes of one element."""

    rank = prop_def(Bits)

    def missing(self, layout: Any) -> int:
        """How many modes are added."""
        return max(0, int(self.rank.value.data) - layout.rank)


TRIVIAL = Layout(1, 0)


@irdl_op_definition
class AppendToRankOp(RankOp):
    """Modes of one element after the others."""

    name = "cute.append_to_rank"

    def compute(self, *operands: Any) -> Any:
        def grown(layout: Any) -> Any:
            for _ in range(self.missing(layout)):
                layout = algebra.append(layout, TRIVIAL)
            return layout

        return on_layout(operands[0], grown)


@irdl_op_definition
class PrependToRankOp(RankOp):
    """Modes of one element before the others."""

    name = "cute.prepend_to_rank"

    def compute(self, *operands: Any) -> Any:
        def grown(layout: Any) -> Any:
            for _ in range(self.missing(layout)):
                layout = algebra.prepend(layout, TRIVIAL)
            return layout

        return on_layout(operands[0], grown)
