"""Findings of the checker: sentences with a concrete element and thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice

import numpy as np

from tileas_xdsl.data_classes import dataclass


class Rule(StrEnum):
    """A rule that inferred layouts must satisfy."""

    DECIDED = "decided"
    MAP = "map"
    ANNOTATION = "annotation"
    FLOATING = "floating"
    ALIAS = "alias"
    CONVERSION = "conversion"
    SHARED = "shared layout"
    BOUNDS = "bounds"
    READ = "read"
    WRITE = "write"
    RACE = "race"
    COPIES = "copies"
    PADDING = "padding"
    VECTOR = "vector"
    REDUCTION = "reduction"
    PRODUCT = "product"


@dataclass(frozen=True)
class Finding:
    """A violated rule: a wrong layout, or a program without a right one."""

    rule: Rule
    text: str
    location: str = ""

    def __str__(self) -> str:
        location = f"{self.location}: " if self.location else ""
        return f"{location}{self.rule}: {self.text}"


def first(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The first finding alone: one counterexample an access is enough."""
    return islice(findings, 1)


def element(buffer: str, shape: Sequence[int], index: int) -> str:
    """The element of a row-major index as it is written: `f[0, 8]`."""
    return f"{buffer}{_coordinates(shape, index)}"


def iteration(extents: Sequence[int], index: int) -> str:
    """The iteration of a row-major index: `iteration [1, 0]`."""
    return f"iteration {_coordinates(extents, index)}"


def _coordinates(shape: Sequence[int], index: int) -> str:
    return str([int(c) for c in np.unravel_index(index, tuple(shape))])


SHOWN_THREADS = 4


def threads_text(threads: Iterable[int]) -> str:
    """`thread 3`, `threads 1 and 2`, `threads 0, 16, 32, 48 and 4 more`; `no thread`."""
    names = sorted({int(t) for t in threads})
    if not names:
        return "no thread"
    if len(names) == 1:
        return f"thread {names[0]}"
    if len(names) > SHOWN_THREADS:
        shown = ", ".join(map(str, names[:SHOWN_THREADS]))
        return f"threads {shown} and {len(names) - SHOWN_THREADS} more"
    return f"threads {', '.join(map(str, names[:-1]))} and {names[-1]}"
