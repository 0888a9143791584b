"""Atomic read-modify-write functions on whole tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from xdsl.ir import Attribute

from tileas_xdsl.dialects.nv_tileas.enums import RmwMode
from tileas_xdsl.interpreters.tile.numerics.element_types import (
    Array,
    cast,
    float_format,
    unsigned,
    wrap_integer,
)
from tileas_xdsl.interpreters.tile.numerics.integers import width_of

Update = Callable[[Array, Array], Array]

_FLOATS: Mapping[RmwMode, Update] = {
    RmwMode.ADD: np.add,
    RmwMode.MIN: np.fmin,
    RmwMode.MAX: np.fmax,
}
"""Float updates (PTX ISA, atom and red): sums round to nearest even; a number wins over NaN."""

_INTEGERS: Mapping[RmwMode, Update] = {
    RmwMode.ADD: np.add,
    RmwMode.AND: np.bitwise_and,
    RmwMode.OR: np.bitwise_or,
    RmwMode.XOR: np.bitwise_xor,
    RmwMode.MIN: np.minimum,
    RmwMode.MAX: np.maximum,
}
_UNSIGNED: Mapping[RmwMode, Update] = {RmwMode.UMIN: np.minimum, RmwMode.UMAX: np.maximum}


def updated(mode: RmwMode, old: Array, operand: Array, element: Attribute) -> Array:
    """Return `old` updated element-wise with `operand`."""
    if mode is RmwMode.XCHG:
        return operand
    if float_format(element) is not None:
        wide = np.float64 if old.dtype == np.float64 else np.float32
        with np.errstate(all="ignore"):
            return cast(_FLOATS[mode](old.astype(wide), operand.astype(wide)), element)
    width = width_of(element)
    assert width is not None
    if mode in _UNSIGNED:
        result = _UNSIGNED[mode](unsigned(old, width), unsigned(operand, width)).view(np.int64)
    else:
        with np.errstate(over="ignore"):
            result = _INTEGERS[mode](old.astype(np.int64), operand.astype(np.int64))
    return wrap_integer(result, width)
