# pyright: basic
"""Attention whose scores a hyperbolic tangent bounds, as weights of f16 show them."""

import math

import numpy as np
import pytest

from tileas_xdsl.compiler import compile
from tileas_xdsl.target.mufu.functions import approximate

ct = pytest.importorskip("cuda.tile")

BOUND, HEAD, KEYS = 50.0, 64, 160


@ct.kernel
def bounded(q, k, v, out, bound: ct.Constant[float], causal: ct.Constant[bool]):
    mine = ct.load(q, (0, 0), (64, 64))
    rows = ct.arange(64, dtype=ct.int32)[:, None]
    most = ct.full((64, 1), -math.inf, ct.float32)
    total, acc = ct.zeros((64, 1), ct.float32), ct.zeros((64, 64), ct.float32)
    for j in range(ct.cdiv(k.shape[0], 32)):
        theirs = ct.load(k, (j, 0), (32, 64)).transpose()
        scores = ct.mma(mine, theirs, ct.zeros((64, 32), ct.float32)) * 0.125
        scores = ct.tanh(scores / bound) * bound
        if causal:
            columns = j * 32 + ct.arange(32, dtype=ct.int32)[None, :]
            scores = ct.where(columns <= rows + 96, scores, -math.inf)
        largest = ct.maximum(most, ct.max(scores, axis=1, keepdims=True))
        powers, fading = ct.exp(scores - largest), ct.exp(most - largest)
        total = total * fading + ct.sum(powers, axis=1, keepdims=True)
        values = ct.load(v, (j, 0), (32, 64))
        acc = ct.mma(powers.astype(ct.float16), values, acc * fading)
        most = largest
    ct.store(out, (0, 0), (acc / total).astype(ct.float16))


@pytest.mark.parametrize(("bound", "causal"), [(50.0, False), (50.0, True), (1000.0, False)])
def test_scores_are_bounded_by_instructions_where_weights_do_not_show_it(
    bound: float, causal: bool
) -> None:
    rng = np.random.default_rng(2)
    q, k, v = (
        (rng.standard_normal((n, HEAD)) * s).astype(np.float16)
        for n, s in ((64, 9), (KEYS, 2), (KEYS, 1))
    )
    out = np.zeros((64, HEAD), np.float16)
    kernel = compile(bounded, q, k, v, out, bound, causal, target="sm_90a")
    accurate = "math.tanh" in str(kernel.ir("tileas-relax-weights"))
    assert accurate == (bound > 64)
    found = kernel.emulate(q, k, v, out, bound, causal, grid=1)
    assert not found.findings
    x = q.astype(np.float64) @ k.astype(np.float64).T * 0.125
    x = bound * np.tanh(x / bound)
    if causal:
        x[np.arange(KEYS) > np.arange(64)[:, None] + 96] = -np.inf
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    exact = weights @ v.astype(np.float64) / weights.sum(axis=1, keepdims=True)
    assert np.abs(found.arrays[3] - exact).max() < 2e-3


def test_the_form_is_within_four_units_for_all_arguments() -> None:
    x = np.linspace(-12, 12, 1_000_003).astype(np.float32)
    power = approximate("ex2", x * np.float32(2 * math.log2(math.e)), ftz=True)
    sum_ = (power.astype(np.float64) * 0.5 + 0.5).astype(np.float32)
    found = 1 - approximate("rcp", sum_, ftz=True).astype(np.float64)
    assert np.abs(found - np.tanh(x.astype(np.float64))).max() < 4 * 2.0**-24
