"""The kernels and notebooks that come with the package: `tileas example` lists, shows and copies.

In a wheel they lie beside this file; in a checkout they are the folders `kernels` and `notebooks`
at its root.  The kernels are a package of their own, `kernels`, as in the checkout: `copy_to` puts
it where the user works, and there it is imported.
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from tileas_xdsl.data_classes import dataclass

FOLDERS = ("kernels", "notebooks")

_SHOWN = ("kernels/tl/*.mlir", "kernels/cutile/*.py", "notebooks/*.py")
"""The files that a reader begins with; the others are what they share."""


@dataclass(frozen=True)
class Example:
    """A file that a command of `tileas` or marimo takes."""

    name: str
    """Its path without the suffix, as `tl/gemm`."""
    path: Path
    summary: str


class NoExamplesError(Exception):
    """The package was installed without its examples."""


def folder() -> Path:
    """Return where the examples lie; raises `NoExamplesError`."""
    here = Path(__file__).resolve().parent
    for found in (here, here.parents[1]):
        if all((found / name).is_dir() for name in FOLDERS):
            return found
    raise NoExamplesError(f"there are no examples at '{here}': install the wheel, or a checkout")


def examples() -> Iterator[Example]:
    """Yield the examples, by folder and name; raises `NoExamplesError`."""
    root = folder()
    for pattern in _SHOWN:
        for path in sorted(root.glob(pattern)):
            if (summary := _summary(path)) is not None:
                name = path.relative_to(root).with_suffix("").as_posix()
                yield Example(name.removeprefix("kernels/"), path, summary)


def _summary(path: Path) -> str | None:
    """The first sentence that a file says of itself; None of a Python file that is no example."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".mlir":
        lines = takewhile(lambda line: line.startswith("//"), text.splitlines())
        return _first_sentence(" ".join(line.removeprefix("//") for line in lines))
    is_example = "@ct.kernel" in text or "marimo.App(" in text
    return _first_sentence(ast.get_docstring(ast.parse(text)) or "") if is_example else None


def _first_sentence(text: str) -> str:
    """Return the text up to a full stop, on one line."""
    return re.split(r"(?<=\.) ", " ".join(text.split()), maxsplit=1)[0]


def copy_to(target: Path) -> Sequence[Path]:
    """Copy all examples into a folder; raises `OSError`, `FileExistsError` where they are there."""
    root = folder()
    made = [target / name for name in FOLDERS]
    for path in made:
        if path.exists():
            raise FileExistsError(17, "it exists already", str(path))
    for name, path in zip(FOLDERS, made, strict=True):
        shutil.copytree(
            root / name, path, ignore=shutil.ignore_patterns("__pycache__", "__marimo__")
        )
    return made
