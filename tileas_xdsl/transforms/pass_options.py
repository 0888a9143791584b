"""Options of passes whose values are keywords."""

from __future__ import annotations

from collections.abc import Sequence


def check_keyword(option: str, value: str, keywords: Sequence[str]) -> None:
    """Raise `ValueError` unless the value of an option is one of its keywords."""
    if value not in keywords:
        raise ValueError(f"option {option} is one of {', '.join(keywords)}, not '{value}'")
