"""Which tests of a suite run, and in what order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256


def position(name: str) -> bytes:
    """Return where a test stands in the order of hashes of ids, the same in every run."""
    return sha256(name.encode()).digest()


def sampled(names: Iterable[str], per_file: int | None) -> Sequence[str]:
    """Return some tests of each file, or all, in the order of their hashes.

    A smaller sample is part of a larger one, and what has run when a run is cut short is a sample
    of the suite.  Neither the order of the files nor other tests change what is chosen.
    """
    ordered = sorted(names, key=position)
    if per_file is None:
        return ordered
    counts: dict[str, int] = {}
    chosen: list[str] = []
    for name in ordered:
        file = name.partition("::")[0]
        counts[file] = counts.get(file, 0) + 1
        if counts[file] <= per_file:
            chosen.append(name)
    return chosen
