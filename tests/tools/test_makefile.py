"""The Makefile finds a Python that is new enough, under whatever name, in any shell."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKE = shutil.which("make")

pytestmark = pytest.mark.skipif(MAKE is None, reason="make is not installed")


def found_python(folder: Path, *shell: str) -> str:
    """What the Makefile takes for Python when `PATH` has nothing but `folder`."""
    arguments = [
        MAKE,
        "-s",
        "-C",
        str(ROOT),
        "--eval",
        "show: ; @:; echo $(PYTHON)",
        *shell,
        "show",
    ]
    result = subprocess.run(
        arguments, env={"PATH": str(folder)}, capture_output=True, text=True, check=True
    )
    assert result.stderr == ""
    return result.stdout.strip()


def put_python(folder: Path, name: str) -> str:
    path = folder / name
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    path.chmod(0o755)
    return str(path)


def put_old_python(folder: Path, name: str) -> None:
    """Any program that fails stands for a Python below 3.11."""
    (folder / name).write_text("#!/bin/sh\nexit 1\n")
    os.chmod(folder / name, 0o755)


@pytest.mark.parametrize(
    "name", ["python3.11", "python3.12", "python3.13", "python3.14", "python3"]
)
def test_python_under_one_name(tmp_path: Path, name: str) -> None:
    assert found_python(tmp_path) == ""
    expected = put_python(tmp_path, name)
    assert found_python(tmp_path) == expected
    for shell in filter(None, map(shutil.which, ("dash", "bash"))):
        assert found_python(tmp_path, f"SHELL={shell}") == expected


def test_an_old_python_is_passed_over(tmp_path: Path) -> None:
    put_old_python(tmp_path, "python3.11")
    put_old_python(tmp_path, "python3")
    assert found_python(tmp_path) == ""
    expected = put_python(tmp_path, "python3.13")
    assert found_python(tmp_path) == expected
