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
from tileas_xdsl.dialects.cute.base.operation import AlgebraOp
from tileas_xdsl.dialects.cute.base.symbolic_values import Tree, symbol, type_of
from tileas_xdsl.dialects.cute.layout_algebra.queries import Projection
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
