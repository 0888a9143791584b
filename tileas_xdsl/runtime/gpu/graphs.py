"""CUDA graphs: launches that are recorded once and run many times."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from tileas_xdsl.runtime.gpu.device import Device, release


class Stream:
    """A stream of its own."""

    def __init__(self, device: Device) -> None:
        api = device.driver.api
        with device.current():
            flags = int(api.CUstream_flags.CU_STREAM_NON_BLOCKING)
            made = device.driver("cuStreamCreate", flags)
        self.device, self.handle = device, int(made)
        weakref.finalize(self, release, device.driver, "cuStreamDestroy", made)


class Graph:
    """Recorded launches; arrays, grids and scalars are fixed at the time of recording."""

    def __init__(self, device: Device, record: Callable[[Stream], None]) -> None:
        """Record what `record` launches on the stream it gets; numpy arrays cannot be recorded."""
        driver, api = device.driver, device.driver.api
        self.device, self._stream = device, Stream(device)
        mode = api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        with device.current():
            driver("cuStreamBeginCapture", self._stream.handle, mode)
            try:
                record(self._stream)
            finally:
                graph: Any = driver("cuStreamEndCapture", self._stream.handle)
            weakref.finalize(self, release, device.driver, "cuGraphDestroy", graph)
            self._run = driver("cuGraphInstantiate", graph, 0)
        weakref.finalize(self, release, device.driver, "cuGraphExecDestroy", self._run)

    def launch(self, stream: int = 0) -> None:
        """Launch the graph in the order of a stream."""
        with self.device.current():
            self.device.driver("cuGraphLaunch", self._run, stream)
