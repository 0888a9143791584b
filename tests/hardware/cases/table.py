"""All cases, family after family."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hardware.cases.case import Case
from hardware.cases.elementwise import arithmetic_cases, comparison_cases, conversion_cases

FAMILIES: tuple[Callable[[], Iterator[Case]], ...] = (
    arithmetic_cases,
    comparison_cases,
    conversion_cases,
)


def all_cases() -> list[Case]:
    """Every case of every family."""
    return [case for family in FAMILIES for case in family()]
