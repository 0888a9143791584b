"""CuTe's algebra under pycute's names: `from tileas_xdsl.layout.cute import *`.

A program written for pycute (NVIDIA/cutlass, python/pycute) finds here every name it uses.
"""

from tileas_xdsl.layout.axes import AxisSum, E
from tileas_xdsl.layout.composed import (
    ComposedLayout,
    get_nonswizzle_portion,
    get_swizzle_portion,
    make_composed_layout,
)
from tileas_xdsl.layout.int_tuple import (
    Integer,
    ceil_div,
    colex_less,
    compact_col_major,
    compact_order,
    compact_row_major,
    crd2crd,
    crd2idx,
    elem_less,
    elem_scale,
    escan,
    evenly_divides,
    has_none,
    idx2crd,
    increment,
    inner_product,
    is_int,
    is_tuple,
    iscan,
    lex_less,
    prefix_product,
    product,
    product_each,
    product_like,
    round_up,
    shape_div,
    signum,
    slice_,
    tuple_max,
    tuple_sum,
    unwrap,
)
from tileas_xdsl.layout.layout import (
    Layout,
    LayoutBase,
    compatible,
    congruent,
    coprofile,
    coshape,
    cosize,
    depth,
    is_layout,
    make_identity_layout,
    make_layout,
    make_ordered_layout,
    rank,
    size,
    transform_layout,
    weakly_congruent,
)
from tileas_xdsl.layout.operations.algebra import (
    complement,
    domain_distribute,
    left_inverse,
    max_common_layout,
    max_common_vector,
    nullspace,
    right_inverse,
)
from tileas_xdsl.layout.operations.compact import make_fragment_like, make_layout_like
from tileas_xdsl.layout.operations.compose import composition, with_shape
from tileas_xdsl.layout.operations.modes import (
    append,
    dice,
    domain_offset,
    flatten,
    group,
    insert,
    prepend,
    remove,
    repeat,
    repeat_like,
    replace,
    select,
    take,
    unflatten,
    zip2_by,
    zip_modes,
)
from tileas_xdsl.layout.operations.recast import downcast, recast_layout, upcast
from tileas_xdsl.layout.operations.simplify import coalesce, filter, filter_zeros
from tileas_xdsl.layout.operations.swizzle_slices import make_swizzle_strides, slice_and_offset
from tileas_xdsl.layout.operations.tiling import (
    blocked_product,
    flat_divide,
    flat_product,
    hier_unzip,
    logical_divide,
    logical_product,
    max_alignment,
    raked_product,
    tile_to_shape,
    tile_unzip,
    tiled_divide,
    tiled_product,
    zipped_divide,
    zipped_product,
)
from tileas_xdsl.layout.registers.register_layout import make_layout_tv
from tileas_xdsl.layout.swizzle import Swizzle, shiftl, shiftr

__all__ = [
    "AxisSum", "ComposedLayout", "E", "Integer", "Layout", "LayoutBase", "Swizzle", "append",
    "blocked_product", "ceil_div", "coalesce", "colex_less", "compact_col_major",
    "compact_order", "compact_row_major", "compatible", "complement", "composition",
    "congruent", "coprofile", "coshape", "cosize", "crd2crd", "crd2idx", "depth", "dice",
    "domain_distribute", "domain_offset", "downcast", "elem_less", "elem_scale", "escan",
    "evenly_divides", "filter", "filter_zeros", "flat_divide", "flat_product", "flatten",
    "get_nonswizzle_portion", "get_swizzle_portion", "group", "has_none", "hier_unzip",
    "idx2crd", "increment", "inner_product", "insert", "is_int", "is_layout", "is_tuple",
    "iscan", "left_inverse", "lex_less", "logical_divide", "logical_product",
    "make_composed_layout", "make_fragment_like", "make_identity_layout", "make_layout",
    "make_layout_like", "make_layout_tv", "make_ordered_layout", "make_swizzle_strides",
    "max_alignment",
    "max_common_layout", "max_common_vector", "nullspace", "prefix_product", "prepend",
    "product", "product_each", "product_like", "raked_product", "rank", "recast_layout",
    "remove", "repeat", "repeat_like", "replace", "right_inverse", "round_up", "select",
    "shape_div", "shiftl", "shiftr", "signum", "size", "slice_", "slice_and_offset", "take",
    "tile_to_shape", "tile_unzip", "tiled_divide", "tiled_product", "transform_layout",
    "tuple_max", "tuple_sum", "unflatten", "unwrap", "upcast", "weakly_congruent", "with_shape",
    "zip2_by", "zip_modes", "zipped_divide", "zipped_product",
]  # fmt: skip
