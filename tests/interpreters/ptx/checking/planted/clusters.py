"""Faults between blocks of a cluster, in memory orders of shared memory, and in tensor memory."""

from __future__ import annotations

from interpreters.ptx.checking.planted.kernels import Planted

OTHER = """
        xor.b32 %r20, %rank, 1; mapa.shared::cluster.u32 %r21, %s, %r20;
        mad.lo.u32 %r22, %t, 4, %r21;
"""
"""The other block: its rank, its shared memory, and the element of the thread there."""

MEET = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
WITHOUT_MEETING = f"<<{MEET} ?? race-WAR,race-RAW>>"
INIT = """
        setp.eq.u32 %p0, %t, 0; @!%p0 bra I; mbarrier.init.shared.b64 [%s+1024], 1;
        fence.mbarrier_init.release.cluster; I:
"""
INIT_TWO = INIT.replace("fence", "mbarrier.init.shared.b64 [%s+1032], 1; fence")
ROUNDS = """
        mov.u32 %r30, 0; mov.u32 %r31, 0;
    L:  add.u32 %r32, %t, %r30; and.b32 %r33, %r30, 1;
"""
"""The beginning of rounds: their number, the sum so far, what is sent, and the phase parity."""
NEXT = """
        ld.shared.u32 %r34, [%mine]; add.u32 %r31, %r31, %r34;
        add.u32 %r30, %r30, 1; setp.lt.u32 %p2, %r30, 3; @%p2 bra L;
        st.global.u32 [%ga], %r31;
"""
"""The end of rounds: what has been received is read."""
EXPECT = "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%s+1024], 256;"
WAIT = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%s+1024]"
COPY = "cp.async.bulk.shared::cluster"
BYTES = "mbarrier::complete_tx::bytes"

KERNELS = (
    Planted(
        "red.async",
        OTHER
        + INIT
        + """
        mov.u32 %r9, 0; @%p0 st.shared.u32 [%s], %r9;
        @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%s+1024], <<256 -> 512 ?? deadlock>>;
        """
        + MEET
        + """
        add.u32 %r23, %r21, 1024;
        red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32
            [%r21], %t, [%r23];
    W:  <<mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%s+1024], 0; @!%p1 bra W;
        ?? race-RAW,access-after-exit>>
        ld.shared.u32 %r0, [%s]; st.global.u32 [%ga], %r0;
        """,
        grid=2,
        cluster=2,
    ),
    Planted(
        "distributed shared memory",
        OTHER
        + """
        st.shared.u32 [%mine], %t;
        <<barrier.cluster.arrive.release.aligned;
        -> barrier.cluster.arrive.relaxed.aligned; ?? race-RAW,uninitialised>>
        barrier.cluster.wait.acquire.aligned;
        ld.shared::cluster.u32 %r0, [%r22];
        <<barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ?? race-WAR>>
        st.shared.u32 [%mine], %r0;
        <<barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; -> bar.sync 0;
        ?? race-RAW>>
        ld.shared::cluster.u32 %r1, [%r22]; st.global.u32 [%ga], %r1;
        <<barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
        ?? exit-race,access-after-exit>>
    """,
        grid=2,
        cluster=2,
    ),
    Planted(
        "a fence before a relaxed arrival",
        OTHER
        + """
        st.shared.u32 [%mine], %t;
        <<fence.acq_rel.cluster; -> fence.acq_rel.cta; ?? race-RAW,uninitialised>>
        barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;
        ld.shared::cluster.u32 %r0, [%r22]; st.global.u32 [%ga], %r0;
        <<barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;
        ?? exit-race,access-after-exit>>
    """,
        grid=2,
        cluster=2,
    ),
    Planted(
        "a relaxed arrival after mbarrier.init",
        OTHER
        + """
        setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [%s+1024], 64;
        <<fence.mbarrier_init.release.cluster; ?? barrier-init>>
        barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r21+1024];
    W:  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%s+1024], 0; @!%p1 bra W;
        st.global.u32 [%ga], %t;
    """
        + MEET,
        grid=2,
        cluster=2,
    ),
    Planted(
        "global memory behind a relaxed arrival",
        """
        st.global.u32 [%ga], %t;
        <<barrier.cluster.arrive.release.aligned;
        -> barrier.cluster.arrive.relaxed.aligned; ?? race-RAW>>
        barrier.cluster.wait.acquire.aligned;
        xor.b32 %r0, %c, 1; mad.lo.u32 %r0, %r0, 64, %t; mul.wide.u32 %rd0, %r0, 4;
        add.u64 %rd0, %rd0, %a; ld.global.u32 %r1, [%rd0]; st.global.u32 [%gb], %r1;
    """,
        grid=2,
        cluster=2,
    ),
    Planted(
        "arrivals and waits of the cluster",
        """
        barrier.cluster.arrive.aligned;
        <<barrier.cluster.wait.aligned; ?? named-barrier>>
        <<barrier.cluster.arrive.aligned; ?? named-barrier>> barrier.cluster.wait.aligned;
        setp.eq.u32 %p0, %rank, 0; <<  -> @%p0 bra DONE; ?? >>
        barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    """.replace("<<  -> @%p0 bra DONE; ?? >>", ""),
        grid=2,
        cluster=2,
    ),
    Planted(
        "arrivals at the other block",
        OTHER
        + INIT
        + MEET
        + """
        st.shared::cluster.u32 [%r22], %t;
        <<fence.acq_rel.cluster; -> ?? >> bar.sync 0;
        @%p0 mbarrier.arrive.<<release -> release ?? >>.cluster.shared::cluster.b64 _, [%r21+1024];
    """.replace("<<fence.acq_rel.cluster; -> ?? >> ", "").replace(
            "<<release -> release ?? >>", "release"
        )
        + """
    W:  <<mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%s+1024], 0; @!%p1 bra W;
        ?? race-RAW,uninitialised>>
        ld.shared.u32 %r0, [%mine]; st.global.u32 [%ga], %r0;
    """
        + MEET,
        grid=2,
        cluster=2,
    ),
    Planted(
        "multicast",
        OTHER
        + INIT
        + MEET
        + """
        mov.u16 %h0, <<3 -> 1 ?? deadlock>>; setp.eq.u32 %p2, %rank, 0;
        @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%s+1024], 256;
        <<barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ?? >>
        and.pred %p3, %p0, %p2; @!%p3 bra W;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
            [%s], [%a], 256, [%s+1024], %h0;
    W:  <<mbarrier.try_wait.parity.shared.b64 %p1, [%s+1024], 0; @!%p1 bra W;
        ?? race-RAW,uninitialised>>
        ld.shared.u32 %r0, [%mine]; st.global.u32 [%gb], %r0;
        <<barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ?? >>
    """.replace("<<barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ?? >>", MEET),
        grid=2,
        cluster=2,
    ),
    Planted(
        "a flag in shared memory",
        """
        setp.eq.u32 %p0, %w, 0; setp.eq.u32 %p1, %l, 0; mov.u32 %r9, 0;
        setp.eq.u32 %p2, %t, 0; @%p2 st.shared.u32 [%s+1024], %r9; bar.sync 0;
        @!%p0 bra W; st.shared.u32 [%mine], %t; bar.warp.sync -1;
        @%p1 <<st.release.cta.shared.u32 [%s+1024], %one;
        -> st.relaxed.cta.shared.u32 [%s+1024], %one; ?? race-RAW>> bra DONE;
    W:  <<ld.acquire.cta.shared.u32 %r0, [%s+1024]; -> ld.relaxed.cta.shared.u32 %r0, [%s+1024];
        ?? race-RAW>> setp.eq.u32 %p3, %r0, 0; @%p3 bra W;
        ld.shared.u32 %r1, [%next]; st.global.u32 [%ga], %r1;
    """,
    ),
    Planted(
        "a volatile flag in shared memory",
        """
        setp.eq.u32 %p0, %w, 0; setp.eq.u32 %p1, %l, 0; mov.u32 %r9, 0;
        setp.eq.u32 %p2, %t, 0; @%p2 st.shared.u32 [%s+1024], %r9; bar.sync 0;
        @!%p0 bra W; st.shared.u32 [%mine], %t;
        <<membar.cta; ?? race-RAW>> bar.warp.sync -1;
        @%p1 <<st.volatile.shared.u32 [%s+1024], %one; -> st.shared.u32 [%s+1024], %one;
        ?? race-RAW,race-WAR>> bra DONE;
    W:  <<ld.volatile.shared.u32 %r0, [%s+1024]; -> ld.shared.u32 %r0, [%s+1024];
        ?? race-RAW,race-WAR>> setp.eq.u32 %p3, %r0, 0; @%p3 bra W;
        <<membar.cta; ?? race-RAW>>
        ld.shared.u32 %r1, [%next]; st.global.u32 [%ga], %r1;
    """,
    ),
    Planted(
        "a lock in shared memory",
        """
        setp.eq.u32 %p1, %l, 0; mov.u32 %r9, 0; setp.eq.u32 %p2, %t, 0;
        @%p2 st.shared.v2.u32 [%s+1024], {%r9, %r9}; bar.sync 0; @!%p1 bra DONE;
    W:  atom.<<acquire -> relaxed ?? race-RAW,race-WAW>>.cta.shared.cas.b32 %r0, [%s+1024], 0, 1;
        setp.ne.u32 %p3, %r0, 0; @%p3 bra W;
        ld.shared.u32 %r1, [%s+1028]; add.u32 %r1, %r1, 1; st.shared.u32 [%s+1028], %r1;
        <<atom.release.cta.shared.exch.b32 %r0, [%s+1024], 0;
        -> atom.relaxed.cta.shared.exch.b32 %r0, [%s+1024], 0; ?? race-RAW,race-WAW>>
    """.replace("<<acquire -> relaxed ?? race-RAW,race-WAW>>", "acquire"),
    ),
    Planted(
        "tensor memory",
        """
        setp.lt.u32 %p0, %t, 32; mov.u32 %r1, 32;
        @!%p0 bra J; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%s], 32;
        tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    J:  <<bar.sync 0; ?? race-RAW,uninitialised>>
        ld.shared.u32 %r0, [%s]; and.b32 %r2, %t, -32; shl.b32 %r3, %r2, 16; add.u32 %r3, %r3, %r0;
        tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3<< -> +40 ?? tensor-memory>>], {%t};
        <<tcgen05.wait::st.sync.aligned; ?? tcgen05-wait>>
        tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3<< -> +1 ?? uninitialised,tensor-memory>>];
        <<tcgen05.wait::ld.sync.aligned; ?? tcgen05-wait>>
        st.global.u32 [%ga], %r4;
        <<bar.sync 0; ?? race-WAW,race-WAR,missing-tcgen05-fence>>
        @!%p0 bra DONE; <<tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, 32;
        -> tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, 64; ?? tensor-memory>>
    """,
        block=128,
        target="sm_100a",
    ),
    Planted(
        "blocks take over others",
        INIT
        + """
        mov.u32 %r7, 0; bar.sync 0;
    A:  @!%p0 bra W;
        mbarrier.arrive.expect_tx.shared.b64 _, [%s+1024], <<16 -> 8 ?? barrier-bytes,deadlock>>;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128
            [%s], [%s+1024];
    W:  <<mbarrier.try_wait.parity.shared::cta.b64 %p1, [%s+1024], %r7; @!%p1 bra W;
        ?? race-RAW,uninitialised>>
        xor.b32 %r7, %r7, 1; .reg .b128 %q; ld.shared.b128 %q, [%s];
        <<fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
        ?? missing-proxy-fence>>
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;
        <<@!%p2 bra B; ?? invalid>>
        clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r8, %q;
        mad.lo.u32 %r9, %r8, 64, %t; mul.wide.u32 %rd0, %r9, 4; add.u64 %rd1, %b, %rd0;
        st.global.u32 [%rd1], %t;
    B:  <<bar.sync 0; ?? race-WAR>>
        @%p2 bra A;
        """,
        grid=4,
        target="sm_100a",
    ),
    Planted(
        "rounds of stores to the other block",
        OTHER
        + ROUNDS
        + WITHOUT_MEETING
        + "st.shared::cluster.u32 [%r22], %r32;"
        + WITHOUT_MEETING
        + NEXT,
        grid=2,
        cluster=2,
    ),
    Planted(
        "two exchanges of a round, each before the other's next",
        OTHER
        + MEET
        + ROUNDS
        + "st.shared::cluster.u32 [%r22], %r32;"
        + WITHOUT_MEETING
        + """
        ld.shared.u32 %r35, [%mine]; add.u32 %r32, %r32, %r35;
        st.shared::cluster.u32 [%r22+512], %r32;
        """
        + WITHOUT_MEETING
        + NEXT.replace("[%mine]", "[%mine+512]"),
        grid=2,
        cluster=2,
    ),
    Planted(
        "rounds of st.async",
        OTHER
        + INIT
        + MEET
        + "add.u32 %r23, %r21, 1024;"
        + ROUNDS
        + EXPECT
        + WITHOUT_MEETING
        + f"""
        st.async.shared::cluster.{BYTES}.u32 [%r22], %r32, [%r23];
    W:  <<{WAIT}, %r33; @!%p1 bra W; ?? race-RAW>>
        """
        + NEXT,
        grid=2,
        cluster=2,
    ),
    Planted(
        "stores to the other block of two mbarriers",
        OTHER
        + INIT_TWO
        + EXPECT
        + EXPECT.replace("1024", "1032")
        + MEET
        + f"""
        add.u32 %r23, %r21, 1024; add.u32 %r24, %r21, 1032;
        st.async.shared::cluster.{BYTES}.u32 [%r22], %t, [%r23];
        st.async.shared::cluster.{BYTES}.u32 [%r22+512], %t, [%r24];
    V:  <<{WAIT.replace("1024", "1032")}, 0; @!%p1 bra V; ?? race-RAW>>
    W:  <<{WAIT}, 0; @!%p1 bra W; ?? race-RAW>>
        ld.shared.u32 %r0, [%mine]; ld.shared.u32 %r1, [%mine+512];
        add.u32 %r0, %r0, %r1; st.global.u32 [%ga], %r0;
    """,
        grid=2,
        cluster=2,
    ),
    Planted(
        "what only the other block has waited for",
        OTHER
        + INIT
        + EXPECT
        + MEET
        + f"""
        setp.eq.u32 %p2, %rank, 0; mov.u16 %h0, 3; and.pred %p3, %p0, %p2; @!%p3 bra N;
        {COPY}.global.{BYTES}.multicast::cluster [%s], [%a], 256, [%s+1024], %h0;
    N:  @!%p2 bra V;
    W:  {WAIT}, 0; @!%p1 bra W;
    V:  {MEET}
        <<@%p2 bra Y; X: {WAIT}, 0; @!%p1 bra X; Y: ?? race-RAW,uninitialised>>
        ld.shared.u32 %r0, [%mine]; st.global.u32 [%gb], %r0;
    """,
        grid=2,
        cluster=2,
    ),
    Planted(
        "blocks that have not begun, or have ended",
        OTHER
        + f"<<{MEET} ?? access-before-start>> st.shared::cluster.u32 [%r22], %t;"
        + f"<<{MEET} ?? exit-race,access-after-exit>>"
        + "st.global.u32 [%ga], %t;",
        grid=2,
        cluster=2,
    ),
    Planted(
        "ends under copies from and to it",
        OTHER
        + INIT
        + EXPECT
        + "st.shared.u32 [%mine+512], %t; fence.proxy.async;"
        + MEET
        + f"""
        add.u32 %r23, %r21, 1024; add.u32 %r24, %s, 512;
        @%p0 {COPY}.shared::cta.{BYTES} [%r21], [%r24], 256, [%r23];
        {MEET}
    W:  <<{WAIT}, 0; @!%p1 bra W; ?? exit-race>>
        <<{MEET} ?? exit-race>>
    """,
        grid=2,
        cluster=2,
    ),
    Planted(
        "ends under a reduction of the other block",
        OTHER
        + INIT
        + EXPECT
        + "st.shared.u32 [%mine], %t;"
        + MEET
        + f"""
        add.u32 %r23, %r21, 1024;
        red.async.relaxed.cluster.shared::cluster.{BYTES}.add.u32 [%r22], %t, [%r23];
        {MEET}
    W:  <<{WAIT}, 0; @!%p1 bra W; ?? exit-race>>
    """,
        grid=2,
        cluster=2,
    ),
    Planted(
        "relaxed arrivals and waits",
        OTHER
        + INIT_TWO
        + MEET
        + f"""
        st.shared::cluster.u32 [%r22], %t; bar.sync 0;
        <<@%p0 fence.acq_rel.cluster; -> @%p0 fence.acq_rel.cta; ?? race-RAW,uninitialised>>
        @%p0 mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r21+1024];
    W:  {WAIT.replace("acquire", "relaxed")}, 0; @!%p1 bra W;
        <<fence.acq_rel.cluster; ?? race-RAW,uninitialised>>
        ld.shared.u32 %r0, [%mine]; st.shared::cluster.u32 [%r22+512], %t; bar.sync 0;
        <<@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r21+1032];
        -> @%p0 mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r21+1032]; ?? race-RAW>>
    V:  <<mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%s+1032], 0;
        -> mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p1, [%s+1032], 0; ?? race-RAW>>
        @!%p1 bra V;
        ld.shared.u32 %r1, [%mine+512]; add.u32 %r0, %r0, %r1; st.global.u32 [%ga], %r0;
    """
        + MEET,
        grid=2,
        cluster=2,
    ),
)
