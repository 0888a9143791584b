"""Launch times, measured by GPU events."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.runtime.gpu.device import Device

CACHE_BYTES = 256 << 20
"""Bytes written between launches: more than the L2 cache of any GPU."""

FLOODS = 4
"""Such writes in front of a launch that is timed alone: 260 us of an H200, in which the host makes
the launch.  A causal attention takes 77.7 us behind a single one, and 75.0 behind four."""

WARM_UP = 3


@dataclass(frozen=True)
class Timing:
    """Times of launches in milliseconds."""

    median: float
    least: float
    launches: int

    def __str__(self) -> str:
        return f"median {self.median:.4f} ms, least {self.least:.4f} ms of {self.launches} launches"


DEFAULT_STREAM = 0


def timed(launch: Callable[[], None], device: Device, *, launches: int = 30) -> Timing:
    """Time single launches on the default stream, each with a cold cache."""
    for _ in range(WARM_UP):
        launch()
    flood = device.memory(CACHE_BYTES)
    marks = [(device.event(), device.event()) for _ in range(launches)]
    for start, end in marks:
        flood.clear(DEFAULT_STREAM)
        start.record(DEFAULT_STREAM)
        launch()
        end.record(DEFAULT_STREAM)
    device.synchronize(DEFAULT_STREAM)
    found = [end.milliseconds_since(start) for start, end in marks]
    return Timing(statistics.median(found), min(found), launches)
