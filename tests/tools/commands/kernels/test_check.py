"""`tileas check`: outputs and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from tests.check.racy_kernel import RIGHT, WRONG
from tests.tools.kernels_to_run import ADD, TYPES
from tileas_xdsl.tools.tileas import app

LAUNCH = ("--block", "64", "--arg", "i32:64:zeros", "--arg", "i32:64")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has a folder of its own with the kernels."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "right.ptx").write_text(RIGHT)
    (tmp_path / "wrong.ptx").write_text(WRONG)
    return tmp_path


def run(*args: str, code: int) -> Result:
    result = CliRunner().invoke(app, ["check", *args])
    assert "internal error" not in result.output
    assert result.exit_code == code, result.output
    return result


def test_a_right_kernel_ends_with_zero() -> None:
    assert run("right.ptx", *LAUNCH, code=0).stdout.startswith("no findings; ")


def test_a_finding_has_its_line_its_source_and_ends_with_one() -> None:
    result = run("wrong.ptx", *LAUNCH, code=1)
    assert "wrong.ptx:22:5: error: 'ld.shared.u32' reads tile+0xfc" in result.stderr
    assert "swap.py:9:5: note: compiled from here" in result.stderr
    assert result.stdout.startswith("1 finding; ")


def test_accepted_findings_end_with_zero_and_idle_suppressions_are_named() -> None:
    result = run("wrong.ptx", *LAUNCH, "--allow", "race-RAW:9", "--allow", "tma", code=0)
    assert "1 accepted finding; " in result.stdout
    assert "--allow tma accepted nothing" in result.stderr


def test_formats_are_alone_on_stdout() -> None:
    found = json.loads(run("wrong.ptx", *LAUNCH, "--json", code=1).stdout)
    assert found["findings"][0]["kind"] == "race-RAW"
    assert json.loads(run("right.ptx", *LAUNCH, "--sarif", code=0).stdout)["version"] == "2.1.0"
    assert run("wrong.ptx", *LAUNCH, "--github", code=1).stdout.startswith("::error file=swap.py")


def test_a_launch_file_says_everything(folder: Path) -> None:
    np.save(folder / "x.npy", np.zeros(64, np.int32))
    launch = {"block": 64, "grid": [1], "args": ["@x.npy", "i32:64"]}
    (folder / "launch.json").write_text(json.dumps(launch))
    run("right.ptx", "--launch", "launch.json", code=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "'launch.json' is no JSON: "),
        ("[]", "'launch.json' is no JSON object"),
        ('{"blocks": 3}', "'launch.json': unknown key 'blocks'; known: kernel, grid, block,"),
        ('{"grid": "x"}', "'launch.json': 'grid' is one to three numbers, not 'x'"),
        ('{"args": [3]}', "'launch.json': 'args' is a list of texts, not 3"),
    ],
)
def test_a_wrong_launch_file_is_an_error(folder: Path, text: str, message: str) -> None:
    (folder / "launch.json").write_text(text)
    assert message in run("right.ptx", "--launch", "launch.json", code=1).stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("right.ptx", "--allow", "race"), "'race' is no kind of finding"),
        (("right.ptx", "--json", "--sarif"), "--json and --sarif exclude each other"),
        (("add.mlir", "--shared", "8"), "--shared is for .ptx files"),
    ],
)
def test_a_wrong_command_line_ends_with_two(options: tuple[str, ...], message: str) -> None:
    assert message in run(*options, code=2).output


def test_kernels_of_tiles_are_compiled_and_checked(folder: Path) -> None:
    (folder / "add.mlir").write_text(TYPES + ADD)
    arrays = ("f32:128:random", "f32:128:random", "f32:128:zeros")
    args = [word for spec in arrays for word in ("--arg", spec)]
    run("add.mlir", *args, "--schedules", "1", code=0)
