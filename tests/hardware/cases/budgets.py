"""Register reallocation among warpgroups (`setmaxnreg`), and saturating `cvt.pack`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from hardware.cases.case import Case, kernel_text, pointers
from hardware.cases.elementwise import Row, rows_case
from hardware.cases.inputs import inputs_of, rng_of

GROUP = 128
BUDGETS: Sequence[tuple[int, int, int]] = (
    *((3, 40, 232), (3, 24, 240), (3, 56, 224), (5, 40, 104), (2, 24, 256)),
    *((4, 32, 152),),
)
"""Warpgroups per block, registers kept by the first, registers requested by each other.

A block begins with 65536 registers over its threads, rounded down to 8, at most 248 (PTX ISA,
setmaxnreg).
"""

TRADE = """
.reg .b32 %t, %v, %w; .reg .b64 %a, %b, %o; .reg .pred %p;
mov.u32 %t, %tid.x; ld.param.u64 %a, [A]; ld.param.u64 %b, [B]; mul.wide.u32 %o, %t, 4;
add.u64 %a, %a, %o; add.u64 %b, %b, %o; ld.global.u32 %v, [%a]; mov.u32 %w, 1;
setp.ge.u32 %p, %t, 128; @%p bra MORE;
setmaxnreg.dec.sync.aligned.u32 {give}; mad.lo.u32 %w, %v, 3, %w; bra END;
MORE: setmaxnreg.inc.sync.aligned.u32 {take}; mad.lo.u32 %w, %v, 5, %w;
END: st.global.u32 [%b], %w; ret;
"""


def budget_cases() -> Iterator[Case]:
    """Yield blocks whose first warpgroup releases the registers that the others request."""
    for groups, give, take in BUDGETS:
        threads = groups * GROUP
        a = rng_of(f"budget {groups} {give}").integers(0, 1 << 32, threads, dtype=np.uint32)
        factor = np.where(np.arange(threads) < GROUP, 3, 5).astype(np.uint32)
        text = kernel_text(
            TRADE.format(give=give, take=take),
            pointers("AB"),
            directives=f".maxntid {threads}, 1, 1 .minnctapersm 1",
        )
        yield Case(
            "register budgets",
            f"{groups} warpgroups, {give} and {take}",
            text,
            (a, np.zeros(threads, np.uint32)),
            block=threads,
            wanted={1: a * factor + np.uint32(1)},
        )


def packing_cases() -> Iterator[Case]:
    """Yield `cvt.pack` of two words, with and without a third operand for the high bits."""
    inputs = [inputs_of("b32", f"cvt.pack {n}") for n in range(3)]
    rows = [Row(f"cvt.pack.sat.{kind}16.s32 {{x}}, {{a}}, {{b}};", 32) for kind in "us"]
    for kind, bits in product("us", (8, 4, 2)):
        rows.append(Row(f"cvt.pack.sat.{kind}{bits}.s32.b32 {{x}}, {{a}}, {{b}}, {{c}};", 32))
    yield rows_case("conversions", "packed with saturation", rows, inputs)
