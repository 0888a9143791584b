"""Random expressions of floats, of numbers of every size, infinities, NaN and zeros of both signs.

Passes that know the range of a value leave out what others need: here every value may be anything.
What is compared are NaN, infinities, and numbers as far as an error of the inputs in their last
place leaves them where they are.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.elements import ELEMENTS, Array

HEAD = """import cuda.tile as ct


@ct.kernel
def kernel(a, b, o):
    x, y = ct.load(a, (0, 0), (64, 64)), ct.load(b, (0, 0), (64, 64))
"""

SPECIAL = (
    *(0.0, np.inf, np.nan, 1e-40, 1.2e-38, 1.0, 2.0, 0.5, 88.0, 89.5, 104.0, 126.0, 127.0, 128.0),
    *(150.0, 3.4e38, 1e30, 1e19, 1e-30, 7.0, 0.3, 1e5, 65504.0, 2.0**126, 2.0**127, 2.0**-126),
)

OF_ONE = (
    *("ct.exp({0})", "ct.exp2({0})", "ct.log({0})", "ct.log2({0})", "ct.sqrt({0})"),
    *("ct.rsqrt({0})", "ct.abs({0})", "(-{0})", "({0} * {0})", "ct.floor({0})"),
    *("(1.0 / {0})", "(1.0 + {0})", "(1.0 / (1.0 + ct.exp(-{0})))", "({0} / (1.0 + ct.exp(-{0})))"),
    *("ct.maximum({0}, 0.0)", "ct.minimum({0}, 1.0)", "(1.0 + ct.exp({0}))", "(0.5 + ct.abs({0}))"),
    *("({0} * 0.0)", "({0} * 1e-3)", "ct.exp(-ct.abs({0}))", "ct.pow(ct.abs({0}), 1.5)"),
    *("ct.where({0} > 0.0, {0}, 0.01 * {0})", "ct.sqrt(ct.abs({0}) + 1e-6)"),
    "ct.exp({0} - ct.max({0}, axis=1, keepdims=True))",
    "({0} / ct.sum(ct.abs({0}) + 1.0, axis=1, keepdims=True))",
)
OF_TWO = (
    *("({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} / {1})", "ct.maximum({0}, {1})"),
    *("ct.minimum({0}, {1})", "ct.where({0} > {1}, {0}, {1})", "({0} / (ct.abs({1}) + 0.5))"),
    *("({0} * ct.exp(-ct.abs({1})))", "ct.where({0} < 1.0, {1}, {0})"),
)


@dataclass(frozen=True)
class FloatKernel:
    """A kernel of f32, and the elements of its result."""

    text: str
    result: str

    def arguments(self, ulps: int = 0) -> tuple[Array, Array, Array]:
        """Arrays with all pairs of special numbers, each so many last places of an f32 larger."""
        numbers = np.array([*SPECIAL, *(-number for number in SPECIAL)], np.float32)
        rng, size = np.random.default_rng(0), 64 * 64
        rest = rng.standard_normal((2, size - numbers.size**2)).astype(np.float32) * 3
        pairs = np.stack([one.ravel() for one in np.meshgrid(numbers, numbers)])
        with np.errstate(over="ignore"):
            moved = np.concatenate([pairs, rest], 1) * np.float32(1 + ulps * 2.0**-23)
        a, b = (one.reshape(64, 64) for one in moved)
        return a, b, np.zeros((64, 64), ELEMENTS[self.result].dtype)


def random_floats(seed: int) -> FloatKernel:
    """The kernel of this seed."""
    rng = random.Random(seed)
    values, lines = ["x", "y"], list[str]()

    def value() -> str:
        return rng.choice(values[-3:] if rng.random() < 0.75 else values)

    for number in range(rng.randrange(2, 6)):
        form = rng.choice(OF_ONE if rng.random() < 0.65 else OF_TWO)
        lines.append(f"v{number} = {form.format(value(), value())}")
        values.append(f"v{number}")
    lines.append(f"ct.store(o, (0, 0), ct.astype({values[-1]}, o.dtype))")
    text = HEAD + "".join(f"    {line}\n" for line in lines)
    return FloatKernel(text, rng.choice(("f32", "f16", "bf16")))


LIMITS = {"f32": (1e-4, 1e-36, 1e37), "f16": (4e-3, 1e-6, 6e4), "bf16": (3e-2, 1e-36, 1e37)}
"""By element: relative errors of functions and roundings; numbers that are flushed, from 2**-126
on; and those that are infinite where the largest number is rounded to them."""


def differing(expected: Any, moved: Any, found: Any, element: str) -> Array:
    """Which numbers are others than expected; `moved` are those of inputs that are slightly off."""
    relative, tiny, huge = LIMITS[element]
    w, m, g = (np.asarray(one).astype(np.float64) for one in (expected, moved, found))
    with np.errstate(all="ignore"):
        spread = np.nan_to_num(np.abs(m - w), nan=0.0, posinf=np.inf)
        near = np.abs(w - g) <= relative * np.maximum(np.abs(w), np.abs(g)) + tiny + 3 * spread
        overflows = (w * g > 0) & (np.minimum(np.abs(w), np.abs(g)) >= huge)
    return ~(near | overflows | (w == g) | (np.isnan(w) & np.isnan(g)))
