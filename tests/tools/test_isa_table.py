"""The documentation pages of PTX forms and of executed instructions equal their tables."""

from __future__ import annotations

import re
from pathlib import Path

from tileas_xdsl.tools import emulated_table
from tileas_xdsl.tools.isa_table import page

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_what_the_table_makes() -> None:
    assert (DOCS / "ptx_isa.md").read_text(encoding="utf-8") == "".join(page())


def test_every_instruction_is_executed_or_refused_with_a_reason() -> None:
    text = "".join(emulated_table.page())
    assert (DOCS / "ptx_emulated.md").read_text(encoding="utf-8") == text
    assert not re.search(r"`: (;|\|)", text), "refused without a reason"
