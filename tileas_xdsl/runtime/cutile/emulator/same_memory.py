"""Arrays of a launch that are the same memory: what races there says so.

cuTile leaves it to the caller that no arrays of a kernel alias one another, so that loads of one
may reach into what other blocks store through the other, beside the elements that they need.
Source: cuTile Python, execution model, object model and lifetimes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.interpreters.ptx import Finding


def same_memory(names: Sequence[str], values: Sequence[Any]) -> Sequence[tuple[str, str]]:
    """Return the names of arrays, two by two, whose bounds in memory overlap.

    Other values, as extents, have the names of what they belong to.
    """
    pairs = zip(names, values, strict=True)
    known: list[tuple[str, NDArray[Any]]] = [
        (name, value) for name, value in pairs if isinstance(value, np.ndarray)
    ]
    return [
        (first, second)
        for (first, one), (second, other) in combinations(known, 2)
        if np.may_share_memory(one, other)
    ]


def with_hint(finding: Finding, pairs: Sequence[tuple[str, str]]) -> Finding:
    """Return a race with what to do about arrays that are the same memory."""
    if not pairs or not finding.kind.startswith("race-"):
        return finding
    first, second = pairs[0]
    hint = (
        f"hint: '{first}' and '{second}' are the same memory, which arrays of a cuTile kernel must"
        f" not be: let the kernel store to '{first}' itself, or give it a copy"
    )
    return replace(finding, notes=(*finding.notes, hint))
