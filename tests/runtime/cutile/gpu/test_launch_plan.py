# pyright: basic
"""Launches on a GPU that records them: parameters, grids, streams, tensor maps."""

from __future__ import annotations

import struct
import threading
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct
from support.cutile_programs import add, increment, product, total

import tileas_xdsl as tileas
from kernels.cutile.attention import attention
from tests.runtime.cutile.launches import RecordingGpu, Tensor
from tileas_xdsl.runtime.cutile import compilation, settings
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.cutile.gpu import backend
from tileas_xdsl.runtime.cutile.settings import HostArraysWarning, Settings
from tileas_xdsl.target.kernel_abi import WRITTEN
from tileas_xdsl.target.tma.tensor_map_bytes import decode


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> RecordingGpu:
    """The GPU that kernels are launched on."""
    found = RecordingGpu()
    monkeypatch.setattr(backend, "gpu_device", lambda number: found)
    monkeypatch.setattr(backend, "capability_of", lambda number: (9, 0))
    monkeypatch.setattr(settings, "current", Settings("gpu"))
    return found


def test_what_the_driver_is_given(gpu: RecordingGpu) -> None:
    a, b, c = (Tensor(0x10000 * n, (300,)) for n in (1, 2, 3))
    tileas.launch(5, (3,), add, (a, b, c, 128))
    (found,) = gpu.launches
    assert (found.grid, found.stream, found.attributes) == ((3, 1, 1), 5, 1)
    assert found.numbers() == [0x10000, 300, 1, 0x20000, 300, 1, 0x30000, 300, 1]


def test_a_second_launch_changes_addresses_numbers_grid_and_stream(gpu: RecordingGpu) -> None:
    kernel = ct.kernel(increment._pyfunc)
    stream = SimpleNamespace(cuda_stream=9)
    tileas.launch(0, (1,), kernel, (Tensor(0x10000, (64,)), 64, 1.5))
    tileas.launch(stream, (2, 3), kernel, (Tensor(0x20000, (64,)), 64, -0.0))
    first, second = gpu.launches
    assert (first.grid, first.stream) == ((1, 1, 1), 0)
    assert (second.grid, second.stream) == ((2, 3, 1), 9)
    assert first.numbers()[0] == 0x10000
    assert second.numbers()[0] == 0x20000
    floats = [struct.unpack("<f", one.parameters[-1])[0] for one in gpu.launches]
    assert [str(number) for number in floats] == ["1.5", "-0.0"]


def test_arguments_of_other_types_find_their_own_plans(gpu: RecordingGpu) -> None:
    kernel = ct.kernel(increment._pyfunc)
    array = Tensor(0x10000, (64,))
    for number in (1.5, np.float32(2.5), 3.5, np.float32(4.5)):
        tileas.launch(0, (1,), kernel, (array, 64, number))
    floats = [struct.unpack("<f", one.parameters[-1])[0] for one in gpu.launches]
    assert floats == [1.5, 2.5, 3.5, 4.5]
    assert len(kernel._tileas_table.profiles) == 2


@pytest.mark.parametrize(
    "number",
    [np.uint32(3_000_000_000), np.uint8(200), np.int16(-3), np.uint64(1 << 63), np.True_],
    ids=repr,
)
def test_numbers_of_numpy_are_passed_by_their_bits(gpu: RecordingGpu, number: np.generic) -> None:
    tileas.launch(0, (1,), ct.kernel(increment._pyfunc), (Tensor(0x10000, (64,)), 64, number))
    passed = gpu.launches[0].parameters[-1]
    assert passed[: number.itemsize] == number.tobytes()


def test_tensor_maps_are_encoded_once_for_each_address(gpu: RecordingGpu) -> None:
    def launch(*addresses: int) -> None:
        arrays = [Tensor(address, (256, 256), "float16") for address in addresses]
        tileas.launch(0, (4, 4), product, (*arrays, 64, 64, 32))

    launch(0x10000, 0x40000, 0x80000)
    launch(0x20000, 0x40000, 0x80000)
    launch(0x10000, 0x40000, 0x80000)
    maps = [[decode(p).address for p in one.parameters if len(p) == 128] for one in gpu.launches]
    others = [0x40000, 0x80000]
    assert maps == [[0x10000, *others], [0x20000, *others], [0x10000, *others]]
    assert len(gpu.encoded) == 4


def test_the_map_of_an_empty_array_describes_unused_memory(gpu: RecordingGpu) -> None:
    """What is stored to an empty array is not loaded of another one, in this launch or later."""
    nothing, b = Tensor(0, (0, 64), "float16"), Tensor(0x30000, (64, 64), "float16")
    tileas.launch(0, (1, 1), product, (nothing, b, nothing, 64, 64, 32))
    loaded, _, stored = (decode(p) for p in gpu.launches[0].parameters if len(p) == 128)
    assert (loaded.address, loaded.dims, loaded.strides) == (gpu.unused, (8, 1), (16,))
    assert (stored.address, stored.dims, stored.strides) == (gpu.unused + WRITTEN, (8, 1), (16,))


def test_a_list_is_a_table_of_addresses_extents_and_strides(gpu: RecordingGpu) -> None:
    arrays = [Tensor(0x10000 * n, (32,)) for n in (1, 2, 3)]
    tileas.launch(0, (1,), total, (arrays, Tensor(0x90000, (32,))))
    (rows,) = gpu.tables
    assert rows == ((0x10000, 32, 1), (0x20000, 32, 1), (0x30000, 32, 1))
    assert gpu.launches[0].numbers()[:2] == [0x7000, 3]


def test_tensors_on_another_gpu_or_none_take_another_plan(gpu: RecordingGpu) -> None:
    kernel = ct.kernel(increment._pyfunc)
    tileas.launch(0, (1,), kernel, (Tensor(0x10000, (64,)), 64, 1.5))
    with pytest.raises(ValueError, match="Input array is not on a CUDA device"):
        tileas.launch(0, (1,), kernel, (Tensor(0x10000, (64,), device=-1), 64, 1.5))
    assert len(gpu.launches) == 1


def test_arrays_of_the_host_go_to_the_emulator_with_a_word(
    gpu: RecordingGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "current", Settings("auto"))
    monkeypatch.setattr(settings, "has_gpu", lambda: True)
    kernel = ct.kernel(increment._pyfunc)
    numbers = np.arange(64, dtype=np.float32)
    with pytest.warns(HostArraysWarning, match="increment runs on the emulator: its arrays are"):
        tileas.launch(None, (2,), kernel, (numbers, 32, 1.5))
    tileas.launch(0, (2,), kernel, (numbers, 32, 1.5))
    np.testing.assert_array_equal(numbers, np.arange(64) + 3)
    tileas.launch(0, (1,), kernel, (Tensor(0x10000, (64,)), 64, 1.5))
    tileas.launch(0, (2,), kernel, (numbers, 32, -3.0))
    tileas.launch(0, (1,), kernel, (Tensor(0x20000, (64,)), 64, 1.5))
    np.testing.assert_array_equal(numbers, np.arange(64))
    assert [one.numbers()[0] for one in gpu.launches] == [0x10000, 0x20000]
    with pytest.raises(ValueError, match="Input array is not on a CUDA device"):
        tileas.launch(0, (1,), add, (numbers, Tensor(0x10000, (64,)), numbers, 64))


def test_a_failed_launch_is_repeated_in_the_context_of_the_gpu(gpu: RecordingGpu) -> None:
    args = (Tensor(0x10000, (64,)), 64, 1.5)
    tileas.launch(0, (1,), increment, args)
    gpu.statuses = [201]
    tileas.launch(3, (1,), increment, args)
    assert (gpu.retries, len(gpu.launches), gpu.launches[-1].stream) == (1, 2, 3)
    gpu.statuses = [1, 1]
    with pytest.raises(RuntimeError, match="Failed to launch cuTile kernel"):
        tileas.launch(3, (1,), increment, args)


@ct.kernel
def overlapping(x, tile: ct.Constant[int], step):
    """Let the next kernel in, as the program wants it."""
    i = ct.bid(0)
    ct.store(x, (i,), ct.load(x, (i,), (tile,)) + step)
    ct.grid_dependency_control_launch_dependents()


def test_launches_may_begin_early_where_the_kernel_waits_or_the_program_says_so(
    gpu: RecordingGpu,
) -> None:
    args = (Tensor(0x10000, (64,)), 64, 1.5)
    tileas.launch(0, (1,), increment, args)
    tileas.launch(0, (1,), increment, args, programmatic_dependent_launch=True)
    tileas.launch(0, (1,), overlapping, args)
    tileas.launch(0, (1,), overlapping, args, programmatic_dependent_launch=True)
    assert [one.attributes for one in gpu.launches] == [1, 1, 0, 1]


def test_threads_do_not_mix_their_parameters(gpu: RecordingGpu) -> None:
    def run(address: int) -> None:
        for _ in range(200):
            tileas.launch(address, (1,), increment, (Tensor(address, (64,)), 64, 1.5))

    tileas.launch(0, (1,), increment, (Tensor(0, (64,)), 64, 1.5))
    threads = [threading.Thread(target=run, args=(16 * n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(gpu.launches) == 801
    assert all(one.stream == one.numbers()[0] for one in gpu.launches)


@pytest.mark.parametrize(
    ("stream", "text"),
    [(None, "Stream is required, got None"), ("s", "Unsupported stream type 'str'")],
)
def test_what_is_no_stream_is_refused(gpu: RecordingGpu, stream: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        tileas.launch(stream, (1,), increment, (Tensor(0x10000, (64,)), 64, 1.5))


@pytest.mark.parametrize(
    ("grid", "error", "text"),
    [
        ([1], TypeError, "Grid must be a tuple"),
        ((1, 1, 1, 1), ValueError, "Grid dimensions must be at most 3, got length 4"),
        ((-1,), OverflowError, "can't convert negative value"),
        ((1, 1 << 24), ValueError, r"Grid\[1\] exceeds 24-bit limit: max=16777215, got=16777216"),
    ],
)
def test_what_is_no_grid_is_refused(
    gpu: RecordingGpu, grid: Any, error: type[Exception], text: str
) -> None:
    args = (Tensor(0x10000, (64,)), 64, 1.5)
    for _ in range(2):
        with pytest.raises(error, match=text):
            tileas.launch(0, grid, increment, args)
        tileas.launch(0, (1,), increment, args)


SHORT = (
    Tensor(0x100000, (1024, 256), "float16"),
    Tensor(0x300000, (256, 1024), "float16"),
    Tensor(0x200000, (1024, 1024), "float16"),
    *(64, 64, 32),
)
"""Arguments of `product` with few iterations along K."""


def test_a_persistent_kernel_is_given_the_grid_in_numbers(gpu: RecordingGpu) -> None:
    """A launch has the CTAs that run at once, of the GPU that says so."""
    kernel = ct.kernel(product._pyfunc)
    for grid in ((11, 24), (16, 17), (31, 9)):
        tileas.launch(0, grid, kernel, SHORT)
    first, second, third = gpu.launches
    assert first.grid == (11, 24, 1)  # all tile blocks run at once, two on a multiprocessor
    assert second.grid == third.grid == (132, 1, 1)
    assert second.numbers()[-3:] == [16, 17, 1]
    assert third.numbers()[-3:] == [31, 9, 1]


def test_a_launch_has_the_ctas_that_take_unequal_tile_blocks_fastest(gpu: RecordingGpu) -> None:
    """Causal attention in 128x128 tiles; of 16,384 keys 132 CTAs would take 1.5 times as long."""
    kernel = ct.kernel(attention._pyfunc)
    for batch, heads, keys in ((16, 16, 512), (1, 16, 16384)):
        shape = batch, heads, keys, 64
        arrays = [Tensor(n << 32, shape, "float16") for n in range(1, 5)]
        args = (*arrays, heads, 1, 0.18, True, 128, 128, 64)
        tileas.launch(0, (keys // 128, batch * heads), kernel, args)
    many, long = gpu.launches
    assert many.grid == (132, 1, 1)
    assert many.numbers()[-3:] == [4, 256, 1]
    assert long.grid == (128, 1, 1)


@pytest.mark.parametrize("grid", [(16, 17), (8, 8)])
def test_a_launch_compiles_the_form_that_it_runs(
    gpu: RecordingGpu, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, grid: tuple[int, ...]
) -> None:
    """Other processes find it, for grids and arguments that ask for the same form."""
    compiled: list[bool] = []
    compile_ = compilation._compile

    def counted(*given: Any) -> Executable:
        found = compile_(*given)
        compiled.append(found.abi.is_persistent)
        return found

    monkeypatch.setenv("TILEAS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compilation, "_compile", counted)
    is_large = prod(grid) > 2 * gpu.multiprocessors
    for extents in (grid, (16, 19) if is_large else (2, 4)):
        kernel = ct.kernel(product._pyfunc)  # as a new process has it
        tileas.launch(0, extents, kernel, SHORT)
        tileas.launch(0, extents, kernel, SHORT)
        assert compiled == [is_large]
    if is_large:
        tileas.launch(0, (1, 1), kernel, SHORT)
        assert compiled == [True, False]


LONG = (
    Tensor(0x100000, (1024, 4096), "float16"),
    Tensor(0x900000, (4096, 1024), "float16"),
    Tensor(0x1100000, (1024, 1024), "float16"),
    *(128, 256, 64),
)
"""Arguments of `product` with 64 iterations along K."""


def test_ctas_divide_tile_blocks_where_a_launch_has_few(gpu: RecordingGpu) -> None:
    kernel = ct.kernel(product._pyfunc)
    for grid in ((7, 4), (8, 8), (8, 9), (7, 4)):
        tileas.launch(0, grid, kernel, LONG)
    extents = [launch.grid for launch in gpu.launches]
    assert extents == [(28, 4, 1), (16, 8, 1), (8, 9, 1), (28, 4, 1)]


def test_ctas_divide_iterations_where_a_launch_has_fewer(gpu: RecordingGpu) -> None:
    """Four CTAs for each tile block, and two parts of its iterations; or eight parts."""
    kernel = ct.kernel(product._pyfunc)
    tileas.launch(0, (4, 4), kernel, LONG)
    tileas.launch(0, (4, 4), kernel, (*LONG[:3], 128, 64, 64))
    assert [launch.grid for launch in gpu.launches] == [(128, 1, 1), (128, 1, 1)]


def test_a_program_that_says_how_many_ctas_it_wants_gets_them(gpu: RecordingGpu) -> None:
    kernel = ct.kernel(product._pyfunc, num_ctas=1)
    tileas.launch(0, (4, 4), kernel, LONG)
    assert gpu.launches[0].grid == (4, 4, 1)
