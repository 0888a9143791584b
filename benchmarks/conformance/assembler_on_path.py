"""A suite on cuTile as it is, whose assembler `tileiras` is `tileas-as`.

cuTile looks for the assembler's package first and in PATH then; here PATH begins with a folder where
`tileiras` is a link to the `tileas-as` of this interpreter, and the package is not looked for.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER_VARIABLE = "TILEAS_CONFORMANCE_TOOLS"
"""The folder with the link, for the processes that tests start."""

NAME = "tileiras"


def link_assembler() -> Path:
    """Put a folder with the link first in PATH, once for a process and its children; return it."""
    if FOLDER_VARIABLE in os.environ:
        return Path(os.environ[FOLDER_VARIABLE])
    installed = Path(sys.executable).parent / "tileas-as"
    tool = str(installed) if installed.exists() else shutil.which("tileas-as")
    if tool is None:
        raise FileNotFoundError("tileas-as is not installed beside this Python, nor in PATH")
    folder = Path(tempfile.mkdtemp(prefix="tileas-as-"))
    (folder / NAME).symlink_to(tool)
    os.environ["PATH"] = os.pathsep.join([str(folder), os.environ.get("PATH", "")])
    os.environ[FOLDER_VARIABLE] = str(folder)
    # What another assembler has made is not ours.
    os.environ["CUDA_TILE_CACHE_DIR"] = str(folder / "cache")
    return folder


def use_assembler(compilation: Any) -> None:
    """Make `cuda.tile._compile` find the assembler that is in PATH."""
    link_assembler()
    find: Callable[[], str | None] = lambda: None  # noqa: E731
    compilation._find_pip_tileiras = find
    compilation._find_compiler_bin.cache_clear()
