"""`tileas tune`: mistakes of the command line; what is found is tested with the tuner."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tileas_xdsl.tools.tileas import app

pytest.importorskip("cuda.tile")

KERNEL = f"{Path(__file__).parents[3] / 'explanation' / 'matmul.py'}:matmul"
SIGNATURE = "a: f16[?, ?%8], b: f16[?, ?%8], c: f16[?, ?%8], tm=128, tn=128, tk=64"
ARRAYS = ["--arg", "f16:256x64:zeros", "--arg", "f16:64x128:zeros", "--arg", "f16:256x128:zeros"]


def run(*args: str, kernel: str = KERNEL) -> Result:
    result = CliRunner().invoke(app, ["tune", kernel, *args])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--space", "tm=64;128", "--grid", "1"], "is no NAME=VALUE,VALUE"),
        (["--space", "tz=64", "--grid", "1", *ARRAYS], "'tz' is no constant and no hint"),
        (["--space", "tm=64", "--grid", "tz", *ARRAYS], "'tz' in 'tz' is no constant"),
        (["--space", "tm=64", "--grid", "1", "--executor", "x", *ARRAYS], "no executor 'x'"),
        (["--space", "tm=64"], "Missing option '--grid'"),
    ],
)
def test_wrong_command_lines(args: list[str], why: str) -> None:
    result = run("--sig", SIGNATURE, *args)
    assert (result.exit_code, why in " ".join(result.stderr.split())) == (2, True), result.stderr


def test_a_kernel_without_constants_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kernel.mlir"
    path.write_text("func.func @f() { func.return }")
    result = run("--sig", "n: i32", "--space", "tm=64", "--grid", "1", kernel=str(path))
    assert result.exit_code == 2
    assert "tune is for kernels of cuTile" in result.stderr
