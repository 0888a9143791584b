"""What launches need of a GPU, which one that records stands in for."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Generator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from tileas_xdsl.runtime.gpu import launch_device
from tileas_xdsl.runtime.gpu.launch_device import GpuDevice

NO_CAPTURE = 0


class Memory:
    """An allocation, freed with this object."""

    def __init__(self, size: int, pointer: int) -> None:
        self.size, self.pointer = size, pointer


class Device:
    """A GPU whose allocations follow one another; no stream is captured."""

    def __init__(self) -> None:
        modes = SimpleNamespace(CU_STREAM_CAPTURE_MODE_RELAXED=2)
        statuses = SimpleNamespace(CU_STREAM_CAPTURE_STATUS_NONE=NO_CAPTURE)
        self.driver = Driver(
            SimpleNamespace(CUstreamCaptureMode=modes, CUstreamCaptureStatus=statuses)
        )
        self.made: list[weakref.ref[Memory]] = []

    def memory(self, size: int) -> Memory:
        found = Memory(size, 0x1000 * (len(self.made) + 1))
        self.made.append(weakref.ref(found))
        return found

    zeros = memory

    @contextmanager
    def current(self) -> Generator[None]:
        yield


class Driver:
    """Functions of the driver, which say that nothing is captured."""

    def __init__(self, api: Any) -> None:
        self.api = api

    def __call__(self, name: str, *args: Any) -> int:
        return NO_CAPTURE


@pytest.mark.parametrize("kind", ["arena", "transfer_memory"])
def test_memory_that_plans_have_launched_with_stays(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A larger launch gets more; one like the first has its address still."""
    monkeypatch.setattr(launch_device, "launch_function", lambda: None)
    device: Any = Device()
    allocate = getattr(GpuDevice(device), kind)
    first = allocate(128, 5)
    assert allocate(64, 5) == first
    assert allocate(4096, 5) != first
    gc.collect()
    assert all(one() is not None for one in device.made)
