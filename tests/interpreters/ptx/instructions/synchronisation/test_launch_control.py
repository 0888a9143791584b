"""Blocks that take over others which have not started: clusterlaunchcontrol, registers of 128
bits."""

from __future__ import annotations

import numpy as np
import pytest
from interpreters.ptx.harness import execute, module, pointers

from tileas_xdsl.interpreters.ptx import Report, load, run

ORDERS = ["eager", "lazy", "random"]

PERSISTENT = """
.reg .b32 %t, %s, %x, %y, %z, %n, %r<8>; .reg .b64 %a, %o; .reg .pred %p<4>; .reg .b128 %q;
.shared .align 16 .b8 answer[16]; .shared .align 8 .b8 bar[8];
ld.param.u64 %a, [A]; mov.u32 %t, %tid.x; mov.u32 %s, answer; mov.u32 %r7, 0;
mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %n, %nctaid.x;
setp.eq.u32 %p0, %t, 0; @!%p0 bra INIT; mbarrier.init.shared::cta.b64 [bar], 1;
fence.mbarrier_init.release.cluster; INIT: bar.sync 0;
WORK:
    @!%p0 bra ASKED;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
    clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%s], [bar];
ASKED:
    mad.lo.u32 %r0, %y, %n, %x; mad.lo.u32 %r0, %r0, 64, %t; mul.wide.u32 %o, %r0, 4;
    add.u64 %o, %a, %o; mov.u32 %r1, %ctaid.x; add.u32 %r1, %r1, 1; st.global.u32 [%o], %r1;
W:  mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], %r7; @!%p1 bra W;
    xor.b32 %r7, %r7, 1; ld.shared.b128 %q, [%s];
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;
    GUARD clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%x, %y, %z, _}, %q;
    fence.proxy.async.shared::cta; bar.sync 0;
    @%p2 bra WORK;
    AGAIN ret;
"""
TWICE = """
    @!%p0 ret; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
    clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%s], [bar];
V:  mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], %r7; @!%p1 bra V;
"""


def persistent(order: str, *, guard: str = "@%p2", again: str = "", clean: bool = True) -> Report:
    body = PERSISTENT.replace("GUARD", guard).replace("AGAIN", again)
    a = np.zeros((3, 5, 64), np.uint32)
    return execute(body, pointers("A"), [a], block=64, grid=(5, 3), order=order, seed=3,
                   target="sm_100a", clean=clean)  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
def test_blocks_take_over_those_that_have_not_started(order: str) -> None:
    report = persistent(order)
    done = report.arrays[0]
    assert done is not None
    assert (done > 0).all(), "each part of the grid is worked on"
    assert (done == done[:, :, :1]).all(), "by one block"
    if order != "random":
        assert (done == 1).all(), "the first block takes over all others"
    else:
        assert len(np.unique(done)) > 1, "some requests are refused"


def test_cancelled_blocks_count_as_done() -> None:
    told: list[tuple[int, int]] = []
    text = module(PERSISTENT.replace("GUARD", "@%p2").replace("AGAIN", ""), pointers("A"),
                  "sm_100a")  # fmt: skip
    run(
        load(text), "k", [np.zeros((15, 64), np.uint32)], 15, 64, progress=lambda *n: told.append(n)
    )
    assert told[-1] == (15, 15)


def test_asking_on_after_a_refusal_and_using_one_are_errors() -> None:
    twice = persistent("eager", again=TWICE, clean=False).findings
    assert [(f.kind, "after a request has failed" in f.message) for f in twice] == [
        ("invalid", True)
    ]
    unguarded = persistent("eager", guard="", clean=False).findings
    assert [(f.kind, "was not cancelled" in f.message) for f in unguarded] == [("invalid", True)]


@pytest.mark.parametrize("order", ORDERS)
def test_a_cluster_is_told_of_what_one_of_its_blocks_asks_for(order: str) -> None:
    body = """
    .reg .b32 %t, %s, %x, %r<8>; .reg .b64 %a, %o; .reg .pred %p<4>; .reg .b128 %q;
    .shared .align 16 .b8 answer[16]; .shared .align 8 .b8 bar[8];
    ld.param.u64 %a, [A]; mov.u32 %t, %tid.x; mov.u32 %s, answer; mov.u32 %r6, %cluster_ctarank;
    mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
    barrier.cluster.arrive; barrier.cluster.wait; setp.ne.u32 %p0, %r6, 0; @%p0 bra W;
    clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{ALL}.b128
      [%s], [bar];
W:  mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W;
    ld.shared.b128 %q, [%s]; mov.u32 %x, 99;
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;
    @%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %x, %q;
    mov.u32 %r0, %ctaid.x; mul.wide.u32 %o, %r0, 4; add.u64 %o, %a, %o; st.global.u32 [%o], %x;
    barrier.cluster.arrive; barrier.cluster.wait; ret;
    """.replace("{ALL}", ".multicast::cluster::all")
    report = execute(body, pointers("A"), [np.full(6, 7, np.uint32)], block=1, grid=6, cluster=2,
                     order=order, seed=4, target="sm_100a")  # fmt: skip
    found = report.arrays[0]
    assert found is not None
    assert found[0] == found[1], "both blocks of the cluster get one answer"
    if order == "eager":
        assert found.tolist() == [2, 2, 7, 7, 99, 99], "the cluster of block 2 never starts"


def test_registers_of_128_bits() -> None:
    a = np.random.default_rng(1).integers(0, 1 << 32, (32, 4), dtype=np.uint32)
    body = """
    .reg .b128 %q<4>; .reg .b64 %a, %b, %o, %d<4>; .reg .b32 %t, %r<4>; .reg .pred %p;
    ld.param.u64 %a, [A]; ld.param.u64 %b, [B]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 16;
    add.u64 %a, %a, %o; add.u64 %b, %b, %o; ld.global.b128 %q0, [%a];
    mov.b128 {%r0, %r1, %r2, %r3}, %q0; mov.b128 {%d0, %d1}, %q0;
    mov.b128 %q1, {%r3, %r2, %r1, %r0}; mov.b128 %q2, {%d1, %d0};
    setp.lt.u32 %p, %t, 16; @%p mov.b128 %q2, %q1; st.global.b128 [%b], %q2; ret;
    """
    report = execute(body, pointers("AB"), [a, np.zeros_like(a)])
    wanted = np.where(np.arange(32)[:, None] < 16, a[:, ::-1], a[:, [2, 3, 0, 1]])
    np.testing.assert_array_equal(report.arrays[1], wanted)


def test_atomics_of_128_bits_compare_both_halves() -> None:
    body = """
    .reg .b128 %q<6>; .reg .b64 %a, %b, %o, %d; .reg .b32 %t;
    ld.param.u64 %a, [A]; ld.param.u64 %b, [B]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 16;
    cvt.u64.u32 %d, %t; mov.b128 %q1, {5, %d}; mov.b128 %q2, {%d, 6};
    atom.global.cas.b128 %q3, [%a], %q1, %q2; atom.relaxed.gpu.global.exch.b128 %q4, [%a+16], %q1;
    add.u64 %b, %b, %o; st.global.b128 [%b], %q3; st.global.b128 [%b+512], %q4; ret;
    """
    a = np.array([[5, 2], [8, 9]], np.uint64)
    report = execute(body, pointers("AB"), [a, np.zeros((64, 2), np.uint64)])
    memory, old = report.arrays
    assert memory is not None
    assert old is not None
    assert memory.tolist() == [[2, 6], [5, 31]]
    assert old[:32].tolist() == [[5, 2]] * 3 + [[2, 6]] * 29
    assert old[32:].tolist() == [[8, 9], *([5, t] for t in range(31))]
