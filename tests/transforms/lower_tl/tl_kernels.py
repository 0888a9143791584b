"""Laid-out tl programs and their numpy references; `F`, `S`, `L` are memory spaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.compiler import CompiledKernel
from tileas_xdsl.compiler import compile as compile_kernel
from tileas_xdsl.pipelines import PIPELINES

Array = NDArray[Any]

LAID_OUT = tuple(
    spec for spec in PIPELINES["tl-to-ptx"].passes if spec.name != "tl-layout-inference"
)
"""Passes for programs with all layouts given."""

SPACES = {"F>": "#tl<space fragment>>", "S>": "#tl<space shared>>", "L>": "#tl<space local>>"}


def written(text: str) -> str:
    """Expand the abbreviated memory spaces of memrefs."""
    for short, long in SPACES.items():
        text = text.replace(f", {short}", f", {long}")
    return text


def laid_out(text: str, target: str = "sm_90a") -> CompiledKernel:
    """Lower a program with all layouts given to a kernel."""
    return compile_kernel(written(text), target=target, passes=LAID_OUT)


@dataclass(frozen=True)
class TlCase:
    """A program, its arguments, and their expected final contents."""

    name: str
    text: str
    arguments: Callable[[np.random.Generator], Sequence[Any]]
    expected: Callable[[Sequence[Any]], Sequence[Array]]
    """Function of the arguments that returns the changed arrays, in their order."""
    changed: tuple[int, ...] = (1,)
    grid: tuple[int, ...] = (1,)
    tolerance: float = 0.0

    def check(self, target: str) -> CompiledKernel:
        """Emulate the program; assert no findings and numpy's results."""
        arguments = self.arguments(np.random.default_rng(11))
        kernel = laid_out(self.text, target)
        found = kernel.emulate(*arguments, grid=self.grid)
        assert not found.findings
        for position, wanted in zip(self.changed, self.expected(arguments), strict=True):
            got = np.asarray(found.arrays[position], dtype=np.float64)
            np.testing.assert_allclose(
                got, np.asarray(wanted, np.float64), rtol=self.tolerance, atol=self.tolerance
            )
        return kernel


def floats(rng: np.random.Generator, *shape: int, dtype: Any = np.float32) -> Array:
    """Return random values around zero."""
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

GATHER = TlCase(
    "elements of a fragment found at run time, in iterations that two threads run",
    """
func.func @gather(%A: memref<128xf32>, %I: memref<128xi32>, %B: memref<128xf32>,
                  %H: memref<8xi32>) {
  tl.kernel threads(64) {
    %one = arith.constant 1 : i32
    %none = arith.constant 0 : i32
    %c8 = arith.constant 8 : index
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0) -> (d0 mod 32, d0 floordiv 32)>>}
        : memref<128xf32, F>
    %s = tl.alloc_shared : memref<8xi32, S>
    tl.fill %s, %none : memref<8xi32, S>
    tl.copy %A to %f : memref<128xf32> to memref<128xf32, F>
    tl.parallel (%i) in (128) attributes {runs_once, layout = #tl.fragment<
        affine_map<(d0)[s0] -> (d0 floordiv 4 + s0 * 32, d0 mod 4)>, replicas = 2>} {
      %p = memref.load %I[%i] : memref<128xi32>
      %q = arith.index_cast %p : i32 to index
      %v = memref.load %f[%q] : memref<128xf32, F>
      %w = memref.load %B[%i] : memref<128xf32>
      %x = arith.addf %v, %w : f32
      memref.store %x, %B[%i] : memref<128xf32>
      %h = arith.remui %q, %c8 : index
      tl.atomic_add %s[%h], %one : memref<8xi32, S>
      tl.atomic_add %H[%h], %one : memref<8xi32>
    }
    tl.parallel (%i) in (8) attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>} {
      %v = memref.load %s[%i] : memref<8xi32, S>
      %w = memref.load %H[%i] : memref<8xi32>
      %x = arith.addi %v, %w : i32
      memref.store %x, %H[%i] : memref<8xi32>
    }
  }
  func.return
}""",
    lambda rng: (
        floats(rng, 128),
        rng.integers(0, 128, 128).astype(np.int32),
        floats(rng, 128),
        np.zeros(8, np.int32),
    ),
    lambda given: (given[0][given[1]] + given[2], 2 * np.bincount(given[1] % 8, minlength=8)),
    changed=(2, 3),
)

_COLUMNS = "affine_map<(d0) -> (d0 mod 128, d0 floordiv 128)>"


def _sums_then_doubles(given: Sequence[Any]) -> Sequence[Array]:
    a, _, n = given
    found = a.copy()
    found[:, ::2] *= 2
    found[:n] = a[:4].astype(np.float32).sum(axis=0).astype(np.float16)
    return (found,)


ROWS = TlCase(
    "rows of a fragment picked by loops, conditions, a buffer of each iteration",
    f"""
func.func @rows(%A: memref<16x300xf16>, %B: memref<16x300xf16>, %n: index) {{
  tl.kernel threads(128) {{
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %f = tl.alloc_fragment {{layout = #tl.fragment<
        affine_map<(d0, d1) -> (d1 mod 128, d0 * 3 + d1 floordiv 128)>>}} : memref<16x300xf16, F>
    tl.copy %A to %f : memref<16x300xf16> to memref<16x300xf16, F>
    tl.serial %k = %c0 to %n {{
      tl.parallel (%j) in (300) attributes {{layout = #tl.fragment<{_COLUMNS}>}} {{
        %l = tl.alloc_local : memref<2xf32, L>
        memref.store %zero, %l[%c0] : memref<2xf32, L>
        tl.serial %q = %c0 to %c4 {{
          %v = memref.load %f[%q, %j] : memref<16x300xf16, F>
          %e = arith.extf %v : f16 to f32
          %o = memref.load %l[%c0] : memref<2xf32, L>
          %s = arith.addf %o, %e : f32
          memref.store %s, %l[%c0] : memref<2xf32, L>
        }}
        %s = memref.load %l[%c0] : memref<2xf32, L>
        %t = arith.truncf %s : f32 to f16
        memref.store %t, %B[%k, %j] : memref<16x300xf16>
      }}
    }}
    tl.serial %k = %c0 to %c16 {{
      tl.parallel (%j) in (300) attributes {{layout = #tl.fragment<{_COLUMNS}>}} {{
        %late = arith.cmpi sge, %k, %n : index
        %rest = arith.remsi %j, %c2 : index
        %even = arith.cmpi eq, %rest, %c0 : index
        scf.if %late {{
          %v = memref.load %f[%k, %j] : memref<16x300xf16, F>
          %d = scf.if %even -> (f16) {{
            %w = arith.addf %v, %v : f16
            scf.yield %w : f16
          }} else {{
            scf.yield %v : f16
          }}
          memref.store %d, %f[%k, %j] : memref<16x300xf16, F>
          memref.store %d, %B[%k, %j] : memref<16x300xf16>
        }}
      }}
    }}
  }}
  func.return
}}""",
    lambda rng: (floats(rng, 16, 300, dtype=np.float16), np.zeros((16, 300), np.float16), 3),
    _sums_then_doubles,
    tolerance=2e-3,
)

PICKED = TlCase(
    "rows of a fragment picked by a loop whose bounds run time knows",
    f"""
func.func @picked(%A: memref<16x300xf32>, %B: memref<16x300xf32>, %n: index) {{
  tl.kernel threads(128) {{
    %c0 = arith.constant 0 : index
    %f = tl.alloc_fragment {{layout = #tl.fragment<
        affine_map<(d0, d1) -> (d1 mod 128, d0 * 3 + d1 floordiv 128)>>}} : memref<16x300xf32, F>
    tl.copy %A to %f : memref<16x300xf32> to memref<16x300xf32, F>
    tl.serial %k = %c0 to %n {{
      tl.parallel (%j) in (300) attributes {{layout = #tl.fragment<{_COLUMNS}>}} {{
        %v = memref.load %f[%k, %j] : memref<16x300xf32, F>
        memref.store %v, %B[%k, %j] : memref<16x300xf32>
      }}
    }}
  }}
  func.return
}}""",
    lambda rng: (floats(rng, 16, 300), np.zeros((16, 300), np.float32), 5),
    lambda given: (np.where(np.arange(16)[:, None] < given[2], given[0], 0),),
)

MANY_ROUNDS = TlCase(
    "more iterations than are written out, of extents that no power of two divides",
    """
func.func @many(%A: memref<190x63xf32>, %B: memref<61x187xf32>) {
  tl.kernel threads(96) {
    tl.parallel (%i, %j) in (187, 61) attributes {is_padded, layout = #tl.fragment<
        affine_map<(d0, d1) -> ((d0 * 61 + d1) mod 96, (d0 * 61 + d1) floordiv 96)>>} {
      %v = memref.load %A[%i, %j] : memref<190x63xf32>
      memref.store %v, %B[%j, %i] : memref<61x187xf32>
    }
  }
  func.return
}""",
    lambda rng: (floats(rng, 190, 63), np.zeros((61, 187), np.float32)),
    lambda given: (given[0][:187, :61].T,),
)


def _aligned_rows(rng: np.random.Generator) -> Sequence[Any]:
    return floats(rng, 27, 104, dtype=np.float16), np.zeros((27, 24), np.float16), 11


ALIGNED_SUMS = replace(
    LIMITED_SUMS,
    name="the same, of arrays whose rows are multiples of 16 bytes",
    arguments=_aligned_rows,
)

SWIZZLED_ROWS = TlCase(
    "rows of swizzled shared memory, and columns of them, that run time knows",
    """
func.func @rows(%A: memref<16x64xf16>, %B: memref<16x64xf16>, %C: memref<16x64xf16>,
                %I: memref<64xi32>, %n: index) {
  tl.kernel threads(32) {
    %c0 = arith.constant 0 : index
    %s = tl.alloc_shared {layout = #tl.shared<"S<3,4,3> o 0 o (16,64):(128,2)">}
        : memref<16x64xf16, S>
    tl.copy %A to %s : memref<16x64xf16> to memref<16x64xf16, S>
    tl.serial %k = %c0 to %n {
      tl.parallel (%j) in (64)
          attributes {layout = #tl.fragment<affine_map<(d0) -> (d0 floordiv 8, d0 mod 8)>>} {
        %v = memref.load %s[%k, %j] : memref<16x64xf16, S>
        memref.store %v, %B[%k, %j] : memref<16x64xf16>
        %p = memref.load %I[%j] : memref<64xi32>
        %q = arith.index_cast %p : i32 to index
        %w = memref.load %s[%k, %q] : memref<16x64xf16, S>
        memref.store %w, %C[%k, %j] : memref<16x64xf16>
      }
    }
  }
  func.return
}""",
    lambda rng: (
        floats(rng, 16, 64, dtype=np.float16),
        np.zeros((16, 64), np.float16),
        np.zeros((16, 64), np.float16),
        rng.permutation(64).astype(np.int32),
        16,
    ),
    lambda given: (given[0], given[0][:, given[3]]),
    changed=(1, 2),
)

LATE_THREADS = TlCase(
    "threads that run their second step only, of an index that all steps have alike",
    """
func.func @late(%A: memref<64xf32>, %B: memref<2x8x2xf32>) {
  tl.kernel (%n) in (2) threads(32) {
    %c3 = arith.constant 3 : index
    tl.parallel (%i, %r) in (8, 2) attributes {layout = #tl.fragment<affine_map<(d0, d1) -> (
        d0 + 1 - (17 - d0 * 2 - d1) floordiv 16 + (16 - d0 * 2 - d1) floordiv 16,
        d1 + (16 - d0 * 2 - d1) floordiv 16)>>} {
      %s = arith.addi %n, %i : index
      %q = arith.divui %s, %c3 : index
      %x = memref.load %A[%q] : memref<64xf32>
      memref.store %x, %B[%n, %i, %r] : memref<2x8x2xf32>
    }
  }
  func.return
}""",
    lambda rng: (floats(rng, 64), np.zeros((2, 8, 2), np.float32)),
    lambda given: (
        np.repeat(given[0][np.add.outer(np.arange(2), np.arange(8)) // 3][:, :, None], 2, axis=2),
    ),
    grid=(2,),
)


def _signed_sum(given: Sequence[Any]) -> Sequence[Array]:
    rows, found, late = given[0], np.zeros((9, 64), np.float32), int(given[2])
    for k in range(4):
        found[4 + 4 - late] += rows[k] if k >= late else -rows[k]
    return (found,)


UNIFORM = TlCase(
    "a loop of the block that counts, with a branch that gives a number and writes a fragment",
    """
func.func @uniform(%A: memref<4x64xf32>, %B: memref<9x64xf32>, %n: index) {
  tl.kernel threads(64) {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>} : memref<64xf32, F>
    tl.fill %f, %zero : memref<64xf32, F>
    %row = scf.for %k = %c0 to %c4 step %c1 iter_args(%count = %c0) -> (index) {
      %late = arith.cmpi sge, %k, %n : index
      %step = scf.if %late -> (index) {
        tl.parallel (%j) in (64)
            attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>} {
          %v = memref.load %A[%k, %j] : memref<4x64xf32>
          %s = memref.load %f[%j] : memref<64xf32, F>
          %t = arith.addf %s, %v : f32
          memref.store %t, %f[%j] : memref<64xf32, F>
        }
        scf.yield %c2 : index
      } else {
        tl.parallel (%j) in (64)
            attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>} {
          %v = memref.load %A[%k, %j] : memref<4x64xf32>
          %s = memref.load %f[%j] : memref<64xf32, F>
          %t = arith.subf %s, %v : f32
          memref.store %t, %f[%j] : memref<64xf32, F>
        }
        scf.yield %c1 : index
      }
      %next = arith.addi %count, %step : index
      scf.yield %next : index
    }
    tl.parallel (%j) in (64) attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>} {
      %v = memref.load %f[%j] : memref<64xf32, F>
      memref.store %v, %B[%row, %j] : memref<9x64xf32>
    }
  }
  func.return
}""",
    lambda rng: (floats(rng, 4, 64), np.zeros((9, 64), np.float32), 3),
    _signed_sum,
)

CASES = {
    case.name: case
    for case in (
        ARTICLE,
        COPY,
        TRANSPOSE,
        LIMITED_SUMS,
        ALIGNED_SUMS,
        GATHER,
        ROWS,
        PICKED,
        MANY_ROUNDS,
        LATE_THREADS,
        UNIFORM,
        SWIZZLED_ROWS,
    )
}
