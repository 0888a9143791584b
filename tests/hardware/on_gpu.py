"""Cases on a GPU, in a process of its own: a kernel that hangs or fails takes only that with it."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from hardware.cases.case import Array, Case

from tileas_xdsl.interpreters.ptx import LaunchError, PtxError, load
from tileas_xdsl.runtime.gpu.device import Device, gpu
from tileas_xdsl.runtime.gpu.driver import DriverError
from tileas_xdsl.runtime.ptx_launcher import TextLauncher

SECONDS = 15
"""How long a case may take; the first one starts the driver too."""

Found = Sequence[Array | None] | str
"""What a case left in its arguments, or why it failed."""


MOST_DEATHS = 6
"""So many processes may die or hang before the rest is left out."""


def run_on_gpu(cases: Iterable[Case]) -> Iterator[Found]:
    """Run one case after the other; what follows one that broke the GPU runs in a new process."""
    worker: _Worker | None = None
    deaths = 0
    for case in cases:
        if deaths == MOST_DEATHS:
            yield f"not run: {deaths} cases before broke the GPU"
            continue
        worker = worker or _Worker()
        found, is_healthy = worker.run(case)
        if isinstance(found, str):
            print(f"{case}: on the GPU: {found}", file=sys.stderr, flush=True)
        if not is_healthy:
            deaths += 1
            worker.end()
            worker = None
        yield found
    if worker is not None:
        worker.end()


class _Worker:
    """A process with the GPU."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process: BaseProcess = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def run(self, case: Case) -> tuple[Found, bool]:
        """What a case left, or how it failed; and whether the process can go on."""
        self._connection.send(case)
        if not self._connection.poll(SECONDS):
            return f"did not end in {SECONDS} s", False
        try:
            return self._connection.recv()
        except EOFError:
            return "the process died", False

    def end(self) -> None:
        """End the process, and whatever it was waiting for."""
        self._connection.close()
        self._process.kill()
        self._process.join()


def _serve(connection: Connection) -> None:
    device = gpu()
    while True:
        try:
            case = connection.recv()
        except EOFError:
            return
        try:
            launcher = TextLauncher(
                case.text, load(case.text, case.name), device, dynamic_shared=case.shared
            )
            found: Found = launcher.launch(case.arguments, case.grid, case.block, case.cluster)
        except (DriverError, LaunchError, PtxError) as error:
            found = f"{type(error).__name__}: {error}"
        connection.send((found, _is_healthy(device)))


def _is_healthy(device: Device) -> bool:
    """Whether the GPU can still be used: a kernel that faults takes its context with it."""
    try:
        device.synchronize()
    except DriverError:
        return False
    return True
