"""Complete Tile IR kernels with expected results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.support.tile_ir import Array, entry

LINE = "tensor_view<?xf32, strides=[1]>"


@dataclass(frozen=True)
class Launch:
    """A kernel, its arguments, and the expected contents of the array `output`."""

    text: str
    arguments: Sequence[Any]
    grid: tuple[int, ...]
    output: int
    expected: Array
    tolerance: float = 0.0


def matrix(element: str) -> str:
    """Return the type of a row-major matrix."""
    return f"tensor_view<?x?x{element}, strides=[?,1]>"


def axpy(rng: np.random.Generator, n: int = 300, tile: int = 64) -> Launch:
    """Return `y = a * x + y`, with the front end's assumptions on pointers and sizes."""
    view = f"partition_view<tile=({tile}), padding_value = zero, {LINE}>"
    line = f"tile<{tile}xf32>"
    lines = [
        f"""%{v}a = assume div_by<16>, %{v} : tile<ptr<f32>>
    %{v}v = make_tensor_view %{v}a, shape = [%m], strides = [1] : tile<i32> -> {LINE}
    %{v}w = make_partition_view %{v}v : {view}
    %{v}t, %{v}k = load_view_tko weak %{v}w[%x] : {view}, tile<i32> -> {line}, token"""
        for v in "pq"
    ]
    text = entry(
        "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %n: tile<i32>, %alpha: tile<f32>",
        f"""%m = assume bounded<0, ?>, %n : tile<i32>
    {lines[0]}
    {lines[1]}
    %a1 = reshape %alpha : tile<f32> -> tile<1xf32>
    %as = broadcast %a1 : tile<1xf32> -> {line}
    %s = fma %as, %pt, %qt : {line}
    %t = store_view_tko weak %s, %qw[%x] token = %qk : {line}, {view}, tile<i32> -> token""",
    )
    x, y = (rng.standard_normal(n).astype(np.float32) for _ in range(2))
    wide = np.float64(np.float32(1.7)) * x.astype(np.float64) + y.astype(np.float64)
    grid = (-(-n // tile),)
    return Launch(text, (x, y, n, 1.7), grid, 1, wide.astype(np.float32))


def matmul(
    rng: np.random.Generator,
    m: int,
    n: int,
    k: int,
    tiles: tuple[int, int, int] = (32, 16, 32),
) -> Launch:
    """Return `C = A B` of f16, accumulated in f32, with any extents."""
    rows, columns, depth = tiles
    views = {
        name: f"partition_view<tile=({a}x{b}), padding_value = zero, {matrix(element)}>"
        for name, a, b, element in (
            ("a", rows, depth, "f16"),
            ("b", depth, columns, "f16"),
            ("c", rows, columns, "f32"),
        )
    }
    acc = f"tile<{rows}x{columns}xf32>"
    at, bt = f"tile<{rows}x{depth}xf16>", f"tile<{depth}x{columns}xf16>"
    load = "load_view_tko weak"
    text = entry(
        "%pa: tile<ptr<f16>>, %pb: tile<ptr<f16>>, %pc: tile<ptr<f32>>,"
        " %m: tile<i32>, %n: tile<i32>, %k: tile<i32>",
        f"""%va = make_tensor_view %pa, shape = [%m, %k], strides = [%k, 1] : tile<i32> -> {matrix("f16")}
    %vb = make_tensor_view %pb, shape = [%k, %n], strides = [%n, 1] : tile<i32> -> {matrix("f16")}
    %vc = make_tensor_view %pc, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {matrix("f32")}
    %wa = make_partition_view %va : {views["a"]}
    %wb = make_partition_view %vb : {views["b"]}
    %wc = make_partition_view %vc : {views["c"]}
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %nothing = constant <f32: 0.0> : {acc}
    %i, %steps = get_index_space_shape %wa : {views["a"]} -> tile<i32>
    %sum = for %s in (%zero to %steps, step %one) : tile<i32> iter_values(%c = %nothing) -> ({acc}) {{
      %a, %ta = {load} %wa[%x, %s] : {views["a"]}, tile<i32> -> {at}, token
      %b, %tb = {load} %wb[%s, %y] : {views["b"]}, tile<i32> -> {bt}, token
      %d = mmaf %a, %b, %c : {at}, {bt}, {acc}
      continue %d : {acc}
    }}
    %t = store_view_tko weak %sum, %wc[%x, %y] : {acc}, {views["c"]}, tile<i32> -> token""",  # noqa: E501
    )
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    grid = (-(-m // rows), -(-n // columns))
    empty = np.zeros((m, n), np.float32)
    return Launch(text, (a, b, empty, m, n, k), grid, 2, wanted, 1e-3)


def softmax(rng: np.random.Generator, rows: int, columns: int, width: int) -> Launch:
    """Return softmax of rows, one block per row; out-of-bounds elements are -inf."""
    view = f"partition_view<tile=(1x{width}), padding_value = neg_inf, {matrix('f32')}>"
    row, line, one = f"tile<1x{width}xf32>", "tile<1xf32>", "tile<f32>"

    def reduced(name: str, source: str, identity: str, combiner: str) -> str:
        return f"""%{name} = reduce %{source} dim=1 identities=[{identity} : f32] : {row} -> {line}
      (%{name}n: {one}, %{name}b: {one}) {{
      %{name}r = {combiner} %{name}n, %{name}b : {one}
      yield %{name}r : {one}
    }}
    %{name}1 = reshape %{name} : {line} -> tile<1x1xf32>
    %{name}s = broadcast %{name}1 : tile<1x1xf32> -> {row}"""

    text = entry(
        "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>",
        f"""%v = make_tensor_view %p, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {matrix("f32")}
    %w = make_tensor_view %q, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {matrix("f32")}
    %a = make_partition_view %v : {view}
    %b = make_partition_view %w : {view}
    %zero = constant <i32: 0> : tile<i32>
    %t, %k = load_view_tko weak %a[%x, %zero] : {view}, tile<i32> -> {row}, token
    {reduced("max", "t", "0xFF800000", "maxf")}
    %d = subf %t, %maxs : {row}
    %e = exp %d : {row}
    {reduced("sum", "e", "0.0", "addf")}
    %r = divf %e, %sums : {row}
    %l = store_view_tko weak %r, %b[%x, %zero] : {row}, {view}, tile<i32> -> token""",  # noqa: E501
    )
    a = rng.standard_normal((rows, columns)).astype(np.float32) * 3
    powers = np.exp(a - a.max(1, keepdims=True))
    wanted = powers / powers.sum(1, keepdims=True)
    return Launch(text, (a, a * 0, rows, columns), (rows,), 1, wanted, 1e-5)
