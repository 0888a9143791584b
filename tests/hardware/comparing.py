"""What a case left on the emulator and on a GPU, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hardware.cases.case import Array, Case

MOST_SHOWN = 3


@dataclass(frozen=True)
class Check:
    """One thing that must be equal; `difference` says how it is not."""

    family: str
    name: str
    difference: str = ""


def checks(
    case: Case, found: Sequence[Array | None], wanted: Sequence[Array | None]
) -> list[Check]:
    """Compare the arguments afterwards; `wanted` is what the GPU, or numpy, has."""
    return list(_checks(case, found, wanted))


def _checks(
    case: Case, found: Sequence[Array | None], wanted: Sequence[Array | None]
) -> Iterator[Check]:
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        if one is None or other is None:
            continue
        is_last = number == len(found) - 1
        if not (is_last and case.rows):
            text = difference(one, other, case.ulps if is_last else 0)
            name = case.name if is_last else f"{case.name}, argument {number}"
            if is_last or text:
                yield Check(case.family, name, text)
            continue
        for row, mine, theirs in zip(case.rows, one, other, strict=True):
            text = difference(mine, theirs, case.ulps)
            shown = text and f"{text}{_inputs(case, text)}"
            yield Check(case.family, f"{case.name}: {row}", shown)


def difference(found: Array, wanted: Array, ulps: int = 0) -> str:
    """How many elements differ, and the first of them; nothing if they are equal."""
    mine, theirs = _words(found), _words(wanted)
    wrong = np.flatnonzero(mine != theirs)
    if ulps:
        wrong = wrong[_distance(mine[wrong], theirs[wrong]) > ulps]
    if not wrong.size:
        return ""
    pairs = [f"[{i}] {int(mine[i]):#x}, not {int(theirs[i]):#x}" for i in wrong[:MOST_SHOWN]]
    return f"{wrong.size} of {mine.size}: {'; '.join(pairs)}"


def _words(array: Array) -> Array:
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(f"u{flat.dtype.itemsize}")


def _distance(one: Array, other: Array) -> Array:
    """Floats between two of them, both as words of one sign; the widest where signs differ."""
    return np.abs(one.astype(np.int64) - other.astype(np.int64))


def _inputs(case: Case, text: str) -> str:
    """What the first elements that differ were computed of."""
    places = [int(part.split("]")[0]) for part in text.split("[")[1:]]
    shown: list[str] = []
    for place in places:
        words = [_words(array) for array in case.arguments[:-1] if _is_input(array)]
        shown.append(", ".join(f"{int(w[place]):#x}" for w in words if place < w.size))
    return f" (of {' | '.join(shown)})"


def _is_input(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind in "uif"
