"""Orders of asynchronous operations in turns: each case in one, in the others in `make sweep`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

ORDERS = ("lazy", "eager", "random", "drift")
"""When what is asynchronous completes, and with warps that fall behind."""


def in_turns(cases: Iterable[Sequence[Any]], orders: Sequence[Any] = ORDERS) -> list[Any]:
    """Return the parameters of cases with an order each, the next for the next; others are slow."""
    return [
        pytest.param(*case, order, marks=[] if k == number % len(orders) else [pytest.mark.slow])
        for number, case in enumerate(cases)
        for k, order in enumerate(orders)
    ]
