"""The page of ten questions: each command prints what the page shows, in this order."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tileas_xdsl.tools.tileas import app

pytest.importorskip("cuda.tile")

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/explaining.md").read_text(encoding="utf-8")
VARIABLES = dict(re.findall(r"^([A-Z]+)='(.*)'$", PAGE, re.MULTILINE))
SHOWN = re.findall(r"```\n\$ tileas ((?:[^\n]*\\\n)*[^\n]*)\n(.*?)\n```", PAGE, re.DOTALL)
SLOW = ("DEEP", "tune")
"""In commands that compile a kernel several times."""


def question(command: str, shown: str) -> object:
    is_slow = any(word in command for word in SLOW)
    name = " ".join(command.split()[:2])
    return pytest.param(command, shown, id=name, marks=pytest.mark.slow if is_slow else ())


def test_all_questions_are_there() -> None:
    assert len(re.findall(r"^## \d", PAGE, re.MULTILINE)) == 10
    assert len(SHOWN) == 11
    assert set(VARIABLES) == {"SIG", "WIDE", "DEEP", "LOOSE"}


@pytest.mark.parametrize(("command", "shown"), [question(*one) for one in SHOWN])
def test_a_command_prints_what_the_page_shows(
    command: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (ROOT / "docs/explaining").iterdir():
        shutil.copy(path, tmp_path)
    kernel = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    (tmp_path / "matmul.py").write_text(kernel, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TILEAS_CACHE_DIR", "")
    text = re.sub(r'"\$([A-Z]+)"', lambda name: shlex.quote(VARIABLES[name[1]]), command)
    result = CliRunner().invoke(app, shlex.split(text.replace("\\\n", "")))
    printed = [line.rstrip() for line in (result.stdout + result.stderr).splitlines()]
    at = 0
    for line in (one for one in shown.splitlines() if one != "..."):
        begin = line.removesuffix("...")
        found = [k for k in range(at, len(printed)) if matches(printed[k], line, begin)]
        assert found, f"{line!r} is not in, or not behind what is before it:\n{result.stdout}"
        at = found[0] + 1


def matches(printed: str, line: str, begin: str) -> bool:
    """Whether a line is what the page shows, or begins so where that ends in dots."""
    return printed == line or (begin != line and printed.startswith(begin))
