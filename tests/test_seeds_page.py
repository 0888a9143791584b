"""`docs/seeds.md`: every row has a state and a command that there is, every name a test."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from tileas_xdsl.diagnostics.catalogue import catalogue, emitted_ids
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.universe import TILEAS_UNIVERSE

ROOT = Path(__file__).parents[1]
STATES = (
    *("done", "refused", "open", "cannot happen here", "not here", "read", "described", "loads"),
    "no description",
)


class Row(NamedTuple):
    noun: str
    state: str
    shown: str


class Section(NamedTuple):
    description: str
    title: str
    names: str
    home: str
    tests: str


def table(number: int) -> list[list[str]]:
    """The cells of a table of the page, below its head."""
    text = (ROOT / "docs/seeds.md").read_text(encoding="utf-8")
    lines = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)[number].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def rows() -> list[Row]:
    return [Row(*cells) for cells in table(0)]


def sections() -> list[Section]:
    return [Section(*cells) for cells in table(1)]


def quoted(cell: str) -> list[str]:
    """What stands in one or, where it has backquotes itself, two backquotes."""
    return [text.strip() for _, text in re.findall(r"(`{1,2})(.+?)\1(?=$| )", cell)]


def contents(name: str) -> str:
    path = ROOT / name
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


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


@pytest.mark.parametrize("section", sections(), ids=lambda row: f"{row.description}: {row.title}")
def test_names_stand_in_their_tests(section: Section) -> None:
    (home,) = quoted(section.home)
    assert (ROOT / "tileas_xdsl" / home).exists(), home
    text = "\n".join(map(contents, quoted(section.tests)))
    names = quoted(section.names)
    assert names
    for name in names:
        end = r"\b" if name[-1].isalnum() else ""
        assert re.search(rf"(?<![\w.]){re.escape(name)}{end}", text), name


def test_operations_of_the_page_are_registered() -> None:
    known = {
        op.name for dialect in TILEAS_UNIVERSE.all_dialects.values() for op in dialect().operations
    }
    named = {name for section in sections() for name in quoted(section.names)}
    operations = {name for name in named if re.match(r"(nv_tileas|cute)\.(?!tma\.)[a-z_.]+$", name)}
    attributes = {"nv_tileas.layout", "nv_tileas.hidden", "nv_tileas.host-code", "cute.kernel"}
    assert operations - known <= attributes
    passes = {name for name in named if re.match(r"(tileas|lower-tma|cute-)[a-z-]+$", name)}
    assert passes <= {*TILEAS_UNIVERSE.all_passes, *PIPELINES}


def test_every_message_of_the_descriptions_is_on_the_page() -> None:
    named = [name for section in sections() for name in quoted(section.names)]
    descriptions = ("TileAS Layout and Buffer Family", "TileAS TMA and Memops Family")
    for row in catalogue():
        if row.source in descriptions and row.kind == "literal" and row.id in emitted_ids():
            assert any(name in row.text or row.text.strip() in name for name in named), row.text
