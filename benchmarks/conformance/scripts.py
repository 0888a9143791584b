"""Programs as items of pytest: a sample passes if it ends without an exception."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest


class ScriptFile(pytest.File):
    """A program."""

    arguments: Sequence[str] = ()

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the only item, the run of the program."""
        item = ScriptItem.from_parent(self, name="script")
        item.arguments = self.arguments
        yield item


class ScriptItem(pytest.Item):
    """The run of a program as `__main__`, in this process, so that the drop-in is installed."""

    arguments: Sequence[str] = ()

    def runtest(self) -> None:
        """Run it from its folder with its arguments."""
        words, paths = sys.argv, list(sys.path)
        sys.argv = [str(self.path), *self.arguments]
        sys.path.insert(0, str(self.path.parent))
        try:
            runpy.run_path(str(self.path), run_name="__main__")
        except SystemExit as end:
            if end.code:
                pytest.fail(f"the program ended with {end.code!r}")
        finally:
            sys.argv, sys.path[:] = words, paths


def script_file(parent: pytest.Collector, path: Path, arguments: Sequence[str]) -> ScriptFile:
    """Return the collector of a program."""
    found = ScriptFile.from_parent(parent, path=path)
    found.arguments = arguments
    return found
