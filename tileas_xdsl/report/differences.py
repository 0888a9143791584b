"""What a pass changed: a diff of two texts of IR that does not count new numbers of values.

%41 = arith.addi %40, %2        a pass that removes an operation above renumbers every value
%40 = arith.addi %39, %2        below; both lines read `% = arith.addi %, %` here
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from tileas_xdsl.data_classes import dataclass

_VALUE = re.compile(r"%[\w$.-]+(?:[:#]\d+)?")
_LAST_PASS = re.compile(r',? ?nv_tileas\.last_pass = "[^"]*"')


@dataclass(frozen=True)
class Hunk:
    """Lines `before[start:end]` that became `after[start:end]`; one of them may be empty."""

    before: tuple[int, int]
    after: tuple[int, int]


def differences(before: Sequence[str], after: Sequence[str]) -> Sequence[Hunk]:
    """Return where two texts differ, in order; numbers of values are no difference."""
    old, new = [list(map(_without_numbers, lines)) for lines in (before, after)]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [
        Hunk((old_start, old_end), (new_start, new_end))
        for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    ]


def _without_numbers(line: str) -> str:
    return _LAST_PASS.sub("", _VALUE.sub("%", line))
