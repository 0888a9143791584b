"""Stream-K GEMM: blocks split tiles along K and add their partial sums in a workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.atom_gemm import BK, BM, BN
from kernels.elements import ELEMENTS, Array, accumulated
from kernels.kernel import Deviation, Grid, Kernel, Reference, Sizes, fill, worst_deviation

ALIGNMENT = 32
"""Elements of f32 that a region of the workspace is a multiple of."""


@dataclass(frozen=True)
class StreamkGemm(Kernel):
    """A is M x K, B is N x K, C is M x N of f32; sizes are multiples of the tile of `AtomGemm`.

    The workspace has NaN where sums go to and zeros as counters, which are zeros again afterwards.
    """

    name: ClassVar[str] = "streamk_gemm"
    sizes: ClassVar[Sizes] = {"m": 128, "n": 96, "k": 160}

    element: str = "f16"
    """Of 16 bits."""
    raster: str = "m"
    blocks: int = 4

    @property
    def pipeline(self) -> str:
        return "cute-to-ptx"

    def text(self) -> str:
        facts = {"ELEMENT": ELEMENTS[self.element].ir, "RASTER": self.raster}
        return fill("streamk_gemm.mlir", facts)

    def shared(self, sizes: Sizes) -> int:
        """The tiles that blocks share: those of the last two waves, if the last is not full."""
        tiles = sizes["m"] // BM * (sizes["n"] // BN)
        full, rest = divmod(tiles, self.blocks)
        splits = rest > 0 and sizes["k"] > BK
        return tiles - max(full - 1, 0) * self.blocks if splits else 0

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, (m, n, k) = ELEMENTS[self.element], (sizes["m"], sizes["n"], sizes["k"])
        a, b = element.random(rng, (m, k)), element.random(rng, (n, k))
        shared = self.shared(sizes)
        counters = np.zeros(-(-shared // ALIGNMENT) * ALIGNMENT, np.float32)
        sums = np.full(shared * BM * BN, np.nan, np.float32)
        workspace = np.concatenate([sums, counters, np.zeros(1, np.float32)])
        return (a, b, ELEMENTS["f32"].unset(rng, (m, n)), workspace)

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """Products of two elements are exact in f32, so that only the accumulation rounds."""
        a, b = inputs[0].astype(np.float64), inputs[1].astype(np.float64).T
        return {2: Reference(a @ b, accumulated(a.shape[1], np.abs(a) @ np.abs(b)))}

    def check(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> Deviation:
        """Check as for any kernel; of the workspace only the counters are compared."""
        sums = int(np.isnan(inputs[3]).sum())
        mine, found = ([*arrays[:3], arrays[3][sums:]] for arrays in (inputs, outputs))
        return worst_deviation(self.reference(inputs), mine, found)

    def grid(self, sizes: Sizes) -> Grid:
        return (self.blocks, 1, 1)
