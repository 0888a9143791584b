"""Kernels that make one tile of another by a `generate`, with what numpy makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tests.support.plain_kernels import NUMPY, Array, kernel, load, store


@dataclass(frozen=True)
class Case:
    """The body gives `%e`; `%t` is the source, of type `SRC`, and `%u` is twice of it."""

    source: str
    result: str
    body: str
    expected: Callable[[Array], Array]
    element: str = "f32"
    warps: int = 4

    @property
    def text(self) -> str:
        """The kernel."""
        source, result = (f"{shape}x{self.element}" for shape in (self.source, self.result))
        add = "addf" if self.element[0] == "f" else "addi"
        arguments = ", ".join(f"%{'ijkl'[k]}: index" for k in range(_rank(self.result)))
        return kernel(
            f"%a: memref<{source}>, %b: memref<{result}>",
            load("t", "a", f"memref<{source}>", source, _zeros(self.source))
            + f"""%u = arith.{add} %t, %t : tensor<{source}>
  %o = nv_tileas.generate : tensor<{result}> {{
  ^bb0({arguments}):
    {self.body.replace("SRC", f"tensor<{source}>")}
    nv_tileas.yield %e : {self.element}
  }}
  """
            + store("o", "b", f"memref<{result}>", result, _zeros(self.result)),
            self.warps,
        )

    def arguments(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """The source, random, and room for the result."""
        dtype = NUMPY[self.element]
        numbers = (100 * rng.standard_normal(_extents(self.source))).astype(dtype)
        return numbers, np.zeros(_extents(self.result), dtype)


def _extents(shape: str) -> list[int]:
    return [int(n) for n in shape.split("x")]


def _rank(shape: str) -> int:
    return shape.count("x") + 1


def _zeros(shape: str) -> str:
    return ", ".join(["%zero"] * _rank(shape))


def _taken(place: str) -> str:
    return f"%e = tensor.extract %t[{place}] : SRC"


_MOVED = """%c = arith.constant {} : index
    {} = arith.{} {}, %c : index
    """


def _joined(axis: int, half: int) -> str:
    """Two tiles one behind another: positions that are not in one of them are kept in bounds."""
    which = "ij"[axis]
    places = [", ".join(f"%{c}" if c != which else there for c in "ij") for there in ("%m", "%n")]
    return f"""%half = arith.constant {half} : index
    %last = arith.constant {half - 1} : index
    %none = arith.constant 0 : index
    %p = arith.cmpi slt, %{which}, %half : index
    %m = arith.minsi %{which}, %last : index
    %d = arith.subi %{which}, %half : index
    %n = arith.maxsi %d, %none : index
    %v = tensor.extract %t[{places[0]}] : SRC
    %w = tensor.extract %u[{places[1]}] : SRC
    %e = arith.select %p, %v, %w : f32"""


_BRANCH = """%half = arith.constant 32 : index
    %p = arith.cmpi slt, %j, %half : index
    %e = scf.if %p -> (f32) {
      %v = tensor.extract %t[%i, %j] : SRC
      scf.yield %v : f32
    } else {
      %d = arith.subi %j, %half : index
      %w = tensor.extract %u[%d, %i] : SRC
      %n = arith.negf %w : f32
      scf.yield %n : f32
    }"""

_WIDE = """%x0 = arith.constant 3528531795 : i64
    %s = arith.constant 33 : i64
    %p = arith.index_cast %j : index to i64
    %q = arith.muli %p, %x0 : i64
    %h = arith.shrui %q, %s : i64
    %w = arith.xori %q, %h : i64
    %r = arith.trunci %w : i64 to i32
    %f = arith.sitofp %r : i32 to f32
    %v = tensor.extract %t[%i, %j] : SRC
    %e = arith.addf %v, %f : f32"""


def _wide(numbers: Array) -> Array:
    products = np.arange(numbers.shape[1], dtype=np.int64) * 3528531795
    return numbers + (products ^ (products >> 33)).astype(np.int32).astype(np.float32)


_RESHAPE = """%c = arith.constant 128 : index
    %d = arith.constant 32 : index
    %p = arith.muli %i, %c : index
    %q = arith.addi %p, %j : index
    %r = arith.divui %q, %d : index
    %s = arith.remui %q, %d : index
    %e = tensor.extract %t[%r, %s] : SRC"""

_CAUSAL = """%v = tensor.extract %t[%i, %j] : SRC
    %p = arith.cmpi sle, %j, %i : index
    %q = arith.muli %i, %j : index
    %w = arith.index_cast %q : index to i32
    %f = arith.sitofp %w : i32 to f32
    %e = arith.select %p, %v, %f : f32"""

_BY_DATA = """%v = tensor.extract %t[%i, %j] : SRC
    %w = arith.fptosi %v : f32 to i32
    %x0 = arith.index_cast %w : i32 to index
    %c = arith.constant 31 : index
    %q = arith.andi %x0, %c : index
    %e = tensor.extract %t[%i, %q] : SRC"""

_UNDER_DATA = """%v = tensor.extract %t[%i, %j] : SRC
    %z = arith.constant 0.0 : f32
    %p = arith.cmpf olt, %v, %z : f32
    %e = scf.if %p -> (f32) {
      %w = tensor.extract %t[%j, %i] : SRC
      scf.yield %w : f32
    } else {
      scf.yield %v : f32
    }"""


def _below_diagonal(a: Array) -> Array:
    row, column = np.indices(a.shape)
    return np.where(column <= row, a, (row * column).astype(np.float32))


def _by_data(a: Array) -> Array:
    return np.take_along_axis(a, a.astype(np.int32) & 31, 1)


_INNER = "%z = arith.constant 0 : index\n    "

CASES: Mapping[str, Case] = {
    **{
        f"transposed {element} by {warps} warps": Case(
            "32x64", "64x32", _taken("%j, %i"), lambda a: a.T, element, warps
        )
        for element, warps in (("f32", 4), ("f16", 4), ("i8", 2), ("i64", 8), ("f32", 1), ("i8", 5))
    },
    "permuted in three dimensions": Case(
        "4x8x32", "32x4x8", _taken("%j, %k, %i"), lambda a: a.transpose(2, 0, 1), "f16"
    ),
    "permuted in four dimensions": Case(
        "2x4x2x16", "2x2x4x16", _taken("%j, %k, %i, %l"), lambda a: a.transpose(2, 0, 1, 3)
    ),
    "a row for all rows": Case(
        "64", "16x64", _taken("%j"), lambda a: np.broadcast_to(a, (16, 64))
    ),
    "a number for all columns": Case(
        "32", "32x32", _taken("%i"), lambda a: np.broadcast_to(a[:, None], (32, 32))
    ),
    "one row of a matrix for all rows": Case(
        "1x64", "32x64", _INNER + _taken("%z, %j"), lambda a: np.broadcast_to(a, (32, 64))
    ),
    "one column of a matrix for all columns": Case(
        "32x1", "32x64", _INNER + _taken("%i, %z"), lambda a: np.broadcast_to(a, (32, 64)), "i8"
    ),
    "a part of a matrix": Case(
        "64x32",
        "16x16",
        _MOVED.format(32, "%p", "addi", "%i") + _taken("%p, %j"),
        lambda a: a[32:48, :16],
    ),
    "from the last column on": Case(
        "8x128", "8x128", _MOVED.format(127, "%q", "xori", "%j") + _taken("%i, %q"),
        lambda a: a[:, ::-1],
    ),
    "a diagonal": Case("32x32", "32", _taken("%i, %i"), np.diag),
    "another shape": Case("64x32", "16x128", _RESHAPE, lambda a: a.reshape(16, 128)),
    "one above the other": Case(
        "16x32", "32x32", _joined(0, 16), lambda a: np.concatenate([a, a + a])
    ),
    "one beside the other": Case(
        "16x32", "16x64", _joined(1, 32), lambda a: np.concatenate([a, a + a], 1)
    ),
    "by a branch": Case(
        "32x32", "32x64", _BRANCH, lambda a: np.concatenate([a, -(a + a).T], 1)
    ),
    "by position": Case("32x32", "32x32", _CAUSAL, _below_diagonal),
    "by position in 64 bits": Case("16x64", "16x64", _WIDE, _wide),
    "where data say": Case("16x32", "16x32", _BY_DATA, _by_data),
    "where data say whether": Case(
        "32x32", "32x32", _UNDER_DATA, lambda a: np.where(a < 0, a.T, a)
    ),
}  # fmt: skip
"""By name."""
