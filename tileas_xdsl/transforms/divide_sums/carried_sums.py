"""Loops that carry nothing but sums: iterations may be added up apart, and then together.

    %d = scf.for %k ... iter_args(%acc = %begin) {     %acc has one use, as what is added to;
      %p = nv_tileas.dot %x, %y, %acc                  so have all values from there to the yield
      %s = arith.addf %p, %z
      scf.yield %s }

Neither addend depends on a sum, since nothing else reads one.  Products of few rows are transposed,
and their sums with them.  Sums that are rounded up or down, saturated or flushed stay whole: what
adds parts does none of that.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, math, scf, tensor
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import float_mode
from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.transforms.normalize_dot_operands.permutations import permuted

_ADDED_TO: Mapping[type[Operation], tuple[int, ...]] = {
    DotOp: (2,),
    arith.AddfOp: (0, 1),
    arith.AddiOp: (0, 1),
    arith.SubfOp: (0,),
    arith.SubiOp: (0,),
    math.FmaOp: (2,),
}
"""By operation: the operands that it adds to."""

SUM_BITS = 32
"""Bits of floats whose sums are added up in another order."""


def carries_sums(loop: scf.ForOp) -> bool:
    """Whether a loop carries tiles, each of which its iterations add to and nothing else reads."""
    carried = enumerate(loop.body.block.args[1:])
    return len(loop.results) > 0 and all(_is_sum(value, k) for k, value in carried)


def adding(sum_: SSAValue) -> type[arith.AddfOp | arith.AddiOp]:
    """Return the operation that adds two sums."""
    return arith.AddfOp if isa(element_of(sum_.type), AnyFloat) else arith.AddiOp


def _is_sum(carried: SSAValue, position: int) -> bool:
    tile = as_tile(carried.type)
    if tile is None or not _is_wide(carried):
        return False
    value, unmoved = carried, tuple(range(len(tile.get_shape())))
    dimensions = unmoved
    while value.has_one_use():
        (use,) = value.uses
        op = use.operation
        if isinstance(op, tensor.ExtractOp) and (made := op.parent_op()) is not None:
            found = permuted(made.results[0]) if len(made.results) == 1 else None
            if found is None or found.source is not value:
                return False
            dimensions = tuple(found.order[n] for n in dimensions)
            op = made
        elif isinstance(op, scf.YieldOp):
            is_own = op.parent is carried.owner and use.index == position
            return is_own and dimensions == unmoved
        elif use.index not in _ADDED_TO.get(type(op), ()) or not float_mode(op).exact:
            return False
        if op.parent is not carried.owner:
            return False
        value = op.results[0]
    return False


def _is_wide(carried: SSAValue) -> bool:
    """Whether sums are integers, which any order gives, or floats that are rounded late."""
    element = element_of(carried.type)
    return not isa(element, AnyFloat) or bits_of(element) >= SUM_BITS
