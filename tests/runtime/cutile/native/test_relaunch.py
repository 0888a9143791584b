"""The C launcher hands the driver what Python does, bit by bit, or leaves a launch to Python."""

from __future__ import annotations

import ctypes
import random
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from support.cutile_programs import copied, increment, product, total

import tileas_xdsl as tileas
from tests.runtime.cutile.launches import RecordingGpu, Tensor
from tests.runtime.cutile.native.dlpack import FastTensor, NewerTensor
from tileas_xdsl.runtime.cutile import settings
from tileas_xdsl.runtime.cutile.dispatch import table_of
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.cutile.gpu import backend
from tileas_xdsl.runtime.cutile.gpu.launch_plan import LaunchPlan
from tileas_xdsl.runtime.cutile.gpu.parameter_block import Changing
from tileas_xdsl.runtime.cutile.kernel_table import KernelTable, never
from tileas_xdsl.runtime.cutile.native import build, relaunch
from tileas_xdsl.runtime.cutile.native.relaunch import COUNTED, Relauncher
from tileas_xdsl.runtime.cutile.settings import Settings
from tileas_xdsl.target.kernel_abi import KernelAbi

STREAM = SimpleNamespace(cuda_stream=0x5555)


@pytest.fixture(scope="module")
def native() -> Any:
    """The module in C."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(build.VARIABLE)
        try:
            return build.load()
        except build.BuildError as error:
            pytest.skip(str(error))


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> RecordingGpu:
    """The GPU that kernels are launched on, whose launch is a function of C."""
    found = RecordingGpu()
    called = ctypes.PYFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)
    record = found.launch
    monkeypatch.setattr(
        found, "launch", called(lambda c, f, p, e: record(c or 0, f or 0, p or 0, e or 0))
    )
    monkeypatch.setattr(backend, "gpu_device", lambda number: found)
    monkeypatch.setattr(backend, "capability_of", lambda number: (9, 0))
    monkeypatch.setattr(settings, "current", Settings("gpu"))
    return found


class Accelerated:
    """A kernel whose known launches C makes; `in_c` counts them."""

    def __init__(self, kernel: Any, native: Any) -> None:
        self.kernel, self.in_c = copied(kernel), 0
        self.table: KernelTable = table_of(self.kernel)
        found = Relauncher(self.table)
        found.use(native)
        self.table.remember = found.remember
        call: Callable[..., bool | None] = self.table.relaunch

        def counted(*args: Any) -> bool | None:
            launched = call(*args)
            self.in_c += launched is True
            return launched

        self.table.relaunch = counted


def in_python(accelerated: Accelerated) -> Any:
    """Return a copy of a kernel whose launches are all made in Python, of the same code."""
    found = copied(accelerated.kernel)
    table_of(found).relaunch = never
    table_of(found).executables = accelerated.table.executables
    return found


def attempt(stream: Any, grid: Any, kernel: Any, args: tuple[Any, ...], **options: Any) -> str:
    """Launch; return the error."""
    try:
        tileas.launch(stream, grid, kernel, args, **options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def test_random_launches_are_those_of_python(gpu: RecordingGpu, native: Any) -> None:
    rng = random.Random(7)
    numbers = [0.0, -0.0, 1.5, 1e300, float("inf"), float("nan"), np.float32(2.5)]
    numbers += [3, -(1 << 31), 1 << 31, 1 << 70]
    accelerated = Accelerated(increment, native)
    other = in_python(accelerated)
    for _ in range(400):
        array = FastTensor(rng.choice((0x1000, 0x2000)), (rng.choice((64, 128)),))
        args = array, 64, rng.choice(numbers)
        grid = (rng.choice((1, 2, 0, -1, 1 << 24, 7)), *rng.choice(((), (3,), (3, 5))))
        place = rng.choice((0, 9, STREAM)), grid
        options = {"programmatic_dependent_launch": rng.random() < 0.3}
        errors = [
            attempt(*place, kernel, args, **options) for kernel in (accelerated.kernel, other)
        ]
        assert errors[0] == errors[1]
        assert len(gpu.launches) == (0 if errors[0] else 2)
        assert not gpu.launches or gpu.launches[0] == gpu.launches[1]
        gpu.launches.clear()
    assert accelerated.in_c > 100


def test_tensor_maps_follow_the_addresses(gpu: RecordingGpu, native: Any) -> None:
    rng = random.Random(8)
    accelerated = Accelerated(product, native)
    other = in_python(accelerated)
    for _ in range(60):
        arrays = [FastTensor(0x10000 * rng.randint(1, 3), (256, 256), "float16") for _ in range(3)]
        for kernel in (accelerated.kernel, other):
            tileas.launch(0, (4, 4), kernel, (*arrays, 64, 64, 32))
        assert gpu.launches[-1] == gpu.launches[-2]
    assert accelerated.in_c > 40


@pytest.mark.parametrize(
    ("columns", "tiles", "grids"),
    [
        (128, (64, 64, 64), ((32, 33), (33, 33))),  # many tile blocks of two iterations
        (1024, (128, 256, 64), ((16, 17), (31, 9), (11, 12))),  # whose last wave CTAs share
    ],
    ids=["persistent", "with memory of a stream"],
)
def test_ctas_that_count_tile_blocks_are_launched_again_on_the_same_grid(
    gpu: RecordingGpu,
    native: Any,
    columns: int,
    tiles: tuple[int, int, int],
    grids: Sequence[tuple[int, int]],
) -> None:
    """As many CTAs as run at once, of the stream whose memory they transfer tiles through."""
    rng = random.Random(9)
    accelerated = Accelerated(product, native)
    other = in_python(accelerated)
    for turn in range(60):
        places = [0x100000 * rng.randint(1, 3) for _ in range(3)]
        shapes = (2048, columns), (columns, 2048), (2048, 2048)
        arrays = [FastTensor(*one, "float16") for one in zip(places, shapes, strict=True)]
        grid = grids[0] if turn % 3 else rng.choice(grids)
        stream = rng.choice((0, 9)) if turn % 2 else 0
        for kernel in (accelerated.kernel, other):
            tileas.launch(stream, grid, kernel, (*arrays, *tiles))
        assert gpu.launches[-1] == gpu.launches[-2]
    assert accelerated.in_c > 40
    assert {one.grid for one in gpu.launches} >= {(132, 1, 1)}


VALUES = [0, 1, -1, 127, 128, -129, 32768, 1 << 31, (1 << 63) - 1, -(1 << 63), 1 << 63, True]
REALS = [0.0, -0.0, 0.1, 65504.0, 65520.0, 3.4e38, 3.5e38, 1e-45, float("inf"), float("-inf")]


@pytest.mark.parametrize("kind", ["f16", "f32", "f64", "s8", "u16", "b32", "u32", "s64", "u64"])
def test_numbers_are_packed_as_in_python(gpu: RecordingGpu, native: Any, kind: str) -> None:
    """A number that does not fit is left to Python, which raises."""
    abi = KernelAbi("k", 128, (1, 1, 1), 0, ("scalar 1", "ptr 0", "scalar 2"), (), 0, "")
    ptx = f".entry k(.param .{kind} n, .param .u64 a, .param .u32 e)"
    executable = Executable("sm_90a", abi, ptx, b"")
    flat = [Changing(1, "address"), Changing(0, "number"), 300]
    plan = LaunchPlan(executable, gpu, flat)
    plan.start((2,), 7, (0, 0x1230))
    launcher = native.Launcher((False, False), relaunch._readers, {}, 1 << 24)
    launcher.add((0, 0), False, plan.native(native.Launch))
    launcher.add((0.0, 0), False, plan.native(native.Launch))
    launcher.add((True, 0), False, plan.native(native.Launch))
    fitting = 0
    for number in VALUES + REALS:
        gpu.launches.clear()
        try:
            plan.start((3, 2), 5, (number, 0x4560))
        except (OverflowError, struct.error):
            assert launcher(5, (3, 2), (number, 0x4560), False) is False
            continue
        is_for_c = number != 1 << 63 or isinstance(number, float)  # C has no larger integers
        assert launcher(5, (3, 2), (number, 0x4560), False) is is_for_c
        assert gpu.launches[0] == gpu.launches[-1]
        fitting += 1
    assert fitting >= 4


def test_what_c_does_not_know_is_for_python(gpu: RecordingGpu, native: Any) -> None:
    """Arrays without the interface, of another version of it, overridden, or unreadable."""

    class Overridden(FastTensor):
        def data_ptr(self) -> int:
            return self.address + 0x10000

    accelerated = Accelerated(increment, native)
    for type_ in (Tensor, NewerTensor, Overridden):
        for _ in range(3):
            tileas.launch(0, (1,), accelerated.kernel, (type_(0x1000, (64,)), 64, 1.5))
    assert gpu.launches[-1].numbers()[0] == 0x11000
    assert accelerated.in_c == 0
    array = FastTensor(0x1000, (64,))
    for array.is_unreadable in (False, False, True):
        tileas.launch(0, (1,), accelerated.kernel, (array, 64, 1.5))
    assert (accelerated.in_c, len(gpu.launches)) == (1, 12)


def test_lists_of_arrays_are_for_python(gpu: RecordingGpu, native: Any) -> None:
    accelerated = Accelerated(total, native)
    arrays = [FastTensor(0x10000 * n, (32,)) for n in (1, 2, 3)]
    for _ in range(3):
        tileas.launch(0, (1,), accelerated.kernel, (arrays, FastTensor(0x90000, (32,))))
    assert (accelerated.in_c, len(gpu.launches), len(gpu.tables)) == (0, 3, 3)


def test_a_failed_launch_is_repeated_by_python(gpu: RecordingGpu, native: Any) -> None:
    accelerated = Accelerated(increment, native)
    args = FastTensor(0x1000, (64,)), 64, 1.5
    for _ in range(2):
        tileas.launch(0, (1,), accelerated.kernel, args)
    gpu.statuses = [201, 201]
    tileas.launch(3, (1,), accelerated.kernel, args)
    assert (accelerated.in_c, gpu.retries, gpu.launches[-1].stream) == (1, 1, 3)


@pytest.fixture
def rarely_switched() -> Iterator[None]:
    """Threads take turns where they wait: the driver is C, which holds the interpreter's lock.

    What stands for it here is Python, in which another thread could write its parameters.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("rarely_switched")
def test_threads_do_not_mix_their_parameters(gpu: RecordingGpu, native: Any) -> None:
    accelerated = Accelerated(increment, native)

    def run(address: int) -> None:
        for _ in range(200):
            array = FastTensor(address, (64,))
            tileas.launch(address, (1,), accelerated.kernel, (array, 64, 1.5))
            time.sleep(0)

    threads = [threading.Thread(target=run, args=(16 * n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(gpu.launches) == 800
    assert accelerated.in_c > 700
    assert all(one.stream == one.numbers()[0] for one in gpu.launches)


def test_c_takes_over_after_some_launches(
    gpu: RecordingGpu, native: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(build.VARIABLE)
    kernel = copied(increment)
    args = FastTensor(0x1000, (64,)), 64, 1.5
    request = SimpleNamespace(module=None, failure="")
    monkeypatch.setattr(relaunch, "requested", lambda: request)
    for _ in range(COUNTED + 3):
        tileas.launch(0, (1,), kernel, args)
    assert not isinstance(table_of(kernel).relaunch, native.Launcher), "it is not ready"
    request.module = native
    for _ in range(3):
        tileas.launch(0, (1,), kernel, args)
    assert isinstance(table_of(kernel).relaunch, native.Launcher)
    assert len(gpu.launches) == COUNTED + 6


def test_the_environment_waits_for_it(
    gpu: RecordingGpu, native: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(build.VARIABLE, "1")
    monkeypatch.setattr(build, "_request", None)
    kernel = copied(increment)
    for _ in range(2):
        tileas.launch(0, (1,), kernel, (FastTensor(0x1000, (64,)), 64, 1.5))
    assert isinstance(table_of(kernel).relaunch, native.Launcher)


def test_without_it_launches_stay_in_python(
    gpu: RecordingGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = copied(increment)
    request = SimpleNamespace(module=None, failure="there is no C compiler 'cc'")
    monkeypatch.setattr(relaunch, "requested", lambda: request)
    for _ in range(COUNTED + 3):
        tileas.launch(0, (1,), kernel, (FastTensor(0x1000, (64,)), 64, 1.5))
    assert table_of(kernel).relaunch is never
    assert len(gpu.launches) == COUNTED + 3
