"""`tileas example`: what comes with the package is listed, shown, copied, and then works."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kernels.tl import KERNELS
from tileas_xdsl.examples import copy_to, examples
from tileas_xdsl.tools.tileas import app

ROOT = Path(__file__).parents[4]


def run(*args: str) -> Result:
    result = CliRunner().invoke(app, list(args))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.mark.parametrize("name", KERNELS)
def test_a_file_is_its_template_with_defaults(name: str) -> None:
    text = (ROOT / f"kernels/tl/{name}.mlir").read_text()
    assert text == KERNELS[name]().text(), f"python -m kernels.tl {name} > kernels/tl/{name}.mlir"


def test_examples_are_listed_and_shown() -> None:
    listed = run("example", "list").stdout
    for name in ("tl/gemm", "cutile/attention", "notebooks/layouts"):
        assert f"\n{name} " in listed
    assert "cutile/problem" not in listed
    assert all(one.summary[-1] in ".`" for one in examples())
    assert run("example", "show", "tl/gemm").stdout == (ROOT / "kernels/tl/gemm.mlir").read_text()


def test_an_unknown_example_is_an_error_with_a_hint() -> None:
    result = run("example", "show", "tl/gem")
    assert result.exit_code == 1
    assert "there is no example 'tl/gem'; did you mean tl/gemm?" in result.stderr


def test_copies_are_complete_and_never_overwrite(tmp_path: Path) -> None:
    assert run("example", "copy", str(tmp_path)).exit_code == 0
    ours = {path.relative_to(ROOT) for path in (ROOT / "kernels").rglob("*.mlir")}
    assert {path.relative_to(tmp_path) for path in tmp_path.rglob("*.mlir")} == ours
    assert (tmp_path / "notebooks/layouts.py").exists()
    assert not list(tmp_path.rglob("__pycache__"))
    result = run("example", "copy", str(tmp_path))
    assert result.exit_code == 1
    assert "it exists already" in result.stderr


def test_a_copied_kernel_of_a_package_is_input(tmp_path: Path) -> None:
    pytest.importorskip("cuda.tile")
    copy_to(tmp_path)
    file = f"{tmp_path}/kernels/cutile/saxpy.py:saxpy"
    result = run("compile", file, "--sig", "n: i32", "--emit", "cuda_tile")
    assert result.exit_code == 1
    assert "the signature has 'n'" in result.stderr
