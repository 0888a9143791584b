"""C = (A * SFA) * (B * SFB)^T of narrow floats, each block of which shares a scale: one source.

The three formats that tensor cores of sm_100a scale by themselves are three kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, Array, Reals, accumulated
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill, tiles_of

ROWS = 128
"""Rows of a tile of A, and of an atom of scales."""
SCALES = 4
"""Scales of each row in an atom."""
PIECE = 64
"""Columns of accumulators that threads load to registers and store at a time."""
ATOM = (32, 4, SCALES)
"""Row within 32, which 32 of them, scale: how the bytes of an atom are counted."""
BOXED = (2, 256)
"""How arrays of scales show an atom: TMA counts to 256 along a dimension."""


@dataclass(frozen=True)
class ScaledGemm(Kernel, ABC):
    """A block computes a tile of 128 x `bn`; sizes are free but for what TMA wants of rows."""

    sizes: ClassVar[Sizes] = {"m": 140, "n": 72, "k": 288}
    bm: ClassVar[int] = ROWS
    cluster: ClassVar[int] = 1
    element: ClassVar[str]
    """Of A and B."""
    block: ClassVar[int]
    """Elements of K that share a scale."""
    bits_of_stage: ClassVar[int] = ROWS * 8
    """Bits of a row in a stage: as many as the widest swizzle spans."""

    bn: int = 128
    stages: int = 3

    def __post_init__(self) -> None:
        """Refuse a variant that does not exist."""
        if self.bn not in (ROWS, 2 * ROWS):
            raise ValueError(f"a tile has {ROWS} or {2 * ROWS} columns, not {self.bn}")

    @property
    def target(self) -> str:
        return "sm_100a"

    @property
    @abstractmethod
    def scale(self) -> str:
        """The element type of the scales."""

    @property
    def bk(self) -> int:
        """Elements of K in a stage."""
        return self.bits_of_stage // ELEMENTS[self.element].bits

    def random_scales(self, rng: np.random.Generator, shape: tuple[int, int]) -> Array:
        """Powers of two around one; formats with a mantissa have other numbers too."""
        return np.exp2(rng.integers(-5, 6, shape)).astype(ELEMENTS[self.scale].dtype)

    def text(self) -> str:
        element = ELEMENTS[self.element]
        scales, bits = self.bk // self.block, element.bits
        atoms = {"A": 1, "B": self.bn // ROWS}
        bytes_of_scales = {side: count * ROWS * scales for side, count in atoms.items()}
        return fill(
            "scaled_gemm.mlir",
            {
                "NAME": self.name,
                "VARIANT": f"{self.element} with scales {self.scale}",
                "AB": element.ir,
                "WORD": element.word,
                "SF": ELEMENTS[self.scale].ir,
                "BLOCK": self.block,
                "ATOM_K": SCALES * self.block,
                "BM": ROWS,
                "BN": self.bn,
                "BK": self.bk,
                "SCALES": scales,
                "ATOMS_A": atoms["A"],
                "ATOMS_B": atoms["B"],
                "ATOMS_K": scales // SCALES,
                "ROW": ROWS * scales,
                "STAGES": self.stages,
                "PIECE": PIECE,
                "PIECES": self.bn // PIECE,
                "SLOT": (ROWS + self.bn) * self.bk + sum(bytes_of_scales.values()) * 8 // bits,
                "BYTES_A": ROWS * self.bk * bits // 8,
                "BYTES_B": self.bn * self.bk * bits // 8,
                "BYTES_SFA": bytes_of_scales["A"],
                "BYTES_SFB": bytes_of_scales["B"],
            },
        )

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, k = ELEMENTS[self.element], sizes["k"]
        scales = tiles_of(k, self.block)
        a, b = (element.random(rng, (sizes[side], k)) for side in ("m", "n"))
        sfa, sfb = (in_atoms(self.random_scales(rng, (sizes[side], scales))) for side in ("m", "n"))
        return (a, b, sfa, sfb, ELEMENTS["f32"].unset(rng, (sizes["m"], sizes["n"])))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """Scaled products are exact in f32, so that only the accumulation rounds."""
        a, b = (
            self._scaled(matrix, scales)
            for matrix, scales in zip(inputs[:2], inputs[2:4], strict=True)
        )
        error = accumulated(a.shape[1], np.abs(a) @ np.abs(b).T)
        return {4: Reference(a @ b.T, error)}

    def _scaled(self, matrix: Array, scales: Array) -> Reals:
        """Rows times their scales."""
        rows, k = matrix.shape
        plain = of_atoms(scales)[:rows, : tiles_of(k, self.block)].astype(np.float64)
        return matrix.astype(np.float64) * np.repeat(plain, self.block, axis=1)[:, :k]

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["n"], self.bn), tiles_of(sizes["m"], ROWS), 1)


@dataclass(frozen=True)
class GemmMxf8(ScaledGemm):
    """OCP MXFP8: e4m3, a power of two for 32 elements."""

    name: ClassVar[str] = "gemm_mxf8"
    element: ClassVar[str] = "e4m3"
    block: ClassVar[int] = 32

    @property
    def scale(self) -> str:
        return "ue8m0"


@dataclass(frozen=True)
class GemmMxf4(GemmMxf8):
    """OCP MXFP4: e2m1, a power of two for 32 elements."""

    name: ClassVar[str] = "gemm_mxf4"
    element: ClassVar[str] = "e2m1"


@dataclass(frozen=True)
class GemmNvf4(ScaledGemm):
    """NVFP4: e2m1, a positive e4m3 for 16 elements."""

    name: ClassVar[str] = "gemm_nvf4"
    element: ClassVar[str] = "e2m1"
    block: ClassVar[int] = 16

    @property
    def scale(self) -> str:
        return "e4m3"

    def random_scales(self, rng: np.random.Generator, shape: tuple[int, int]) -> Array:
        return np.abs(2 * rng.standard_normal(shape)).astype(ELEMENTS[self.scale].dtype)


def in_atoms(scales: Array) -> Array:
    """`(rows, scales)` as `(row atoms, atoms along K, 2, 256)`; what is added is one."""
    across, along = tiles_of(scales.shape[0], ROWS), tiles_of(scales.shape[1], SCALES)
    whole = np.ones((across * ROWS, along * SCALES), scales.dtype)
    whole[: scales.shape[0], : scales.shape[1]] = scales
    rows, part, scale = ATOM
    atoms = whole.reshape(across, part, rows, along, scale).transpose(0, 3, 2, 1, 4)
    return np.ascontiguousarray(atoms.reshape(across, along, *BOXED))


def of_atoms(atoms: Array) -> Array:
    """What `in_atoms` was made of, with what it added."""
    across, along = atoms.shape[:2]
    whole = atoms.reshape(across, along, *ATOM).transpose(0, 3, 2, 1, 4)
    return whole.reshape(across * ROWS, along * SCALES)
