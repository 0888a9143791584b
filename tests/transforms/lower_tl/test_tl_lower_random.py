"""Fragments of random layouts: converted, reduced and summed by threads as numpy does it."""

from __future__ import annotations

import pytest

from tests.transforms.lower_tl.tl_random_layouts import conversion, reduction, scan

TARGETS = ("sm_90a", "sm_100a")

DRAWS = {"conversion": conversion, "reduction": reduction, "scan": scan}


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", DRAWS)
def test_layouts_do_not_change_what_is_computed(kind: str, seed: int) -> None:
    DRAWS[kind](seed).check(TARGETS[seed % 2])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 180))
@pytest.mark.parametrize("kind", DRAWS)
def test_many_layouts_do_not_change_what_is_computed(kind: str, seed: int) -> None:
    DRAWS[kind](seed).check(TARGETS[seed % 2])
