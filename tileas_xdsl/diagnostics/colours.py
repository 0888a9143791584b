"""Colours of what is printed on a terminal, where its user wants them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TextIO, TypeAlias

Paint: TypeAlias = Callable[[str, str], str]
"""A text in the style that a name stands for: a severity, `location` or `caret`."""

_STYLES: Mapping[str, str] = {
    "error": "1;31",
    "warning": "1;35",
    "remark": "1;34",
    "note": "1;36",
    "location": "1",
    "caret": "1;32",
}
"""Those of clang, as ANSI escapes (ECMA-48, select graphic rendition)."""


def plain(text: str, style: str) -> str:
    """The text itself."""
    del style
    return text


def coloured(text: str, style: str) -> str:
    """The text in the colour of a style."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def painter(stream: TextIO) -> Paint:
    """Return how texts on a stream are painted: plain but on a terminal.

    `NO_COLOR`, if it is not empty, and `TERM=dumb` turn colours off (https://no-color.org).
    """
    is_unwanted = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return plain if is_unwanted or not stream.isatty() else coloured
