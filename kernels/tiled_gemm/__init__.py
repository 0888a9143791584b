"""C = A * B by tiled copies and a tiled MMA alone: TMA, wgmma or tcgen05, and TMA again.

No address, descriptor, coordinate or instruction is the text's own: atoms and layouts say them.
The parts are files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, Array, accumulated
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill, tiles_of

TARGETS: Mapping[str, str] = {"wgmma": "sm_90a", "tcgen05": "sm_100a"}
PIPELINES: Mapping[str, str] = {"wgmma": "tma_async", "tcgen05": "tma_umma"}
FORMATS: Mapping[str, str] = {"f16": "F16_RN", "bf16": "BF16_RN", "e4m3": "U8"}
"""What tensor maps call elements."""

ROW_BYTES = 128
"""Of a tile in shared memory: one row of the 128-byte swizzle."""
STEP_BYTES = 32
"""Along K, what one product takes."""
BM = 128
PANEL = 32
"""Columns of C that one copy stores."""


@dataclass(frozen=True)
class TiledGemm(Kernel):
    """A is M x K, B is N x K; C is M x N of f32, and N is a multiple of 4."""

    name: ClassVar[str] = "tiled_gemm"
    sizes: ClassVar[Sizes] = {"m": 140, "n": 72, "k": 208}

    instruction: str = "wgmma"
    element: str = "f16"
    stages: int = 3
    bn: int = 64
    """A multiple of 32."""

    def __post_init__(self) -> None:
        """Refuse a variant that does not exist."""
        if self.instruction not in TARGETS or self.element not in FORMATS:
            raise ValueError(f"no gemm multiplies {self.element} by {self.instruction}")

    @property
    def target(self) -> str:
        return TARGETS[self.instruction]

    @property
    def pipeline(self) -> str:
        return "cute-to-ptx"

    @property
    def bk(self) -> int:
        """Columns of a tile of A: a row of the swizzle."""
        return ROW_BYTES * 8 // ELEMENTS[self.element].bits

    @property
    def consumers(self) -> int:
        """Loops that multiply: the warpgroups of wgmma share one."""
        return 1

    def text(self) -> str:
        facts = self._facts()
        names = ("types", "setup", "produce", "store")
        parts = {name.upper(): fill(f"tiled_gemm/{name}.mlir", facts).rstrip() for name in names}
        return fill(f"tiled_gemm/{self.instruction}.mlir", {**facts, **parts})

    def _facts(self) -> Mapping[str, str | int]:
        by_wgmma = self.instruction == "wgmma"
        return {
            "BM": BM,
            "BN": self.bn,
            "BK": self.bk,
            "PANELS": self.bn // PANEL,
            "STEP": STEP_BYTES * 8 // ELEMENTS[self.element].bits,
            "STAGES": self.stages,
            "BARRIERS": 2 * self.stages,
            "PIPELINE": PIPELINES[self.instruction],
            "ELEMENT": ELEMENTS[self.element].ir,
            "FORMAT": FORMATS[self.element],
            "PER_LINE": ROW_BYTES // ELEMENTS[self.element].bits,
            "SIZE_A": BM * self.bk,
            "SIZE_B": self.bn * self.bk,
            "SIZE_C": BM * PANEL,
            "BITS_A": BM * ROW_BYTES * 8,
            "BITS_B": self.bn * ROW_BYTES * 8,
            "BITS_C": BM * ROW_BYTES * 8,
            "SLOT": (BM + self.bn) * ROW_BYTES,
            "STATE": "%zero_if" if by_wgmma else "%zero_if, %zero_if, %zero_if",
            "STATE_TYPES": "i1" if by_wgmma else "i1, i1, i1",
            "STORERS": 256 if by_wgmma else 128,
            "COLUMNS": max(32, 1 << (self.bn - 1).bit_length()),
        }

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, (m, n, k) = ELEMENTS[self.element], (sizes["m"], sizes["n"], sizes["k"])
        a, b = element.random(rng, (m, k)), element.random(rng, (n, k))
        return (a, b, ELEMENTS["f32"].unset(rng, (m, n)))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """Products of two elements are exact in f32, so that only the accumulation rounds."""
        a, b = inputs[0].astype(np.float64), inputs[1].astype(np.float64).T
        return {2: Reference(a @ b, accumulated(a.shape[1], np.abs(a) @ np.abs(b)))}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["n"], self.bn), tiles_of(sizes["m"], BM), 1)
