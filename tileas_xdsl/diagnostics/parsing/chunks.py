"""The pieces of an input that `--split-input-file` processes one by one."""

from __future__ import annotations

import re
from typing import NamedTuple

SEPARATOR = "// -----"

_SEPARATOR_LINE = re.compile(rb"^[ \t]*// -----[ \t]*\r?$", re.MULTILINE)


class Chunk(NamedTuple):
    """A piece of an input and the number of lines of the file before it."""

    content: bytes
    line_offset: int


def split_chunks(content: bytes) -> list[Chunk]:
    """Split at the lines that are `// -----`, and at nothing else.

    A banner such as `// -----// IR Dump` or the characters inside a string do not split.  Each
    chunk starts with the (empty) rest of its separator line, so the line numbers just add up.
    """
    chunks: list[Chunk] = []
    start = 0
    line_offset = 0
    for separator in _SEPARATOR_LINE.finditer(content):
        piece = content[start : separator.start()]
        chunks.append(Chunk(piece, line_offset))
        line_offset += piece.count(b"\n")
        start = separator.end()
    chunks.append(Chunk(content[start:], line_offset))
    return chunks
