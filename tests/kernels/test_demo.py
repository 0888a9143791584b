"""What `make demo` shows, and the table of the kernels of cuTile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from kernels import demo
from kernels.cutile import Problem, problems
from kernels.cutile.table import HEADER, print_rows
from kernels.kernel import Reference


@pytest.fixture
def problem() -> Problem:
    return next(problems("vector_add"))


def test_a_kernel_is_shown_from_its_source_to_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert demo.main(["--out", str(tmp_path), "softmax"]) == 0
    shown = capsys.readouterr().out
    assert "def softmax(" in shown
    assert shown.count("| yes |") == 2
    pictures = sorted(tmp_path.glob("*.svg"))
    assert len(pictures) >= 2
    assert all(f"   {path}\n" in shown for path in pictures)
    assert all(path.read_text(encoding="utf-8").startswith("<svg") for path in pictures)


def test_a_row_for_each_target(problem: Problem, capsys: pytest.CaptureFixture[str]) -> None:
    rows = print_rows([problem])
    assert [row.is_right for row in rows] == [True, True]
    assert capsys.readouterr().out.count("\n") == 4
    assert all(len(row.cells) == len(HEADER) for row in rows)


def test_what_is_wrong_is_no_right_row(
    problem: Problem, capsys: pytest.CaptureFixture[str]
) -> None:
    def off(arguments: Any) -> dict[int, Reference]:
        return {2: Reference(np.asarray(arguments[0]))}

    rows = print_rows([replace(problem, reference=off)])
    assert [row.is_right for row in rows] == [False, False]
    assert "| yes |" not in capsys.readouterr().out
