"""Differences between two results of one kernel, and how they are reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.tile.numerics.element_types import Array

Values: TypeAlias = "Sequence[Array | int | float]"


@dataclass(frozen=True)
class Difference:
    """How one argument differs; `before` and `after` are the first values that do, as text."""

    argument: int
    count: int
    total: int
    index: tuple[int, ...]
    before: str
    after: str

    def __str__(self) -> str:
        """`3 of 64 elements differ, the first at [0, 5]: 0.5 before, 0.25 after`."""
        verb = "differs" if self.count == 1 else "differ"
        return (
            f"{self.count} of {self.total} elements {verb}, the first at {list(self.index)}: "
            f"{self.before} before, {self.after} after"
        )


def first_difference(before: Values, after: Values, tolerance: float = 0.0) -> Difference | None:
    """The first argument that differs, if any does.

    With tolerance 0, elements are equal if their bits are, or if both are NaN.  Else floats x and y
    are equal if |x - y| <= tolerance * max(1, |x|); integers must be equal always.
    """
    for index, pair in enumerate(zip(before, after, strict=True)):
        old, new = (np.asarray(value) for value in pair)
        if (found := _difference(index, old, new, tolerance)) is not None:
            return found
    return None


def _difference(number: int, old: Array, new: Array, tolerance: float) -> Difference | None:
    wrong = differing(old, new, tolerance)
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), old.shape))
    texts = (str(old[index]), str(new[index]))
    return Difference(number, count, old.size, index, *texts)


def differing(old: Array, new: Array, tolerance: float = 0.0) -> NDArray[np.bool_]:
    """Which elements differ, for arrays of one shape and type."""
    if old.dtype.kind in "iub":
        return np.asarray(old != new)
    x, y = old.astype(np.float64), new.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        if tolerance == 0.0:
            wrong = _bits(old) != _bits(new)
        else:
            near = np.abs(x - y) <= tolerance * np.maximum(1.0, np.abs(x))
            wrong = (x != y) & ~(near & np.isfinite(x))
    return np.asarray(wrong & ~(np.isnan(x) & np.isnan(y)))


def _bits(values: Array) -> NDArray[Any]:
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}").reshape(values.shape)
