"""Colours: on terminals alone, and not where their user wants none."""

from __future__ import annotations

from io import StringIO

import pytest

from tileas_xdsl.diagnostics.colours import painter
from tileas_xdsl.diagnostics.report import Location, Severity, diagnostic, render

REPORT = diagnostic(Severity.ERROR, "it is odd", Location("a.mlir", 1, 2))


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    text = render(REPORT, painter(Terminal()))
    assert text == "\x1b[1ma.mlir:1:2:\x1b[0m \x1b[1;31merror:\x1b[0m it is odd\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_can_be_turned_off(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    assert render(REPORT, painter(Terminal())) == render(REPORT) == "a.mlir:1:2: error: it is odd\n"


def test_a_file_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert render(REPORT, painter(StringIO())) == render(REPORT)
