"""Memory that launches have beside their arguments belongs to launches that follow one another."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.bindings.driver")
pytest.importorskip("cuda.tile")

from support.recording_driver import RecordingApi, recording_driver

import tileas_xdsl as tileas
from kernels.cutile.layer_norm import layer_norm
from tileas_xdsl.compiler import CompiledKernel
from tileas_xdsl.interpreters.ptx import LaunchError as ArgumentLaunchError
from tileas_xdsl.runtime.gpu import launch_device
from tileas_xdsl.runtime.gpu.array_copies import to_device
from tileas_xdsl.runtime.gpu.device import Device
from tileas_xdsl.runtime.gpu.graphs import Graph, Stream
from tileas_xdsl.runtime.gpu.launch_api import LaunchError
from tileas_xdsl.runtime.gpu.launch_device import GpuDevice
from tileas_xdsl.runtime.gpu.launch_memory import MAX_TABLES, PER_THREAD_STREAM, LaunchMemory
from tileas_xdsl.runtime.kernel_launcher import Launcher
from tileas_xdsl.target.kernel_abi import TRANSFER

KINDS = pytest.mark.parametrize("kind", ["arena", "transfer"])


class Memory:
    """An allocation, freed with this object."""

    def __init__(self, size: int, pointer: int) -> None:
        self.size, self.pointer = size, pointer

    def write(self, array: Any, stream: int = 0) -> None:
        assert array.nbytes == self.size


class Allocator:
    """A GPU whose allocations follow one another."""

    def __init__(self) -> None:
        self.made: list[weakref.ref[Memory]] = []
        self.captures: dict[int, int] = {}

    def memory(self, size: int) -> Memory:
        found = Memory(size, 0x1000 * (len(self.made) + 1))
        self.made.append(weakref.ref(found))
        return found

    zeros = memory

    def capture(self, stream: int) -> int:
        return self.captures.get(stream, 0)

    def synchronize(self, stream: int = 0) -> None:
        pass


@KINDS
def test_memory_that_was_launched_with_stays(kind: str) -> None:
    """A larger launch gets more; plans and graphs have the address of the first one still."""
    device = Allocator()
    allocate = getattr(LaunchMemory(device), kind)
    first = allocate(128, 5)
    assert allocate(64, 5) == first
    assert allocate(4096, 5) != first
    gc.collect()
    assert all(one() is not None for one in device.made)


@KINDS
def test_what_may_run_side_by_side_has_memory_of_its_own(kind: str) -> None:
    device = Allocator()
    allocate = getattr(LaunchMemory(device), kind)
    found: list[int] = []
    for stream, capture in ((5, 0), (6, 0), (5, 1), (6, 1), (5, 2), (5, 0), (5, 2)):
        device.captures[stream] = capture
        found.append(allocate(128, stream))
    assert len(set(found)) == 5
    assert found[5:] == [found[0], found[4]]


@KINDS
def test_threads_have_other_streams_by_one_handle(kind: str) -> None:
    allocate = getattr(LaunchMemory(Allocator()), kind)
    here = [allocate(128, stream) for stream in (5, PER_THREAD_STREAM)]
    with ThreadPoolExecutor(1) as executor:
        there = [executor.submit(allocate, 128, stream) for stream in (5, PER_THREAD_STREAM)]
        assert there[0].result() == here[0]
        assert there[1].result() != here[1]


def test_tables_are_found_by_content_and_stay_while_they_are_referred_to() -> None:
    device = Allocator()
    memory = LaunchMemory(device)
    first = memory.table(((1, 16, 1),), (), 5)
    assert memory.table(((1, 16, 1),), (), 6) is first
    for address in range(2, MAX_TABLES + 3):
        memory.table(((address, 16, 1),), (), 5)
    gc.collect()
    assert [one() is not None for one in device.made] == [True, False, *[True] * MAX_TABLES]
    device.captures[5] = 1
    with pytest.raises(LaunchError, match="List argument in CUDAGraph isn't supported yet"):
        memory.table(((1, 16, 1),), (), 5)


ROWS, COLUMNS, WIDTH = 300, 10_000, 16384


def _arrays() -> list[Any]:
    """Rows, weights, biases, and the results."""
    lines = [np.zeros(COLUMNS, np.float16) for _ in "wb"]
    rows = [np.zeros((ROWS, COLUMNS), np.float16) for _ in "xy"]
    return [rows[0], *lines, rows[1], *(np.zeros(ROWS, np.float32) for _ in "ms")]


def _counted() -> CompiledKernel:
    """A kernel whose CTAs take rows from a counter."""
    kernel = tileas.compile(layer_norm, *_arrays(), 1, WIDTH, target="sm_90a")
    assert TRANSFER in kernel.abi.parameters
    return kernel


def _counters(launcher: Launcher, api: RecordingApi) -> list[int]:
    index = launcher.abi.parameters.index(TRANSFER)
    return [launched.word(index) for launched in api.launches]


def test_graphs_of_compiled_kernels_have_counters_of_their_own() -> None:
    """Two graphs, and launches on the stream that one is recorded on."""
    driver, api = recording_driver()
    device = Device(driver)
    launcher = Launcher(_counted(), device)
    arrays = [to_device(array, device) for array in _arrays()]

    def record(stream: Stream) -> None:
        for _ in range(2):
            launcher.launch([*arrays, 1, WIDTH], ROWS, stream)

    graphs = [Graph(device, record) for _ in range(2)]
    launcher.launch([*arrays, 1, WIDTH], ROWS, graphs[0]._stream)
    launcher.launch([*arrays, 1, WIDTH], ROWS)
    found = _counters(launcher, api)
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert len(set(found)) == 4


def test_plans_ask_for_each_launch_by_a_handle_of_many_streams(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of one stream they keep the memory of the last launch, until it is captured."""
    monkeypatch.setattr(launch_device, "launch_function", lambda: None)
    driver, api = recording_driver()
    device = GpuDevice(Device(driver))
    assert device.is_ordered(5)
    assert not device.is_ordered(PER_THREAD_STREAM)
    api.captures[5] = 1
    assert not device.is_ordered(5)


def test_arrays_of_numpy_are_in_no_graph() -> None:
    driver, _ = recording_driver()
    device = Device(driver)
    launcher = Launcher(_counted(), device)
    args = [*_arrays(), 1, WIDTH]
    with pytest.raises(ArgumentLaunchError, match="'x' is an array of numpy's, which no graph"):
        Graph(device, lambda stream: launcher.launch(args, ROWS, stream))
