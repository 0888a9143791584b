"""Run test kernels on the emulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tileas_xdsl.interpreters import ptx as emulator


def emulate(text: str, arguments: Sequence[Any], grid: Any = 1, **options: Any) -> list[Any]:
    """Run the only kernel and return its arguments; the emulator must report no finding."""
    report = emulator.run(emulator.load(text), None, list(arguments), grid, **options)
    assert [f"{finding.line}: {finding.message}" for finding in report.findings] == []
    assert report.finished
    return report.arrays
