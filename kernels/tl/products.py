"""Programs of matrix products: with a fused epilogue, and with weights of 4 bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import erf
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, F32, Array, Reals, accumulated
from kernels.kernel import Grid, Reference, Sizes, tiles_of
from kernels.tl.base import BlockProgram

_GELU = """\
%root = arith.constant 0.707106769 : f32
%half = arith.constant 0.5 : f32
%unit = arith.constant 1.0 : f32
%turned = arith.mulf %v, %root : f32
%e = math.erf %turned : f32
%more = arith.addf %e, %unit : f32
%halved = arith.mulf %v, %half : f32
%w = arith.mulf %halved, %more : f32
"""

_RELU = """\
%zero_ = arith.constant 0.0 : f32
%w = arith.maximumf %v, %zero_ : f32
"""

ACTIVATIONS: Mapping[str, str] = {"gelu": _GELU, "relu": _RELU}
"""What becomes of a sum `%v`, as `%w`."""

SLOPE = 1.13
"""GELU changes by at most so much of what its argument does."""

GELU_ERROR = 2.0**-21
"""What GELU in f32 is off, as a part of its argument: erf and its argument are rounded."""


def activated(name: str, values: Reals) -> Reals:
    """What an activation makes of exact numbers."""
    if name == "relu":
        return np.maximum(values, 0)
    return 0.5 * values * (1 + np.vectorize(erf)(values / np.sqrt(2)))


@dataclass(frozen=True)
class Gemm(BlockProgram):
    """C = activation(A B + bias) in f16 or bf16 with f32 sums; B is K x N, or `b=nk`: N x K."""

    name: ClassVar[str] = "gemm"
    sizes: ClassVar[Sizes] = {"m": 100, "n": 72, "k": 88}

    element: str = "f16"
    activation: str = "gelu"
    """`gelu` or `relu`."""
    b: str = "kn"
    policy: str = "square"
    stages: int = 3
    bm: int = 64
    bn: int = 64
    bk: int = 32
    threads: int = 128

    def __post_init__(self) -> None:
        """Refuse a variant that does not exist."""
        if self.activation not in ACTIVATIONS or self.b not in ("kn", "nk"):
            raise ValueError(f"no gemm has activation {self.activation!r} and B as {self.b!r}")

    def text(self) -> str:
        turned = self.b == "nk"
        return self.filled(
            {
                "TITLE": self.activation,
                "ELEMENT": ELEMENTS[self.element].ir,
                "BM": self.bm,
                "BN": self.bn,
                "BK": self.bk,
                "B_TILE": f"{self.bn}x{self.bk}" if turned else f"{self.bk}x{self.bn}",
                "B_INDEX": "%x, %k" if turned else "%k, %x",
                "CLAUSES": "{transpose_b}" if turned else "",
                "POLICY": self.policy,
                "STAGES": self.stages,
                "THREADS": self.threads,
                "ACTIVATION": ACTIVATIONS[self.activation],
            }
        )

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        m, n, k, element = sizes["m"], sizes["n"], sizes["k"], ELEMENTS[self.element]
        b = element.random(rng, (k, n))
        return (
            element.random(rng, (m, k)),
            np.ascontiguousarray(b.T) if self.b == "nk" else b,
            F32.random(rng, (n,)),
            element.unset(rng, (m, n)),
        )

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """Products of two elements are exact in f32; the accumulation and the epilogue round."""
        a, b, bias = (values.astype(np.float64) for values in inputs[:3])
        b = b.T if self.b == "nk" else b
        before = a @ b + bias
        off = accumulated(a.shape[1] + 2, np.abs(a) @ np.abs(b) + np.abs(bias))
        exact = activated(self.activation, before)
        off = SLOPE * off + GELU_ERROR * (np.abs(before) + off)
        return {3: Reference(exact, off + ELEMENTS[self.element].rounding(np.abs(exact) + off))}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["n"], self.bn), tiles_of(sizes["m"], self.bm), 1)


@dataclass(frozen=True)
class DequantGemm(BlockProgram):
    """C = A W^T with packed 4-bit weights, two a byte, and a scale for each row of W."""

    name: ClassVar[str] = "dequant_gemm"
    sizes: ClassVar[Sizes] = {"m": 70, "n": 72, "k": 88}

    bm: int = 64
    bn: int = 64
    bk: int = 32
    threads: int = 128

    def text(self) -> str:
        return self.filled(
            {
                "BM": self.bm,
                "BN": self.bn,
                "BK": self.bk,
                "HALF": self.bk // 2,
                "THREADS": self.threads,
            }
        )

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        m, n, k = sizes["m"], sizes["n"], sizes["k"]
        f16 = ELEMENTS["f16"]
        factors = (0.1 * f16.random(rng, (n,))).astype(np.float16)
        packed = ELEMENTS["i8"].random(rng, (n, k // 2))
        return (f16.random(rng, (m, k)), packed, factors, f16.unset(rng, (m, n)))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """A scaled weight is rounded to f16, as in the program."""
        a, packed, factors = inputs[:3]
        byte = packed.view(np.uint8)
        halves = np.stack([byte & 15, byte >> 4], axis=-1).reshape(len(packed), -1)
        weights = ((halves.astype(np.int16) - 8).astype(np.float16) * factors[:, None]).T
        wide, exact = weights.astype(np.float64), a.astype(np.float64)
        off = accumulated(a.shape[1], np.abs(exact) @ np.abs(wide))
        result = exact @ wide
        return {3: Reference(result, off + ELEMENTS["f16"].rounding(np.abs(result) + off))}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["n"], self.bn), tiles_of(sizes["m"], self.bm), 1)
