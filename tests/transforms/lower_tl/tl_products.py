"""tl programs that multiply one tile of A by one of B, in every form of `tl.gemm`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i8": np.int8,
    "i32": np.int32,
}


@dataclass(frozen=True)
class TileProduct:
    """C = A B + C of `m` x `n` x `k`; `a_in` is where A is multiplied from."""

    m: int = 64
    n: int = 64
    k: int = 64
    element: str = "f16"
    sums: str = "f32"
    threads: int = 128
    turns: str = "NN"
    """T for an operand that is stored transposed: A, then B."""
    policy: str = "square"
    a_in: str = "shared"
    clears: bool = False

    def __str__(self) -> str:
        clears = "-clear" if self.clears else ""
        size = f"{self.m}x{self.n}x{self.k}"
        return (
            f"{size}-{self.element}-{self.sums}-{self.threads}-{self.turns}-{self.policy}"
            f"-a_{self.a_in}{clears}"
        )

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Of A and B, as they are stored."""
        a, b = (self.m, self.k), (self.k, self.n)
        return (a[::-1] if self.turns[0] == "T" else a), (b[::-1] if self.turns[1] == "T" else b)

    @property
    def text(self) -> str:
        """The program."""
        (a, b), element = self.shapes, self.element
        arrays = [f"memref<{x}x{y}x{element}>" for x, y in (a, b)]
        tiles = [
            f"memref<{x}x{y}x{element}, #tl<space {space}>>"
            for (x, y), space in ((a, self.a_in), (b, "shared"))
        ]
        result = f"memref<{self.m}x{self.n}x{self.sums}>"
        sums = f"memref<{self.m}x{self.n}x{self.sums}, #tl<space fragment>>"
        words = [f"transpose_{x}" for x, turn in zip("ab", self.turns, strict=True) if turn == "T"]
        words += ["clear"] if self.clears else []
        return f"""
func.func @product(%A: {arrays[0]}, %B: {arrays[1]}, %C: {result}) {{
  tl.kernel threads({self.threads}) {{
    %a = tl.alloc_{self.a_in} : {tiles[0]}
    %b = tl.alloc_shared : {tiles[1]}
    %c = tl.alloc_fragment : {sums}
    tl.copy %C to %c : {result} to {sums}
    tl.copy %A to %a : {arrays[0]} to {tiles[0]}
    tl.copy %B to %b : {arrays[1]} to {tiles[1]}
    tl.gemm %a, %b, %c policy({self.policy}) {{{", ".join(words)}}} : {", ".join([*tiles, sums])}
    tl.copy %c to %C : {sums} to {result}
  }}
  func.return
}}
"""

    def arguments(self, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Return small integers, whose products and sums are exact."""
        kinds = [self.element, self.element, self.sums]
        shapes = [*self.shapes, (self.m, self.n)]
        return [
            rng.integers(-3, 4, shape).astype(DTYPES[kind])
            for kind, shape in zip(kinds, shapes, strict=True)
        ]

    def expected(self, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[np.float64]:
        """What C is afterwards."""
        factors = [
            (x.T if turn == "T" else x).astype(np.float64)
            for x, turn in zip((a, b), self.turns, strict=True)
        ]
        return factors[0] @ factors[1] + (0 if self.clears else c.astype(np.float64))


BY_WARPGROUPS = [
    TileProduct(),
    TileProduct(clears=True, turns="NT"),
    TileProduct(turns="TN", element="bf16"),
    TileProduct(turns="TT", n=32),
    TileProduct(128, 96, 32, threads=256, policy="full_row"),
    TileProduct(64, 128, 64, threads=256, policy="full_col", turns="NT"),
    TileProduct(128, 64, 64, threads=128),
    TileProduct(element="f8E4M3FN", turns="NT", n=40),
    TileProduct(element="i8", sums="i32", turns="NT"),
    TileProduct(a_in="fragment", turns="NT"),
    TileProduct(sums="f16", turns="NT"),
    TileProduct(n=24),
    TileProduct(n=40, element="bf16", threads=256),
]
"""Of 64 rows, as wgmma has them; rows of 24 and 40 columns have no swizzle."""

BY_WARPS = [
    TileProduct(32, 16, 32, threads=32),
    TileProduct(32, 64, 48, threads=64, turns="TN", policy="full_row"),
    TileProduct(16, 128, 32, element="bf16", threads=128, turns="NT", policy="full_col"),
    TileProduct(32, 32, 16, element="f32", threads=64, turns="NT"),
    TileProduct(32, 32, 32, element="f32", threads=64, turns="TN"),
    TileProduct(32, 32, 64, element="f8E5M2", threads=64, turns="TT"),
    TileProduct(32, 32, 64, element="i8", sums="i32", threads=64, turns="NT", clears=True),
    TileProduct(32, 32, 32, threads=64, a_in="fragment"),
    TileProduct(32, 32, 32, threads=64, sums="f16"),
    TileProduct(k=8),
    TileProduct(n=40, k=24, turns="NT"),
    TileProduct(k=24, a_in="fragment", element="bf16"),
    TileProduct(k=16, element="i8", sums="i32"),
    TileProduct(k=4, element="f32"),
]
"""Small in one extent, or of elements that wgmma takes in fewer forms."""

BY_FIRST_WARPS = [
    TileProduct(48, 8, 32, threads=256),
    TileProduct(16, 8, 32, turns="NT", clears=True),
    TileProduct(48, 16, 32, a_in="fragment", element="bf16"),
]
"""Products with fewer tiles than the block has warps."""
