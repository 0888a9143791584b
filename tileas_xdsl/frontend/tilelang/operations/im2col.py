"""`T.im2col`: the pixels under a filter as columns of a matrix, so that a convolution is a product.

Row `m` of the matrix is an output pixel `(n, oh, ow)`, column `k` an element `(kh, kw, c)` of the
filter; pixels outside of the image are 0, as what is read outside of any array.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tileas_xdsl.dialects.tl.base import shape_of
from tileas_xdsl.frontend.tilelang.memory.element_access import load_at, store_at
from tileas_xdsl.frontend.tilelang.memory.regions import for_each, region_of
from tileas_xdsl.frontend.tilelang.scope import Scope
from tileas_xdsl.frontend.tilelang.traced.graph import Node


def im2col(scope: Scope, node: Node) -> None:
    """A tile of the matrix: its rows and columns are counted in tiles."""
    image, matrix = (region_of(scope, argument) for argument in node.children("args")[:2])
    row, column, *sizes = node.children("args")[2:]
    numbers = [size.constant for size in sizes]
    filter_size, stride, dilation, padding = [n for n in numbers if n is not None]
    _, height, width, channels = shape_of(image.value.type)
    out_height, out_width = (
        (extent + 2 * padding - dilation * (filter_size - 1) - 1) // stride + 1
        for extent in (height, width)
    )
    rows, columns = matrix.extents
    if height < 0 or width < 0 or channels < 0:
        raise scope.refusal("T.im2col of an image", "has extents that only run time knows")
    i, j, row_tile, column_tile = (AffineExpr.dimension(n) for n in range(4))
    pixel, element = row_tile * rows + i, column_tile * columns + j
    places = [
        pixel // (out_height * out_width),
        pixel // out_width % out_height * stride
        + element // (channels * filter_size) * dilation
        - padding,
        pixel % out_width * stride + element // channels % filter_size * dilation - padding,
        element % channels,
    ]

    def one(variables: Sequence[SSAValue]) -> None:
        operands = [*variables, scope.index(row), scope.index(column)]
        indices = [
            scope.insert(affine.ApplyOp(operands, AffineMapAttr(AffineMap(4, 0, (place,))))).result
            for place in places
        ]
        value = load_at(scope, image.buffer, indices)
        store_at(scope, matrix.buffer, matrix.places(scope, variables), value)

    for_each(scope, matrix.box, one)
