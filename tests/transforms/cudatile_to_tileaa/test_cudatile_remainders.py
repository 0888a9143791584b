"""`remf` is exact: interpreter, emulator and `numpy.fmod` have the same bits."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.tile_ir import TYPES, Array, text_of_tiles, whole_tiles
from tileas_xdsl.compiler import compile

SIZE = 4096


def numbers(seed: int, dtype: Any) -> Array:
    """Bits of all kinds, and many pairs of specials."""
    rng = np.random.default_rng(seed)
    info: Any = ml_dtypes.finfo(dtype)
    width = np.dtype(dtype).itemsize
    found = rng.integers(0, 256, SIZE * width, np.uint8).view(dtype)
    tiny, least, most = info.smallest_subnormal, info.smallest_normal, info.max
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, least, most, -most, 1.0, 3.0]
    found[: SIZE // 2] = rng.choice(np.array(special, dtype), SIZE // 2)
    found[: SIZE // 4] = rng.standard_normal(SIZE // 4).astype(dtype)
    return rng.permutation(found)


def fmod(a: Array, b: Array) -> Array:
    """In f64, which has every number of the narrower types."""
    with np.errstate(all="ignore"):
        return np.fmod(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)


def same(found: Array, wanted: Array) -> bool:
    """Bit for bit, where NaN is NaN."""
    raw = f"u{wanted.dtype.itemsize}"
    nan = np.isnan(wanted.astype(np.float64))
    equal = np.where(nan, np.isnan(found.astype(np.float64)), found.view(raw) == wanted.view(raw))
    return bool(equal.all())


def remainders(dtype: Any, shape: tuple[int, ...]) -> tuple[str, list[Array]]:
    count = int(np.prod(shape))
    inputs = [numbers(seed, dtype)[:count].reshape(shape) for seed in (1, 2)]
    extents = "x".join(map(str, shape))
    tile = f"tile<{extents}x{TYPES[np.dtype(dtype).name]}>"
    return f"%r0 = remf %a0, %a1 : {tile}", inputs


DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


@pytest.mark.parametrize("dtype", DTYPES)
def test_interpreted(dtype: Any) -> None:
    body, inputs = remainders(dtype, (64, 64))
    (found,) = whole_tiles(body, inputs, [np.zeros_like(inputs[0])])
    wanted = fmod(*inputs)
    assert np.isnan(wanted.astype(float)).mean() < 0.5
    assert same(found, wanted)


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", DTYPES)
def test_emulated(dtype: Any) -> None:
    body, inputs = remainders(dtype, (2, 64))
    out = np.zeros_like(inputs[0])
    run = compile(text_of_tiles(body, inputs, [out])).emulate(*inputs, out)
    assert not run.findings
    assert same(run.arrays[2], fmod(*inputs))
