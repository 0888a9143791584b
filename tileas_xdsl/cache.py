"""The disk cache of compiled kernels, which processes share.

An entry is a file named after its key: a magic number, the SHA-256 of the content, the content.
It is written under another name and then renamed, so that readers see all of it or nothing; what
does not match its checksum is no entry.  The file's time is that of its last use, and the least
recently used entries go when the files exceed the size limit.

`TILEAS_CACHE_DIR` names the folder (empty: no cache), `TILEAS_CACHE_SIZE` the limit in megabytes.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from tileas_xdsl.data_classes import dataclass

FOLDER_VARIABLE = "TILEAS_CACHE_DIR"
SIZE_VARIABLE = "TILEAS_CACHE_SIZE"

SUFFIX = ".kernel"
"""Of entries."""

_UNFINISHED = ".part"
"""Of files that are being written."""

_ABANDONED_SECONDS = 3600.0
"""Age from which an unfinished file has no writer any more."""

_MAGIC = b"TILEAS\x00\x01"
"""The last byte is the version of the format."""

_DIGEST_BYTES = 32
_DEFAULT_MEGABYTES = 1024
_KEPT = 0.9
"""The part of the limit that is left after entries were removed."""


class CacheWarning(UserWarning):
    """Compiled kernels cannot be kept on disk."""


@dataclass(frozen=True)
class Entry:
    """A file of the cache."""

    path: Path
    size: int
    used: float
    """The time of its last use."""


class DiskCache:
    """Compiled kernels in a folder; the first failure to write is a warning, the last attempt."""

    def __init__(self, folder: Path, limit: int) -> None:
        """`limit` is in bytes; the folder is made when the first entry is written."""
        self.folder, self.limit = folder, limit
        self._writes = True

    def get(self, key: str) -> bytes | None:
        """Return the content of an entry; None if there is none, or it is damaged."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        start = len(_MAGIC) + _DIGEST_BYTES
        content = data[start:]
        if data[:start] != _MAGIC + hashlib.sha256(content).digest():
            return None
        with suppress(OSError):
            os.utime(path)
        return content

    def put(self, key: str, content: bytes) -> None:
        """Write an entry; warns once if that is impossible."""
        if not self._writes:
            return
        try:
            self._write(self._path(key), _MAGIC + hashlib.sha256(content).digest() + content)
            self._evict()
        except OSError as error:
            self._writes = False
            text = f"compiled kernels are not kept in '{self.folder}': {error}"
            warnings.warn(text, CacheWarning, stacklevel=2)

    def entries(self) -> list[Entry]:
        """Return the entries."""
        return [entry for entry in self._files() if entry.path.suffix == SUFFIX]

    def clear(self) -> int:
        """Remove all entries and what writers left unfinished; return the number of entries."""
        found = [*self._files()]
        for entry in found:
            _remove(entry.path)
        return sum(entry.path.suffix == SUFFIX for entry in found)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"

    def _write(self, path: Path, data: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(_UNFINISHED, dir=self.folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(name, path)
        except BaseException:
            _remove(Path(name))
            raise

    def _files(self) -> Iterator[Entry]:
        try:
            found = [*os.scandir(self.folder)]
        except OSError:
            return
        for one in found:
            if one.name.endswith((SUFFIX, _UNFINISHED)):
                with suppress(OSError):
                    status = one.stat()
                    yield Entry(Path(one.path), status.st_size, status.st_mtime)

    def _evict(self) -> None:
        """Remove the least recently used entries beyond the limit, and abandoned files."""
        entries: list[Entry] = []
        for entry in self._files():
            if entry.path.suffix == SUFFIX:
                entries.append(entry)
            elif time.time() - entry.used > _ABANDONED_SECONDS:
                _remove(entry.path)
        size = sum(entry.size for entry in entries)
        if size <= self.limit:
            return
        for entry in sorted(entries, key=lambda entry: entry.used):
            if size <= self.limit * _KEPT:
                return
            _remove(entry.path)
            size -= entry.size


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def cache_folder() -> Path | None:
    """Return the folder of the cache; None where there is to be none."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    return _user_folder() / "tileas-xdsl"


def _user_folder() -> Path:
    """The user's folder for caches: XDG Base Directory Specification, or the system's own."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def disk_cache() -> DiskCache | None:
    """Return the cache that the environment names; None for none."""
    folder = cache_folder()
    return None if folder is None else _cache_in(folder, _limit())


@cache
def _cache_in(folder: Path, limit: int) -> DiskCache:
    return DiskCache(folder, limit)


def _limit() -> int:
    named = os.environ.get(SIZE_VARIABLE, "")
    megabytes = float(named) if named.replace(".", "", 1).isdigit() else _DEFAULT_MEGABYTES
    return int(megabytes * (1 << 20))


@cache
def build_id() -> str:
    """Return what changes with the compiler: its files, and the packages that extend xDSL."""
    found = hashlib.sha256()
    for line in sorted(_source_files(str(Path(__file__).parent))):
        found.update(line.encode())
    for point in sorted(entry_points(group="xdsl.universe"), key=str):
        found.update(f"{point}\n".encode())
    return found.hexdigest()


def _source_files(folder: str) -> Iterator[str]:
    """Yield a line with size and time for each module below a folder."""
    for one in os.scandir(folder):
        if one.is_dir():
            yield from _source_files(one.path)
        elif one.name.endswith(".py"):
            status = one.stat()
            yield f"{one.path} {status.st_size} {status.st_mtime_ns}\n"


def file_id(path: Path | None) -> str:
    """Return what changes with a file, such as a tool that is used; empty for None."""
    if path is None:
        return ""
    status = path.stat()
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def entry_key(*parts: bytes | str) -> str:
    """Return the key for everything that a compilation depends on."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(f"{len(data)}\0".encode())
        found.update(data)
    return found.hexdigest()
