"""Parts and shapes of tiles in registers: the emulator, the tile interpreter and numpy agree."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.plain_checks import TARGETS, check
from tests.support.plain_kernels import NUMPY
from tests.transforms.lower_tiles.memory.sliced_kernels import SLICED


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", SLICED)
def test_parts_and_shapes(name: str) -> None:
    case, place = SLICED[name], 3
    extents = [int(n) for n in case.source.split("x")]
    numbers = np.random.default_rng(8).integers(-99, 99, extents).astype(NUMPY[case.element])
    expected = case.expected(numbers, place)
    target = TARGETS[len(name) % 2]
    check(case.text, (numbers, place, np.zeros_like(expected)), expected, targets=(target,))
