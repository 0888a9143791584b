"""A launch on several processes: each runs some of the clusters on shared global memory."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from mmap import mmap
from typing import Any, Protocol

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.findings import Finding, Findings
from tileas_xdsl.interpreters.ptx.memory.global_memory import GlobalMemory
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED
from tileas_xdsl.interpreters.ptx.parsing.syntax import Kernel

Progress = Callable[[int, int], None]


class Launch(Protocol):
    """What is run: `ptx.launch.Launch`."""

    kernel: Kernel
    memory: GlobalMemory
    findings: Findings

    @property
    def clusters(self) -> int:
        """The number of clusters of the grid."""
        ...

    def execute(self, numbers: Sequence[int], progress: Progress | None = None) -> tuple[int, bool]:
        """Run clusters by linear index; return executed instructions, and whether all finished."""
        ...


SHARED_BY_BLOCKS = ("atom", "red", "multimem", "call")
"""Instructions by which blocks may update one address, or print: such kernels run in one
process."""


def execute(launch: Launch, jobs: int, progress: Progress | None) -> tuple[int, bool]:
    """Run all clusters; return the executed instructions, and whether all clusters finished."""
    jobs = min(jobs, launch.clusters)
    alone = any(i.parts[0] in SHARED_BY_BLOCKS for i in launch.kernel.code)
    if jobs < 2 or alone or "fork" not in multiprocessing.get_all_start_methods():
        return launch.execute(range(launch.clusters), progress)
    for buffer in launch.memory.buffers:
        cells = np.frombuffer(mmap(-1, max(buffer.data.size, 1)), np.uint8, buffer.data.size)
        cells[:] = buffer.data
        buffer.data = cells
        buffer.views = {bits // 8: cells.view(d) for bits, d in UNSIGNED.items() if bits > 1}
    return _in_processes(launch, jobs, progress)


def _in_processes(launch: Launch, jobs: int, progress: Progress | None) -> tuple[int, bool]:
    context: Any = multiprocessing.get_context("fork")
    parts = [range(job, launch.clusters, jobs) for job in range(jobs)]
    running: list[tuple[Any, Any]] = []
    for part in parts:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(launch, part, there))
        process.start()
        there.close()
        running.append((process, here))
    instructions, finished, done = 0, True, 0
    for (process, here), part in zip(running, parts, strict=True):
        count, ended, findings = _answer(here)
        process.join()
        instructions += count
        finished = finished and ended
        launch.findings.merge(findings)
        done += len(part)
        if progress is not None:
            progress(done, launch.clusters)
    return instructions, finished


def _answer(pipe: Any) -> tuple[int, bool, Sequence[Finding]]:
    try:
        return pipe.recv()
    except EOFError:
        raise RuntimeError("a process of the emulator ended without an answer") from None


def _work(launch: Launch, numbers: Sequence[int], pipe: Any) -> None:
    count, ended = launch.execute(numbers)
    pipe.send((count, ended, launch.findings.all()))
    pipe.close()
