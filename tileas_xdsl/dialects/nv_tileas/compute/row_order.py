"""Products whose A threads compute of bytes that lie along its rows: rows come in pairs.

    %q = convert_layout %stage : 128x64xi8, smem            // columns of C^T side by side
    %y = sitofp %q
    %a = generate { extract %y[%k, %n] } : 64x128xf16
    %d = dot %a, %b, %c {nv_tileas.rows_in_pairs}

A lane has rows r and 8 + r of A and of the accumulator, and `ldmatrix.trans` gives it two bytes of
one row of memory side by side, rows 2 r and 2 r + 1 of A.  The order of rows does not matter, if A
and the accumulator have the same.
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

ROWS_IN_PAIRS = "nv_tileas.rows_in_pairs"


def has_rows_in_pairs(op: Operation) -> bool:
    """Whether a lane has two rows side by side of A and of the accumulator of a product."""
    return ROWS_IN_PAIRS in op.attributes


def set_rows_in_pairs(op: Operation) -> None:
    """Let lanes have two rows side by side of A and of the accumulator of a product."""
    op.attributes[ROWS_IN_PAIRS] = UnitAttr()
