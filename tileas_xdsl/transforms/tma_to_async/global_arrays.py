"""Arrays in global memory as a tensor map describes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.analysis.values.rows.divisors import row_divisor
from tileas_xdsl.dialects.nv_tileaa.memory.views import strides_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of

STRIDE_BYTES = 16
"""What the bytes between rows are multiples of.  Source: cuTensorMapEncodeTiled."""


def stride_problem(type_: Attribute, bits: int) -> str | None:
    """Why no tensor map describes an array of this type, None if one may, as far as is known.

    Rows are adjacent elements, and begin at multiples of 16 bytes.
    """
    known = (
        strides_of(cast("MemRefType[Attribute]", type_)) if isinstance(type_, MemRefType) else ()
    )
    *outer, inner = known or (1,)
    if inner not in (DYNAMIC_INDEX, 1):
        return f"TMA moves rows of adjacent elements, but these are {inner} apart"
    for stride in outer:
        if stride != DYNAMIC_INDEX and stride * bits % (8 * STRIDE_BYTES):
            text = f"TMA needs multiples of {STRIDE_BYTES} bytes between rows, not"
            return f"{text} {stride * bits / 8:g}"
    return None


def offset_problem(offsets: Sequence[SSAValue], element: Attribute | None) -> str | None:
    """Why TMA does not copy a tile at offsets in elements; None if it does, or there are none.

    A copy moves whole units of 16 bytes, which are those of the array: others fault on an H200.
    """
    if not offsets:
        return None
    step = row_divisor(offsets[-1]) * bits_of(element) // 8
    if step % STRIDE_BYTES == 0:
        return None
    return (
        f"begins at multiples of {step} bytes of a row as far as is known, and copies of TMA at "
        f"multiples of {STRIDE_BYTES}"
    )
