"""Tables of elements by thread and register."""

import numpy as np
import pytest

from tileas_xdsl.threads.registers.register_gather import _distinct_columns


@pytest.mark.parametrize(("shape", "most"), [((32, 9), 2), ((4, 64), 3), ((1, 7), 300)])
def test_columns_are_told_apart_as_numpy_does(shape: tuple[int, int], most: int) -> None:
    table = np.random.default_rng(5).integers(-1, most, shape)
    table[:, ::3] = table[:, :1]
    columns, numbers = _distinct_columns(table)
    wanted, inverse = np.unique(table, axis=1, return_inverse=True)
    np.testing.assert_array_equal(columns, wanted)
    assert numbers == inverse.ravel().tolist()
