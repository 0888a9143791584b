"""The C launcher: built once, kept on disk, and done without where anything lacks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tileas_xdsl.cache import disk_cache
from tileas_xdsl.runtime.cutile.native import build
from tileas_xdsl.runtime.cutile.native.build import BuildError, Request


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of the cache, in a process that has not loaded the module."""
    monkeypatch.setenv("TILEAS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv(build.VARIABLE, raising=False)
    monkeypatch.delitem(sys.modules, build.NAME, raising=False)
    return tmp_path / "cache"


@pytest.fixture
def compiler() -> None:
    """What a build needs."""
    try:
        build.compiler(), build.include_folders()
    except BuildError as error:
        pytest.skip(str(error))


def test_it_is_built_once_and_kept(compiler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert build.state().startswith("when needed, built by ")
    assert build.load().Launcher
    assert build.state() == "yes"

    def again() -> bytes:
        raise AssertionError("it is in the cache")

    monkeypatch.setattr(build, "build", again)
    monkeypatch.delitem(sys.modules, build.NAME)
    assert Request().wait().Launcher


def test_damaged_files_are_built_anew(compiler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    build.load()
    store = disk_cache()
    assert store is not None
    (entry,) = store.entries()
    entry.path.write_bytes(entry.path.read_bytes()[:-1])
    assert not build.is_kept()
    monkeypatch.delitem(sys.modules, build.NAME)
    assert build.load().Launcher
    assert build.is_kept()


def test_what_lacks_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(build.VARIABLE, "0")
    assert Request().wait() is None
    assert build.state() == "no: TILEAS_NATIVE is 0"
    monkeypatch.delenv(build.VARIABLE)
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(BuildError, match="there is no C compiler 'no-such-compiler'"):
        build.load()
    assert build.state() == "no: there is no C compiler 'no-such-compiler'"
    monkeypatch.setenv("CC", "false")
    request = Request()
    assert (request.wait(), build.is_kept()) == (None, False)
    folders: dict[str, Any] = {"include": str(tmp_path), "platinclude": str(tmp_path)}
    monkeypatch.setattr(build.sysconfig, "get_paths", lambda: folders)
    with pytest.raises(BuildError, match=r"there is no Python\.h in "):
        build.load()


LOAD = "from tileas_xdsl.runtime.cutile.native.build import load; load().Launcher"


@pytest.mark.parametrize("processes", [3, pytest.param(16, marks=pytest.mark.slow)])
def test_processes_build_at_once(compiler: None, folder: Path, processes: int) -> None:
    running = [subprocess.Popen([sys.executable, "-c", LOAD]) for _ in range(processes)]
    assert [process.wait() for process in running] == [0] * processes
    assert len([*folder.iterdir()]) == 1
