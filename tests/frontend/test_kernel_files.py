"""Kernels in Python files: what running such a file may do wrong."""

import sys
from pathlib import Path

import pytest

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.frontend.kernel_files import find_name, run_file, split_reference


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("kernel.py:matmul", ("kernel.py", "matmul")),
        ("a/kernel.py", ("a/kernel.py", "")),
        ("C:/kernels/k.py:f", ("C:/kernels/k.py", "f")),
        ("kernel.mlir", None),
        ("kernel.mlir:f", None),
    ],
)
def test_references(text: str, found: tuple[str, str] | None) -> None:
    assert split_reference(text) == found


def write(folder: Path, text: str) -> str:
    path = folder / "some_kernel.py"
    path.write_text(text)
    return str(path)


def test_a_file_finds_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_a_kernel.py").write_text("SIZE = 64\n")
    file = write(tmp_path, "from neighbour_of_a_kernel import SIZE\n")
    assert find_name(run_file(file), file, "SIZE") == 64
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("x = 1\ny = z\n", 2, "running this file failed: NameError: name 'z' is not defined"),
        ("def f():\n    return 1 / 0\n\nf()\n", 2, "ZeroDivisionError: division by zero"),
        ("x = (\n", 1, "'(' was never closed"),
        ("import json\njson.loads('')\n", 2, "JSONDecodeError"),
        ("raise SystemExit(3)\n", 1, "SystemExit: 3"),
    ],
)
def test_a_failure_is_at_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(DiagnosticError) as caught:
        run_file(file)
    [report] = caught.value.diagnostics
    assert report.location is not None
    assert (report.location.file, report.location.line) == (file, line)
    assert message in report.message
    assert report.source_line == text.splitlines()[line - 1]


def test_a_missing_name_is_guessed(tmp_path: Path) -> None:
    file = write(tmp_path, "def matmul(): ...\n")
    with pytest.raises(DiagnosticError, match=r"no 'matmull' in this file; did you mean matmul\?"):
        find_name(run_file(file), file, "matmull")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError, match="cannot read the file"):
        run_file(str(tmp_path / "none.py"))
