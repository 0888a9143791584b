"""Orders of asynchronous operations in turns: each case in one, in the others in `make sweep`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar
from zlib import crc32

import pytest
from hypothesis import settings

ORDERS = ("lazy", "eager", "random", "drift")
"""When what is asynchronous completes, and with warps that fall behind."""


def in_turns(cases: Iterable[Sequence[Any]], orders: Sequence[Any] = ORDERS) -> list[Any]:
    """Return the parameters of cases with an order each, the next for the next; others are slow."""
    return [
        pytest.param(*case, order, marks=[] if k == number % len(orders) else [pytest.mark.slow])
        for number, case in enumerate(cases)
        for k, order in enumerate(orders)
    ]


Order = TypeVar("Order")


def some(orders: Sequence[Order], case: object, count: int = 1) -> Sequence[Order]:
    """Return so many of the orders for a case, by its text; all of them in `make sweep`."""
    if settings().max_examples == settings.get_profile("sweep").max_examples:
        return orders
    first = crc32(str(case).encode())
    return [orders[(first + k) % len(orders)] for k in range(count)]
