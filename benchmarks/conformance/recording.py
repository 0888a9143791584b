"""The Tile IR of every kernel that a suite launches, without running any.

Tests run with tensors of the CPU.  A launch has cuTile's front end write the bytecode of the kernel
for its arguments, and returns; tests that look at results then fail, which says nothing.  Where
cuTile's tuner would measure a space of configurations, each of them is launched.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from benchmarks.conformance.plugin import HooksOfOthers
from benchmarks.conformance.suites import Suite

SUFFIX = ".tileirbc"


class _RecordedError(Exception):
    """Ends a launch whose kernel is recorded."""


@dataclass
class Recorder:
    """Writes the bytecode of kernels to a folder, one file for each kernel and variant of it."""

    folder: Path
    variants: int
    """How many of a kernel are kept, of other arguments each."""
    _seen: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def record(self, name: str, content: bytes) -> None:
        """Keep a kernel unless it is known."""
        known, digest = self._seen.setdefault(name, []), sha1(content).hexdigest()
        if digest in known or len(known) == self.variants:
            return
        (self.folder / f"{name}.{len(known)}{SUFFIX}").write_bytes(content)
        known.append(digest)

    @property
    def kernels(self) -> int:
        """How many there are, whatever their arguments."""
        return len(self._seen)


@dataclass(eq=False)  # pluggy keeps plug-ins in sets
class _Plugin:
    """Runs the first tests of each function, each for some seconds."""

    tests: int
    limit: float

    def pytest_addhooks(self, pluginmanager: pytest.PytestPluginManager) -> None:
        pluginmanager.add_hookspecs(HooksOfOthers)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        by_function: dict[str, list[pytest.Item]] = {}
        for item in items:
            by_function.setdefault(item.nodeid.partition("[")[0], []).append(item)
        plain = [found for name, found in by_function.items() if "::test_perf" not in name]
        items[:] = [item for found in plain for item in found[: self.tests]]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        def ring(number: int, frame: FrameType | None) -> None:
            raise TimeoutError(f"{item.nodeid}: more than {self.limit:g} seconds")

        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, self.limit)
        try:
            return (yield)
        except Exception:
            # Kernels are recorded, not results; pytest may fail to print an error of the alarm.
            return None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def record(
    suite: Suite, target: str, folder: Path, *, tests: int, limit: float, variants: int
) -> int:
    """Record the kernels of a suite; returns how many there are."""
    sys.path[:0] = [str(suite.root / path) for path in suite.import_paths]
    os.environ.update(suite.variables)
    folder.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(folder.resolve(), variants)
    _install(recorder, target)
    os.chdir(suite.root)
    sys.argv = ["pytest"]
    words = [str(suite.root / path) for path in suite.tests]
    options = ("no:cacheprovider", "no:terminal")
    pytest.main(
        [
            *(word for option in options for word in ("-p", option)),
            *("-c", os.devnull, f"--rootdir={suite.root}", f"--confcutdir={suite.root}"),
            *("--continue-on-collection-errors", "-o", "python_files=test_*.py", *words),
        ],
        [_Plugin(tests, limit)],
    )
    return recorder.kernels


def _install(recorder: Recorder, target: str) -> None:
    from importlib import import_module

    compilation: Any = import_module("tileas_xdsl.runtime.cutile.compilation")
    ct: Any = import_module("cuda.tile")
    extension: Any = import_module("cuda.tile._cext")
    environment: Any = import_module("benchmarks.conformance.environment")
    front_end: Callable[..., bytes] = compilation._bytecode

    def bytecode(kernel: Any, *rest: Any) -> bytes:
        function = kernel._annotated_function.pyfunc
        content = front_end(kernel, *rest)
        recorder.record(f"{function.__module__}.{function.__qualname__}", content)
        raise _RecordedError

    compilation._bytecode = bytecode
    environment.prepare(target)
    real = ct.launch

    @functools.wraps(real)
    def launch(*args: Any, **options: Any) -> None:
        try:
            real(*args, **options)
        except _RecordedError:
            return

    ct.launch = extension.launch = launch
    tune: Any = import_module("cuda.tile.tune")
    tune.exhaustive_search = _launching_all(launch)


def _launching_all(launch: Callable[..., None]) -> Callable[..., Any]:
    """Return a tuner that launches every configuration of its space, and takes the first."""

    def search(
        search_space: Sequence[Any],
        stream: Any,
        grid_fn: Callable[[Any], Any],
        kernel: Any,
        args_fn: Callable[[Any], Any],
        hints_fn: Callable[[Any], Mapping[str, Any]] | None = None,
        **_: Any,
    ) -> Any:
        is_kernel = hasattr(kernel, "replace_hints")
        for config in search_space:
            chosen = kernel if is_kernel else kernel(config)
            if hints_fn is not None:
                chosen = chosen.replace_hints(**hints_fn(config))
            launch(stream, grid_fn(config), chosen, args_fn(config))
        return SimpleNamespace(best=SimpleNamespace(config=search_space[0]))

    return search
