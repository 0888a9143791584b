"""C = A * B in layouts, tiled copies, a tiled MMA and atom calls, in the style of CuTe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, Array, accumulated
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill

BM, BN, BK = 64, 32, 32
"""The CTA tile."""


@dataclass(frozen=True)
class AtomGemm(Kernel):
    """A is M x K, B is N x K, C is M x N of f32; sizes are multiples of the tile."""

    name: ClassVar[str] = "atom_gemm"
    sizes: ClassVar[Sizes] = {"m": 128, "n": 64, "k": 96}

    element: str = "f16"
    """Of 16 bits."""

    @property
    def pipeline(self) -> str:
        return "cute-to-ptx"

    def text(self) -> str:
        return fill("atom_gemm.mlir", {"ELEMENT": ELEMENTS[self.element].ir})

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, (m, n, k) = ELEMENTS[self.element], (sizes["m"], sizes["n"], sizes["k"])
        a, b = element.random(rng, (m, k)), element.random(rng, (n, k))
        return (a, b, ELEMENTS["f32"].unset(rng, (m, n)))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """Products of two elements are exact in f32, so that only the accumulation rounds."""
        a, b = inputs[0].astype(np.float64), inputs[1].astype(np.float64).T
        return {2: Reference(a @ b, accumulated(a.shape[1], np.abs(a) @ np.abs(b)))}

    def grid(self, sizes: Sizes) -> Grid:
        return (sizes["n"] // BN, sizes["m"] // BM, 1)
