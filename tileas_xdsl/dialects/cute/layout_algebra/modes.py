"""Modes of layouts, tensors and tuples: selected, grouped, sliced by a coordinate, appended."""

from __future__ import annotations

from abc import ABC
from typing import Any

from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl import layout as algebra
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cute.base.inference_errors import inference_error
from tileas_xdsl.dialects.cute.base.operands import (
    layout_of,
    on_layout,
    shape_of,
    tree_of,
)
from tileas_xdsl.dialects.cute.base.operation import AlgebraOp, integers_of
from tileas_xdsl.dialects.cute.base.symbolic_values import Tile, Tree, View, type_of
from tileas_xdsl.dialects.cute.layout_algebra.queries import Projection, coordinates_of
from tileas_xdsl.dialects.cute.layout_algebra.transforms import Bits
from tileas_xdsl.dialects.cute.layout_algebra.tuples import add_trees
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import Layout, int_tuple
from tileas_xdsl.layout.errors import LayoutError


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
    """An operation that pads a layout with modes of extent 1 to a given rank."""

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
