"""Environment variables that switch something on."""

from __future__ import annotations

import os

VERIFY_EACH = "TILEAS_VERIFY_EACH"
"""Verify the IR after each pass of a compilation, as `tileas compile --verify-each` does.

A number above 1: after each pass of that distance, and after the last one.
"""


def is_set(variable: str) -> bool:
    """Return whether an environment variable has a value other than 0."""
    return os.environ.get(variable, "0") not in ("", "0")


def distance(variable: str) -> int:
    """Return the number that a variable is set to, 1 for other text, and 0 where it is not set."""
    if not is_set(variable):
        return 0
    text = os.environ[variable]
    return int(text) if text.isdecimal() else 1
