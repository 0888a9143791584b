"""The page of a kernel that a program has compiled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.report.building import Subject, build_report
from tileas_xdsl.report.page import page
from tileas_xdsl.report.runs import Arguments


def kernel_page(
    kernel: CompiledKernel, *arguments: Any, grid: int | Sequence[int] | None = None
) -> str:
    """Return the HTML page of a kernel, which is compiled again by its own passes to be watched.

    With a grid and the arguments of a launch it runs on the interpreters; arrays stay as they are.
    Raises `ArgumentError` and `LaunchError` for arguments that do not fit.
    """
    source = kernel.above if kernel.above is not None else kernel.source
    subject = Subject(
        source, kernel.ctx, kernel.name, kernel.target, kernel.name, kernel.parameters
    )
    run = None if grid is None else Arguments(arguments, grid)
    return page(build_report(subject, python_source, run))


def python_source(name: str) -> str | None:
    """The text of a Python file that a kernel was traced from: its code has run already."""
    path = Path(name)
    if path.suffix != ".py" or not path.is_file():
        return None
    return path.read_text(encoding="utf-8", errors="replace")
