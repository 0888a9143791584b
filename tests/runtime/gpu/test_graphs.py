"""Graphs and timing, against the stand-in for the driver."""

from __future__ import annotations

import gc

import numpy as np
import pytest

pytest.importorskip("cuda.bindings.driver")

from support.recording_driver import recording_driver

import tileas_xdsl as tileas
from kernels import VectorAdd
from tileas_xdsl.runtime.gpu.array_copies import from_device, to_device
from tileas_xdsl.runtime.gpu.device import Device
from tileas_xdsl.runtime.gpu.graphs import Graph, Stream
from tileas_xdsl.runtime.gpu.launch_device import GpuDevice
from tileas_xdsl.runtime.gpu.timing import CACHE_BYTES, FLOODS, WARM_UP, timed
from tileas_xdsl.runtime.kernel_launcher import Launcher


def test_launches_are_recorded_on_a_stream_of_their_own_and_run_together() -> None:
    driver, api = recording_driver()
    device = Device(driver)
    launcher = Launcher(tileas.compile(VectorAdd().text()), device)
    arrays = [to_device(np.zeros(100, np.float32), device) for _ in range(3)]
    streams: list[Stream] = []

    def record(stream: Stream) -> None:
        streams.append(stream)
        launcher.launch(arrays, 2, stream)
        launcher.launch(arrays, 2, stream)

    graph = Graph(device, record)
    assert [one.stream for one in api.launches] == [streams[0].handle] * 2
    graph.launch()
    graph.launch()
    assert api.calls["cuGraphLaunch"] == 2
    assert len(api.launches) == 2
    del graph, record
    streams.clear()
    gc.collect()
    assert {api.live[kind] for kind in ("graph", "executable graph", "stream")} == {0}


def test_a_recording_that_fails_leaves_no_stream_recording() -> None:
    driver, api = recording_driver()

    def record(stream: Stream) -> None:
        raise KeyError("no")

    with pytest.raises(KeyError, match="no"):
        Graph(Device(driver), record)
    assert api.calls["cuStreamEndCapture"] == 1


def test_garbage_is_freed_while_a_graph_is_captured() -> None:
    driver, api = recording_driver()
    device = Device(driver)
    launchers = [Launcher(tileas.compile(VectorAdd().text()), device)]
    arrays = [to_device(np.zeros(100, np.float32), device)]

    def record(stream: Stream) -> None:
        launchers.clear()
        arrays.clear()
        gc.collect()

    Graph(device, record)
    assert (api.live["module"], api.live["memory"]) == (0, 0)


def test_a_graph_has_the_code_of_kernels_that_are_gone() -> None:
    driver, api = recording_driver()
    device = Device(driver)
    arrays = [to_device(np.zeros(100, np.float32), device) for _ in range(3)]
    launchers = [Launcher(tileas.compile(VectorAdd().text()), device) for _ in range(2)]
    Graph(device, lambda stream: launchers[0].launch(arrays, 2, stream))
    launchers[1].launch(arrays, 2)
    launchers.clear()
    gc.collect()
    assert api.live["module"] == 1


def test_launches_are_timed_one_by_one_with_a_cold_cache() -> None:
    driver, api = recording_driver()
    done: list[int] = []
    timing = timed(lambda: done.append(1), Device(driver), launches=5)
    assert len(done) == WARM_UP + 5
    assert (timing.median, timing.least, timing.launches) == (0.25, 0.25, 5)
    assert api.calls["cuMemsetD8Async"] == 5
    assert CACHE_BYTES > 100 << 20
    gc.collect()
    assert (api.live["event"], api.live["memory"]) == (0, 0)


def test_a_launch_that_is_timed_alone_is_made_while_memory_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tileas_xdsl.runtime.gpu.launch_device.launch_function", lambda: None)
    driver, api = recording_driver()
    written: list[int] = []
    device = GpuDevice(Device(driver))
    device.measure(lambda: written.append(api.calls["cuMemsetD8Async"]), 0, flush=True)
    device.measure(lambda: written.append(api.calls["cuMemsetD8Async"]), 0, flush=False)
    assert written == [FLOODS, FLOODS]


def test_arrays_go_to_the_gpu_and_come_back() -> None:
    import ml_dtypes

    driver, _ = recording_driver()
    device = Device(driver)
    rng = np.random.default_rng(0)
    for dtype in (np.float32, ml_dtypes.bfloat16, ml_dtypes.float4_e2m1fn):
        array = rng.standard_normal((6, 8)).astype(dtype)
        found = from_device(to_device(array, device))
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found.astype(np.float32), array.astype(np.float32))
    rows = np.broadcast_to(np.arange(8, dtype=np.int16), (2, 8))  # half the bytes, not 4 bits each
    found = from_device(to_device(rows, device, keeps_strides=True))
    np.testing.assert_array_equal(found, rows)
