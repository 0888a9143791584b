"""The disk cache: what processes share, and what can go wrong with files."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tileas_xdsl import cache
from tileas_xdsl.cache import CacheWarning, DiskCache, build_id, disk_cache, entry_key, file_id
from tileas_xdsl.tools.tileas import app

LARGE = 1 << 30


@pytest.fixture
def store(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "kernels", LARGE)


def test_what_is_put_is_found(store: DiskCache) -> None:
    assert store.get("a") is None
    store.put("a", b"code")
    store.put("b", b"")
    assert (store.get("a"), store.get("b"), store.get("c")) == (b"code", b"", None)
    assert sorted(entry.path.name for entry in store.entries()) == ["a.kernel", "b.kernel"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: b"",
        lambda data: b"no entry at all, but long enough to have a header of that size",
        lambda data: data[:7] + b"\x00" + data[8:],
        lambda data: data[:7] + b"\x02" + data[8:],
    ],
    ids=["cut", "flipped", "empty", "foreign", "older", "newer"],
)
def test_damaged_entries_are_none_and_are_replaced(store: DiskCache, damage: Any) -> None:
    store.put("a", b"code")
    (entry,) = store.entries()
    entry.path.write_bytes(damage(entry.path.read_bytes()))
    assert store.get("a") is None
    store.put("a", b"code")
    assert store.get("a") == b"code"


def test_the_least_recently_used_entries_go(tmp_path: Path) -> None:
    store = DiskCache(tmp_path, 5000)
    for name in "abcd":
        store.put(name, bytes(1000))
        os.utime(tmp_path / f"{name}.kernel", (time.time() - 100 + ord(name),) * 2)
    os.utime(tmp_path / "a.kernel")
    store.put("e", bytes(1000))
    found = {name for name in "abcde" if store.get(name) is not None}
    assert "b" not in found
    assert {"a", "d", "e"} <= found


def test_reading_is_a_use(store: DiskCache) -> None:
    store.put("a", b"code")
    (entry,) = store.entries()
    os.utime(entry.path, (1000, 1000))
    store.get("a")
    assert store.entries()[0].used > 1000


def test_a_full_disk_is_one_warning(store: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("a", b"code")

    def replace(*names: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache.os, "replace", replace)
    with pytest.warns(CacheWarning, match="compiled kernels are not kept in .* No space left"):
        store.put("b", b"code")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.put("c", b"code")
    assert [entry.path.name for entry in store.entries()] == ["a.kernel"]
    assert len([*store.folder.iterdir()]) == 1, "nothing half-written is left"


def test_a_folder_that_cannot_be_written_is_one_warning(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    store = DiskCache(file / "kernels", LARGE)
    with pytest.warns(CacheWarning):
        store.put("a", b"code")
    assert store.get("a") is None
    assert store.entries() == []


def test_what_a_killed_writer_left_is_no_entry_and_goes(store: DiskCache) -> None:
    store.put("a", b"code")
    unfinished = store.folder / "x.part"
    unfinished.write_bytes(b"half of")
    store.put("b", b"code")
    assert unfinished.exists(), "its writer may be at work"
    os.utime(unfinished, (1000, 1000))
    store.put("c", b"code")
    assert not unfinished.exists()
    assert len(store.entries()) == 3


WRITER = """
import sys
from pathlib import Path
from tileas_xdsl.cache import DiskCache

store = DiskCache(Path(sys.argv[1]), 40000)
for number in range(60):
    key = str(number % 7)
    found = store.get(key)
    assert found in (None, key.encode() * 5000), key
    store.put(key, key.encode() * 5000)
"""


@pytest.mark.parametrize("processes", [4, pytest.param(16, marks=pytest.mark.slow)])
def test_processes_share_it(tmp_path: Path, processes: int) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    running = [subprocess.Popen(command) for _ in range(processes)]
    assert [process.wait() for process in running] == [0] * processes
    assert {entry.path.suffix for entry in DiskCache(tmp_path, LARGE).entries()} == {".kernel"}
    assert not [*tmp_path.glob("*.part")]


ENDLESS = """
import sys
from pathlib import Path
from tileas_xdsl.cache import DiskCache

store = DiskCache(Path(sys.argv[1]), 1 << 30)
while True:
    store.put("a", b"a" * 5_000_000)
    print(flush=True)
"""


def test_a_writer_that_is_killed_leaves_whole_entries(tmp_path: Path) -> None:
    """Wherever a signal that nothing catches ends it, others find all of an entry, and write."""
    command = [sys.executable, "-c", ENDLESS, str(tmp_path)]
    for delay in (0.0, 0.002, 0.005):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(delay)
            writer.kill()
        store = DiskCache(tmp_path, LARGE)
        assert store.get("a") == b"a" * 5_000_000
        store.put("b", b"code")
        assert store.get("b") == b"code"


def test_keys_tell_their_parts_apart() -> None:
    assert entry_key("ab", "c") != entry_key("a", "bc")
    assert entry_key("a", b"b") == entry_key("a", "b")
    assert len(build_id()) == 64


def test_a_tool_that_changes_is_another(tmp_path: Path) -> None:
    tool = tmp_path / "ptxas"
    tool.write_bytes(b"one")
    before = file_id(tool)
    tool.write_bytes(b"another")
    assert file_id(tool) != before
    assert file_id(None) == ""


def test_the_environment_names_folder_and_size(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TILEAS_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TILEAS_CACHE_SIZE", "0.5")
    found = disk_cache()
    assert found is not None
    assert (found.folder, found.limit) == (tmp_path, 1 << 19)
    monkeypatch.setenv("TILEAS_CACHE_DIR", "")
    assert disk_cache() is None
    monkeypatch.delenv("TILEAS_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert cache.cache_folder() == tmp_path / "tileas-xdsl"


def test_the_command_shows_and_clears_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TILEAS_CACHE_DIR", str(tmp_path))
    DiskCache(tmp_path, LARGE).put("a", b"code")
    shown = CliRunner().invoke(app, ["cache"])
    assert shown.exit_code == 0
    assert [line.split()[:2] for line in shown.output.splitlines()][1:3] == [
        ["folder", str(tmp_path)],
        ["kernels", "1"],
    ]
    cleared = CliRunner().invoke(app, ["cache", "--clear"])
    assert f"removed 1 kernels from {tmp_path}" in cleared.output
    assert not [*tmp_path.iterdir()]
    monkeypatch.setenv("TILEAS_CACHE_DIR", "")
    assert "there is no cache" in CliRunner().invoke(app, ["cache"]).output
