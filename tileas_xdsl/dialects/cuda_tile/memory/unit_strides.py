"""Values that are nothing but strides of dimensions of one element, which no address depends on.

cuTile states what divides the strides of a slice before it knows that an extent is 1:

    %s = assume div_by<4>, %one : tile<i32>
    make_tensor_view %p, shape = [%n, 1], strides = [%r, %s] : ... tensor_view<?x1xf32, ...>

The promise about `%s` is wrong, and nobody can tell.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue, Use

from tileas_xdsl.dialects.cuda_tile.memory.tensor_views import MakeTensorViewOp
from tileas_xdsl.dialects.cuda_tile.tiles.misc import AssumeOp
from tileas_xdsl.dialects.cuda_tile.types.view_types import TensorViewType


def is_unit_stride(value: SSAValue) -> bool:
    """Return whether all uses are strides of dimensions of extent 1, directly or by assumptions."""
    return any(value.uses) and all(map(_is_stride_of_one, value.uses))


def _is_stride_of_one(use: Use) -> bool:
    op = use.operation
    if isinstance(op, AssumeOp):
        return is_unit_stride(op.result)
    if not isinstance(op, MakeTensorViewOp):
        return False
    view = op.result.type
    assert isinstance(view, TensorViewType)
    dynamic = [k for k, stride in enumerate(view.get_strides()) if stride == DYNAMIC_INDEX]
    position = use.index - 1 - len(op.dynamic_shape)
    return position >= 0 and view.get_shape()[dynamic[position]] == 1
