"""What benchmarks and hardware tests import of the package is there, though no test runs them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(
    path
    for folder in ("benchmarks", "tests/hardware", "notebooks")
    for path in (ROOT / folder).rglob("*.py")
)


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """The modules of the package that a script names, each with a name from it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tileas_xdsl"):
            assert node.module is not None
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_script_imports_is_there(path: Path) -> None:
    for module, name in imported(path):
        found = hasattr(import_module(module), name) or find_spec(f"{module}.{name}") is not None
        assert found, f"{path.name} imports {name} of {module}"
