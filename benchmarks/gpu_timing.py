"""Kernels timed beside one another: graphs of launches that rotate through cold data, by events."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

COLD_BYTES = 256 << 20
"""Bytes between two launches on the same data: more than any L2 cache."""

LEAST_MILLISECONDS = 1.0
"""Approximate duration of a graph, so that events and its launch are negligible."""

Launch = Callable[[Any], object]
"""Launches once, on one set of data, on the current stream of torch.

It returns the tensor that it made, None where the result is in `out` of the data.
"""


def sets_for(size: int, most: int = 64) -> int:
    """Return how many data sets of `size` bytes keep every launch cold in cache, 2 or more."""
    return max(2, min(most, -(-COLD_BYTES // size) + 1))


class Graph:
    """Launches on one set of data after the other, recorded once."""

    def __init__(self, launch: Launch, sets: Sequence[Any]) -> None:
        import torch

        self.launches = len(sets)
        self._stream = torch.cuda.Stream()
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            launch(sets[0])
        self._stream.synchronize()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, stream=self._stream):
            for data in sets:
                launch(data)
        torch.cuda.synchronize()

    def milliseconds(self, times: int = 1) -> float:
        """How long one launch takes, in so many runs of the graph in a row."""
        import torch

        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(times):
            self._graph.replay()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / times / self.launches


def medians(launches: Mapping[str, Launch], sets: Sequence[Any], rounds: int) -> dict[str, float]:
    """By name, the median of milliseconds of a launch; each round times all, one after another.

    What cannot be recorded, for it waits for the GPU, is left out.
    """
    graphs: dict[str, Graph] = {}
    for name, launch in launches.items():
        try:
            graphs[name] = Graph(launch, sets)
        except RuntimeError as error:
            print(f"{name}: {error}".splitlines()[0], flush=True)
    times = {
        name: max(1, round(LEAST_MILLISECONDS / (graph.milliseconds() * graph.launches)))
        for name, graph in graphs.items()
    }
    found: dict[str, list[float]] = {name: [] for name in graphs}
    for _ in range(rounds):
        for name, graph in graphs.items():
            found[name].append(graph.milliseconds(times[name]))
    return {name: statistics.median(values) for name, values in found.items()}
