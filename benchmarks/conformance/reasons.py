"""Normalisation of failure messages, so that equal reasons of many tests can be counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.conformance.outcomes import Outcome, Result

LONGEST = 160
"""Characters of a normalised reason."""

_REPLACEMENTS = (
    (re.compile(r"^\S+:\d+:\d+: (?:error: )?", re.MULTILINE), ""),  # where it is said
    (re.compile(r"(?:/[\w.+-]+){2,}(?::\d+)*"), "FILE"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "N"),
    (re.compile(r"%\w+(?:#\d+)?"), "%x"),
    (re.compile(r"(?<!module named )'[A-Za-z_]\w*'"), "'x'"),  # `'dialect.op'` has a dot, and stays
    (re.compile(r"(?<![A-Za-wyz_])(?:[bt]?f|[su]?i|u)\d+(?:E\d+M\d+\w*)?\b"), "T"),
    (re.compile(r"(?<![A-Za-wyz_\d])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"), "N"),
    (re.compile(r"\?|\binf\b|\bnan\b"), "N"),
    (re.compile(r"N(?:x[NT])+"), "NxT"),  # shapes of every rank
    (re.compile(r"N(?:, ?N)+,?"), "N, N"),
    (re.compile(r"\s+"), " "),
)


def normalised(reason: str) -> str:
    """Return the message with places, numbers and names replaced.

    >>> normalised("a.py:3:5: error: 'nv_tileas.dot' op needs 128x64xf16, not 64x8xbf16 ('acc')")
    "'nv_tileas.dot' op needs NxT, not NxT ('x')"
    """
    for pattern, replacement in _REPLACEMENTS:
        reason = pattern.sub(replacement, reason)
    reason = reason.strip()
    return reason if len(reason) <= LONGEST else reason[: LONGEST - 3] + "..."


@dataclass(frozen=True)
class Ranked:
    """A reason that several tests share."""

    outcome: Outcome
    kind: str
    reason: str
    count: int
    files: int
    example: str
    """The id of the test with the shortest id."""


def ranked(results: Iterable[Result]) -> Sequence[Ranked]:
    """Return the reasons of what did not pass, by outcome, the most frequent first."""
    groups: dict[tuple[Outcome, str, str], list[Result]] = {}
    for result in results:
        if not result.passed:
            key = result.outcome, result.kind, normalised(result.reason)
            groups.setdefault(key, []).append(result)
    found = [_ranked(*key, members) for key, members in groups.items()]
    order = list(Outcome)
    return sorted(found, key=lambda one: (order.index(one.outcome), -one.count, one.reason))


def _ranked(outcome: Outcome, kind: str, reason: str, members: Sequence[Result]) -> Ranked:
    example = min((result.id for result in members), key=lambda name: (len(name), name))
    files = len({result.file for result in members})
    return Ranked(outcome, kind, reason, len(members), files, example)
