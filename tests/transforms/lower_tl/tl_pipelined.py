"""Products in a pipelined loop, of arrays whose extents the types say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.transforms.lower_tl.tl_products import DTYPES


@dataclass(frozen=True)
class StaticProduct:
    """C = A B in blocks of `bm` x `bn`, along K in steps of `bk`, `stages` of them in memory."""

    m: int = 128
    n: int = 128
    k: int = 128
    element: str = "f16"
    bm: int = 64
    bn: int = 64
    bk: int = 64
    stages: int = 3
    threads: int = 128
    b: str = "nk"
    """How B is stored: `nk`, row by row of its columns, or `kn`."""
    batched: bool = False
    """Whether A is the first of two matrices."""

    def __str__(self) -> str:
        size = f"{self.m}x{self.n}x{self.k}"
        blocks = f"{self.bm}x{self.bn}x{self.bk}"
        return f"{size}-{self.element}-{blocks}-{self.stages}-{self.b}{'-batched' * self.batched}"

    @property
    def grid(self) -> tuple[int, int]:
        """Blocks along columns and rows."""
        return -(-self.n // self.bn), -(-self.m // self.bm)

    @property
    def text(self) -> str:
        """The program."""
        element, turned = self.element, self.b == "nk"
        b = (self.n, self.k) if turned else (self.k, self.n)
        tile = (self.bn, self.bk) if turned else (self.bk, self.bn)
        batch = "2x" if self.batched else ""
        types = {
            "A": f"memref<{batch}{self.m}x{self.k}x{element}>",
            "B": f"memref<{b[0]}x{b[1]}x{element}>",
            "C": f"memref<{self.m}x{self.n}xf32>",
            "a": f"memref<{self.bm}x{self.bk}x{element}, #tl<space shared>>",
            "b": f"memref<{tile[0]}x{tile[1]}x{element}, #tl<space shared>>",
            "c": f"memref<{self.bm}x{self.bn}xf32, #tl<space fragment>>",
        }
        at = "%x, %k" if turned else "%k, %x"
        words = "{transpose_b}" if turned else ""
        where = "%one, %y, %k" if self.batched else "%y, %k"
        extents = f" extents(1, {self.bm}, {self.bk})" if self.batched else ""
        return f"""
func.func @product(%A: {types["A"]}, %B: {types["B"]}, %C: {types["C"]}) {{
  tl.kernel (%bx, %by) in {self.grid} threads({self.threads}) {{
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %bm = arith.constant {self.bm} : index
    %bn = arith.constant {self.bn} : index
    %bk = arith.constant {self.bk} : index
    %depth = arith.constant {self.k} : index
    %nothing = arith.constant 0.0 : f32
    %y = arith.muli %by, %bm : index
    %x = arith.muli %bx, %bn : index
    %a = tl.alloc_shared : {types["a"]}
    %b = tl.alloc_shared : {types["b"]}
    %c = tl.alloc_fragment : {types["c"]}
    tl.fill %c, %nothing : {types["c"]}
    tl.pipelined %k = %zero to %depth step %bk stages({self.stages}) {{
      tl.copy %A[{where}] to %a{extents} : {types["A"]} to {types["a"]}
      tl.copy %B[{at}] to %b : {types["B"]} to {types["b"]}
      tl.gemm %a, %b, %c {words} : {types["a"]}, {types["b"]}, {types["c"]}
    }}
    tl.copy %c to %C[%y, %x] : {types["c"]} to {types["C"]}
  }}
  func.return
}}
"""

    def arguments(self, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Return small integers, whose products and sums are exact."""
        a = (self.m, self.k)
        b = (self.n, self.k) if self.b == "nk" else (self.k, self.n)
        shapes = [(2, *a) if self.batched else a, b]
        kind = DTYPES[self.element]
        factors = [rng.integers(-3, 4, shape).astype(kind) for shape in shapes]
        return [*factors, np.zeros((self.m, self.n), np.float32)]

    def expected(self, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[np.float64]:
        """What C is afterwards."""
        del c
        left = (a[1] if self.batched else a).astype(np.float64)
        right = (b.T if self.b == "nk" else b).astype(np.float64)
        return left @ right
