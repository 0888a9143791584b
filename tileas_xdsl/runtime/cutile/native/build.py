"""The C launcher as a module: taken from the disk cache, or built by the system's C compiler.

It is a file of C that needs the interpreter's headers and `$CC` or `cc`, and half a second once for
an interpreter and a version of the file; `requested` does that in another thread.  Where anything
lacks, or `TILEAS_NATIVE=0` says so, launches stay in Python, which is right by itself.  With
`TILEAS_NATIVE=1` a kernel's second launch waits for it, as tests and measurements want.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import threading
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tileas_xdsl.cache import disk_cache, entry_key

VARIABLE = "TILEAS_NATIVE"
"""The environment variable that turns the C launcher off with `0`, and waits for it with `1`."""

NAME = "tileas_launcher"
SOURCE = Path(__file__).with_name("launcher.c")
FLAGS = ("-O2", "-fPIC", "-shared")
MAX_SECONDS = 60.0
"""How long the C compiler may take."""


class BuildError(Exception):
    """Why there is no C launcher."""


class Request:
    """The module, once another thread has loaded it; `failure` says why there is none."""

    def __init__(self) -> None:
        self.module: Any = None
        self.failure = ""
        self._thread = threading.Thread(target=self._load, name="tileas-native", daemon=True)
        self._thread.start()

    def _load(self) -> None:
        try:
            self.module = load()
        except (BuildError, OSError, ImportError) as error:
            self.failure = str(error)

    def wait(self) -> Any:
        """Return the module, or None, when it is known which."""
        self._thread.join()
        return self.module


def is_awaited() -> bool:
    """Whether the environment says to wait for the module."""
    return os.environ.get(VARIABLE) == "1"


_request: Request | None = None
_lock = threading.Lock()


def requested() -> Request:
    """Return the request of this process, which the first call makes."""
    global _request
    with _lock:
        if _request is None:
            _request = Request()
        return _request


def load() -> Any:
    """Return the module; raises `BuildError`, `OSError` or `ImportError` if there is none."""
    if (found := sys.modules.get(NAME)) is not None:
        return found
    if os.environ.get(VARIABLE) == "0":
        raise BuildError(f"{VARIABLE} is 0")
    key, store = _key(), disk_cache()
    data = None if store is None else store.get(key)
    if data is None:
        data = build()
        if store is not None:
            store.put(key, data)
    module = _imported(data)
    return sys.modules.setdefault(NAME, module)


def is_kept() -> bool:
    """Whether the disk cache has the module for this interpreter."""
    store = disk_cache()
    return store is not None and store.get(_key()) is not None


def state() -> str:
    """Say whether known launches are made in C: for `tileas cache`."""
    if os.environ.get(VARIABLE) == "0":
        return f"no: {VARIABLE} is 0"
    if is_kept():
        return "yes"
    try:
        include_folders()
        return f"when needed, built by {compiler()[0]}"
    except BuildError as error:
        return f"no: {error}"


def compiler() -> list[str]:
    """Return the command of a C compiler; raises `BuildError` if there is none."""
    named = shlex.split(os.environ.get("CC", "")) or ["cc"]
    if shutil.which(named[0]) is None:
        raise BuildError(f"there is no C compiler '{named[0]}'")
    return named


def include_folders() -> list[str]:
    """Return the folders of the interpreter's headers; raises `BuildError` if there are none."""
    paths = sysconfig.get_paths()
    found = [*dict.fromkeys((paths["include"], paths["platinclude"]))]
    if not any((Path(folder) / "Python.h").exists() for folder in found):
        raise BuildError(f"there is no Python.h in {found[0]}")
    return found


def build() -> bytes:
    """Compile, and return the shared library; raises `BuildError` with the compiler's errors."""
    includes = [f"-I{folder}" for folder in include_folders()]
    with TemporaryDirectory(prefix="tileas-") as folder:
        made = Path(folder) / "launcher.so"
        command = [*compiler(), *FLAGS, *includes, str(SOURCE), "-o", str(made)]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=MAX_SECONDS)
        except subprocess.CalledProcessError as error:
            raise BuildError(error.stderr.decode(errors="replace").strip()) from None
        except subprocess.SubprocessError as error:
            raise BuildError(str(error)) from None
        return made.read_bytes()


def _key() -> str:
    """Return the cache's key: the source, and the interpreter's binary interface."""
    abi = str(sysconfig.get_config_var("SOABI"))
    return entry_key(SOURCE.read_bytes(), abi, sysconfig.get_platform(), *FLAGS)


def _imported(data: bytes) -> Any:
    """Import the shared library from a file that exists as long as that takes."""
    with TemporaryDirectory(prefix="tileas-") as folder:
        path = Path(folder) / "launcher.so"
        path.write_bytes(data)
        spec = spec_from_file_location(NAME, path, loader=ExtensionFileLoader(NAME, str(path)))
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
