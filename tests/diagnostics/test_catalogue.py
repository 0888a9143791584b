"""The verbatim messages: each stands once, byte for byte."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileas_xdsl
from tileas_xdsl.diagnostics.catalogue import (
    UnknownMessageError,
    catalogue,
    emitted_ids,
    escape,
    fill,
    message,
    unemitted,
    unescape,
)

PACKAGE = Path(tileas_xdsl.__file__).parent
KINDS = {"literal", "literal-fragment", "paraphrase", "paraphrase-fragment"}
ALIAS_GROUP = "assign_layouts.alias_group_mem_kind"


CALLS = re.compile(r"\b(message|refuse|_refused)\(")


def calling() -> Iterator[tuple[Path, ast.Module]]:
    """The modules of the package that use messages, parsed."""
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if CALLS.search(source):
            yield path, ast.parse(source)


def texts_of(code: object) -> Iterator[str]:
    """The text among the constants of compiled code."""
    if isinstance(code, str):
        yield code
    constants = code.co_consts if isinstance(code, CodeType) else code
    if isinstance(constants, tuple | frozenset):
        for constant in constants:
            yield from texts_of(constant)


def rows(name: str) -> list[list[str]]:
    content = (PACKAGE / "diagnostics/catalogue" / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in content.removesuffix("\n").split("\n")]


@pytest.mark.parametrize("name", ["tileas.tsv", "cute.tsv", "cuda_tile.tsv"])
def test_files_are_sorted_tables(name):
    header, *body = rows(name)
    assert header == ["id", "text", "example", "emitter", "kind", "condition", "source"]
    assert all(len(row) == len(header) and all(row) for row in body)
    ids = [row[0] for row in body]
    assert ids == sorted(ids)
    assert all(escape(unescape(row[1])) == row[1] for row in body)


def test_ids_and_texts_are_unique():
    entries = catalogue()
    assert len({entry.id for entry in entries}) == len(entries)
    assert len({str(entry.text) for entry in entries}) == len(entries)


def test_entries_are_well_formed():
    for entry in catalogue():
        assert re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+){1,2}", entry.id), entry.id
        assert entry.kind in KINDS
        assert entry.is_literal == (entry.kind in {"literal", "literal-fragment"})


def test_every_literal_row_is_emitted_or_says_why_not():
    literal = {entry.id for entry in catalogue() if entry.is_literal}
    assert unemitted().keys() == literal - emitted_ids()
    assert list(unemitted()) == sorted(unemitted())
    assert all(row.stage and row.reason for row in unemitted().values())
    assert not [row.id for row in unemitted().values() if row.stage == "open"]


def test_outer_blanks_and_newlines_are_kept():
    assert message(ALIAS_GROUP) == (
        " can not find common memKind among " + "pipeline alias group\n"
    )
    variants = {str(entry.text) for entry in catalogue() if "initial forOperand" in entry.text}
    assert len({text.strip() for text in variants}) == 1
    assert len(variants) == 2


def test_all_families_are_there():
    assert len(rows("tileas.tsv")) - 1 >= 230
    assert len(rows("cute.tsv")) - 1 >= 322
    assert len(rows("cuda_tile.tsv")) - 1 >= 250


def test_unknown_ids_fail_at_once():
    with pytest.raises(UnknownMessageError, match=f"no message 'x{ALIAS_GROUP}'; did you mean"):
        message(f"x{ALIAS_GROUP}")
    with pytest.raises(KeyError):
        message("?")


def test_placeholders_are_filled_by_name():
    text = message("cute.group_modes.begin_range", begin=3, rank=2)
    assert text.endswith("got begin [3] and rank [2]")
    with pytest.raises(KeyError, match="rank"):
        message("cute.group_modes.begin_range", begin=3)


def test_other_braces_and_braces_in_values_stay():
    assert fill("of {a, b} {...} {0} {{kind}}", {"kind": "{x}"}) == "of {a, b} {...} {0} {{x}}"
    assert "`memspace`, `align`" in message("cute.ptr.clause")


def test_examples_fill_every_placeholder():
    """The text with its example is the published wording, sample values included."""
    entries = {entry.id: entry for entry in catalogue() if entry.example != "-"}
    assert len(entries) >= 58
    for entry in entries.values():
        names = [pair.split("=", 1)[0] for pair in entry.example.split("; ")]
        assert tuple(names) == entry.placeholders
        assert "{" not in re.sub(r"\{\d\}", "", entry.published), entry.id
    assert entries["cute.group_modes.begin_range"].published.endswith("[{0}] and rank [{1}]")
    assert entries["cute_nvgpu.sm80_mma.shape"].published == (
        "SM80 MMA does not support shape "
        + "(16,8,17) for type 'f16'. See PTX ISA for valid shapes"
    )


@settings(deadline=None)
@given(st.text(alphabet="ab \n\t\\x20é", max_size=12))
def test_escapes_round_trip(text: str):
    assert unescape(escape(text)) == text
    assert "\t" not in escape(text)
    assert escape(text) == escape(text).strip()


def test_no_source_file_repeats_a_text():
    """Short fragments such as `, but got` are everybody's; whole texts and six words are not."""
    whole = {text for e in catalogue() for text in (e.text, e.published) if len(text.split()) >= 3}
    parts = {part for e in catalogue() for part in e.fragments if len(part.split()) >= 6}
    texts = {text.strip() for text in whole | parts}
    repeated = [
        f"{path.name}: {text!r}"
        for path in PACKAGE.rglob("*.py")
        for text in texts_of(SourceFileLoader(path.stem, str(path)).get_code(path.stem))
        if text.strip() in texts
    ]
    assert not repeated, "use message(id) instead of the text"


@cache
def uses() -> list[tuple[str, ast.Call, str]]:
    """Every call with the id of a message as its first argument: where, the call, the id."""
    return [
        (f"{path.name}:{node.lineno}", node, node.args[0].value)
        for path, tree in calling()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _name(node.func) in {"message", "refuse", "_refused"}
        if node.args and isinstance(node.args[0], ast.Constant)
        if " " not in node.args[0].value  # a sentence: the `refuse` of something else
    ]


def test_every_id_in_the_source_exists():
    known = {entry.id for entry in catalogue()}
    assert not [(where, id_) for where, _, id_ in uses() if id_ not in known]
    assert len(uses()) > 300


def test_every_use_gives_the_values_that_the_text_names():
    placeholders = {entry.id: set(entry.placeholders) for entry in catalogue()}
    wrong: list[str] = []
    for where, call, id_ in uses():
        given = {keyword.arg for keyword in call.keywords}
        if _name(call.func) == "_refused":
            given.add("predicate")
        if None not in given and given != placeholders[id_]:
            wrong.append(f"{where}: {id_} takes {placeholders[id_]}, not {given}")
    assert not wrong


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
