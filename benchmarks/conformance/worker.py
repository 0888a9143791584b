"""A process that runs tests of a suite, one after another."""

from __future__ import annotations

import faulthandler
import os
import sys
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from benchmarks.conformance.plugin import SuitePlugin
from benchmarks.conformance.suites import Suite


@dataclass(frozen=True)
class Task:
    """What a worker is started for."""

    suite: Suite
    environment: str
    """The module whose `prepare(device)` returns the `Environment`."""
    device: str
    """`gpu`, or the target that is emulated."""
    limit: float
    """Seconds of a test."""


def run_worker(task: Task, connection: Connection, log: Path) -> None:
    """Collect the suite and run the tests that the scheduler sends; their output goes to a file."""
    os.setsid()  # the processes that tests start end with it
    _print_to(log)
    _set_paths(task.suite)
    os.environ.update(task.suite.variables)
    _reach_children(task.device)
    environment = import_module(task.environment).prepare(task.device)
    plugin = SuitePlugin(task.suite, environment, connection, task.limit)
    os._exit(int(pytest.main(_words(task.suite), [plugin])))


def _print_to(log: Path) -> None:
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    faulthandler.enable(2)


def _set_paths(suite: Suite) -> None:
    """Leave only the repository's root of our paths; pytest puts folders of tests before it."""
    repository, benchmarks = Path(__file__).parents[2], Path(__file__).parents[1]
    ours = ("", str(repository), str(benchmarks))
    first = [*(str(suite.root / path) for path in suite.import_paths), str(repository)]
    sys.path[:] = [*first, *(path for path in sys.path if path not in ours)]
    sys.argv = ["pytest"]
    os.chdir(suite.root)


def _reach_children(device: str) -> None:
    """Let Python processes that tests start find the same modules, and the drop-in installed."""
    children = Path(__file__).parent / "children"
    os.environ["PYTHONPATH"] = os.pathsep.join([str(children), *sys.path])
    os.environ["TILEAS_CONFORMANCE_DEVICE"] = device


def _words(suite: Suite) -> list[str]:
    """Return the command line of pytest: the suite's options need plug-ins, and are not used."""
    options = ("python_files=test_*.py", "python_functions=test_*")
    return [
        *("-p", "no:cacheprovider", "-p", "no:terminal", "-c", os.devnull),
        *(f"--rootdir={suite.root}", f"--confcutdir={suite.root}"),
        "--continue-on-collection-errors",
        *(word for option in options for word in ("-o", option)),
        *(str(suite.root / path) for path in (*suite.tests, *suite.scripts)),
    ]
