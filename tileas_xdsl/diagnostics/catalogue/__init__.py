"""The catalogue of verbatim messages: `tileas.tsv`, `cute.tsv` and `cuda_tile.tsv`, one row a
message.

The texts are contracts, byte for byte, typos and outer blanks included.  Each stands once, here;
code says `message("key")`.  Columns: key, text, emitter, kind, condition, source.  In a text `\\n`,
`\\t`, `\\\\` and `\\x20` (an outer blank) are escapes.

Kinds: `literal` (published word for word), `paraphrase` (known only re-worded, so not a contract),
and each with `-fragment` for a part of a message that values are put before or after.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tileas_xdsl.diagnostics.suggest import did_you_mean

_FILES = ("tileas.tsv", "cute.tsv", "cuda_tile.tsv")
_ESCAPE = re.compile(r"\\(x20|[nt\\])")
_UNESCAPED = {"x20": " ", "n": "\n", "t": "\t", "\\": "\\"}
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_ARGUMENT = re.compile(r"\{(\d+)\}")


class UnknownMessageError(KeyError):
    """No message of the catalogue has this key."""

    def __str__(self) -> str:
        return str(self.args[0])


class Message(str):
    """The text of a message.  `format` replaces `{0}`, `{1}`, ... and leaves other braces alone."""

    __slots__ = ()

    def format(self, *args: object, **kwargs: object) -> str:
        """Put values in place of `{0}`, `{1}`, ...; raises `IndexError` if one is missing."""
        if kwargs:
            raise TypeError("the arguments of a message have numbers, not names")
        return _ARGUMENT.sub(lambda match: str(args[int(match[1])]), self)


class CatalogueEntry(NamedTuple):
    """One row of the catalogue."""

    key: str
    text: Message
    emitter: str
    kind: str
    condition: str
    source: str

    @property
    def is_literal(self) -> bool:
        """Are the bytes of the text a contract?"""
        return self.kind.startswith("literal")


def message(key: str) -> Message:
    """The text with this key; raises `UnknownMessageError`, with similar keys, if there is none."""
    if (entry := _by_key().get(key)) is not None:
        return entry.text
    hint = did_you_mean(key, _by_key())
    raise UnknownMessageError(f"the catalogue has no message '{key}'; {hint}".rstrip("; "))


@cache
def catalogue() -> tuple[CatalogueEntry, ...]:
    """All rows, file after file, each sorted by key."""
    return tuple(entry for name in _FILES for entry in _read(name))


@cache
def _by_key() -> dict[str, CatalogueEntry]:
    return {entry.key: entry for entry in catalogue()}


_LITERAL = re.compile(r"""["']([a-z0-9-]+)["']""")


@cache
def emitted_keys() -> frozenset[str]:
    """The keys that stand in the source of this package: the messages that something emits."""
    package = Path(__file__).parents[2]
    found: set[str] = set()
    for path in package.rglob("*.py"):
        if path != Path(__file__):
            found.update(_LITERAL.findall(path.read_text(encoding="utf-8")))
    return frozenset(found & _by_key().keys())


def _read(name: str) -> list[CatalogueEntry]:
    content = Path(__file__).with_name(name).read_text(encoding="utf-8")
    rows = (line.split("\t") for line in content.split("\n")[1:] if line)
    return [
        CatalogueEntry(key, Message(unescape(text)), emitter, kind, condition, source)
        for key, text, emitter, kind, condition, source in rows
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
