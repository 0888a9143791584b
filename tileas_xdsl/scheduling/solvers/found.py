"""A solver's result at one initiation interval."""

from __future__ import annotations

from tileas_xdsl.data_classes import dataclass


@dataclass(frozen=True)
class IntervalResult:
    """The best starts at an interval, None if there are none, and how far the search went."""

    starts: tuple[int, ...] | None
    is_complete: bool
    """Whether None means that the interval has no schedule: no start was left out."""
    probes: int = 0
    """The starts that were tried."""
