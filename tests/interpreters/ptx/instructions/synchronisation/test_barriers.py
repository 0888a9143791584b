"""Barriers of every kind: what they order, and what becomes of wrong uses."""

from typing import Any

import numpy as np
import pytest
from interpreters.ptx.harness import execute, pointers

from tileas_xdsl.interpreters.ptx import Report

BEGIN = """
.reg .b32 %t, %w, %r<8>, %s, %bar; .reg .b64 %a, %b, %o, %st; .reg .pred %p<6>;
.shared .align 8 .b8 bars[64]; .shared .align 16 .b8 box[4096];
mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; ld.param.u64 %b, [B]; mov.u32 %bar, bars;
mul.wide.u32 %o, %t, 4; add.u64 %b, %b, %o; mov.u32 %s, box; mad.lo.u32 %s, %t, 4, %s;
"""

INIT = """
setp.ne.u32 %p0, %t, 0; @%p0 bra MADE;
mbarrier.init.shared::cta.b64 [%bar], COUNT; fence.mbarrier_init.release.cluster;
MADE: bar.sync 0;
"""


def run_block(body: str, threads: int = 64, **options: Any) -> Report:
    text = f"{BEGIN}{body}\nret;"
    return execute(text, pointers("B"), [np.zeros(threads, np.uint32)], block=threads, **options)


def result(report: Report) -> list[int]:
    assert report.arrays[0] is not None
    return report.arrays[0].tolist()


def kinds(report: Report) -> list[str]:
    return [finding.kind for finding in report.findings]


EXCHANGE = """
st.shared.u32 [%s], %t; {barrier}
xor.b32 %r0, %t, 32; mov.u32 %r1, box; mad.lo.u32 %r1, %r0, 4, %r1; ld.shared.u32 %r2, [%r1];
st.global.u32 [%b], %r2;
"""


def test_a_barrier_orders_shared_memory_and_none_does_not() -> None:
    report = run_block(EXCHANGE.format(barrier="bar.sync 0;"))
    assert result(report) == [i ^ 32 for i in range(64)]
    wrong = run_block(EXCHANGE.format(barrier=""), clean=False)
    assert kinds(wrong) in (["race-RAW"], ["uninitialised"])


def test_arriving_orders_only_those_who_sync() -> None:
    body = """
    setp.ge.u32 %p0, %t, 32; @%p0 bra READ;
    st.shared.u32 [%s], %t; bar.arrive 1, 64; bra END;
    READ: bar.sync 1, 64; ld.shared.u32 %r2, [%s+-128]; st.global.u32 [%b], %r2;
    END:
    """
    report = run_block(body)
    assert result(report)[32:] == [*range(32)]


@pytest.mark.parametrize("mode", ["popc", "and", "or"])
def test_barriers_reduce_predicates(mode: str) -> None:
    body = f"""
    setp.lt.u32 %p1, %t, 40;
    {
        "barrier.cta.red.popc.aligned.u32 %r2, 0, %p1;"
        if mode == "popc"
        else f"barrier.cta.red.{mode}.aligned.pred %p2, 0, %p1; selp.u32 %r2, 1, 0, %p2;"
    }
    st.global.u32 [%b], %r2;
    """
    wanted = {"popc": 40, "and": 0, "or": 1}[mode]
    assert result(run_block(body)) == [wanted] * 64


@pytest.mark.parametrize("order", ["eager", "lazy", "random"])
def test_phases_and_tokens(order: str) -> None:
    """Two warps hand a counter back and forth through two barriers, by parity and by token."""
    body = (
        INIT.replace("COUNT", "32").replace(
            "fence", "mbarrier.init.shared::cta.b64 [%bar+8], 32; fence"
        )
        + """
    mov.u32 %r0, 0; setp.ge.u32 %p0, %t, 32; @%p0 bra SECOND;
    FIRST: mad.lo.u32 %r1, %r0, 3, %t; st.shared.u32 [%s], %r1;
    mbarrier.arrive.shared::cta.b64 %st, [%bar]; and.b32 %r3, %r0, 1;
    W0: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%bar+8], %r3; @!%p1 bra W0;
    add.u32 %r0, %r0, 1; setp.lt.u32 %p2, %r0, 5; @%p2 bra FIRST; bra END;
    SECOND: mov.u32 %r4, 0;
    AGAIN: and.b32 %r3, %r0, 1;
    W1: mbarrier.test_wait.parity.shared::cta.b64 %p1, [%bar], %r3; @!%p1 bra W1;
    ld.shared.u32 %r1, [%s+-128]; add.u32 %r4, %r4, %r1;
    mbarrier.arrive.shared::cta.b64 _, [%bar+8];
    add.u32 %r0, %r0, 1; setp.lt.u32 %p2, %r0, 5; @%p2 bra AGAIN;
    st.global.u32 [%b], %r4;
    END:
    """
    )
    report = run_block(body, order=order, seed=3)
    assert result(report)[32:] == [5 * i + 30 for i in range(32)]


def test_tokens_drops_and_pending_counts() -> None:
    body = (
        INIT.replace("COUNT", "40")
        + """
    setp.ge.u32 %p0, %t, 32; @%p0 bra OTHER;
    mbarrier.arrive_drop.shared::cta.b64 %st, [%bar];
    mbarrier.pending_count.b64 %r2, %st;
    W: mbarrier.try_wait.shared::cta.b64 %p1, [%bar], %st; @!%p1 bra W;
    st.global.u32 [%b], %r2; bra END;
    OTHER: setp.ne.u32 %p0, %t, 32; @%p0 bra END;
    mbarrier.arrive.noComplete.shared::cta.b64 %st, [%bar], 4;
    mbarrier.arrive.shared::cta.b64 %st, [%bar], 4;
    W2: mbarrier.test_wait.shared::cta.b64 %p1, [%bar], %st; @!%p1 bra W2;
    mbarrier.arrive.shared::cta.b64 %st, [%bar], 8;
    W3: mbarrier.try_wait.shared::cta.b64 %p1, [%bar], %st; @!%p1 bra W3;
    mov.u32 %r2, 99; st.global.u32 [%b], %r2;
    END: bar.sync 0; setp.ne.u32 %p0, %t, 0; @%p0 ret;
    mbarrier.inval.shared::cta.b64 [%bar];
    """
    )
    found = result(run_block(body))
    assert found[32] == 99
    assert all(1 <= v <= 40 for v in found[:32])


@pytest.mark.parametrize(
    ("body", "kind", "says"),
    [
        ("mbarrier.arrive.shared::cta.b64 _, [%bar];", "barrier-init", "it was never initialised"),
        (INIT.replace("COUNT", "0"), "invalid", "the count 0"),
        (INIT.replace("COUNT", "8") + "mbarrier.arrive.shared::cta.b64 _, [%bar], 9;",
         "barrier-arrivals", "gets more arrivals than its count"),
        (INIT.replace("COUNT", "64") + INIT.replace("COUNT", "1").replace("MADE", "M2"),
         "barrier-init", "initialised again without mbarrier.inval"),
        (INIT.replace("COUNT", "64") + "st.shared.u32 [%bar+4], %t;",
         "barrier-overwritten", "a live mbarrier"),
        (INIT.replace("COUNT", "64") + "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], "
         "1000000;", "barrier-bytes", "beyond 1048575"),
        ("bar.sync 1, 48;", "named-barrier", "48 threads are no whole warps"),
        ("bar.sync 1, 96;", "named-barrier", "the block has 64"),
        ("bar.sync 17;", "named-barrier", "not in 0..15"),
        ("setp.lt.u32 %p0, %t, 7; @%p0 bra X; bar.sync 0; X: bar.sync 1;", "diverged",
         "never come together"),
        ("barrier.cluster.wait;", "named-barrier", "without having arrived"),
    ],
)  # fmt: skip
def test_wrong_uses_are_told(body: str, kind: str, says: str) -> None:
    report = run_block(body, clean=False)
    mine = [f for f in report.findings if f.kind == kind]
    assert mine, report.findings
    assert says in mine[0].message


def test_a_deadlock_tells_who_waits_for_what() -> None:
    body = (
        INIT.replace("COUNT", "33")
        + """
    setp.ge.u32 %p0, %t, 32; @%p0 bra W; mbarrier.arrive.shared::cta.b64 _, [%bar];
    W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%bar], 0; @!%p1 bra W;
    """
    )
    report = run_block(body, clean=False)
    (finding,) = report.findings
    assert finding.kind == "deadlock"
    assert not report.finished
    story = "\n".join(finding.notes)
    assert "for the phase of parity 0 of mbarrier bars+0x0 of CTA 0" in story
    assert "1 of 33 arrivals are missing in phase 0" in story


def test_a_wait_that_gives_up_may_do_other_work() -> None:
    """A look at a barrier that completes only because of what the looking thread does next."""
    body = (
        INIT.replace("COUNT", "64")
        + """
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%bar], 0;
    mbarrier.arrive.shared::cta.b64 _, [%bar]; selp.u32 %r2, 1, 0, %p1;
    W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%bar], 0; @!%p1 bra W;
    st.global.u32 [%b], %r2;
    """
    )
    assert result(run_block(body)) == [0] * 64


CLUSTER = """
mov.u32 %r0, %cluster_ctarank; mad.lo.u32 %r1, %r0, 100, %t; st.shared.u32 [%s], %r1;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
xor.b32 %r2, %r0, 1; mapa.shared::cluster.u32 %r3, %s, %r2;
ld.shared::cluster.u32 %r4, [%r3]; getctarank.shared::cluster.u32 %r5, %r3;
mad.lo.u32 %r4, %r5, 1000, %r4;
mad.lo.u32 %r6, %r0, 256, 0; cvt.u64.u32 %o, %r6; add.u64 %b, %b, %o; st.global.u32 [%b], %r4;
"""


def test_clusters_reach_into_one_another() -> None:
    body = BEGIN + CLUSTER
    leave = "barrier.cluster.arrive; barrier.cluster.wait; ret;"
    b = np.zeros(128, np.uint32)
    options: dict[str, Any] = {"block": 64, "grid": 2, "cluster": 2}
    report = execute(body + leave, pointers("B"), [b], **options)
    wanted = [1000 * (1 - r) + 100 * (1 - r) + t for r in (0, 1) for t in range(64)]
    assert result(report) == wanted
    wrong = execute(body + "ret;", pointers("B"), [b], clean=False, **options)
    assert {"exit-race", "access-after-exit"} & set(kinds(wrong))


def test_register_budgets() -> None:
    body = """
    setp.ge.u32 %p0, %t, 128; @%p0 bra MORE; setmaxnreg.dec.sync.aligned.u32 64; bra END;
    MORE: setmaxnreg.inc.sync.aligned.u32 MANY; END:
    """
    good = run_block(body.replace("MANY", "256"), 256)
    assert good.finished
    assert run_block(body.replace("MANY", "240"), 256).finished, "begins with 240, as ptxas has it"
    wrong = run_block(body.replace("u32 64", "u32 256").replace("MANY", "256"), 384, clean=False)
    assert set(kinds(wrong)) <= {"registers", "deadlock"}
    assert wrong.findings


def test_registers_come_from_the_block_alone() -> None:
    """640 threads begin with 96 each: what the multiprocessor has left is nobody's."""
    body = """
    setp.ge.u32 %p0, %t, 128; @%p0 bra MORE; setmaxnreg.dec.sync.aligned.u32 40; bra END;
    MORE: setmaxnreg.inc.sync.aligned.u32 MANY; END:
    """
    assert run_block(body.replace("MANY", "104"), 640).finished
    wrong = run_block(body.replace("MANY", "112"), 640, clean=False)
    assert kinds(wrong) == ["deadlock"]
    assert "free of those that the block began with" in "\n".join(wrong.findings[0].notes)


@pytest.mark.parametrize("order", ["eager", "lazy", "random"])
def test_lanes_wait_for_barriers_of_their_own(order: str) -> None:
    """Even lanes of a warp for one, odd lanes for another."""
    body = """
    setp.ne.u32 %p0, %t, 0; @%p0 bra MADE; mbarrier.init.shared::cta.b64 [%bar], 1;
    mbarrier.init.shared::cta.b64 [%bar+8], 1; MADE: bar.sync 0;
    setp.lt.u32 %p0, %t, 32; @%p0 bra WAIT; setp.ne.u32 %p0, %t, 32; @%p0 bra END;
    mbarrier.arrive.shared::cta.b64 _, [%bar+8]; TOLD bra END;
    WAIT: and.b32 %r0, %t, 1; mad.lo.u32 %bar, %r0, 8, %bar;
    W: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%bar], 0; @!%p0 bra W;
    END: st.global.u32 [%b], %t;
    """
    options: dict[str, Any] = {"order": order, "limit": 100_000}
    told = body.replace("TOLD", "mbarrier.arrive.shared::cta.b64 _, [%bar];")
    assert result(run_block(told, **options)) == [*range(64)]
    wrong = run_block(body.replace("TOLD", ""), clean=False, **options)
    assert kinds(wrong) == ["deadlock"]
    assert "CTA 0 warp 0" in wrong.findings[0].message


@pytest.mark.parametrize("order", ["eager", "lazy", "random"])
def test_warps_that_wait_for_registers_do_not_wait_for_lanes_of_others(order: str) -> None:
    """A lane that waits elsewhere keeps its own warp only from asking for registers."""
    body = """
    setp.ne.u32 %p0, %t, 0; @%p0 bra MADE; mbarrier.init.shared::cta.b64 [%bar], 1;
    MADE: bar.sync 0; setp.ge.u32 %p0, %t, 256; @%p0 bra END;
    setp.ne.u32 %p1, %t, 0; @%p1 bra MORE;
    W: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%bar], 0; @!%p0 bra W;
    MORE: setmaxnreg.inc.sync.aligned.u32 256; END:
    """
    wrong = run_block(body, 384, clean=False, order=order, limit=100_000)
    assert kinds(wrong) == ["deadlock"]
    assert "wait forever" in wrong.findings[0].message


@pytest.mark.parametrize("offset", [0, 1 << 32])
def test_a_shared_address_for_a_generic_one_works_but_is_not_ptx(offset: int) -> None:
    body = (
        INIT.replace("COUNT", "64")
        + f"cvt.u64.u32 %o, %bar; add.u64 %o, %o, {offset}; mbarrier.arrive.b64 _, [%o];"
    )
    report = run_block(body, clean=False)
    (found,) = report.findings
    assert (found.kind, str(found.severity)) == ("illegal-address", "error" if offset else "isa")
