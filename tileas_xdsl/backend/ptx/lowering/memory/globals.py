"""`nv_tileaa.global`: elements in global memory with their first values, as bytes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType
from xdsl.ir import Attribute

from tileas_xdsl.backend.ptx.lowering.arithmetic.constants import NARROW_DTYPES
from tileas_xdsl.backend.ptx.lowering.forms import form_of
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.nv_tileaa.memory.globals import GlobalOp
from tileas_xdsl.dialects.ptx.structure.entries import is_name

ALIGNMENT = 16
"""Bytes: the widest access of a thread."""

WIDE: Mapping[type[Attribute], type] = {Float32Type: np.float32, Float64Type: np.float64}


def lower_global(op: GlobalOp) -> ptx.GlobalOp:
    """Lower a constant global to PTX; `i1` elements are stored as bytes."""
    name, type_ = op.sym_name.data, op.value.get_element_type()
    if not is_name(name):
        raise op_error(op, f"is called '{name}', which is no name in PTX")
    values = op.value.get_values()
    count = int(np.prod(op.value.get_shape(), dtype=np.int64))
    elements = np.array(values * count if len(values) == 1 else values)
    align = op.alignment.value.data if op.alignment is not None else ALIGNMENT
    data = _stored(op, elements, type_)
    made = ptx.GlobalOp(name, data, align=max(align, ALIGNMENT), visible=True)
    made.location = op.location
    return made


def _stored(
    op: GlobalOp, elements: np.ndarray[tuple[int], np.dtype[np.generic]], type_: Attribute
) -> bytes:
    if isinstance(type_, IntegerType):
        width = type_.bitwidth
        if width == 1:
            return (elements != 0).astype(np.uint8).tobytes()
        return elements.astype(np.int64).astype(f"i{width // 8}").tobytes()
    form = form_of(type_)
    dtype = WIDE.get(type(type_)) or (NARROW_DTYPES.get(form.element) if form else None)
    if dtype is None:
        raise op_error(op, f"holds {type_}, which memory of a kernel does not")
    return elements.astype(np.float64).astype(dtype).tobytes()
