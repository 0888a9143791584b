"""Kernels that take parts out of tiles in registers and put them in, with what numpy makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.support.plain_kernels import Array, kernel, load, store


@dataclass(frozen=True)
class Sliced:
    """`%t` is a tile of the source, `%n` a number; the body makes `%o` of the result's shape."""

    source: str
    result: str
    body: str
    expected: Callable[[Array, int], Array]
    element: str = "f32"
    warps: int = 4

    @property
    def text(self) -> str:
        """The kernel."""
        source, result = (f"{shape}x{self.element}" for shape in (self.source, self.result))
        types = {"SRC": f"tensor<{source}>", "DST": f"tensor<{result}>"}
        body = self.body
        for name, type_ in types.items():
            body = body.replace(name, type_)
        return kernel(
            f"%a: memref<{source}>, %n: index, %b: memref<{result}>",
            load("t", "a", f"memref<{source}>", source, _zeros(self.source))
            + body
            + "\n  "
            + store("o", "b", f"memref<{result}>", result, _zeros(self.result)),
            self.warps,
        )


def _zeros(shape: str) -> str:
    return ", ".join(["%zero"] * (shape.count("x") + 1))


def _put(a: Array, n: int) -> Array:
    whole = a + a
    whole[n : n + 8, 16:32] = a[:8, :16]
    return whole


def _cut_in_rounds(a: Array, n: int) -> Array:
    del n
    return sum(a[:, 8 * k : 8 * k + 8] * (k + 1) for k in range(4))  # pyright: ignore


_ROUNDS = """%many = arith.constant 4 : index
  %eight = arith.constant 8 : index
  %none = arith.constant dense<0.0> : DST
  %o = scf.for %k = %zero to {} step %one iter_args(%s = %none) -> (DST) {{
    %c = arith.muli %k, %eight : index
    %p = nv_tileas.extract_slice %t[0, %c] [16, 8] [1, 1] : SRC -> DST
    %j = arith.addi %k, %one : index
    %i = arith.index_cast %j : index to i32
    %f = arith.sitofp %i : i32 to f32
    %fs = tensor.splat %f : DST
    %q = arith.mulf %p, %fs : DST
    %r = arith.addf %s, %q : DST
    scf.yield %r : DST
  }}"""

SLICED: Mapping[str, Sliced] = {
    "a part": Sliced(
        "32x64",
        "8x16",
        "%o = nv_tileas.extract_slice %t[8, 16] [8, 16] [1, 1] : SRC -> DST",
        lambda a, n: a[8:16, 16:32],
    ),
    "every second row": Sliced(
        "32x64",
        "16x64",
        "%o = nv_tileas.extract_slice %t[1, 0] [16, 64] [2, 1] : SRC -> DST",
        lambda a, n: a[1::2],
        "f16",
    ),
    "a part somewhere": Sliced(
        "32x64",
        "8x16",
        "%o = nv_tileas.extract_slice %t[%n, 16] [8, 16] [1, 2] : SRC -> DST",
        lambda a, n: a[n : n + 8, 16:48:2],
        "i8",
    ),
    "put in": Sliced(
        "16x32",
        "16x32",
        """%u = arith.addf %t, %t : SRC
  %p = nv_tileas.extract_slice %t[0, 0] [8, 16] [1, 1] : SRC -> tensor<8x16xf32>
  %o = nv_tileas.insert_slice %p into %u[4, 16] [8, 16] [1, 1] : tensor<8x16xf32> into SRC""",
        lambda a, n: _put(a, 4),
    ),
    "put in somewhere": Sliced(
        "16x32",
        "16x32",
        """%u = arith.addf %t, %t : SRC
  %p = nv_tileas.extract_slice %t[0, 0] [8, 16] [1, 1] : SRC -> tensor<8x16xf32>
  %o = nv_tileas.insert_slice %p into %u[%n, 16] [8, 16] [1, 1] : tensor<8x16xf32> into SRC""",
        _put,
        warps=8,
    ),
    "in four rounds": Sliced("16x32", "16x8", _ROUNDS.format("%many"), _cut_in_rounds),
    "in rounds that are not counted": Sliced(
        "16x32",
        "16x8",
        "%last = arith.addi %n, %one : index\n  " + _ROUNDS.format("%last"),
        _cut_in_rounds,
    ),
    "another shape": Sliced(
        "4x8x16",
        "16x32",
        "%o = nv_tileas.view %t : SRC -> DST",
        lambda a, n: a.reshape(16, 32),
        "f16",
    ),
    "some elements under another shape": Sliced(
        "16x32",
        "4x4x8",
        "%o = nv_tileas.view %t[%n, %zero] : SRC -> DST",
        lambda a, n: a.reshape(-1)[32 * n : 32 * n + 128].reshape(4, 4, 8),
    ),
    "a dimension more": Sliced(
        "32x16",
        "32x1x16",
        "%o = nv_tileas.expand_dims %t {axis = 1 : i32} : SRC -> DST",
        lambda a, n: a[:, None],
    ),
}
"""By name."""
