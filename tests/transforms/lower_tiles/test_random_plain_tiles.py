"""Random programs of plain tiles: the emulated PTX computes what the tile interpreter does."""

from __future__ import annotations

import numpy as np
import pytest

from tests.transforms.lower_tiles.random_plain_programs import plain_program
from tileas_xdsl.compiler import compile

QUICK, MORE = range(12), range(12, 300)


def _agree(seed: int) -> None:
    text, arguments = plain_program(seed)
    made = compile(text, "sm_100a" if seed % 4 == 3 else "sm_90a")
    run = made.emulate(*arguments, order="drift", seed=seed)
    assert [str(finding) for finding in run.findings] == []
    simulated = made.simulate(*arguments).arrays
    for found, expected in zip(run.arrays, simulated, strict=True):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", QUICK)
def test_the_emulator_agrees(seed: int) -> None:
    _agree(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MORE)
def test_the_emulator_agrees_on_more(seed: int) -> None:
    _agree(seed)
