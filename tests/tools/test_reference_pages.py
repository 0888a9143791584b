"""The reference is written from the code; the site's list of pages names pages that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tileas_xdsl.tools.reference_pages import reference_pages
from tileas_xdsl.tools.tileas import COMMANDS
from tileas_xdsl.universe import PASSES, TILEAS_UNIVERSE

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return dict(reference_pages())


def headings(text: str) -> set[str]:
    return {line.lstrip("# ").strip("`") for line in text.splitlines() if line.startswith("#")}


def test_every_operation_has_a_section(pages: dict[str, str]) -> None:
    for name, make in TILEAS_UNIVERSE.all_dialects.items():
        found = headings(pages[f"dialects/{name}.md"])
        assert {op.name for op in make().operations} <= found
    dot = pages["dialects/nv_tileas.md"].partition("### `nv_tileas.dot`")[2].partition("###")[0]
    assert "| operand | `" in dot
    assert "| result | `" in dot


def test_passes_and_commands_have_sections(pages: dict[str, str]) -> None:
    assert set(PASSES) <= headings(pages["passes.md"])
    assert (
        "| `schedule` |" in pages["passes.md"]
        or "| option | type | default |" in pages["passes.md"]
    )
    found = headings(pages["commands.md"])
    assert {f"tileas {command.__name__}" for command in COMMANDS} <= found
    assert "tileas example show" in found
    assert "\x1b" not in pages["commands.md"]


def test_the_site_names_pages_that_there_are(pages: dict[str, str]) -> None:
    named = re.findall(r": (\S+\.md)$", (ROOT / "docs/site/mkdocs.yml").read_text(), re.MULTILINE)
    assert len(named) > 20
    for name in named:
        of_notebook = ROOT / re.sub(r"\.md$", ".py", name)
        is_made = name.removeprefix("reference/") in pages or name.startswith("reference/api/")
        assert is_made or (ROOT / name).exists() or of_notebook.exists(), name
