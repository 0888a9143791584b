# pyright: basic, reportInvalidTypeForm=false
"""Sums whose rows are reduced before they are stored in pieces by TMA."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tileas_xdsl as tileas
from tests.support.assembling import needs_ptxas
from tileas_xdsl.backend.ptxas import assemble

ct = pytest.importorskip("cuda.tile")
ml_dtypes = pytest.importorskip("ml_dtypes")

ConstInt = ct.Constant[int]
COLUMNS = 256


@ct.kernel
def normalized(a, b, residual, weight, out, rows: ConstInt, columns: ConstInt, depth: ConstInt):
    """`layer_norm(a @ b + residual) * weight`, whose rows are one tile wide."""
    i = ct.bid(0)
    total = ct.zeros((rows, columns), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], depth)):
        left, right = ct.load(a, (i, k), (rows, depth)), ct.load(b, (k, 0), (depth, columns))
        total = ct.mma(left, right, total)
    total = total + ct.astype(ct.load(residual, (i, 0), (rows, columns)), ct.float32)
    off = total - ct.sum(total, axis=1, keepdims=True) / columns
    scale = ct.rsqrt(ct.sum(off * off, axis=1, keepdims=True) / columns + 1e-5)
    made = off * scale * ct.load(weight, (0,), (columns,))[None, :]
    ct.store(out, (i, 0), ct.astype(made, out.dtype))


def _arguments(rows: int) -> tuple:
    random, bf16 = np.random.default_rng(6), ml_dtypes.bfloat16
    a, residual = (random.standard_normal((rows, n)).astype(bf16) for n in (128, COLUMNS))
    b = (random.standard_normal((128, COLUMNS)) / 8).astype(bf16)
    weight = random.standard_normal(COLUMNS).astype(np.float32)
    return a, b, residual, weight, np.zeros((rows, COLUMNS), bf16), 128, COLUMNS, 64


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_normalized_sums(target: str) -> None:
    a, b, residual, weight, *_ = given = _arguments(200)
    kernel = tileas.compile(normalized, *given, target=target)
    done = kernel.emulate(*given, grid=2)
    assert not done.findings
    total = a.astype(np.float64) @ b.astype(np.float64) + residual.astype(np.float64)
    off = total - total.mean(axis=1, keepdims=True)
    wanted = off / np.sqrt((off * off).mean(axis=1, keepdims=True) + 1e-5) * weight
    np.testing.assert_allclose(done.arrays[4].astype(np.float64), wanted, rtol=0.01, atol=0.01)


def _pieces(target: str) -> set[str]:
    """Operations that compute the tiles of which columns are taken, piece by piece."""
    text = tileas.compile(normalized, *_arguments(128), target=target).ir("tileas-choose-tma")
    made = {
        name.strip(): operation
        for names, operation in re.findall(r"^ *(%.*?) = ([\w.]+)", text, re.M)
        for name in names.split(",")
    }
    return {made[tile] for tile in re.findall(r"extract_slice (%\w+)\[", text)}


def test_columns_are_of_what_is_whole_anyway() -> None:
    """Where sums are in tensor memory, columns are computed of them: they take no registers."""
    assert _pieces("sm_90a") == {"arith.addf"}
    assert _pieces("sm_100a") == {"nv_tileas.tiled_load", "scf.for"}


@needs_ptxas
def test_nothing_is_spilled() -> None:
    kernel = tileas.compile(normalized, *_arguments(128), target="sm_90a")
    assert assemble(kernel.ptx).spills == 0
