"""Names of targets and what runs where: `sm_90`, `sm_90a` (this chip only), `sm_100f` (its family).

Source: PTX ISA, `.target`: code for `sm_N` runs on every later chip, code for `sm_Nf` on later
chips of the same major number, code for `sm_Na` on that chip alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from tileas_xdsl.target.errors import UnknownTargetError

_NAME = re.compile(r"sm_(\d{2,3})([af]?)")


class Tier(NamedTuple):
    """A target name taken apart: `sm_90a` is 90 and `a`."""

    number: int
    feature_set: str

    @property
    def family(self) -> int:
        """The major number: chips of one family share it."""
        return self.number // 10


def is_target_name(name: str) -> bool:
    """Whether a text is written as the name of a target."""
    return _NAME.fullmatch(name) is not None


@cache
def tier(name: str) -> Tier:
    """The parts of a target's name; `UnknownTargetError` if it is none."""
    if (match := _NAME.fullmatch(name)) is None:
        raise UnknownTargetError(f"unknown target '{name}': names are like sm_90, sm_90a, sm_100f")
    return Tier(int(match[1]), match[2])


def meets(target: str, minimum: str) -> bool:
    """Whether what needs `minimum` runs on `target`."""
    has, needs = tier(target), tier(minimum)
    if needs.feature_set == "a":
        return has == needs
    if needs.feature_set == "f":
        return has.family == needs.family and has.number >= needs.number and has.feature_set != ""
    return has.number >= needs.number


def meets_any(target: str, minima: Sequence[str]) -> bool:
    """Return whether `target` meets one of `minima`; True without any."""
    return not minima or any(meets(target, minimum) for minimum in minima)
