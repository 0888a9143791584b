"""Assemble the source of the documentation site: `python docs/site/assemble.py FOLDER`.

It has the tree of the repository, so that links between pages lead to the same places: the pages
that are there, `reference/` from the code, and each notebook as a page with what it renders.
"""

from __future__ import annotations

import ast
import re
import runpy
import shutil
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from textwrap import dedent

from tileas_xdsl.tools.reference_pages import reference_pages

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    *("*.md", "docs/**/*.md", "docs/images/*", "kernels/README.md"),
    *("benchmarks/*.md", "benchmarks/measured/*.md"),
)
API = (
    ("", "compiler", "compiled_kernel", "compilation.compiled_module", "cutile"),
    ("cache", "check"),
    ("layout", "layout.layout", "layout.memory.memory_layout", "layout.registers.register_layout"),
    ("layout.swizzle", "layout.output.draw", "target.arch", "target.kernel_abi"),
    ("interpreters.ptx", "interpreters.ptx.launch", "interpreters.ptx.checking.reports.findings"),
    ("interpreters.tile.launch", "interpreters.cuda_tile.launch", "runtime.emulation"),
    ("explanation.kernel", "explanation.facts", "report.kernel_page", "examples"),
)
"""The modules that programs use; the others are for those who change them, and are read there."""

STYLE = """\
.output { overflow-x: auto; }
.output svg { max-width: none !important; }
.md-typeset h2 code, .md-typeset h3 code { font-size: 0.85em; }
"""

_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")


def main(folder: Path) -> None:
    """Write all pages into a folder, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    for pattern in COPIED:
        for path in ROOT.glob(pattern):
            _copy(path, folder / path.relative_to(ROOT))
    for name, text in reference_pages():
        _write(folder / "reference" / name, text)
    _write_api(folder / "reference/api")
    for path in sorted(ROOT.glob("notebooks/*.py")):
        _write(folder / f"notebooks/{path.stem}.md", "\n\n".join(notebook(path)) + "\n")
    _write(folder / "site.css", STYLE)


def _write_api(folder: Path) -> None:
    """A page for each module, written by mkdocstrings from its docstrings, and a list of them."""
    modules = [f"tileas_xdsl.{name}".rstrip(".") for row in API for name in row]
    for module in modules:
        _write(folder / f"{module}.md", f"# {module}\n\n::: {module}\n")
    rows = [f"* [`{module}`]({module}.md): {_summary(module)}" for module in modules]
    _write(folder / "README.md", "# Python modules\n\n" + "\n".join(rows) + "\n")


def _summary(module: str) -> str:
    """The first line of the docstring of a module."""
    return (import_module(module).__doc__ or "").partition("\n")[0]


def _copy(path: Path, target: Path) -> None:
    """A page as it is, with links to files that have pages here leading to these."""
    if path.suffix != ".md":
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
        return
    text = path.read_text(encoding="utf-8")
    _write(target, _LINK.sub(_paged, text))


def _paged(found: re.Match[str]) -> str:
    """A link to a notebook leads to its page; the licence is in the repository alone."""
    link, anchor = found[1], found[2] or ""
    if re.search(r"(^|/)notebooks/\w+\.py$", link):
        link = f"{link.removesuffix('.py')}.md"
    return f"]({link}{anchor})"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def notebook(path: Path) -> Iterator[str]:
    """Yield the parts of the page of a notebook: its texts, its code, and what that renders."""
    yield f"*`marimo edit notebooks/{path.name}` opens this page with its controls.*"
    with redirect_stdout(StringIO()):
        outputs, _ = runpy.run_path(str(path))["app"].run()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    cells = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for cell, output in zip(cells, outputs, strict=True):
        if (text := _markdown(cell)) is not None:
            yield text
            continue
        yield f"```python\n{_code(cell)}\n```"
        if html := getattr(output, "text", ""):
            yield f'<div class="output" markdown="0">\n{_compact(html)}\n</div>'


def _markdown(cell: ast.FunctionDef) -> str | None:
    """The text of a cell that is `mo.md("...")`."""
    match cell.body[0]:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name("mo"), "md"), [ast.Constant(str(text))])):
            return dedent(text).strip()
        case _:
            return None


def _code(cell: ast.FunctionDef) -> str:
    body = [node for node in cell.body if not isinstance(node, ast.Return)]
    return "\n".join(map(ast.unparse, body)) or "pass"


def _compact(html: str) -> str:
    """Without empty lines, at which Markdown would go on."""
    return "\n".join(line for line in html.splitlines() if line.strip())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
