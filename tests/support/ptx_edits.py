"""Faults planted in PTX: edits by a pattern, which has to be there."""

from __future__ import annotations

import re
from collections.abc import Callable

Edit = Callable[[str], str]
"""PTX to PTX."""

Replacement = str | Callable[[re.Match[str]], str]


def changing(pattern: str, by: Replacement, *, every: bool = False, flags: int = re.M) -> Edit:
    """Replace the first match of a pattern, or `every` one; there has to be one."""

    def edited(text: str) -> str:
        found, count = re.subn(pattern, by, text, count=0 if every else 1, flags=flags)
        assert count, pattern
        return found

    return edited
