"""Spaces of constants, and grids that depend on them."""

from __future__ import annotations

import pytest

from tileas_xdsl.tools.inputs.grid_expressions import GridError, grid_function
from tileas_xdsl.tuning.space import SpaceError, configs_of, parse_space


def test_all_combinations_are_tried_that_of_the_kernel_first() -> None:
    space = parse_space(["tm=64,128", "tk = 32, 64"])
    found = configs_of(space, {"tm": 128, "tn": 8, "tk": 64})
    assert found[0] == {"tm": 128, "tk": 64}
    assert len(found) == 4
    assert configs_of(space, {"tm": 16, "tk": 64})[0] == {"tm": 16, "tk": 64}


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (["tm"], "is no NAME=VALUE"),
        (["tm=64,x"], "is no NAME=VALUE"),
        (["tm=1", "tm=2"], "has values twice"),
        (["tz=1"], "'tz' is no constant and no hint of the kernel; there are tm"),
        ([f"{name}={','.join(map(str, range(70)))}" for name in ("tm", "tn")], "4900 combi"),
    ],
)
def test_wrong_spaces(texts: list[str], why: str) -> None:
    with pytest.raises(SpaceError, match=why):
        configs_of(parse_space(texts), {"tm": 1, "tn": 1})


def test_a_grid_is_computed_from_constants() -> None:
    grid = grid_function("cdiv(4000, tm), max(512 // tn, 1) * 2 + 1", ["tm", "tn"])
    assert list(grid({"tm": 128, "tn": 64})) == [32, 17]
    assert list(grid_function("7", [])({})) == [7]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1,2,3,4", "are 4 extents"),
        ("tz", "'tz' in 'tz' is no constant; there are tm"),
        ("cdiv(1)", "has not the arguments of cdiv"),
        ("print(1)", "is no number"),
        ("1 +", "is no grid"),
    ],
)
def test_wrong_grids(text: str, why: str) -> None:
    with pytest.raises(GridError, match=why):
        grid_function(text, ["tm"])


def test_a_division_by_zero_is_no_traceback() -> None:
    with pytest.raises(GridError, match="divides by zero"):
        grid_function("8 // tm", ["tm"])({"tm": 0})
