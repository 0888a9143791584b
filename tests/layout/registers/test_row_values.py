"""Where the values of rows are: in all threads that have something of the row, once."""

from __future__ import annotations

import numpy as np
import pytest
from support.encodings import random_encoding
from support.seeds import seeds

from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.output.text import parse_cute_layout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.registers.row_values import line_sharers, row_values

THREADS = 128


def rows_of_threads(layout: Layout, shape: tuple[int, int]) -> list[set[int]]:
    """By thread, the rows that it has something of."""
    held = RegisterLayout(layout, shape, THREADS).held
    return [{int(v) % shape[0] for v in line if v >= 0} for line in held]


@pytest.mark.parametrize("seed", seeds(20, 200))
def test_a_thread_has_the_values_of_its_rows(seed: int) -> None:
    rng = np.random.default_rng([31, seed])
    shape = (int(rng.choice([8, 16, 64])), int(rng.choice([2, 32, 64])))
    layout = random_encoding(rng, shape, THREADS)
    values = row_values(layout)
    column = row_values(layout, keeps_dimension=True)
    assert values is not None
    assert column is not None
    mine = RegisterLayout(values, shape[:1], THREADS)
    for thread, rows in enumerate(rows_of_threads(layout, shape)):
        found = [int(row) for row in mine.held[thread] if row >= 0]
        assert set(found) == rows
        assert len(found) == len(rows)
    assert np.array_equal(RegisterLayout(column, (shape[0], 1), THREADS).held, mine.held)
    shared = np.prod([extent for extent, _ in line_sharers(layout, 1)], dtype=int)
    assert mine.replicas == shared


@pytest.mark.parametrize(
    "text",
    [
        "(8,4,2):(1@thread,8@thread,32@thread)",
        "((8,2),4):((1@thread,8@thread+1@value),1@value)",
        "(8,4):(1@thread,0)",
        "(8,4,2):(1@thread,1@value,0)",
    ],
    ids=["copies in threads", "both axes", "one register", "copies in registers"],
)
def test_what_is_no_matrix_of_digits_has_none(text: str) -> None:
    layout = parse_cute_layout(text)
    assert isinstance(layout, Layout)
    assert row_values(layout) is None
