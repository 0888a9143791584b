"""Suggestions for a name that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_SIMILAR = 0.7
_AT_MOST = 3


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean a or b?` for the known names most like `name`, or nothing."""
    close = difflib.get_close_matches(name, known, n=_AT_MOST, cutoff=_SIMILAR)
    return f"did you mean {' or '.join(close)}?" if close else ""
