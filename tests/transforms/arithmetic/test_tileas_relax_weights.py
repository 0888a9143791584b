"""Weights that are relaxed: sums as exact as sums are, roundings within 0.501 of the last place."""

from __future__ import annotations

import numpy as np
import pytest
from ml_dtypes import bfloat16
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tests.support.ir import parse
from tileas_xdsl.compiler import compile
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.target.mufu.functions import approximate
from tileas_xdsl.transforms.arithmetic.tileas_relax_weights import LOG2_E, TileasRelaxWeights

ROWS, COLUMNS, TILES = 4, 64, 5
TILE, ROW, HALF = f"tensor<{ROWS}x{COLUMNS}xf32>", f"tensor<{ROWS}xf32>", f"{ROWS}x{COLUMNS}xf16"
LOOP = """
func.func @weights(%s: memref<4x320xf32>, %sums: memref<4xf32>, %q: memref<4x64xf16>) {{
  %zero = arith.constant 0 : index
  %first = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = arith.constant 5 : i32
  %none = arith.constant dense<{begin}> : {ROW}
  %empty = arith.constant dense<{total}> : {ROW}
  %begun = arith.constant dense<0.0> : tensor<{HALF}>
  %scale = arith.constant dense<{scale}> : {TILE}
  %v = nv_tileas.view %s : memref<4x320xf32> -> !nv_tileas.tiled_view<4x64xf32, gmem>
  %l, %m, %o = scf.for %j = %first to %end step %one
      iter_args(%l0 = %empty, %m0 = %none, %o0 = %begun)
      -> ({ROW}, {ROW}, tensor<{HALF}>) : i32 {{
    %at = arith.index_cast %j : i32 to index
    %a = nv_tileas.tiled_load %v[%zero, %at] {{atom = #nv_tileas<atom ldg>}}
      : !nv_tileas.tiled_view<4x64xf32, gmem> -> {TILE}
    %t = arith.mulf %a, %scale : {TILE}
    %r = nv_tileas.reduce %t {{axis = 1 : i32}} : {TILE} -> {ROW} {{
    ^bb0(%x: f32, %y: f32):
      %z = arith.maxnumf %x, %y : f32
      nv_tileas.yield %z : f32
    }}
    %m1 = arith.maxnumf %m0, %r : {ROW}
    %w = nv_tileas.generate : {TILE} {{
    ^bb0(%row: index, %column: index):
      %y = tensor.extract %m1[%row] : {ROW}
      nv_tileas.yield %y : f32
    }}
    %d = arith.subf %t, %w : {TILE}
    %p = math.{power} %d : {TILE}
    %e = arith.subf %m0, %m1 : {ROW}
    %f = math.{power} %e : {ROW}
    %u = nv_tileas.reduce %p {{axis = 1 : i32}} : {TILE} -> {ROW} {{
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      nv_tileas.yield %z : f32
    }}
    %l1 = math.fma %l0, %f, %u : {ROW}
    %h = arith.truncf %p : {TILE} to tensor<{HALF}>
    scf.yield %l1, %m1, %h : {ROW}, {ROW}, tensor<{HALF}>
  }}
  %sum = nv_tileas.view %sums : memref<4xf32> -> !nv_tileas.tiled_view<4xf32, gmem>
  %out = nv_tileas.view %q : memref<4x64xf16> -> !nv_tileas.tiled_view<4x64xf16, gmem>
  nv_tileas.tiled_store %l, %sum[%zero] {{atom = #nv_tileas<atom stg>}}
    : {ROW}, !nv_tileas.tiled_view<4xf32, gmem>
  nv_tileas.tiled_store %o, %out[%zero, %zero] {{atom = #nv_tileas<atom stg>}}
    : tensor<{HALF}>, !nv_tileas.tiled_view<4x64xf16, gmem>
  func.return
}}
"""
"""Sums of weights of five tiles, and those of the last one."""


def relaxed(power: str, scale: float, begin: str, total: float) -> tuple[bool, ModuleOp, ModuleOp]:
    """Whether the pass changes the loop, before and after."""
    text = LOOP.format(
        power=power, scale=scale, begin=begin, total=total, TILE=TILE, ROW=ROW, HALF=HALF
    )
    before, after = parse(text), parse(text)
    TileasRelaxWeights().apply(Context(), after)
    return str(before) != str(after), before, after


@pytest.mark.parametrize("power", ["exp", "exp2"])
@pytest.mark.parametrize("scale", [0.125, 0.3])
@pytest.mark.parametrize(("begin", "total"), [("0xFF800000", 0.0), ("-1.0e30", 0.0), ("0.0", 1.0)])
def test_sums_and_roundings_are_as_exact_as_before(
    power: str, scale: float, begin: str, total: float
) -> None:
    changes, before, after = relaxed(power, scale, begin, total)
    assert changes
    rng = np.random.default_rng(3)
    s = (rng.standard_normal((ROWS, TILES * COLUMNS)) * [[1], [30], [300], [900]]).astype(
        np.float32
    )
    s[0, :70] = -np.inf if begin != "0xFF800000" else s[0, :70]
    base = np.e if power == "exp" else 2.0
    x = s.astype(np.float32) * np.float32(scale)
    most = np.maximum(x.max(axis=1, keepdims=True), float(begin) if total else -np.inf)
    weights = base ** (x.astype(np.float64) - most)
    exact = weights.sum(axis=1) + total * base ** -most[:, 0].astype(np.float64)
    for module in (before, after):
        sums, q = np.zeros(ROWS, np.float32), np.zeros((ROWS, COLUMNS), np.float16)
        _, sums, q = simulate(module, [s, sums, q]).arrays
        assert np.abs(sums / exact - 1).max() < 2**-20
        now = weights[:, -COLUMNS:]
        assert (np.abs(q - now) <= 0.51 * np.maximum(np.spacing(now.astype(np.float16)), 0)).all()


@pytest.mark.parametrize(("begin", "total"), [("0.0", 0.0), ("-1000.0", 0.5)])
def test_rows_whose_sum_may_be_small_stay(begin: str, total: float) -> None:
    assert not relaxed("exp", 0.3, begin, total)[0]


@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("rows", [1, 4])
def test_shares_are_within_a_little_more_than_rounding(element: str, rows: int) -> None:
    """Of rows whose numbers are far apart, and of some of which one has all of the sum."""
    softmax = pytest.importorskip("kernels.cutile.softmax").softmax
    kind = {"f16": np.float16, "bf16": bfloat16}[element]
    rng = np.random.default_rng(rows)
    spread = np.array([0.1, 1, 10, 60])[:, None]
    x = (rng.standard_normal((4, 200)) * spread).astype(kind)
    kernel = compile(softmax, x, x, rows, 256, target="sm_90a")
    assert kernel.ptx.count("ex2.approx.ftz.f32") == kernel.ptx.count("ex2")
    found = kernel.emulate(x, np.zeros_like(x), rows, 256, grid=4 // rows).arrays[1]
    powers = np.exp(x.astype(np.float64) - x.astype(np.float64).max(axis=1, keepdims=True))
    exact = powers / powers.sum(axis=1, keepdims=True)
    place = np.spacing(exact.astype(kind)).astype(np.float64)
    visible = exact > 2.0**-126
    assert (np.abs(found.astype(np.float64) - exact) / place)[visible].max() < 0.502


def test_gradients_of_cross_entropy_are_as_exact_as_one_less_a_share() -> None:
    """Labels have from nearly nothing to nearly all of their rows, which is where digits cancel."""
    cross_entropy = pytest.importorskip("kernels.cutile.cross_entropy").cross_entropy
    rng = np.random.default_rng(5)
    x = rng.standard_normal((8, 200)).astype(np.float16)
    labels = rng.integers(0, 200, 8).astype(np.int32)
    x[np.arange(8), labels] += np.linspace(0, 20, 8).astype(np.float16)
    losses, gradients = np.zeros(8, np.float32), np.zeros_like(x)
    kernel = compile(cross_entropy, x, labels, losses, gradients, 4, 256, target="sm_90a")
    assert kernel.ptx.count("ex2.approx.ftz.f32") == kernel.ptx.count("ex2")
    found = kernel.emulate(x, labels, losses, gradients, 4, 256, grid=2).arrays[3]
    powers = np.exp(x.astype(np.float64) - x.astype(np.float64).max(axis=1, keepdims=True))
    exact = powers / powers.sum(axis=1, keepdims=True)
    exact[np.arange(8), labels] -= 1
    place = np.spacing(np.abs(exact).astype(np.float16)).astype(np.float64)
    off = np.abs(found.astype(np.float64) - exact)
    assert (off <= 0.502 * place + 2.0**-24).all()


def test_an_instruction_is_near_enough() -> None:
    """Of numbers from -104 on: 0.0007 of the last place of f16 more than rounding, 2**-23 of 1."""
    step = 997
    bits = np.arange(np.float32(2**-20).view(np.uint32), np.float32(104).view(np.uint32), step)
    x = -bits.astype(np.uint32).view(np.float32)
    exact, found = (
        np.exp(x.astype(np.float64)),
        approximate("ex2", x * np.float32(LOG2_E), ftz=True),
    )
    assert np.abs(found - exact).max() < 2**-22.9
    is_normal = exact > 2**-126
    assert (np.abs(found - exact) / exact)[is_normal].max() < 2**-17.9
    place = np.maximum(2.0 ** np.floor(np.log2(exact)), 2**-14) * 2**-10
    assert (np.abs(found.astype(np.float16) - exact) / place).max() < 0.501
