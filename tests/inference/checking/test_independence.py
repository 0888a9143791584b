"""The checker shares no code with the inference that it checks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tileas_xdsl.inference.checking

PACKAGE = "tileas_xdsl.inference.checking"
CONTRACT = {"program", "decisions", "fragment_map", "staging"}
TABLES = {
    f"tileas_xdsl.layout.{name}"
    for name in ("expr.expression", "expr.tables", "integers", "tables", "units")
}
ALLOWED = (
    {f"tileas_xdsl.inference.{name}" for name in CONTRACT}
    | TABLES
    | {"tileas_xdsl.data_classes", "tileas_xdsl.target.arch"}
)
FILES = sorted(Path(tileas_xdsl.inference.checking.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_knows_the_contract_and_tables_only(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        assert not isinstance(node, ast.Import) or "tileas" not in ast.dump(node)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("tileas_xdsl"):
            module = str(node.module)
            assert module in ALLOWED or module.startswith(f"{PACKAGE}.") or module == PACKAGE


@pytest.mark.parametrize("name", sorted(CONTRACT))
def test_the_contract_is_data(name: str) -> None:
    """What both sides import decides nothing: it imports no part of inference but itself."""
    path = FILES[0].parents[1] / f"{name}.py"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and "inference" in str(node.module):
            assert node.module in ALLOWED
