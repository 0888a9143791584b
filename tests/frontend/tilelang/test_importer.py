"""Kernels of TileLang become `tl`: recorded traces of our own kernels, so no package is needed."""

from __future__ import annotations

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tileas_xdsl as tileas
from tileas_xdsl.compiler import CompiledKernel
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.frontend.tilelang.importer import module_of
from tileas_xdsl.frontend.tilelang.traced.source import imports_tilelang

RECORDED = Path(__file__).parent / "recorded"
RNG = np.random.default_rng(26)


@cache
def compiled(name: str) -> CompiledKernel:
    """A recorded kernel, compiled."""
    return tileas.compile(module_of((RECORDED / f"{name}.json").read_text()))


def runs(name: str, *arguments: object, grid: object) -> list[list[np.ndarray]]:
    """The arrays after a run on the tile interpreter, and after one of the PTX."""
    kernel = compiled(name)
    results = []
    for run in (kernel.simulate, kernel.emulate):
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        found = run(*given, grid=grid, **({} if run == kernel.simulate else {"order": "lazy"}))
        results.append(list(found.arrays))
    return results


def test_product() -> None:
    a = RNG.standard_normal((128, 64)).astype(np.float16)
    b = RNG.standard_normal((64, 128)).astype(np.float16)
    bias = RNG.standard_normal(128).astype(np.float32)
    want = np.maximum(a.astype(np.float32) @ b.astype(np.float32) + bias, 0)
    assert "cp.async.bulk.tensor" in compiled("gemm").ptx  # its loads run ahead
    for arrays in runs("gemm", a, b, bias, np.zeros((128, 128), np.float16), grid=(2, 2)):
        np.testing.assert_allclose(arrays[-1].astype(np.float32), want, rtol=2e-3, atol=2e-3)


def test_rows_of_a_dynamic_number() -> None:
    """The last block has two rows of four: what is outside reads as 0 and is not written."""
    x = RNG.standard_normal((6, 96)).astype(np.float32)
    lengths = RNG.integers(1, 97, 6).astype(np.int32)
    masked = np.where(np.arange(96) < lengths[:, None], x * 0.5, -np.inf)
    powers = np.exp(masked - masked.max(1, keepdims=True))
    want = powers / powers.sum(1, keepdims=True)
    out, count = np.zeros((6, 96), ml_dtypes.bfloat16), np.zeros(1, np.int32)
    for arrays in runs("rows", x, lengths, np.float32(0.5), out, count, grid=2):
        np.testing.assert_allclose(arrays[-2].astype(np.float32), want, rtol=1e-2, atol=1e-3)
        assert arrays[-1][0] == 6


def test_bits_and_types() -> None:
    packed = RNG.integers(0, 256, 32).astype(np.uint8)
    mask = RNG.integers(0, 2, 64).astype(bool)
    halves = np.stack([packed & 15, packed >> 4], 1).reshape(-1)
    want = np.where(mask, halves, -1.0).astype(np.float32)
    other = want.view(np.int32) + 3 * np.arange(64, dtype=np.int32)
    other[::2] = np.clip(packed, 16, 100)
    given = packed.view(np.int8), mask.view(np.int8), np.zeros(64, np.float32)
    for arrays in runs("bits", *given, np.zeros(64, np.int32), grid=1):
        np.testing.assert_array_equal(arrays[-2], want)
        np.testing.assert_array_equal(arrays[-1], other)


def test_launches_are_functions() -> None:
    """The array between them is an argument of both."""
    found = tileas.compile_kernels(module_of((RECORDED / "split.json").read_text()))
    assert list(found) == ["split_sum", "split_sum_1"]
    x = RNG.integers(-9, 9, (2, 64)).astype(np.float32)
    arrays = x, np.zeros(1, np.float32), np.full(2, 7, np.float32)
    for kernel, grid in zip(found.values(), (2, 1), strict=True):
        arrays = kernel.emulate(*arrays, grid=grid).arrays
    assert arrays[1][0] == x.sum()


def test_pairs_that_one_iteration_of_two_exchanges() -> None:
    """The other one reads neither; pairs are a view, and the extent of a row cancels out."""
    x = RNG.standard_normal((2, 64)).astype(np.float32)
    want = np.sort(x.reshape(2, 32, 2), axis=2)
    for arrays in runs("pairs", x, np.zeros(64, np.float32), grid=2):
        np.testing.assert_array_equal(arrays[0].reshape(want.shape), want)
        np.testing.assert_array_equal(arrays[1], want[:, :, 0].reshape(-1))


def test_columns_of_an_image() -> None:
    """Pixels under a filter of 3x3 that moves by 2, 0 around the image; the output is a view."""
    image = RNG.standard_normal((2, 5, 4, 8)).astype(np.float16)
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
    pixels = [(n, 2 * h, 2 * w) for n in range(2) for h in range(3) for w in range(2)]
    want = np.stack([padded[n, h : h + 3, w : w + 3].reshape(72) for n, h, w in pixels])
    for arrays in runs("columns", image, np.zeros((4, 3, 72), np.float16), grid=3):
        np.testing.assert_array_equal(arrays[1].reshape(12, 72), want)


def test_structure_and_lines() -> None:
    """Pipelined loops, policies and regions are `tl`'s; operations have the lines of Python."""
    text = compiled("gemm").ir()
    assert "tl.pipelined" in text
    assert "stages(2)" in text
    assert "policy(full_row)" in text
    lines = {str(op.location) for op in compiled("gemm").source.walk() if op.name == "tl.gemm"}
    assert len(lines) == 1
    assert "kernels.py" in next(iter(lines))


def test_programs_of_threads() -> None:
    """Threads exchange values in a loop, keep sums, and one of a row stores for all of it."""
    x = RNG.integers(-9, 9, (2, 4, 16)).astype(np.float32)
    want = x.sum(0)[::-1, ::-1]
    for arrays in runs("threads", x, np.zeros((4, 16), np.float32), np.ones(4, np.float32), grid=1):
        np.testing.assert_array_equal(arrays[1], want)
        np.testing.assert_array_equal(arrays[2], [*want[1:, 5], 1])


def test_what_iterations_and_threads_combine() -> None:
    x = RNG.choice([-3, -2, 1, 2, 5], (16, 32)).astype(np.float32)
    given = x, np.zeros(16, np.float32), np.zeros(4, np.float32)
    for arrays in runs("combined", *given, grid=1):
        np.testing.assert_array_equal(arrays[1], x.sum(1))
        np.testing.assert_allclose(arrays[2], x[:4, :8].prod(1, dtype=np.float64), rtol=1e-6)


def test_roles_of_warps_are_done_one_after_the_other() -> None:
    x = RNG.integers(-9, 9, 64).astype(np.float32)
    for arrays in runs("roles", x, np.zeros(64, np.float32), np.zeros(4, np.float32), grid=1):
        np.testing.assert_array_equal(arrays[1], x[::-1] * 2)
        np.testing.assert_array_equal(arrays[2], x.reshape(4, 16).sum(1) + 16)


@pytest.mark.parametrize("name", ["by_hand", "added_by_threads"])
def test_what_the_block_does_is_for_no_thread(name: str) -> None:
    """Threads that are no range of the block; what each does beside what they do together."""
    with pytest.raises(DiagnosticError) as caught:
        module_of((RECORDED / f"{name}.json").read_text())
    assert "kernels.py:" in str(caught.value)
    assert "'tl.tileop.copy' under the index of a thread is for some" in str(caught.value)


@pytest.mark.parametrize(
    ("recorded", "known", "unknown", "advice"),
    [
        ("rows", "tirx.exp2", "tirx.tvm_warp_shuffle", "write T.reduce_sum, or copy to shared"),
        ("rows", "tl.atomic_add_elem_op", "tl.atomic_addx4_elem_op", "T.atomic_add of each in"),
        (
            "bounded",
            "tirx.IfThenElse",
            "tirx.While",
            "write T.serial over the most rounds, and an `if`",
        ),
    ],
)
def test_what_tl_has_not_says_what_would_work(
    recorded: str, known: str, unknown: str, advice: str
) -> None:
    trace = (RECORDED / f"{recorded}.json").read_text()
    assert f'"{known}"' in trace
    with pytest.raises(DiagnosticError) as caught:
        module_of(trace.replace(f'"{known}"', f'"{unknown}"'))
    assert "kernels.py:" in str(caught.value)
    assert unknown.split(".")[-1] in str(caught.value)
    assert advice in str(caught.value)


def test_iterations_that_a_bound_leaves_out() -> None:
    x = RNG.standard_normal((32, 64)).astype(np.float32)
    module = str(module_of((RECORDED / "bounded.json").read_text()))
    assert "in (16, 64)" in module
    assert "in (32, 64)" not in module
    for arrays in runs("bounded", x, np.zeros((2, 16, 64), np.float32), grid=1):
        np.testing.assert_array_equal(arrays[1], x.reshape(2, 16, 64))


def test_a_sum_of_all_threads_is_the_block_s() -> None:
    x = RNG.integers(0, 50, 8).astype(np.float32)
    for arrays in runs("total", x, np.zeros(1, np.float32), grid=1):
        np.testing.assert_array_equal(arrays[1], [x.sum()])


def test_nan_propagates_where_that_is_asked_for() -> None:
    x = RNG.standard_normal(64).astype(np.float16)
    x[7] = np.nan
    for arrays in runs("extremes", x, np.zeros(2, np.float16), grid=1):
        np.testing.assert_array_equal(arrays[1], [np.nanmax(x), np.nan])


def test_files_that_import_it() -> None:
    assert imports_tilelang(f"{RECORDED / 'kernels.py'}:gemm")
    assert not imports_tilelang(f"{__file__}:gemm")


def test_recordings_are_of_the_sources() -> None:
    pytest.importorskip("tilelang")
    spec = spec_from_file_location("recorded_kernels", RECORDED / "kernels.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in module.KERNELS:
        assert (RECORDED / f"{name}.json").read_text().strip() == module.recorded(name)
