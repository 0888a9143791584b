"""Runs tests in worker processes, and goes on where one crashes, hangs or loses its device."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from benchmarks.conformance.outcomes import Outcome, Result
from benchmarks.conformance.plugin import Collected, Finished
from benchmarks.conformance.suites import SuiteError
from benchmarks.conformance.worker import Task, run_worker

GRACE = 15.0
"""Seconds after a test's limit until its process is killed: it is in code that no signal ends."""

START = 300.0
"""Seconds that a worker may take to import and collect the suite."""

LOG_TAIL = 3000
"""Characters of the output of a worker that cannot start."""


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    log: Path
    deadline: float
    collected: bool = False
    current: str | None = None
    since: float = 0.0


@dataclass
class Scheduler:
    """Hands tests to workers."""

    task: Task
    jobs: int
    choose: Callable[[Sequence[str]], Sequence[str]]
    """Which of the collected tests run, in this order."""
    report: Callable[[Result], object]
    """Is given each result."""
    seconds: float | None = None
    """A limit for all."""
    preload: Sequence[str] = ()
    """Modules that all workers share."""
    unfinished: int = 0
    """Tests that the limit left."""
    _queue: deque[str] | None = None
    _workers: list[_Worker] = field(default_factory=list[_Worker])

    def run(self) -> None:
        """Run the tests; raises `SuiteError` if the suite cannot be collected."""
        end = None if self.seconds is None else time.monotonic() + self.seconds
        with tempfile.TemporaryDirectory() as folder:
            self._context = multiprocessing.get_context("forkserver")
            self._context.set_forkserver_preload([*self.preload])
            self._folder = Path(folder)
            try:
                for _ in range(self.jobs):
                    self._start()
                while self._workers and (end is None or time.monotonic() < end):
                    self._step(end)
            finally:
                for worker in self._workers:
                    _kill(worker)
        running = [worker for worker in self._workers if worker.current is not None]
        self.unfinished = len(self._queue or ()) + len(running)

    def _start(self) -> None:
        ends: Any = self._context.Pipe()
        ours, theirs = ends
        number, log = tempfile.mkstemp(dir=self._folder)
        os.close(number)
        arguments = (self.task, theirs, Path(log))
        process = self._context.Process(target=run_worker, args=arguments)
        process.start()
        theirs.close()
        worker = _Worker(process, ours, Path(log), time.monotonic() + START)
        self._workers.append(worker)

    def _step(self, end: float | None) -> None:
        """Wait for a message, the end of a worker or a deadline, and act on it."""
        now = time.monotonic()
        deadlines = [worker.deadline for worker in self._workers]
        first = min(deadlines if end is None else [*deadlines, end])
        waiting = {worker.connection: worker for worker in self._workers}
        for ready in wait(list(waiting), max(0.0, first - now)):
            self._receive(waiting[ready])  # pyright: ignore[reportArgumentType]
        for worker in [one for one in self._workers if one.deadline < time.monotonic()]:
            self._lost(worker, "time limit", f"killed after {_seconds(worker):.0f} seconds")

    def _receive(self, worker: _Worker) -> None:
        try:
            message = worker.connection.recv()
        except (EOFError, ConnectionError):
            worker.process.join(GRACE)
            self._lost(worker, "crash", _ended(worker.process.exitcode))
            return
        if isinstance(message, Collected):
            worker.collected = True
            self._fill(message)
        elif isinstance(message, Finished):
            worker.current = None
            self.report(message.result)
            if message.leaves:
                self._replace(worker)
                return
        self._next(worker)

    def _fill(self, message: Collected) -> None:
        """Fill the queue with what the first worker collected; others collect the same."""
        if self._queue is not None:
            return
        for problem in message.problems:
            self.report(problem)
        self._queue = deque(self.choose(message.names))

    def _next(self, worker: _Worker) -> None:
        if not self._queue:
            self._remove(worker)
            return
        worker.current = self._queue.popleft()
        worker.since = time.monotonic()
        worker.deadline = worker.since + self.task.limit + GRACE
        worker.connection.send(worker.current)

    def _lost(self, worker: _Worker, kind: str, reason: str) -> None:
        """Report the test of a worker that is no more, and start another."""
        if not worker.collected:
            tail = worker.log.read_text(errors="replace")[-LOG_TAIL:]
            _kill(worker)
            raise SuiteError(f"a worker could not collect the suite: {reason}\n{tail}")
        if worker.current is not None:
            seconds = round(_seconds(worker), 3)
            self.report(Result(worker.current, Outcome.FAILED, kind, reason, seconds))
        self._replace(worker)

    def _replace(self, worker: _Worker) -> None:
        self._remove(worker)
        if self._queue:
            self._start()

    def _remove(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        _kill(worker)


def _seconds(worker: _Worker) -> float:
    return time.monotonic() - worker.since


def _ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"the process ended by {signal.Signals(-code).name}"
    return f"the process ended with {code}"


def _kill(worker: _Worker) -> None:
    """End a worker and the processes that its tests started."""
    worker.connection.close()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if worker.process.pid is not None:
            os.killpg(worker.process.pid, signal.SIGKILL)
    worker.process.kill()
    worker.process.join()


def default_jobs() -> int:
    """Return how many processors there are for this process."""
    return len(os.sched_getaffinity(0))
