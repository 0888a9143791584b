"""The width of `index` in a kernel: 32 bits, or 64 where arrays have extents of 64 bits.

Threads count in 32 bits as long as every extent does.  A kernel whose attribute asks for 64 has the
type `index` replaced by `i64` before it is lowered; casts between the two become nothing.
"""

from __future__ import annotations

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.rewriter import Rewriter

from tileas_xdsl.dialects.ir_queries import values_within

INDEX_BITS = "tileas.index_bits"
"""The attribute of a kernel that gives the width of `index`."""


def set_index_width(kernel: func.FuncOp) -> None:
    """Make the indices of a kernel as wide as its attribute says."""
    bits = kernel.attributes.get(INDEX_BITS)
    if not isinstance(bits, IntegerAttr) or bits.value.data != i64.bitwidth:
        return
    for value in list(values_within(kernel)):
        if isinstance(value.type, IndexType):
            Rewriter.replace_value_with_new_type(value, i64)
    for op in kernel.walk():
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
            number = op.value
            if isinstance(number.type, IndexType):
                op.properties["value"] = IntegerAttr(number.value.data, i64)
