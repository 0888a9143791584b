"""The plug-in of pytest that runs the tests that it is sent, and sends back what became of them."""

from __future__ import annotations

import signal
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import pytest
from _pytest.runner import runtestprotocol

from benchmarks.conformance.judging import (
    DETAIL,
    Exceptions,
    TimeLimitError,
    Verdict,
    first_lines,
    judged,
)
from benchmarks.conformance.outcomes import Outcome, Result
from benchmarks.conformance.scripts import script_file
from benchmarks.conformance.suites import Suite


class Environment(Protocol):
    """What runs the kernels of the tests."""

    exceptions: Exceptions

    def begin_test(self) -> None:
        """Make what a test draws at random the same in each run."""
        ...

    def launches(self) -> int:
        """Return how many kernels of ours have run so far."""
        ...

    def check_device(self) -> None:
        """Raise if the device has failed, so that nothing runs on it any more in this process."""
        ...


@dataclass(frozen=True)
class Collected:
    """What a worker sends first."""

    names: Sequence[str]
    problems: Sequence[Result]
    """Files that cannot be imported."""


@dataclass(frozen=True)
class Finished:
    """What a worker sends after each test."""

    result: Result
    leaves: bool = False
    """The worker ends: its device has failed."""


class HooksOfOthers:
    """Hooks of plug-ins that conftest files implement and that need not be installed here."""

    @pytest.hookspec
    def pytest_benchmark_update_machine_info(self, config: object, machine_info: object) -> None:
        """Of pytest-benchmark."""

    @pytest.hookspec
    def pytest_benchmark_update_json(
        self, config: object, benchmarks: object, output_json: object
    ) -> None:
        """Of pytest-benchmark."""


@dataclass(eq=False)
class SuitePlugin:
    """Collects a suite, then runs single tests by id until it is sent None."""

    suite: Suite
    environment: Environment
    connection: Connection
    limit: float
    """Seconds of a test."""
    _verdict: Verdict | None = None
    _problems: list[Result] = field(default_factory=list[Result])

    # Collection.

    def pytest_addhooks(self, pluginmanager: pytest.PytestPluginManager) -> None:
        """Declare hooks of others."""
        pluginmanager.add_hookspecs(HooksOfOthers)

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, Any, Any]:
        """Collect programs as such, instead of as modules of tests."""
        found = yield
        if str(file_path.relative_to(self.suite.root)) not in self.suite.scripts:
            return found
        return [script_file(parent, file_path, self.suite.script_arguments)]

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        """Keep why a file cannot be imported."""
        report = yield
        call = getattr(report, "call", None)
        if report.outcome != "passed" and call is not None and call.excinfo is not None:
            verdict = self._of_collection(report, call.excinfo.value)
            detail = str(report.longrepr)[-DETAIL:]
            self._problems.append(_result(collector.nodeid, replace(verdict, detail=detail)))
        return report

    def _of_collection(self, report: pytest.CollectReport, error: BaseException) -> Verdict:
        """A file that needs what is not installed, or another version of it, is skipped."""
        verdict = judged(error, self.environment.exceptions)
        if report.outcome == "skipped":
            return Verdict(Outcome.SKIPPED, "by the test", str(error))
        if isinstance(error, pytest.Collector.CollectError):  # pytest's, of an `ImportError`
            cause = error.__cause__ or error.__context__ or error
            return Verdict(Outcome.SKIPPED, "not importable", first_lines(cause))
        if verdict.outcome == Outcome.REFUSED or verdict.kind.startswith("internal error"):
            return verdict
        return Verdict(Outcome.SKIPPED, "not importable", f"{type(error).__name__}: {error}")

    # Running.

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run what is asked for."""
        items = {item.nodeid: item for item in session.items}
        self.connection.send(Collected(list(items), self._problems))
        while (name := self.connection.recv()) is not None:
            finished = self._run(name, items[name])
            self.connection.send(finished)
            if finished.leaves:
                break
        return True

    def _run(self, name: str, item: pytest.Item) -> Finished:
        self._verdict = None
        self.environment.begin_test()
        before, start = self.environment.launches(), time.perf_counter()
        with _Alarm(self.limit):
            runtestprotocol(item, log=False, nextitem=None)
        broken = self._device_failure()
        seconds = round(time.perf_counter() - start, 3)
        launches = self.environment.launches() - before
        verdict = self._verdict or broken or _passed(launches)
        return Finished(_result(name, verdict, seconds, launches), leaves=broken is not None)

    def _device_failure(self) -> Verdict | None:
        try:
            self.environment.check_device()
        except Exception as error:
            return Verdict(Outcome.FAILED, "device error", str(error).partition("\n")[0])
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, Any]:
        """Judge what ended a phase of the test; the first phase that ends badly decides."""
        report = yield
        if self._verdict is None and report.outcome != "passed":
            self._verdict = self._of_report(report, call)
        return report

    def _of_report(self, report: pytest.TestReport, call: pytest.CallInfo[None]) -> Verdict:
        if report.outcome == "skipped":
            kind = "expected failure" if hasattr(report, "wasxfail") else "by the test"
            reason = getattr(report, "wasxfail", "") or _skip_reason(report)
            return Verdict(Outcome.SKIPPED, kind, reason)
        if call.excinfo is None:
            return Verdict(Outcome.FAILED, "wrong result", str(report.longrepr))
        verdict = judged(call.excinfo.value, self.environment.exceptions)
        return replace(verdict, detail=report.longreprtext[-DETAIL:])


def _result(name: str, verdict: Verdict, seconds: float = 0.0, launches: int = 0) -> Result:
    outcome, kind, reason, detail = verdict.outcome, verdict.kind, verdict.reason, verdict.detail
    return Result(name, outcome, kind, reason, seconds, launches, detail)


def _passed(launches: int) -> Verdict:
    return Verdict(Outcome.LAUNCHED if launches else Outcome.UNLAUNCHED)


def _skip_reason(report: pytest.TestReport) -> str:
    place = report.longrepr
    said = str(place[2]) if isinstance(place, tuple) else str(place)
    return said.removeprefix("Skipped: ")


class _Alarm:
    """Raises `TimeLimitError` in the main thread after some seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        raise TimeLimitError(f"more than {self.seconds:g} seconds")
