"""Attention of heads that do not fill their tiles multiplies what there is, and is right."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile.attention import LOG2_E, attention
from tests.support.compiling import OfRows, specialized
from tileas_xdsl.compiled_kernel import CompiledKernel

KEYS = 100


@pytest.mark.parametrize(
    ("d", "lengths", "columns", "steps"),
    [
        (40, (33, 47), 48, 3),
        (80, (80, 80), 80, 5),
        (96, (96, 96), 96, 6),
        (120, None, 128, 8),
    ],
)
def test_heads_end_within_their_tiles(
    d: int, lengths: tuple[int, int] | None, columns: int, steps: int
) -> None:
    made = checked(d, 64, "sm_90a")
    assert made.abi.row_lengths == lengths
    found = re.findall(r"wgmma.mma_async\S*\.m64n(\d+)k16\.", made.ptx or "")
    assert set(found) == {"64", str(columns)}
    assert found.count("64") % steps == 0


def test_tensor_memory_has_the_depth_alone() -> None:
    """A product of 80 of 128 is five of eight instructions; there is one of keys, too, of eight."""
    made = checked(80, 128, "sm_100a")
    assert made.abi.row_lengths == (80, 80)
    assert (made.ptx or "").count("tcgen05.mma") % (5 + 8) == 0


def checked(d: int, tile: int, target: str) -> CompiledKernel:
    """The kernel for heads of so many numbers, which gives what it should."""
    rng, width = np.random.default_rng(d), 1 << (d - 1).bit_length()
    q, k, v = (rng.standard_normal((1, 1, KEYS, d)).astype(np.float16) for _ in range(3))
    args: list[Any] = [q, k, v, np.full_like(q, np.nan)]
    args += [1, 1, LOG2_E / math.sqrt(d), False, tile, tile, width]
    made = specialized(attention, *args, choose=OfRows(d), target=target)
    ran = made.emulate(*args, grid=-(-KEYS // tile))
    assert not ran.findings
    s = q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2) / math.sqrt(d)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    wanted = p / p.sum(axis=-1, keepdims=True) @ v.astype(np.float64)
    assert np.abs(ran.arrays[3].reshape(wanted.shape) - wanted).max() < 2e-3
    return made
