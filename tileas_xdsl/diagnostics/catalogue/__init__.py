"""The catalogue of verbatim messages: `tileas.tsv`, `cute.tsv` and `cuda_tile.tsv`, one row a
message.

The texts are contracts, byte for byte, typos and outer blanks included.  Each stands once, here;
code says `message("cute.group_modes.begin_range", begin=2, rank=1)`.  An id is
`dialect.operation.condition` (or `pass.condition`), so that `git grep` leads from a use to its row
and back; a test checks that every use gives exactly the values that the text names.

Columns: id, text, example, emitter, kind, condition, source.  In a text `{name}` is a placeholder
and `\\n`, `\\t`, `\\\\` and `\\x20` (an outer blank) are escapes.  The example gives the values of
the published wording, where there is one: `begin={0}; rank={1}`, `shape=16,8,17`; otherwise `-`.

Literal rows that nothing emits stand in `unemitted.tsv` (id, stage, reason): those of a stage that
this compiler does not have.  What is ours and missing has the stage `open`; a test finds none.

Kinds: `literal` (published word for word), `paraphrase` (known only re-worded, so not a contract),
and each with `-fragment` where only a part of the sentence is published: what surrounds the
placeholders, which values are put in or appended to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tileas_xdsl.diagnostics.suggest import did_you_mean

_FILES = ("tileas.tsv", "cute.tsv", "cuda_tile.tsv")
_ESCAPE = re.compile(r"\\(x20|[nt\\])")
_UNESCAPED = {"x20": " ", "n": "\n", "t": "\t", "\\": "\\"}
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*)\}")


class Unemitted(NamedTuple):
    """Why nothing here emits a literal row: a row of `unemitted.tsv`.

    `stage` is the stage that it belongs to and that this compiler does not have, or `open` where
    it is ours and missing.
    """

    id: str
    stage: str
    reason: str


class UnknownMessageError(KeyError):
    """No message of the catalogue has this id."""

    def __str__(self) -> str:
        return str(self.args[0])


class CatalogueEntry(NamedTuple):
    """One row of the catalogue."""

    id: str
    text: str
    example: str
    emitter: str
    kind: str
    condition: str
    source: str

    @property
    def is_literal(self) -> bool:
        """Whether the bytes of the text are a contract."""
        return self.kind.startswith("literal")

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names in the text that values replace, in the order of their first appearance."""
        return tuple(dict.fromkeys(_PLACEHOLDER.findall(self.text)))

    @property
    def fragments(self) -> tuple[str, ...]:
        """What stands before, between and after the placeholders."""
        return tuple(_PLACEHOLDER.split(self.text)[::2])

    @property
    def published(self) -> str:
        """The wording of the source: the text with the values of the example, if it has one."""
        if self.example == "-":
            return self.text
        pairs = (pair.split("=", 1) for pair in self.example.split("; "))
        return fill(self.text, {name: value for name, value in pairs})


def message(id_: str, **values: object) -> str:
    """Return the text with this id, each `{name}` replaced by the value of that name.

    Raises `UnknownMessageError`, which names similar ids, and `KeyError` for a missing value.
    """
    if (entry := by_id().get(id_)) is not None:
        return fill(entry.text, values)
    hint = did_you_mean(id_, by_id())
    raise UnknownMessageError(f"the catalogue has no message '{id_}'; {hint}".rstrip("; "))


def fill(text: str, values: Mapping[str, object]) -> str:
    """Replace the placeholders of a text; other braces, as in `{f16, bf16}`, stay as they are."""
    return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), text)


@cache
def catalogue() -> tuple[CatalogueEntry, ...]:
    """All rows, file after file, each sorted by id."""
    return tuple(entry for name in _FILES for entry in _read(name))


@cache
def by_id() -> dict[str, CatalogueEntry]:
    """Return the rows by their ids."""
    return {entry.id: entry for entry in catalogue()}


_LITERAL = re.compile(r"""["']([a-z0-9_.]+)["']""")


@cache
def emitted_ids() -> frozenset[str]:
    """The ids that stand in the source of this package: the messages that something emits."""
    package = Path(__file__).parents[2]
    found: set[str] = set()
    for path in package.rglob("*.py"):
        if path != Path(__file__):
            found.update(_LITERAL.findall(path.read_text(encoding="utf-8")))
    return frozenset(found & by_id().keys())


@cache
def unemitted() -> Mapping[str, Unemitted]:
    """Return the literal rows that nothing emits, each with the reason, by their ids."""
    content = Path(__file__).with_name("unemitted.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in content.split("\n")[1:] if line)
    return {id_: Unemitted(id_, stage, reason) for id_, stage, reason in rows}


def _read(name: str) -> list[CatalogueEntry]:
    content = Path(__file__).with_name(name).read_text(encoding="utf-8")
    rows = (line.split("\t") for line in content.split("\n")[1:] if line)
    return [
        CatalogueEntry(id_, unescape(text), example, emitter, kind, condition, source)
        for id_, text, example, emitter, kind, condition, source in rows
    ]


def unescape(text: str) -> str:
    """The text that a cell of the file means."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: _UNESCAPED[match[1]], text)


def escape(text: str) -> str:
    """The cell that means `text`; outer blanks become visible."""
    core = text.strip(" ")
    start = text.index(core) if core else len(text)
    blanks = "\\x20"
    body = "".join(_ESCAPED.get(character, character) for character in core)
    return blanks * start + body + blanks * (len(text) - start - len(core))
