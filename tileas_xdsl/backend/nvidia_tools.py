"""Where NVIDIA's command-line tools are: in the wheels of the `ptxas` extra, or on PATH."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

INSTALL = "pip install 'tileas-xdsl[ptxas]'"
"""The command that installs the tools."""


class MissingToolError(Exception):
    """Raised where a tool is not installed; the message gives the way to install it."""


def find_tool(name: str) -> Path | None:
    """The tool called `name`: that of `$TILEAS_<NAME>`, of an installed wheel, or on PATH."""
    variable = f"TILEAS_{name.upper()}"
    if named := os.environ.get(variable):
        if not (os.path.isfile(named) and os.access(named, os.X_OK)):
            raise MissingToolError(f"{variable} names no program: '{named}'")
        return Path(named)
    return _in_wheels(name) or _on_path(name)


def need_tool(name: str) -> Path:
    """As `find_tool`; raises `MissingToolError` if there is none."""
    found = find_tool(name)
    if found is None:
        raise MissingToolError(f"{name} was not found; install it with: {INSTALL}")
    return found


def _in_wheels(name: str) -> Path | None:
    """NVIDIA's wheels put programs into `nvidia/cu13/bin`, older ones into `nvidia/*/bin`."""
    spec = importlib.util.find_spec("nvidia")
    for folder in () if spec is None else spec.submodule_search_locations or ():
        found = sorted(Path(folder).glob(f"*/bin/{name}"), reverse=True)
        if found:
            return found[0]
    return None


def _on_path(name: str) -> Path | None:
    found = shutil.which(name)
    return None if found is None else Path(found)
