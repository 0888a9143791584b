"""Numbers of random cases: some in every run of the tests, the others in `make sweep`."""

from __future__ import annotations

import pytest


def seeds(quick: int, of: int) -> list[object]:
    """The parameters 0 to `of` - 1, of which those from `quick` on are slow."""
    return [pytest.param(k, marks=[pytest.mark.slow] if k >= quick else []) for k in range(of)]
