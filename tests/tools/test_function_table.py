"""The documentation page of functions equals the tables."""

from __future__ import annotations

from pathlib import Path

from tileas_xdsl.tools.function_table import page

PAGE = Path(__file__).parents[2] / "docs" / "functions.md"


def test_the_page_is_what_the_tables_make() -> None:
    assert PAGE.read_text(encoding="utf-8") == "".join(page())
