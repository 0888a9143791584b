"""Every lowered operation computes on the emulator what numpy computes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.assembling import needs_ptxas
from support.emulating import emulate
from support.thread_kernels import THREADS, compiled, elementwise

from tests.backend.ptx.lowering.meanings import ALL, DTYPES, Array, Meaning
from tileas_xdsl.backend.ptxas import assemble

SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 65504.0, 1e-8, 3.5, 448.0, -57344.0)
EDGES = (0, 1, -1, 2, 7, -7, 64, -64)


def inputs_of(meaning: Meaning, rng: np.random.Generator) -> list[Array]:
    """Random values with special ones among them, one array per input."""
    size = THREADS * meaning.count
    arrays = [_random(rng, DTYPES[element], size) for element in meaning.inputs]
    if meaning.positive:
        arrays[0] = _positive(arrays[0])
    if meaning.nonzero:
        arrays[-1][arrays[-1] == 0] = 3
    if meaning.shift:
        arrays[-1] = rng.integers(0, 8 * arrays[-1].dtype.itemsize, size).astype(arrays[-1].dtype)
    return arrays


def _positive(values: Array) -> Array:
    magnitudes = np.abs(values.astype(np.float64))
    return np.where(np.isfinite(magnitudes) & (magnitudes > 0), magnitudes, 2.5).astype(
        values.dtype
    )


def _random(rng: np.random.Generator, dtype: Any, size: int) -> Array:
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, size, dtype, endpoint=True)
        edges = [*EDGES, info.min, info.max]
        where = rng.permutation(size)[: len(edges)]
        values[where] = np.array(edges, np.int64).astype(dtype)[: len(where)]
        return values
    scale = 10.0 ** rng.integers(-3, 4, size)
    values = (rng.standard_normal(size) * scale).astype(dtype)
    where = rng.permutation(size)[: len(SPECIAL)]
    values[where] = np.array(SPECIAL)[: len(where)].astype(dtype)
    return values


def same(found: Array, expected: Array, tolerance: float, absolute: float = 0.0) -> None:
    """Equal bits, but for the payload of NaNs; or as close as an approximation comes."""
    if np.issubdtype(expected.dtype, np.integer):
        np.testing.assert_array_equal(found, expected)
        return
    wide = np.float64
    near, wanted = found.astype(wide), expected.astype(wide)
    np.testing.assert_array_equal(np.isnan(near), np.isnan(wanted))
    both = ~np.isnan(wanted)
    if not tolerance:
        np.testing.assert_array_equal(near[both], wanted[both])
        np.testing.assert_array_equal(np.signbit(near[both]), np.signbit(wanted[both]))
        return
    smallest = float(ml_dtypes.finfo(expected.dtype).tiny)
    smallest = max(smallest, absolute)
    np.testing.assert_allclose(near[both], wanted[both], rtol=tolerance, atol=smallest)


def kernel_of(meaning: Meaning) -> str:
    """The kernel around the operations."""
    return elementwise(
        meaning.inputs, meaning.output, meaning.body, meaning.count, meaning.out_count
    )


@pytest.mark.sample(80)
@pytest.mark.parametrize("meaning", ALL, ids=lambda m: m.name)
def test_means_what_numpy_says(meaning: Meaning) -> None:
    rng = np.random.default_rng(sum(map(ord, meaning.name)))
    arrays = inputs_of(meaning, rng)
    count = meaning.out_count or meaning.count
    out = np.zeros(THREADS * count, DTYPES[meaning.output])
    text = compiled(kernel_of(meaning))
    with np.errstate(all="ignore"):
        expected = np.asarray(meaning.expected(*arrays)).astype(out.dtype)
    same(emulate(text, [*arrays, out])[-1], expected, meaning.tolerance, meaning.absolute)


@needs_ptxas
@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_ptxas_takes_them_without_a_word(every: int) -> None:
    meanings = ALL[::every]
    kernels = [kernel_of(m).replace("@k(", f"@k{number}(") for number, m in enumerate(meanings)]
    assembled = assemble(compiled("\n".join(kernels)), "sm_90a")
    assert assembled.messages == ()
    assert len(assembled.entries) == len(meanings)
