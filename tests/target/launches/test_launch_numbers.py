"""Numbers that a launch computes for its tile blocks."""

from collections.abc import Sequence

import numpy as np
import pytest

from tileas_xdsl.target.launches.launch_numbers import values_of

BLOCKS = tuple(np.arange(4) * factor for factor in (1, 0, -1))


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        (["block x", "2", "floordivsi 0 1"], [0, 0, 1, 1]),
        (["block z", "2", "floordivsi 0 1"], [0, -1, -1, -2]),
        (["block z", "2", "divsi 0 1"], [0, 0, -1, -1]),
        (["block z", "2", "remsi 0 1"], [0, -1, 0, -1]),
        (["block x", "2", "ceildivsi 0 1"], [0, 1, 1, 2]),
        (["block x", "2", "slt 0 1", "select 2 0 1"], [0, 1, 2, 2]),
        (["grid y", "scalar 1", "muli 0 1"], 15),
        (["block z", "2", "divui 0 1"], None),  # a negative number is large
        (["block x", "2", "divui 1 0"], None),  # by zero
        (["65536", "muli 0 0"], None),  # beyond 32 bits
        (["65536", "i64 muli 0 0"], 1 << 32),
        (["65536", "i64 muli 0 0", "i64 muli 1 1"], None),  # beyond 62
        (["65536", "i64 muli 0 0", "maxsi 1 1"], None),  # and cut off
        (["65536", "i64 muli 0 0", "i64 -4294967296", "addi 1 2"], 0),
        (["scalar 0"], None),
        (["scalar 7"], None),
    ],
)
def test_values(steps: Sequence[str], last: Sequence[int] | int | None) -> None:
    found = values_of(steps, [None, 5], (4, 3, 1), BLOCKS)
    assert (None if found is None else found[-1].tolist()) == last
