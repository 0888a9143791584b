"""mbarriers: results of `test_wait` by phase and parity after arrivals and transactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from hardware.cases.case import Case, kernel_text, pointers
from hardware.cases.inputs import rng_of

START = """
.reg .b32 %r, %w; .reg .b64 %b, %s0, %s1, %s2, %s3; .reg .pred %p;
.shared .align 8 .b8 bar[8]; ld.param.u64 %b, [B];
mbarrier.init.shared::cta.b64 [bar], {count};
"""

ARRIVALS = {
    "arrive": "mbarrier.arrive.shared::cta.b64 {s}, [bar];",
    "arrive 2": "mbarrier.arrive.shared::cta.b64 {s}, [bar], 2;",
    "drop": "mbarrier.arrive_drop.shared::cta.b64 {s}, [bar];",
    "expect": "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 24;",
    "arrive and expect": "mbarrier.arrive.expect_tx.shared::cta.b64 {s}, [bar], 40;",
    "complete": "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 8;",
}

SEQUENCES: Sequence[tuple[int, Sequence[str]]] = (
    (1, ("arrive", "arrive", "arrive")),
    (2, ("arrive", "arrive", "arrive 2", "arrive", "arrive")),
    (3, ("arrive", "arrive 2", "arrive 2", "arrive")),
    (3, ("drop", "arrive 2", "arrive 2", "drop", "arrive", "arrive", "arrive")),
    (2, ("expect", "arrive", "arrive", "complete", "complete", "complete", "arrive 2")),
    (1, ("arrive and expect", *["complete"] * 5, "arrive")),
    (1, ("expect", "complete", "complete", "arrive and expect", *["complete"] * 6, "arrive")),
    (2, ("complete", "complete", "arrive and expect", *["complete"] * 3, "arrive", "arrive 2")),
)
"""Expected arrival count of a barrier, and the operations applied to it in order."""

TESTS = (
    "mbarrier.test_wait.parity.shared::cta.b64 %p, [bar], 0;",
    "mbarrier.test_wait.parity.shared::cta.b64 %p, [bar], 1;",
)


def barrier_cases() -> Iterator[Case]:
    """Record, after each operation, `test_wait` for both parities and all tokens, and counts."""
    for number, (count, steps) in enumerate(SEQUENCES):
        yield _sequence(f"{number}: {count}, {', '.join(steps)}", count, steps)
    yield _pipeline()


def _sequence(name: str, count: int, steps: Sequence[str]) -> Case:
    lines = [START.format(count=count)]
    place, tokens = 0, 0
    for step in ("init", *steps):
        if step != "init":
            arrival = ARRIVALS[step]
            lines.append(arrival.format(s=f"%s{tokens % 4}"))
            tokens += "{s}" in arrival
        tests = [*TESTS]
        tests += [f"mbarrier.test_wait.shared::cta.b64 %p, [bar], %s{tokens - 1 & 3};"] * (
            tokens > 0
        )
        for test in tests:
            lines += [test, "selp.u32 %r, 1, 0, %p;", f"st.global.u32 [%b+{4 * place}], %r;"]
            place += 1
        if tokens and "{s}" in ARRIVALS.get(step, ""):
            lines.append(f"mbarrier.pending_count.b64 %r, %s{tokens - 1 & 3};")
            lines.append(f"st.global.u32 [%b+{4 * place}], %r;")
            place += 1
    text = kernel_text("\n".join([*lines, "ret;"]), pointers("B"))
    return Case("mbarrier", name, text, (np.full(place, 9, np.uint32),), block=1)


def _pipeline() -> Case:
    """Return a two-warp kernel that exchanges values through a pair of mbarriers."""
    body = """
    .reg .b32 %t, %i, %r, %q, %s, %w; .reg .b64 %b, %a, %o, %st; .reg .pred %p<4>;
    .shared .align 8 .b8 bar[16]; .shared .align 4 .b8 box[128];
    mov.u32 %t, %tid.x; ld.param.u64 %a, [A]; ld.param.u64 %b, [B]; and.b32 %w, %t, 31;
    mad.wide.u32 %a, %w, 4, %a; mad.wide.u32 %b, %w, 4, %b;
    mov.u32 %s, box; mad.lo.u32 %s, %w, 4, %s;
    setp.ne.u32 %p0, %t, 0; @%p0 bra MADE;
    mbarrier.init.shared::cta.b64 [bar], 32; mbarrier.init.shared::cta.b64 [bar+8], 32;
    MADE: bar.sync 0; mov.u32 %i, 0; mov.u32 %r, 0; setp.ge.u32 %p1, %t, 32; @%p1 bra TAKE;
    GIVE: and.b32 %q, %i, 1; xor.b32 %q, %q, 1;
    W0: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar+8], %q; @!%p2 bra W0;
    ld.global.u32 %r, [%a]; add.u64 %a, %a, 128; st.shared.u32 [%s], %r;
    mbarrier.arrive.shared::cta.b64 %st, [bar];
    add.u32 %i, %i, 1; setp.lt.u32 %p3, %i, 9; @%p3 bra GIVE; bra END;
    TAKE: and.b32 %q, %i, 1;
    W1: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], %q; @!%p2 bra W1;
    ld.shared.u32 %q, [%s]; mad.lo.u32 %r, %r, 31, %q;
    mbarrier.arrive.shared::cta.b64 %st, [bar+8];
    add.u32 %i, %i, 1; setp.lt.u32 %p3, %i, 9; @%p3 bra TAKE; st.global.u32 [%b], %r;
    END: ret;
    """
    a = rng_of("pipeline").integers(0, 1 << 32, (9, 32), dtype=np.uint32)
    wanted = np.zeros(32, np.uint32)
    for row in a:
        wanted = wanted * np.uint32(31) + row
    text = kernel_text(body, pointers("AB"))
    arguments = (a, np.zeros(32, np.uint32))
    return Case("mbarrier", "a pipeline", text, arguments, block=64, wanted={1: wanted})
