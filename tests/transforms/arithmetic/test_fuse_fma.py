"""`fuse-fma`: fused kernels mean what they meant, rounded once, by the meaning of Tile IR."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tests.support.tile_ir import entry
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.interpreters.cuda_tile.launch import evaluate
from tileas_xdsl.transforms.arithmetic.fuse_fma import FuseFma

N = 64


def _pointers(name: str) -> str:
    flat = f"tile<{N}xptr<f32>>"
    return f"""
    %{name}1 = reshape %{name}q : tile<ptr<f32>> -> tile<1xptr<f32>>
    %{name}n = broadcast %{name}1 : tile<1xptr<f32>> -> {flat}
    %{name}p = offset %{name}n, %i : {flat}, tile<{N}xi32> -> {flat}"""


def _load(name: str) -> str:
    types = f"tile<{N}xptr<f32>> -> tile<{N}xf32>, token"
    return f"{_pointers(name)}\n    %{name}, %{name}t = load_ptr_tko weak %{name}p : {types}"


TEXT = entry(
    ", ".join(f"%{name}q: tile<ptr<f32>>" for name in "abco"),
    f"""
    %i = iota : tile<{N}xi32>
    {"".join(map(_load, "abc"))}
    %p = mulf %a, %b : tile<{N}xf32>
    %s = addf %c, %p : tile<{N}xf32>
    %q = mulf %s, %b : tile<{N}xf32>
    %r = subf %q, %a : tile<{N}xf32>
    {_pointers("o")}
    %t = store_ptr_tko weak %op, %r : tile<{N}xptr<f32>>, tile<{N}xf32> -> token""",
)


def _module() -> ModuleOp:
    module = parse_module(registered_context(), TEXT)
    verify_module(module)
    return module


def _result(module: ModuleOp, *arrays: Any) -> Any:
    return evaluate(module, [*arrays, np.zeros(N, np.float32)], grid=1).arrays[-1]


def _fused() -> ModuleOp:
    module = _module()
    FuseFma().apply(registered_context(), module)
    verify_module(module)
    names = [op.name for op in module.walk()]
    assert names.count("cuda_tile.fma") == 2
    assert "cuda_tile.mulf" not in names
    return module


def test_exact_products_give_the_same_bits() -> None:
    """Significands of few bits: nothing is rounded, with or without fusion."""
    rng = np.random.default_rng(3)
    a, b, c = (rng.integers(-64, 65, N).astype(np.float32) / 4 for _ in range(3))
    a[:4] = np.inf, -np.inf, np.nan, -0.0
    with np.errstate(invalid="ignore"):
        before, after = _result(_module(), a, b, c), _result(_fused(), a, b, c)
    np.testing.assert_array_equal(after, before)
    np.testing.assert_array_equal(np.signbit(after[4:]), np.signbit(before[4:]))


def test_a_fused_operation_rounds_once() -> None:
    """The f64 product of two f32 is exact, and its sum with one of similar size nearly so."""
    rng = np.random.default_rng(5)
    a, b, c = (rng.uniform(1, 2, N).astype(np.float32) for _ in range(3))
    wide: list[Any] = [x.astype(np.float64) for x in (a, b, c)]
    once = (wide[0] * wide[1] + wide[2]).astype(np.float32)
    expected = (once.astype(np.float64) * wide[1] - wide[0]).astype(np.float32)
    np.testing.assert_array_equal(_result(_fused(), a, b, c), expected)
    assert (_result(_module(), a, b, c) != expected).any()
