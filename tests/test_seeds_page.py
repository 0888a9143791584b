"""`docs/seeds.md`: every row has a state and a command whose files there are."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
STATES = ("done", "refused", "open", "cannot happen here", "not here", "read", "described", "loads")


class Row(NamedTuple):
    noun: str
    state: str
    shown: str


def rows() -> list[Row]:
    lines = (ROOT / "docs/seeds.md").read_text(encoding="utf-8").splitlines()
    table = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    assert all(len(cells) == 3 for cells in table), "a cell has a bar in it"
    return [Row(*(cell.strip() for cell in cells)) for cells in table[2:]]


def commands(row: Row) -> list[list[str]]:
    """The commands of a row; what they print stands in backquotes, too, behind a colon."""
    quoted = re.findall(r"(?<!: )`([^`]+)`", row.shown)
    return [shlex.split(text) for text in quoted if text.split()[0] in RUNNERS]


def exists(words: list[str]) -> bool:
    paths = [ROOT / word for word in words if word.startswith(("tests/", "benchmarks/"))]
    return bool(paths) and all(path.exists() for path in paths)


def is_command_of_tileas(words: list[str]) -> bool:
    return f"`tileas {words[1]}" in (ROOT / "README.md").read_text(encoding="utf-8")


RUNNERS = {"lit": exists, "pytest": exists, "python": exists, "tileas": is_command_of_tileas}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.noun)
def test_a_row_says_its_state_and_shows_it(row: Row) -> None:
    assert row.noun
    assert row.state.startswith(STATES) or row.noun.startswith("every message")
    needs = row.state.startswith(("done", "refused", "read", "described"))
    found = commands(row)
    assert found or not needs or re.search(r"\[.+\.md\]\(", row.shown), "no command shows it"
    for words in found:
        assert RUNNERS[words[0]](words), words


def test_filecheck_files_of_the_page_check_something() -> None:
    for row in rows():
        for words in commands(row):
            for word in words[1:]:
                if words[0] == "lit" and word.endswith(".mlir"):
                    text = (ROOT / word).read_text(encoding="utf-8")
                    assert "RUN:" in text, word
                    assert "CHECK" in text or "expected-error" in text, word


def test_no_noun_stands_twice() -> None:
    nouns = [row.noun for row in rows()]
    assert len(set(nouns)) == len(nouns) >= 28
