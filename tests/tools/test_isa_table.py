"""The documentation page of PTX forms equals the table."""

from __future__ import annotations

from pathlib import Path

from tileas_xdsl.tools.isa_table import page

PAGE = Path(__file__).parents[2] / "docs" / "ptx_isa.md"


def test_the_page_is_what_the_table_makes() -> None:
    assert PAGE.read_text(encoding="utf-8") == "".join(page())
