"""Flash attention of one head: two products, and the running maximum and sum between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, F32, Array, accumulated
from kernels.kernel import Grid, Reference, Sizes, tiles_of
from kernels.tl.base import EXP_ERROR, BlockProgram


@dataclass(frozen=True)
class Attention(BlockProgram):
    """O = softmax(Q K^T / sqrt(d)) V: blocks of `bm` queries go over `bn` keys at a time."""

    name: ClassVar[str] = "attention"
    sizes: ClassVar[Sizes] = {"queries": 100, "keys": 150}

    element: str = "f16"
    bm: int = 64
    bn: int = 64
    d: int = 64
    stages: int = 2
    threads: int = 128

    def text(self) -> str:
        return self.filled(
            {
                "ELEMENT": ELEMENTS[self.element].ir,
                "BM": self.bm,
                "BN": self.bn,
                "D": self.d,
                "SCALE": f"{1 / (log(2) * sqrt(self.d)):.9e}",
                "STAGES": self.stages,
                "THREADS": self.threads,
            }
        )

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, queries, keys = ELEMENTS[self.element], sizes["queries"], sizes["keys"]
        shapes = ((queries, self.d), (keys, self.d), (keys, self.d))
        given = [element.random(rng, shape) for shape in shapes]
        return (*given, element.unset(rng, (queries, self.d)))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """A power is off by what its exponent is, once more for each time that it shrinks.

        Shares are rounded to the element before the second product, relative to a maximum that
        only grows: what underflows is at most half of the least number.
        """
        q, k, v = (values.astype(np.float64) for values in inputs[:3])
        element, blocks = ELEMENTS[self.element], tiles_of(len(k), self.bn)
        scores = q @ k.T / sqrt(self.d)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        total = powers.sum(axis=1, keepdims=True)
        result = powers @ v / total

        exponent = accumulated(self.d, np.abs(q) @ np.abs(k).T) / sqrt(self.d)
        exponent = exponent + 4 * F32.unit * np.abs(scores)
        off = 2 * exponent.max(axis=1, keepdims=True) + EXP_ERROR
        off = (1 + blocks) * (off + 2 * F32.unit)
        summed = accumulated(len(k) + 2 * blocks, np.ones_like(total))
        share = (2 * off + 2 * summed + element.unit + 2 * F32.unit) * (1 + 2.0**-8)
        error = share * (powers @ np.abs(v)) / total
        error = error + element.least / 2 * np.abs(v).sum(axis=0) / total
        return {3: Reference(result, error + element.rounding(np.abs(result) + error))}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["queries"], self.bm), 1, 1)
