"""Tokens of PTX text.  Source: PTX ISA 4, syntax."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from tileas_xdsl.interpreters.ptx.errors import PtxError, SourceLocation

_SKIPPED = re.compile(r"(?>(?:[ \t\r\n\f\v]+|//[^\n]*|/\*.*?\*/)*)", re.DOTALL)
"""Spaces and comments, in front of a token in one match with it."""
_PATTERN = re.compile(
    _SKIPPED.pattern
    + r"""
  (?:
    (?P<word>[%$a-zA-Z_][\w$]*(?:(?:\.|::)[\w$]+)*)
  | (?P<punct>[][{}()<>,;:=@!|+-])
  | (?P<directive>\.[a-zA-Z_]\w*(?:::\w+)*)
  | (?P<hexfloat>0[fF][0-9a-fA-F]{8}(?![0-9a-zA-Z])|0[dD][0-9a-fA-F]{16}(?![0-9a-zA-Z]))
  | (?P<float>\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
  | (?P<int>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?)(?![\w$])
  | (?P<string>"[^"\n]*")
  | (?P<end>\Z)
  )
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A token and the offset of its first character."""

    kind: str
    text: str
    start: int


class Source:
    """A text and the source locations of its characters."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def location(self, offset: int) -> SourceLocation:
        """Return the source location of a character."""
        line = bisect_right(self._starts, offset)
        return SourceLocation(self.path, line, offset - self._starts[line - 1] + 1)

    def tokens(self) -> list[Token]:
        """Return all tokens and an end token; raise `PtxError` at a character that begins none."""
        found: list[Token] = []
        offset, kind = 0, ""
        text, match, add = self.text, _PATTERN.match, found.append
        while kind != "end":
            if (m := match(text, offset)) is None:
                raise self._bad_character(self._behind_skipped(offset))
            kind, offset = m.lastgroup or "", m.end()
            word = m[kind]
            add(Token(kind, word, offset - len(word)))
        return found

    def _behind_skipped(self, offset: int) -> int:
        found = _SKIPPED.match(self.text, offset)
        return offset if found is None else found.end()

    def _bad_character(self, offset: int) -> PtxError:
        if self.text.startswith("/*", offset):
            return PtxError("this comment is never closed", self.location(offset))
        if self.text[offset] == '"':
            return PtxError("this string is never closed", self.location(offset))
        shown = self.text[offset]
        return PtxError(f"'{shown}' begins no token of PTX", self.location(offset))
