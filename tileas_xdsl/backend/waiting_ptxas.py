"""`ptxas` that is loaded while its text is still being compiled, and waits for it.

    with waiting_ptxas("sm_90a") as waiting:
        kernel = compile_module(...)               ptxas loads on another core
        kernel.assemble(waiting=waiting)           it reads the text, and assembles

Loading takes it six milliseconds, a quarter of what it needs for a kernel of a hundred lines.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.target.arch import get_target

_INPUT = "/dev/stdin"
"""The file that is what a process is given; where there is none, nothing is started early."""


class WaitingPtxas:
    """A process that has not read its text yet."""

    def __init__(self, program: Path, target: str, folder: Path) -> None:
        """`target` is the name of a GPU; the machine code goes to `folder`."""
        self.target = get_target(target).name
        self._cubin = folder / "kernel.cubin"
        self._process = subprocess.Popen(
            [program, "-v", f"-arch={self.target}", _INPUT, "-o", self._cubin],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )

    def assemble(self, text: str) -> tuple[bytes, str] | None:
        """Return the machine code and the log; None where there is none, or it has read a text."""
        if self._process.returncode is not None:
            return None
        try:
            log, _ = self._process.communicate(text)
        except OSError:
            return None
        return None if self._process.returncode else (self._cubin.read_bytes(), log)

    def end(self) -> None:
        """End the process if it still waits."""
        if self._process.returncode is None:
            self._process.kill()
            self._process.communicate()


@contextmanager
def waiting_ptxas(target: str) -> Generator[WaitingPtxas | None]:
    """Start ptxas for one text of a target; None where it is not installed, or cannot wait."""
    program = find_tool("ptxas")
    if program is None or not os.path.exists(_INPUT):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="tileas-") as folder:
        waiting = WaitingPtxas(program, target, Path(folder))
        try:
            yield waiting
        finally:
            waiting.end()
