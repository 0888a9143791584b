"""Bitwise comparison of the outputs of a case on the emulator and on a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hardware.cases.case import Array, Case, Near

from tileas_xdsl.interpreters.ptx.numerics.float_formats import FORMATS, decode

MOST_SHOWN = 3

TINY = {name: 2.0 ** (1 - f.bias) for name, f in FORMATS.items()}
"""Smallest normal number by format; approximations may flush results below it."""


@dataclass(frozen=True)
class Check:
    """The result of one comparison; `difference` is empty if it passed."""

    family: str
    name: str
    difference: str = ""


def checks(
    case: Case, found: Sequence[Array | None], wanted: Sequence[Array | None]
) -> list[Check]:
    """Compare the final arguments with `wanted`, the result of the GPU or of numpy."""
    return list(_checks(case, found, wanted))


def _checks(
    case: Case, found: Sequence[Array | None], wanted: Sequence[Array | None]
) -> Iterator[Check]:
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        if one is None or other is None:
            continue
        is_last = number == len(found) - 1
        if not (is_last and case.rows):
            text = difference(one, other)
            name = case.name if is_last else f"{case.name}, argument {number}"
            if is_last or text:
                yield Check(case.family, name, text)
            continue
        for place, (row, mine, theirs) in enumerate(zip(case.rows, one, other, strict=True)):
            near = case.near[place] if case.near else None
            text = difference(mine, theirs) if near is None else distance(case, near, mine, theirs)
            shown = text and f"{text}{_inputs(case, text)}"
            yield Check(case.family, f"{case.name}: {row}", shown)


def difference(found: Array, wanted: Array) -> str:
    """Describe the number of unequal elements and the first ones; empty if all are equal."""
    mine, theirs = _words(found), _words(wanted)
    return _told(mine, theirs, np.flatnonzero(mine != theirs))


def distance(case: Case, near: Near, found: Array, wanted: Array) -> str:
    """Describe floats outside the tolerance, like `difference`; NaN and infinities must match."""
    element = near.type.removesuffix("x2")
    bits, parts = FORMATS[element].bits, 1 + near.type.endswith("x2")
    wrong = np.zeros(found.shape, np.bool_)
    for shift in range(0, bits * parts, bits):
        x, y, of = (_part(w, shift, element) for w in (found, wanted, case.arguments[0]))
        with np.errstate(invalid="ignore"):
            room = near.relative * np.abs(y) + near.absolute + near.of_input * np.abs(of)
            is_near = np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) <= room + TINY[element])
        wrong |= ~(is_near | (x == y) | (np.isnan(x) & np.isnan(y)))
    return _told(_words(found), _words(wanted), np.flatnonzero(wrong))


def _part(words: Array, shift: int, element: str) -> Array:
    bits = FORMATS[element].bits
    word = words.astype(np.uint64) >> np.uint64(shift) & np.uint64((1 << bits) - 1)
    with np.errstate(invalid="ignore"):
        return decode(word.astype(f"u{bits // 8}"), element)


def _told(mine: Array, theirs: Array, wrong: Array) -> str:
    if not wrong.size:
        return ""
    pairs = [f"[{i}] {int(mine[i]):#x}, not {int(theirs[i]):#x}" for i in wrong[:MOST_SHOWN]]
    return f"{wrong.size} of {mine.size}: {'; '.join(pairs)}"


def _words(array: Array) -> Array:
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(f"u{flat.dtype.itemsize}")


def _inputs(case: Case, text: str) -> str:
    """Return the inputs of the first unequal elements."""
    places = [int(part.split("]")[0]) for part in text.split("[")[1:]]
    shown: list[str] = []
    for place in places:
        words = [_words(array) for array in case.arguments[:-1] if _is_input(array)]
        shown.append(", ".join(f"{int(w[place]):#x}" for w in words if place < w.size))
    return f" (of {' | '.join(shown)})"


def _is_input(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind in "uif"
