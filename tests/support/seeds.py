"""Seeds of random cases: some in every test run, the others in `make sweep`."""

from __future__ import annotations

import pytest


def seeds(quick: int, of: int) -> list[object]:
    """Return parameters 0 to `of` - 1; those from `quick` on are marked slow."""
    return [pytest.param(k, marks=[pytest.mark.slow] if k >= quick else []) for k in range(of)]
