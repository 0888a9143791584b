"""Element types of the kernels: their names in the IR, in atoms, in numpy; how they round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Element:
    """An element type; `unit` and `least` are 0 for integers."""

    ir: str
    """Its name in the IR."""
    word: str
    """The name of the type in the names of atoms."""
    dtype: np.dtype[Any]
    unit: float = 0.0
    """The unit roundoff: what a correctly rounded result may be off, relative to it."""
    least: float = 0.0
    """The smallest positive number; half of it is the error of results that underflow."""

    @property
    def bits(self) -> int:
        """The bits of an element; numpy stores one of 4 bits in a byte."""
        if not self.unit:
            return self.dtype.itemsize * 8
        return int(cast("Any", ml_dtypes).finfo(self.dtype).bits)

    @property
    def zero(self) -> str:
        """Zero as the IR writes it."""
        return "0.0" if self.unit else "0"

    def random(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Normal numbers, or integers of the whole range."""
        if self.unit:
            return rng.standard_normal(shape).astype(self.dtype)
        limits = np.iinfo(self.dtype)
        return rng.integers(limits.min, limits.max, shape, self.dtype, endpoint=True)

    def unset(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Return an output before the run: NaN, or noise for types without NaN."""
        if not self.unit:
            return self.random(rng, shape)
        return np.full(shape, np.nan).astype(self.dtype)

    def rounding(self, exact: Reals) -> Reals:
        """Return the rounding error bound of each number."""
        return self.unit * np.abs(exact) + self.least / 2


def _float(ir: str, word: str, dtype: Any) -> Element:
    facts = cast("Any", ml_dtypes).finfo(dtype)
    least = float(facts.smallest_subnormal)
    return Element(ir, word, np.dtype(dtype), float(facts.eps) / 2, least)


ELEMENTS: Mapping[str, Element] = {
    "f32": _float("f32", "f32", np.float32),
    "f16": _float("f16", "f16", np.float16),
    "bf16": _float("bf16", "bf16", ml_dtypes.bfloat16),
    "e4m3": _float("f8E4M3FN", "e4m3", ml_dtypes.float8_e4m3fn),
    "e2m1": _float("f4E2M1FN", "e2m1", ml_dtypes.float4_e2m1fn),
    "ue8m0": _float("f8E8M0FNU", "ue8m0", ml_dtypes.float8_e8m0fnu),
    "i8": Element("i8", "s8", np.dtype(np.int8)),
    "i32": Element("i32", "s32", np.dtype(np.int32)),
    "i64": Element("i64", "s64", np.dtype(np.int64)),
}
"""By the name that kernels take as a parameter."""

F32 = ELEMENTS["f32"]


def accumulated(count: int, magnitudes: Reals) -> Reals:
    """The error of a sum of `count` terms in f32, in any order, whose absolute values sum so.

    Source: Higham, Accuracy and Stability of Numerical Algorithms, 4.2.
    """
    steps = count * F32.unit
    return steps / (1 - steps) * magnitudes
