"""Run cases on a GPU in a subprocess, so that a hang or fault affects one case only."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from hardware.cases.case import Array, Case

from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.interpreters.ptx import LaunchError, PtxError, load
from tileas_xdsl.runtime.gpu.device import Device, gpu
from tileas_xdsl.runtime.gpu.driver import DriverError
from tileas_xdsl.runtime.ptx_launcher import TextLauncher

SECONDS = 15
"""Timeout of a case in seconds; the first one includes driver initialisation."""

Found = Sequence[Array | None] | str
"""Final contents of a case's arguments, or the reason of its failure."""


MOST_DEATHS = 6
"""Maximum number of crashed or hung processes before the remaining cases are skipped."""


def run_on_gpu(cases: Iterable[Case]) -> Iterator[Found]:
    """Yield the outputs of each case in order, with a new process after one that broke the GPU."""
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
    """A subprocess that owns the GPU."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process: BaseProcess = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def run(self, case: Case) -> tuple[Found, bool]:
        """Return the outputs or failure of a case, and whether the process can continue."""
        self._connection.send(case)
        if not self._connection.poll(SECONDS):
            return f"did not end in {SECONDS} s", False
        try:
            return self._connection.recv()
        except EOFError:
            return "the process died", False

    def end(self) -> None:
        """Terminate the process, even while it is blocked."""
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
                case.text,
                load(case.text, case.name),
                device,
                dynamic_shared=case.shared,
                cubin=assemble(case.text, case.target).cubin if case.by_ptxas else None,
            )
            found: Found = launcher.launch(case.arguments, case.grid, case.block, case.cluster)
        except (DriverError, LaunchError, PtxError) as error:
            found = f"{type(error).__name__}: {error}"
        connection.send((found, _is_healthy(device)))


def _is_healthy(device: Device) -> bool:
    """Return whether the context still works: a faulting kernel destroys its context."""
    try:
        device.synchronize()
    except DriverError:
        return False
    return True
