"""Which target has what another one needs."""

import pytest

from tileas_xdsl.target.errors import UnknownTargetError
from tileas_xdsl.target.tiers import meets, meets_any, tier


@pytest.mark.parametrize(
    ("target", "minimum", "has"),
    [
        ("sm_90", "sm_80", True),
        ("sm_80", "sm_90", False),
        ("sm_90a", "sm_90", True),
        ("sm_90", "sm_90a", False),
        ("sm_100a", "sm_90a", False),
        ("sm_100a", "sm_100f", True),
        ("sm_103f", "sm_100f", True),
        ("sm_103", "sm_100f", False),
        ("sm_100f", "sm_103f", False),
        ("sm_120f", "sm_100f", False),
        ("sm_120", "sm_100", True),
    ],
)
def test_meets(target: str, minimum: str, has: bool) -> None:
    assert meets(target, minimum) == has


def test_one_of_several_is_enough_and_none_is_needed() -> None:
    assert meets_any("sm_90a", ("sm_100a", "sm_90a"))
    assert not meets_any("sm_80", ("sm_100a", "sm_90a"))
    assert meets_any("sm_75", ())


def test_names() -> None:
    assert tier("sm_103a") == (103, "a")
    assert tier("sm_103a").family == 10
    for name in ("sm90", "sm_9", "sm_90b", "hopper"):
        with pytest.raises(UnknownTargetError, match="names are like"):
            tier(name)
