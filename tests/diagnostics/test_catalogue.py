"""The verbatim messages: each stands once, byte for byte."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileas_xdsl
from tileas_xdsl.diagnostics.catalogue import (
    UnknownMessageError,
    catalogue,
    escape,
    message,
    unescape,
)

PACKAGE = Path(tileas_xdsl.__file__).parent
SYNTAX = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
KINDS = {"literal", "literal-fragment", "paraphrase", "paraphrase-fragment"}
ALIAS_GROUP = "can-not-find-common-mem-kind-among-pipeline-alias-group"


def rows(name: str) -> list[list[str]]:
    content = (PACKAGE / "diagnostics/catalogue" / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in content.removesuffix("\n").split("\n")]


@pytest.mark.parametrize("name", ["tileas.tsv", "cute.tsv", "cuda_tile.tsv"])
def test_files_are_sorted_tables(name):
    header, *body = rows(name)
    assert header == ["key", "text", "emitter", "kind", "condition", "source"]
    assert all(len(row) == len(header) and all(row) for row in body)
    keys = [row[0] for row in body]
    assert keys == sorted(keys)
    assert all(escape(unescape(row[1])) == row[1] for row in body)


def test_keys_and_texts_are_unique():
    entries = catalogue()
    assert len({entry.key for entry in entries}) == len(entries)
    assert len({str(entry.text) for entry in entries}) == len(entries)


def test_entries_are_well_formed():
    for entry in catalogue():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry.key), entry.key
        assert entry.kind in KINDS
        assert entry.is_literal == (entry.kind in {"literal", "literal-fragment"})


def test_outer_blanks_and_newlines_are_kept():
    assert message(ALIAS_GROUP) == (
        " can not find common memKind among " + "pipeline alias group\n"
    )
    variants = {str(entry.text) for entry in catalogue() if "initial forOperand" in entry.text}
    assert len({text.strip() for text in variants}) == 1
    assert len(variants) == 2


def test_all_families_are_there():
    assert len(rows("tileas.tsv")) - 1 >= 240
    assert len(rows("cute.tsv")) - 1 >= 326
    assert len(rows("cuda_tile.tsv")) - 1 >= 250


def test_unknown_keys_fail_at_once():
    with pytest.raises(UnknownMessageError, match=f"no message 'no-{ALIAS_GROUP}'; did you mean"):
        message(f"no-{ALIAS_GROUP}")
    with pytest.raises(KeyError):
        message("?")


def test_format_fills_numbered_places_only():
    text = message("expects-begin-in-the-range-of-rank-rank-1-but-got-begin-and-rank")
    assert text.format(3, 2).endswith("got begin [3] and rank [2]")
    braces = message("expects-same-size-in-rank-n-but-got-src-shape-dst-shape")
    assert braces.format() == braces
    with pytest.raises(IndexError):
        text.format(1)
    with pytest.raises(TypeError):
        text.format(a=1)


@settings(deadline=None)
@given(st.text(alphabet="ab \n\t\\x20é", max_size=12))
def test_escapes_round_trip(text: str):
    assert unescape(escape(text)) == text
    assert "\t" not in escape(text)
    assert escape(text) == escape(text).strip()


def test_no_source_file_repeats_a_text():
    """Short fragments such as `]` are everybody's; three words are not."""
    texts = {str(entry.text) for entry in catalogue() if len(entry.text.split()) >= 3}
    repeated = [
        f"{path.name}:{node.lineno}: {node.value!r}"
        for path, tree in SYNTAX.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in texts
    ]
    assert not repeated, "use message(key) instead of the text"


def test_every_key_in_the_source_exists():
    known = {entry.key for entry in catalogue()}
    unknown = [
        f"{path.name}:{node.lineno}: {argument.value!r}"
        for path, tree in SYNTAX.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _is_message(node.func)
        for argument in node.args[:1]
        if isinstance(argument, ast.Constant) and argument.value not in known
    ]
    assert not unknown


def _is_message(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name == "message"
