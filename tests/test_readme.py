"""The README, the guides and other pages: examples print what is shown, links and paths exist."""

import doctest
import re
import runpy
import shlex
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tileas_xdsl.cutile
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.tools.tileas import app
from tileas_xdsl.universe import TILEAS_UNIVERSE

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDES = "".join(p.read_text(encoding="utf-8") for p in sorted(ROOT.glob("docs/guides/*.md")))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
KERNELS = {"article": "article.mlir", "add": "add.mlir"}
"""Functions of the kernels that guides show, and the files that their commands read."""


def without_times(text: str) -> str:
    """The output without what differs from run to run or with the table of latencies."""
    return re.sub(r"(cycles|wall time|speed) +\S+|( yes +)\d+", r"\1\2", text)


def test_commands_print_what_the_guides_show(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kernel in re.findall(r"```mlir\n([^`]*)```", GUIDES):
        name = re.findall(r"func.func @(\w+)", kernel)[0]
        Path(KERNELS[name]).write_text(kernel, encoding="utf-8")
    shown = re.findall(r"```console\n\$ tileas (.*)\n([^`$]*)```", GUIDES)
    assert len(shown) == 4
    for command, output in shown:
        result = CliRunner().invoke(app, shlex.split(command))
        assert result.exit_code == 0
        assert without_times(result.stdout) == without_times(output)
    picture = (ROOT / "docs/images/swizzled-tile.svg").read_text(encoding="utf-8")
    assert (tmp_path / "tile.svg").read_text(encoding="utf-8") == picture


def test_python_examples_run() -> None:
    page = ROOT / "docs/guides/layouts.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert (failed, tried > 2) == (0, True)


def test_the_first_example_is_right(tmp_path: Path) -> None:
    pytest.importorskip("cuda.tile")
    program, compiled = re.findall(r"```python\n([^`]*)```", README)[:2]
    path = tmp_path / "example.py"
    example = re.sub(r"(?m)^kernel\.launch.*$", "", program + compiled)
    path.write_text(example.replace("install()", 'install("emulator")'), encoding="utf-8")
    try:
        found = runpy.run_path(str(path))
    finally:
        tileas_xdsl.cutile.uninstall()
    kernel, x, y = found["kernel"], found["x"], found["y"]
    exponentials = np.exp(x - x.max(axis=1, keepdims=True))
    expected = exponentials / exponentials.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(y, expected, 1e-5)
    np.testing.assert_allclose(kernel.simulate(x, y, grid=64).arrays[1], expected, 1e-5)


def test_the_kernel_of_the_cutile_guide_compiles_by_its_commands(
    tmp_path: Path, monkeypatch
) -> None:
    pytest.importorskip("cuda.tile")
    page = (ROOT / "docs/guides/cutile.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    Path("kernel.py").write_text(re.findall(r"```python\n([^`]*)```", page)[0], encoding="utf-8")
    (signature,) = re.findall(r"--sig '([^'.]+)'", page)
    commands = re.findall(r"(?m)^\$ tileas (compile .*)$", page)
    assert len(commands) == 3
    for command in commands:
        words = shlex.split(command.replace("'...'", shlex.quote(signature)))
        assert CliRunner().invoke(app, words).exit_code == 0
    assert "wgmma" in Path("matmul.ptx").read_text(encoding="utf-8")


def test_the_walk_shows_what_passes_print(tmp_path: Path) -> None:
    pytest.importorskip("cuda.tile")
    page = (ROOT / "docs/ARCHITECTURE.md").read_text(encoding="utf-8")
    path = tmp_path / "walk.py"
    path.write_text(re.findall(r"```python\n([^`]*)```", page)[0], encoding="utf-8")
    kernel = runpy.run_path(str(path))["kernel"]
    excerpts = re.findall(r"```(?:mlir ([\w-]+)|ptx)\n([^`]*)```", page)
    assert len(excerpts) == 7
    for name, shown in excerpts:
        printed = iter(without_names(kernel.ir(name) if name else kernel.ptx).splitlines())
        for line in without_names(shown).splitlines():
            pattern = ".*".join(map(re.escape, line.strip().split("...")))
            assert any(re.fullmatch(pattern, other.strip()) for other in printed), (name, line)


def without_names(text: str) -> str:
    """The text without the names of values and registers, which any pass may renumber."""
    return re.sub(r"%\w+", "%", text)


def test_every_command_is_in_the_table() -> None:
    for command in app.registered_commands:
        assert command.callback
        assert f"| `tileas {command.callback.__name__}" in README


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_paths_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []
    # `make docs` has a page or picture for each: not for folders and code.
    named = (".md", ".svg", ".png", "LICENSE")
    assert [link for link in links if not link.endswith((*named, ".py"))] == []
    assert [link for link in links if link.endswith(".py") and "notebooks/" not in link] == []
    paths = re.findall(r"`((?:tileas_xdsl|tests|kernels|docs|notebooks)/[\w./-]+)`", text)
    assert [path for path in paths if not (ROOT / path).exists()] == []


WRITTEN_ELSEWHERE = {
    "dialects/gate.py",
    "dialects/gpu.py",
    "interpreters/tensor.py",
    "scf_for_loop_flatten.py",
    "transforms/convert_to_cz_j.py",
    "transforms/loop_hoist_memref.py",
    "walk.py",
}
"""Files of xDSL, of inconspiquous and of a reader, as pages name them."""


def test_files_and_passes_that_pages_name_exist() -> None:
    """A file is named by the end of its path at least: `memory/views.py`."""
    folders = ("tileas_xdsl", "kernels", "tests", "benchmarks", "docs", "notebooks")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    ends = {"/".join(path.parts[-n:]) for path in files for n in range(1, 8)} | WRITTEN_ELSEWHERE
    passes = (ROOT / "docs/passes.md").read_text(encoding="utf-8")
    not_here = re.findall(r"`([\w-]+)`", "".join(re.findall(r"(?m)^\| (`tileas-.*`) \|", passes)))
    known = {*TILEAS_UNIVERSE.all_passes, *PIPELINES, *not_here, "tileas-opt", "tileas-run"}
    known |= {"tileas-as", "tileas-xdsl"}
    for page in set(PAGES) - {ROOT / "CHANGELOG.md"}:
        prose = re.sub(r"(?s)```.*?```", "", page.read_text(encoding="utf-8"))
        named = re.findall(r"`([\w./-]+\.(?:py|mlir|md))`", prose)
        assert [name for name in named if name not in ends] == [], page
        named = re.findall(r"`((?:tileas|tl|cute|convert|lower)(?:-[a-z0-9]+)+)`", prose)
        assert [name for name in named if name not in known] == [], page


def test_the_documentation_site_lists_modules_that_exist() -> None:
    listed = runpy.run_path(str(ROOT / "docs/site/assemble.py"))["API"]
    modules = [f"tileas_xdsl.{name}".rstrip(".") for row in listed for name in row]
    assert [name for name in modules if find_spec(name) is None] == []


EXAMPLES = [
    path
    for path in sorted((ROOT / "tileas_xdsl").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]
"""Modules with examples in docstrings."""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_docstring_examples_run(path: Path) -> None:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    failed, tried = doctest.testmod(import_module(name.removesuffix(".__init__")))
    assert (failed, tried > 0) == (0, True)
