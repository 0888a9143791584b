"""The 64-bit descriptor of columns of B that `tcgen05.mma.ws` takes as zeros, and of its shift.

Spans of columns that are used and that are zeros alternate.  The mask has a part for each range of
columns of D (`target/tensor_memory.py`); a part begins in either span, some columns into it.

    use 4, skip 3, first span used    column 0 1 2 3 4 5 6 7 ...    start 2 of that:  0 1 2 3 4 ...
                                      mask   0 0 0 0 1 1 1 0 ...                      0 0 1 1 1 ...

Source: PTX ISA 9.7.16.4.3.  Its table has the meanings of the skip and the use span exchanged; its
examples 2 to 4, which are tests here, agree with the names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.bits import BitField, pack, unpack
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tensor_memory import WEIGHT_STATIONARY

WHAT = "zero-column mask descriptor"
PARTS = 4
_FIELDS = (
    *(BitField(f"start{part}", 8 * part, 8) for part in range(PARTS)),
    *(BitField(f"first{part}", 32 + part, 1) for part in range(PARTS)),
    BitField("nonzero", 39, 1),
    BitField("skip", 40, 8),
    BitField("use", 48, 8),
    BitField("shift", 56, 6),
)

MAX_SHIFT, MAX_SHIFT_OF_32_ROWS = 32, 16


@dataclass(frozen=True, slots=True)
class ZeroColumns:
    """`use` columns of B, then `skip` zeros; no zeros at all where `skip` is 0.

    `starts` says for each range of columns of D how many columns of its first span are left out,
    `zeros_first` whether that span is zeros.  B is read from column `shift` on.
    """

    use: int = 1
    skip: int = 0
    starts: tuple[int, int, int, int] = (0, 0, 0, 0)
    zeros_first: tuple[bool, bool, bool, bool] = (False, False, False, False)
    shift: int = 0

    def encode(self) -> int:
        """Return the 64-bit descriptor; raise `TargetError` for what does not fit its fields."""
        codes = {f"start{i}": start for i, start in enumerate(self.starts)}
        codes |= {f"first{i}": first for i, first in enumerate(self.zeros_first)}
        codes |= {"nonzero": self.skip > 0, "skip": max(self.skip - 1, 0), "use": self.use - 1}
        return pack(_FIELDS, codes | {"shift": self.shift}, WHAT)

    def mask(self, m: int, n: int) -> NDArray[np.bool_]:
        """Return which of the N columns of B are zeros, for a product of `m` rows."""
        parts = WEIGHT_STATIONARY[m].splits
        if not self.skip:
            return np.zeros(n, np.bool_)
        column = np.arange(n // parts)
        found: list[Any] = []
        for start, zeros in zip(self.starts[:parts], self.zeros_first[:parts], strict=True):
            first = self.skip if zeros else self.use
            if start >= first:
                raise TargetError(
                    f"{WHAT}: a start count of {start} leaves nothing of the first span, which has "
                    f"{first} columns"
                )
            at = (column + start) % (self.use + self.skip)
            found.append((at < first) == zeros)
        return np.concatenate(found)


def decode(word: int, m: int, max_shift: int) -> ZeroColumns:
    """Decode a descriptor for a product of `m` rows whose instruction allows shifts of `max_shift`.

    Raises `TargetError` for reserved bits and a shift that is too large.
    """
    values = unpack(_FIELDS, word, 64, WHAT)
    limit = min(max_shift, MAX_SHIFT_OF_32_ROWS if m == 32 else MAX_SHIFT)
    if values["shift"] > limit:
        raise TargetError(f"{WHAT}: the shift is {values['shift']}, and at most {limit} here")
    starts, first = ([values[f"{name}{i}"] for i in range(PARTS)] for name in ("start", "first"))
    return ZeroColumns(
        values["use"] + 1,
        values["skip"] + 1 if values["nonzero"] else 0,
        (starts[0], starts[1], starts[2], starts[3]),
        (bool(first[0]), bool(first[1]), bool(first[2]), bool(first[3])),
        values["shift"],
    )
