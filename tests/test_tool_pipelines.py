"""Pipelines of the filecheck suite end as they would with a process for each tool."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lit.ShUtil import ShParser
from support import tool_pipelines

MODULE = "builtin.module {\n  func.func @f() {\n    func.return\n  }\n}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.mlir").write_text(f"// CHECK: @f\n// ABSENT: @g\n{MODULE}")
    (tmp_path / "bad.mlir").write_text("builtin.module {\n")
    return tmp_path


def run(folder: Path, line: str) -> tuple[int, list[Any]]:
    """The exit code of a line, and the results of its commands."""
    results = list[Any]()
    shell = SimpleNamespace(cwd=str(folder), env={"TILEAS_REPRODUCER_DIR": ""})
    command = ShParser(line, pipefail=True).parse()
    return tool_pipelines._run(command, shell, results, None), results


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("tileas-opt good.mlir | filecheck good.mlir", 0),
        ("tileas-opt good.mlir | filecheck good.mlir --check-prefix=ABSENT", 1),
        ("not tileas-opt good.mlir | filecheck good.mlir", 1),
        ("tileas-opt good.mlir --print-op-generic | xdsl-opt | filecheck good.mlir", 0),
        ("tileas-opt bad.mlir | tileas-opt", 1),
        ("not tileas-opt bad.mlir", 0),
        ("tileas-opt good.mlir -p no-such-pass", 2),
        ("env A=1 xdsl-opt good.mlir -o /dev/null", 0),
    ],
)
def test_codes(folder: Path, line: str, code: int) -> None:
    assert run(folder, line)[0] == code


def test_standard_error_is_output_where_it_is_joined(folder: Path) -> None:
    (apart,) = run(folder, "tileas-opt bad.mlir")[1]
    assert not apart.stdout
    assert apart.stderr.startswith("bad.mlir:")
    assert apart.exitCode == 1
    (joined,) = run(folder, "not tileas-opt bad.mlir 2>&1")[1]
    assert joined.stdout == apart.stderr
    assert not joined.stderr
    assert joined.exitCode == 0


def test_a_traceback_is_a_failure(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mains = {"tileas-opt": lambda: 1 // 0}
    monkeypatch.setattr(tool_pipelines, "tools", lambda: mains)
    code, (result,) = run(folder, "tileas-opt good.mlir")
    assert code == 1
    assert "ZeroDivisionError" in result.stderr


@pytest.mark.parametrize(
    "line",
    [
        "tileas-opt good.mlir > result.mlir",
        "tileas-opt < good.mlir",
        "tileas compile good.mlir | filecheck good.mlir",
        "tileas-opt *.mlir",
        "! tileas-opt bad.mlir",
        "not --crash tileas-opt good.mlir",
        "tileas-opt good.mlir && tileas-opt bad.mlir",
    ],
)
def test_what_needs_a_shell_is_left_to_lit(line: str) -> None:
    assert tool_pipelines.calls_of(ShParser(line, pipefail=True).parse()) is None
