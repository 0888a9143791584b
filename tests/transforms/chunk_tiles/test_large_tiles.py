"""Tiles larger than the registers of four warps: more warps share them, shared memory is reused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tileas_xdsl as tileas
from tests.support.assembling import needs_ptxas

pytest.importorskip("cuda.tile")

from kernels.cutile import layer_norm as norms
from kernels.kernel import worst_deviation
from tests.transforms.chunk_tiles import large_kernels as kernels


def softmax(x: NDArray[Any]) -> NDArray[Any]:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def run(name: str, x: NDArray[Any], y: NDArray[Any], target: str) -> NDArray[Any]:
    """The result on the emulator, which finds nothing wrong."""
    kernel = tileas.compile(getattr(kernels, name), x, y, *x.shape, target=target)
    assert re.search(r"\.reqntid 512\b", kernel.ptx)
    found = kernel.emulate(x, y, *x.shape)
    assert [str(finding) for finding in found.findings] == []
    return found.arrays[1]


@pytest.mark.slow
def test_a_row_of_32768() -> None:
    x = np.random.default_rng(1).standard_normal((1, 32768)).astype(np.float32)
    y = run("softmax", x, np.full_like(x, np.nan), "sm_90a")
    np.testing.assert_allclose(y, softmax(x), rtol=1e-4)


@needs_ptxas
@pytest.mark.parametrize("target", ["sm_90a", pytest.param("sm_100a", marks=pytest.mark.slow)])
def test_rows_too_long_for_registers_run_in_phases(target: str) -> None:
    """49999 of 65536 columns: two tiles that are live at once take 256 registers of 512 threads."""
    rng = np.random.default_rng(7)
    x, weights = rng.standard_normal((1, 49999)) + 3, rng.standard_normal(49999)
    x, weights = x.astype(np.float32), weights.astype(np.float32)
    outs = np.full_like(x, np.nan), np.full((1, 1), np.nan, np.float32)
    args = (x, weights, *outs, 1, 65536)
    kernel = tileas.compile(kernels.standardized, *args, target=target)
    loops = [op for op in kernel.module_after("tileas-chunk-tiles").walk() if op.name == "scf.for"]
    assert len(loops) == 3
    found = kernel.emulate(*args, order="random")
    assert [str(finding) for finding in found.findings] == []
    centred = x - x.mean(axis=1, keepdims=True, dtype=np.float64)
    wanted = centred / centred.std(axis=1, keepdims=True) * weights
    np.testing.assert_allclose(found.arrays[2], wanted, atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(found.arrays[3], centred.max(axis=1, keepdims=True), rtol=1e-5)
    assert kernel.assemble().spills == 0


@pytest.mark.parametrize("columns", [40001, pytest.param(65535, marks=pytest.mark.slow)])
def test_chunks_of_rows_that_begin_between_vectors_are_rotated_together(columns: int) -> None:
    """Rows that begin apart in a vector have eight parts each, with two lines that do not; of a
    row without room behind it the last part ends with what the first one leaves out."""
    array, line = "f16[?, ?]", "f16[?]"
    signature = f"x: {array}, w: {line}, b: {line}, y: {array}, means: f32[?], scales: f32[?]"
    signature += ", rows=1, columns=65536"
    kernel = tileas.compile(norms.layer_norm, signature=signature, target="sm_90a")
    assert "row_width = 65536" in kernel.ir("tileas-chunk-tiles")
    args = norms.make(np.random.default_rng(columns), "f16", 2, columns, 1, 65536)
    arrays = [value for value in args if isinstance(value, np.ndarray)]
    emulated, simulated = kernel.emulate(*args, grid=(2, 1, 1)), kernel.simulate(*args, grid=2)
    assert [str(finding) for finding in emulated.findings] == []
    for found in (emulated.arrays, simulated.arrays):
        assert worst_deviation(norms.reference(args), arrays, found).is_right


@needs_ptxas
@pytest.mark.parametrize("target", ["sm_90a", pytest.param("sm_100a", marks=pytest.mark.slow)])
def test_loops_compute_again_the_rows_that_they_reduce(target: str) -> None:
    """A search for the 1,000th largest of 70,001 elements, in 512 threads: 256 registers a row."""
    x = np.random.default_rng(9).standard_normal((1, 70001)).astype(np.float32)
    outs = np.full_like(x, np.nan), np.full(1, np.nan, np.float32)
    args = (x, *outs, 1000.0, 5, 131072)
    kernel = tileas.compile(kernels.threshold, *args, target=target)
    assert kernel.assemble().spills == 0
    found = kernel.emulate(*args)
    assert [str(finding) for finding in found.findings] == []
    shifted, (low, high) = x - x.max(), (-8.0, 0.0)
    for _ in range(5):
        middle = (low + high) / 2
        low, high = (middle, high) if (shifted >= middle).sum() >= 1000 else (low, middle)
    assert found.arrays[2][0] == low
    np.testing.assert_array_equal(found.arrays[1], np.where(shifted >= low, shifted, 0))


@needs_ptxas
def test_rows_that_are_written_in_place_run_in_phases_too() -> None:
    x = np.random.default_rng(8).standard_normal((1, 33000)).astype(np.float32)
    kernel = tileas.compile(kernels.softmax_in_place, x, 65536, target="sm_90a")
    assert kernel.assemble().spills == 0
    for found in (kernel.emulate(x, 65536, grid=1), kernel.simulate(x, 65536, grid=1)):
        np.testing.assert_allclose(found.arrays[0], softmax(x), rtol=1e-4)


@pytest.mark.parametrize("target", ["sm_90a", pytest.param("sm_100a", marks=pytest.mark.slow)])
def test_two_exchanges_of_128_kib_share_memory(target: str) -> None:
    """Before and behind a scan, each through a buffer of the whole tile; a block has 227 KiB."""
    x = np.random.default_rng(2).standard_normal((256, 128)).astype(np.float32)
    y = run("running_sums", x, np.full_like(x, np.nan), target)
    np.testing.assert_allclose(y, x.cumsum(axis=1), atol=1e-4)


def test_tiles_of_256_registers_a_thread_are_spilled_by_ptxas() -> None:
    x = np.random.default_rng(3).integers(-(2**40), 2**40, (512, 128))
    y = run("largest", x, np.zeros((1, 1), np.int64), "sm_90a")
    assert y[0, 0] == x.max()


@pytest.mark.parametrize(
    ("shape", "axis", "element", "shared"),
    [((512, 128), 2, np.int64, 32768), ((64, 32), 0, np.int8, 1024), ((32, 64), 1, np.float16, 0)],
    ids=["65536 elements", "columns", "rows"],
)
def test_warps_exchange_one_candidate_of_a_line(
    shape: tuple[int, int], axis: int, element: type, shared: int
) -> None:
    """Of equal elements the first counts.  The reshape to one line is a conversion in pieces."""
    x = np.random.default_rng(6).integers(-40, 40, shape).astype(element)
    wanted = x.argmax(axis=None if axis > 1 else axis, keepdims=True).astype(np.int32)
    kernel = tileas.compile(kernels.place_of_largest, x, wanted, *shape, axis, target="sm_90a")
    assert kernel.abi.shared_bytes <= shared + 1024
    found = kernel.emulate(x, np.full_like(wanted, -1), *shape, axis, order="random")
    assert [str(finding) for finding in found.findings] == []
    np.testing.assert_array_equal(found.arrays[1], wanted)


@needs_ptxas
def test_a_long_row_spills_nothing() -> None:
    x = np.zeros((1, 32768), np.float32)
    kernel = tileas.compile(kernels.softmax, x, x, *x.shape, target="sm_90a")
    assert kernel.assemble().spills == 0


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_operands_of_one_round_share_memory(target: str) -> None:
    """Two tiles that products have read make room for the next two; TMA loads all of them."""
    rng = np.random.default_rng(4)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((64, 512), (4, 512, 128)))
    c = np.full((64, 128), np.nan, np.float32)
    kernel = tileas.compile(kernels.four_products, a, b, c, target=target)
    assert kernel.abi.shared_bytes < 227 * 1024
    for order in ("eager", "lazy"):
        found = kernel.emulate(a, b, c, order=order)
        assert [str(finding) for finding in found.findings] == []
        wanted = a.astype(np.float64) @ b.astype(np.float64).sum(axis=0)
        np.testing.assert_allclose(found.arrays[2], wanted, atol=1e-2)
