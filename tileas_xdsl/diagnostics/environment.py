"""Environment variables that switch something on."""

from __future__ import annotations

import os

VERIFY_EACH = "TILEAS_VERIFY_EACH"
"""Verify the IR after each pass of a compilation, as `tileas compile --verify-each` does."""


def is_set(variable: str) -> bool:
    """Return whether an environment variable has a value other than 0."""
    return os.environ.get(variable, "0") not in ("", "0")
