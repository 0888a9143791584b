# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false
"""Attention as users write it: weights take one instruction, whatever masks and maxima are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

from tileas_xdsl.compiler import compile

ConstBool, ConstFloat = ct.Constant[bool], ct.Constant[float]
KEYS, TILE = 150, 64


@ct.kernel
def attention(
    q,
    k,
    v,
    out,
    scale: ConstFloat,
    adds_mask: ConstBool,
    is_guarded: ConstBool,
    scales_last: ConstBool,
    adds_last: ConstBool,
):
    """Natural exponentials, a mask in each round."""
    _attend(q, k, v, out, scale, adds_mask, is_guarded, scales_last, adds_last)


@ct.kernel
def attention_by_argument(q, k, v, out, scale: float):
    """The same with a scale that is known at run time, of either sign."""
    _attend(q, k, v, out, scale, False, False, False, False)


def _attend(q, k, v, out, scale, adds_mask, is_guarded, scales_last, adds_last):
    mine = ct.load(q, (ct.bid(0), 0), (TILE, TILE))
    most = ct.full((TILE, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((TILE, 1), dtype=ct.float32)
    acc = ct.zeros((TILE, TILE), dtype=ct.float32)
    for j in range(ct.cdiv(k.shape[0], TILE)):
        keys = ct.load(k, (0, j), (TILE, TILE), order=(1, 0), padding_mode=ct.PaddingMode.ZERO)
        s = ct.mma(mine, keys, ct.zeros((TILE, TILE), dtype=ct.float32))
        if not scales_last:
            s = scale * s
        seen = (j * TILE + ct.arange(TILE, dtype=ct.int32))[None, :] < k.shape[0]
        s = s + ct.where(seen, 0.0, -1e9) if adds_mask else ct.where(seen, s, -math.inf)
        largest = ct.maximum(most, ct.max(s, axis=1, keepdims=True))
        less = ct.where(largest == -math.inf, 0.0, largest) if is_guarded else largest
        factor = scale if scales_last else 1.0
        p, f = ct.exp((s - less) * factor), ct.exp((most - less) * factor)
        total = total * f + ct.sum(p, axis=1, keepdims=True)
        values = ct.load(v, (j, 0), (TILE, TILE), padding_mode=ct.PaddingMode.ZERO)
        if adds_last:
            acc = acc * f + ct.mma(p.astype(v.dtype), values, ct.zeros((TILE, TILE), ct.float32))
        else:
            acc = ct.mma(p.astype(v.dtype), values, acc * f)
        most = largest
    ct.store(out, (ct.bid(0), 0), (acc / total).astype(out.dtype))


@pytest.mark.parametrize("scale", [0.125, 0.3])
@pytest.mark.parametrize(
    "form",
    [[n == one for n in range(4)] for one in (None, 0, 1, 2, 3)],
)
@pytest.mark.sample(5)
def test_weights_are_one_instruction(scale: float, form: Sequence[bool]) -> None:
    check(attention, scale, *form)


@pytest.mark.parametrize("scale", [0.3, -0.3, 0.0, 1e-40, 20.0])
def test_scales_of_a_launch_have_either_sign(scale: float) -> None:
    check(attention_by_argument, scale)


def check(kernel, scale: float, *form: bool) -> None:
    """Attend to some keys as numpy does, without the accurate exponential."""
    rng = np.random.default_rng(0)
    q = rng.standard_normal((TILE, TILE)).astype(np.float16)
    k, v = (rng.standard_normal((KEYS, TILE)).astype(np.float16) for _ in range(2))
    args = q, k, v, np.full_like(q, np.nan), scale, *form
    made = compile(kernel, *args, target="sm_90a")
    assert ".sat." not in (made.ptx or "")
    ran = made.emulate(*args)
    assert not ran.findings
    s = scale * (q.astype(np.float64) @ k.astype(np.float64).T)
    p = np.exp(s - s.max(axis=1, keepdims=True))
    wanted = p / p.sum(axis=1, keepdims=True) @ v.astype(np.float64)
    assert np.abs(ran.arrays[3] - wanted).max() < 2e-3


@ct.kernel
def attention_with_bias(q, k, v, bias, out):
    """Natural exponentials of scores to which numbers are added."""
    mine = ct.load(q, (ct.bid(0), 0), (TILE, TILE))
    most = ct.full((TILE, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((TILE, 1), dtype=ct.float32)
    acc = ct.zeros((TILE, TILE), dtype=ct.float32)
    for j in range(k.shape[0] // TILE):
        keys = ct.load(k, (0, j), (TILE, TILE), order=(1, 0))
        s = ct.mma(mine, keys, ct.zeros((TILE, TILE), dtype=ct.float32)) * 0.2
        s = s + ct.load(bias, (0, j), (TILE, TILE))
        largest = ct.maximum(most, ct.max(s, axis=1, keepdims=True))
        p, f = ct.exp(s - largest), ct.exp(most - largest)
        total = total * f + ct.sum(p, axis=1, keepdims=True)
        acc = ct.mma(p.astype(v.dtype), ct.load(v, (j, 0), (TILE, TILE)), acc * f)
        most = largest
    ct.store(out, (ct.bid(0), 0), (acc / total).astype(out.dtype))


@pytest.mark.parametrize("mask", [-1e9, -1e30])
def test_rows_that_are_masked_have_equal_weights(mask: float) -> None:
    """Differences from a maximum that is far from zero are not fused: all weights would be off."""
    rng = np.random.default_rng(0)
    q = rng.standard_normal((TILE, TILE)).astype(np.float16)
    k, v = (rng.standard_normal((2 * TILE, TILE)).astype(np.float16) for _ in range(2))
    bias = np.zeros((TILE, 2 * TILE), np.float32)
    bias[5:30, :TILE] = bias[20:40] = bias[50:, TILE:] = mask
    args = q, k, v, bias, np.full_like(q, np.nan)
    made = compile(attention_with_bias, *args, target="sm_90a")
    assert "vote.sync.all" in (made.ptx or "")
    ran = made.emulate(*args)
    assert not ran.findings
    s = (0.2 * (q.astype(np.float32) @ k.astype(np.float32).T) + bias).astype(np.float32)
    p = np.exp(s.astype(np.float64) - s.max(axis=1, keepdims=True))
    wanted = p / p.sum(axis=1, keepdims=True) @ v.astype(np.float64)
    assert np.abs(ran.arrays[4] - wanted).max() < 2e-3
