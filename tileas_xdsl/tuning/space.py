"""Search spaces: by constant of a kernel the values to try, and all their combinations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import TypeAlias

Config: TypeAlias = Mapping[str, int]
"""The values of the constants that are searched."""

Space: TypeAlias = Mapping[str, Sequence[int]]

MAX_CONFIGS = 4096
"""Combinations of a space at most: each is predicted."""

_VALUES = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(\d+(?:\s*,\s*\d+)*)\s*")


class SpaceError(ValueError):
    """A space that cannot be searched."""


def parse_space(texts: Sequence[str]) -> Space:
    """Read `tm=64,128` from each text; raises `SpaceError`."""
    found: dict[str, Sequence[int]] = {}
    for text in texts:
        match = _VALUES.fullmatch(text)
        if match is None:
            raise SpaceError(f"'{text}' is no NAME=VALUE,VALUE,... of whole numbers")
        if match[1] in found:
            raise SpaceError(f"'{match[1]}' has values twice")
        found[match[1]] = tuple(dict.fromkeys(int(word) for word in match[2].split(",")))
    return found


def configs_of(space: Space, constants: Config) -> Sequence[Config]:
    """Return all combinations, first that of `constants`, the values that the kernel has.

    Raises `SpaceError` for a name that is no constant of the kernel, for no values and for too
    many combinations.
    """
    for name, values in space.items():
        if name not in constants:
            known = ", ".join(constants) or "none"
            raise SpaceError(
                f"'{name}' is no constant and no hint of the kernel; there are {known}"
            )
        if not values:
            raise SpaceError(f"'{name}' has no values to try")
    if (count := prod(map(len, space.values()))) > MAX_CONFIGS:
        raise SpaceError(f"{count} combinations are more than {MAX_CONFIGS}")
    given = tuple(constants[name] for name in space)
    combined = dict.fromkeys([given, *product(*space.values())])
    return [dict(zip(space, values, strict=True)) for values in combined]
