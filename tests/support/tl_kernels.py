"""Laid-out block programs with what numpy says they compute; `F`, `S`, `L` are memory spaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.compiler import CompiledKernel, compile

Array = NDArray[Any]

SPACES = {"F>": "#tl<space fragment>>", "S>": "#tl<space shared>>", "L>": "#tl<space local>>"}


def written(text: str) -> str:
    """The text with the spaces of its memrefs written out."""
    for short, long in SPACES.items():
        text = text.replace(f", {short}", f", {long}")
    return text


@dataclass(frozen=True)
class TlCase:
    """A program, its arguments, and the arrays that they are afterwards."""

    name: str
    text: str
    arguments: Callable[[np.random.Generator], Sequence[Any]]
    expected: Callable[[Sequence[Any]], Sequence[Array]]
    """Of the arguments; in the order of the arrays that change."""
    changed: tuple[int, ...] = (1,)
    grid: tuple[int, ...] = (1,)
    tolerance: float = 0.0

    def check(self, target: str) -> CompiledKernel:
        """Emulate it, which finds nothing wrong and gives what numpy says."""
        arguments = self.arguments(np.random.default_rng(11))
        kernel = compile(written(self.text), target=target)
        found = kernel.emulate(*arguments, grid=self.grid)
        assert not found.findings
        for position, wanted in zip(self.changed, self.expected(arguments), strict=True):
            got = np.asarray(found.arrays[position], dtype=np.float64)
            np.testing.assert_allclose(
                got, np.asarray(wanted, np.float64), rtol=self.tolerance, atol=self.tolerance
            )
        return kernel


def floats(rng: np.random.Generator, *shape: int, dtype: Any = np.float32) -> Array:
    """Random numbers around zero."""
    return rng.standard_normal(shape).astype(dtype)


ARTICLE = TlCase(
    "the article's program",
    """
func.func @article(%A: memref<4x16xf32>, %B: memref<4xf32>) {
  tl.kernel threads(64) {
    %zero = arith.constant 0 : index
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (d0 * 16 + d1, 0)>>}
        : memref<4x16xf32, F>
    tl.parallel (%row, %col) in (4, 16)
        attributes {layout = #tl.fragment<affine_map<(d0, d1) -> (d0 * 16 + d1, 0)>>} {
      %a = memref.load %A[%row, %col] : memref<4x16xf32>
      memref.store %a, %f[%row, %col] : memref<4x16xf32, F>
    }
    tl.parallel (%g, %r) in (2, 2)
        attributes {layout = #tl.fragment<affine_map<(d0, d1) -> (d0 * 32 + d1 * 16, 0)>>} {
      %row = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)> (%g, %r)
      %x = memref.load %f[%row, %zero] : memref<4x16xf32, F>
      memref.store %x, %B[%row] : memref<4xf32>
    }
  }
  func.return
}""",
    lambda rng: (floats(rng, 4, 16), np.zeros(4, np.float32)),
    lambda given: (given[0][:, 0],),
)

_QUADS = "((d0 * 64 + d1) floordiv 4 mod 128, (d0 * 64 + d1) floordiv 512 * 4 + d1 mod 4)"

COPY = TlCase(
    "a copy through a fragment",
    f"""
func.func @copy(%A: memref<32x64xf16>, %B: memref<32x64xf16>) {{
  tl.kernel threads(128) {{
    %f = tl.alloc_fragment {{layout = #tl.fragment<affine_map<(d0, d1) -> {_QUADS}>>}}
        : memref<32x64xf16, F>
    tl.copy %A to %f : memref<32x64xf16> to memref<32x64xf16, F>
    tl.copy %f to %B : memref<32x64xf16, F> to memref<32x64xf16>
  }}
  func.return
}}""",
    lambda rng: (floats(rng, 32, 64, dtype=np.float16), np.zeros((32, 64), np.float16)),
    lambda given: (given[0],),
)

TRANSPOSE = TlCase(
    "a transpose through swizzled shared memory, with bounds",
    """
func.func @transpose(%A: memref<100x70xf32>, %B: memref<70x100xf32>) {
  tl.kernel (%bx, %by) in (4, 3) threads(128) {
    %c32 = arith.constant 32 : index
    %y = arith.muli %bx, %c32 : index
    %x = affine.apply affine_map<(d0) -> (d0 * 32)> (%by)
    %s = tl.alloc_shared {layout = #tl.shared<"S<3,4,3> o 0 o (32,32):(128,4)">}
        : memref<32x32xf32, S>
    tl.copy %A[%y, %x] to %s : memref<100x70xf32> to memref<32x32xf32, S>
    tl.parallel (%i, %j) in (32, 32) attributes {vector = 4 : i64, layout = #tl.fragment<
        affine_map<(d0, d1) -> ((d0 * 32 + d1) floordiv 4 mod 128,
                                (d0 * 32 + d1) floordiv 512 * 4 + d1 mod 4)>>} {
      %v = memref.load %s[%j, %i] : memref<32x32xf32, S>
      %r = arith.addi %x, %i : index
      %c = arith.addi %y, %j : index
      memref.store %v, %B[%r, %c] : memref<70x100xf32>
    }
  }
  func.return
}""",
    lambda rng: (floats(rng, 100, 70), np.zeros((70, 100), np.float32)),
    lambda given: (given[0].T,),
    grid=(4, 3),
)


def _limited_sums(given: Sequence[Any]) -> Sequence[Array]:
    a, b, n = given
    padded = np.zeros((len(a), 128), np.float32)
    padded[:, : a.shape[1]] = a
    total = np.zeros((len(a), 32), np.float32)
    for k in range(4):
        part = padded[:, 32 * k : 32 * k + 32].copy()
        part[:, n:] = 2
        total = np.where(total + part > 0, total + part, total)
    return (total[:, : b.shape[1]].astype(np.float16),)


LIMITED_SUMS = TlCase(
    "sums over a loop of the block, of arrays whose extents run time knows",
    """
func.func @sums(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %n: i32) {
  tl.kernel (%bx) in (2) threads(64) {
    %two = arith.constant 2.0 : f32
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %limit = arith.index_cast %n : i32 to index
    %x = affine.apply affine_map<(d0) -> (d0 * 16)> (%bx)
    %f = tl.alloc_fragment {layout = #tl.fragment<
        affine_map<(d0, d1) -> (d0 * 4 + d1 floordiv 8, d1 mod 8)>>} : memref<16x32xf32, F>
    tl.fill %f, %zero : memref<16x32xf32, F>
    tl.serial %k = %c0 to %c4 {
      tl.parallel (%i, %j) in (16, 32) attributes {layout = #tl.fragment<
          affine_map<(d0, d1) -> (d0 * 4 + d1 floordiv 8, d1 mod 8)>>} {
        %r = arith.addi %x, %i : index
        %c = affine.apply affine_map<(d0)[s0] -> (s0 * 32 + d0)> (%j)[%k]
        %v = memref.load %A[%r, %c] : memref<?x?xf16>
        %w = arith.extf %v : f16 to f32
        %is = arith.cmpi slt, %j, %limit : index
        %s = arith.select %is, %w, %two : f32
        %old = memref.load %f[%i, %j] : memref<16x32xf32, F>
        %new = arith.addf %old, %s : f32
        %p = arith.cmpf ogt, %new, %zero : f32
        scf.if %p {
          memref.store %new, %f[%i, %j] : memref<16x32xf32, F>
        }
      }
    }
    tl.copy %f to %B[%x, %c0] : memref<16x32xf32, F> to memref<?x?xf16>
  }
  func.return
}""",
    lambda rng: (floats(rng, 27, 100, dtype=np.float16), np.zeros((27, 30), np.float16), 11),
    _limited_sums,
    grid=(2,),
)

CASES = {case.name: case for case in (ARTICLE, COPY, TRANSPOSE, LIMITED_SUMS)}
