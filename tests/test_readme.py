"""The README's examples print what it says they print, and its pictures are current."""

import doctest
import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tileas_xdsl.tools.tileas import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def without_times(text: str) -> str:
    """The output without what differs from run to run or with the table of latencies."""
    return re.sub(r"(cycles|wall time|speed) +\S+|( yes +)\d+", r"\1\2", text)


def test_commands_print_what_the_readme_shows(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    kernels = re.findall(r"```mlir\n([^`]*)```", README)
    for name, kernel in zip(("article.mlir", "add.mlir"), kernels, strict=True):
        Path(name).write_text(kernel, encoding="utf-8")
    shown = re.findall(r"```console\n\$ tileas (.*)\n([^`]*)```", README)
    assert len(shown) == 4
    for command, output in shown:
        result = CliRunner().invoke(app, shlex.split(command))
        assert result.exit_code == 0
        assert without_times(result.stdout) == without_times(output)
    picture = (ROOT / "docs/images/swizzled-tile.svg").read_text(encoding="utf-8")
    assert (tmp_path / "tile.svg").read_text(encoding="utf-8") == picture


def test_python_examples_run() -> None:
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert (failed, tried > 2) == (0, True)


def test_the_first_example_is_right(tmp_path: Path) -> None:
    pytest.importorskip("cuda.tile")
    (example,) = re.findall(r"```python\n(import cuda[^`]*)```", README)
    path = tmp_path / "example.py"
    path.write_text(re.sub(r"(?m)^kernel\.launch.*$", "", example), encoding="utf-8")
    found = runpy.run_path(str(path))
    kernel, x, y = found["kernel"], found["x"], found["y"]
    exponentials = np.exp(x - x.max(axis=1, keepdims=True))
    expected = exponentials / exponentials.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(kernel.simulate(x, y, grid=64).arrays[1], expected, 1e-5)


def test_every_command_is_in_the_table() -> None:
    for command in app.registered_commands:
        assert command.callback
        assert f"| `tileas {command.callback.__name__}" in README


def test_what_is_here_now_exists() -> None:
    for folder, state in re.findall(r"\| `tileas_xdsl/(\w+)/` \|.*\| (\w+) \|", README):
        assert (ROOT / "tileas_xdsl" / folder).is_dir() == (state in ("now", "begun"))


def test_docstring_examples_run() -> None:
    import tileas_xdsl.layout.int_tuple
    import tileas_xdsl.layout.inverse
    import tileas_xdsl.layout.layout

    for module in (
        tileas_xdsl.layout.int_tuple,
        tileas_xdsl.layout.inverse,
        tileas_xdsl.layout.layout,
    ):
        failed, tried = doctest.testmod(module)
        assert (failed, tried > 0) == (0, True)
