"""Faults around shared memory: between warps, within a warp, by cp.async and by bulk copies."""

from __future__ import annotations

from interpreters.ptx.checking.planted.kernels import Planted

KERNELS = (
    Planted(
        "exchange between warps",
        """
        st.shared.u32 [%mine], %t;
        <<bar.sync 0; ?? race-RAW>>
        ld.shared.u32 %r0, [%next];
        <<bar.sync 0; ?? race-WAR>>
        st.shared.u32 [%mine], %r0;
        <<bar.sync 0; -> bar.sync 0, 32; ?? race-RAW,named-barrier>>
        ld.shared.u32 %r1, [%next];
        st.global.u32 [%ga], %r1;
    """,
    ),
    Planted(
        "exchange within a warp",
        """
        st.shared.u32 [%mine], %t;
        <<bar.warp.sync -1; ?? race-RAW>>
        xor.b32 %r0, %t, 1; mad.lo.u32 %r0, %r0, 4, %s;
        ld.shared.u32 %r1, [%r0];
        <<bar.warp.sync -1; ?? race-WAR>>
        st.shared.u32 [%mine], %r1;
        <<bar.warp.sync -1; -> shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1; ?? race-RAW>>
        ld.shared.u32 %r2, [%r0];
        st.global.u32 [%ga], %r2;
    """,
    ),
    Planted(
        "rows of a warp, as vectors",
        """
        shl.b32 %r0, %t, 4; add.u32 %r0, %r0, %s; mov.u32 %r9, 5;
        st.shared.v4.u32 [%r0], {%t, %t, %r9, %r9};
        <<bar.warp.sync -1; ?? race-RAW>>
        shl.b32 %r1, %w, 9; mad.lo.u32 %r1, %l, 4, %r1; add.u32 %r1, %r1, %s;
        ld.shared.u32 %r2, [%r1]; ld.shared.u32 %r3, [%r1+128];
        <<bar.warp.sync -1; ?? race-WAR>>
        xor.b32 %r8, %r1, 4; st.shared.u32 [%r8], %r2;
        <<bar.warp.sync -1; ?? race-RAW>>
        ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r0];
        st.global.v4.u32 [%a], {%r4, %r4, %r4, %r4};
    """.replace("st.global.v4.u32 [%a], {%r4, %r4, %r4, %r4};", "st.global.u32 [%ga], %r4;"),
    ),
    Planted(
        "lanes write one word",
        """
        setp.eq.u32 %p0, %l, 3;
        shl.b32 %r0, %w, 2; add.u32 %r0, %r0, %s;
        <<@%p0 -> ?? race-WAW>> st.shared.u32 [%r0], %t;
        bar.sync 0;
        ld.shared.u32 %r1, [%s+<<4 -> 64 ?? uninitialised>>];
        st.global.u32 [%ga], %r1;
    """,
    ),
    Planted(
        "reduction over a tree of lanes",
        """
        st.shared.u32 [%mine], %t; bar.sync 0;
        setp.lt.u32 %p0, %t, 32; @!%p0 bra DONE;
        ld.shared.u32 %r0, [%mine]; ld.shared.u32 %r1, [%mine+128]; add.u32 %r0, %r0, %r1;
        st.shared.u32 [%mine], %r0;
        <<bar.warp.sync -1; ?? race-RAW>>
        xor.b32 %r2, %t, 16; mad.lo.u32 %r2, %r2, 4, %s; ld.shared.u32 %r1, [%r2];
        <<bar.warp.sync -1; ?? race-WAR>>
        add.u32 %r0, %r0, %r1; st.shared.u32 [%mine], %r0;
        <<bar.warp.sync -1; ?? race-RAW>>
        xor.b32 %r2, %t, 8; mad.lo.u32 %r2, %r2, 4, %s; ld.shared.u32 %r1, [%r2];
        st.global.u32 [%ga], %r0;
    """,
    ),
    Planted(
        "cp.async",
        """
        cp.async.ca.shared.global [%mine], [%ga], 4;
        cp.async.commit_group;
        <<cp.async.wait_group 0; -> cp.async.wait_group 1; ?? race-RAW,uninitialised>>
        <<bar.sync 0; ?? race-RAW>>
        ld.shared.u32 %r0, [%next];
        <<bar.sync 0; ?? race-WAR>>
        cp.async.ca.shared.global [%mine], [%gb], 4;
        <<cp.async.commit_group; ?? race-RAW>>
        cp.async.wait_group 0;
        ld.shared.u32 %r1, [%mine]; add.u32 %r0, %r0, %r1;
        st.global.u32 [%ga], %r0;
    """,
    ),
    Planted(
        "two stages of cp.async",
        """
        shl.b32 %r5, %t, 2;
        cp.async.ca.shared.global [%mine], [%ga], 4; cp.async.commit_group;
        cp.async.ca.shared.global [%mine+512], [%gb], 4; cp.async.commit_group;
        <<cp.async.wait_group 1; -> cp.async.wait_group 2; ?? race-RAW,uninitialised>>
        ld.shared.u32 %r0, [%mine];
        <<cp.async.wait_all; ?? race-RAW,uninitialised>>
        ld.shared.u32 %r1, [%mine+512]; add.u32 %r0, %r0, %r1;
        st.global.u32 [%ga], %r0;
    """,
    ),
    Planted(
        "cp.async signals an mbarrier",
        """
        setp.eq.u32 %p0, %t, 0;
        @%p0 mbarrier.init.shared.b64 [%s+1024], 64;
        <<bar.sync 0; ?? barrier-init,race-RAW>>
        cp.async.ca.shared.global [%mine], [%ga], 4;
        <<cp.async.mbarrier.arrive.noinc.shared.b64 [%s+1024];
        -> cp.async.mbarrier.arrive.shared.b64 [%s+1024]; ?? deadlock>>
    W:  <<mbarrier.try_wait.parity.shared.b64 %p1, [%s+1024], 0; @!%p1 bra W; ?? race-RAW>>
        ld.shared.u32 %r0, [%next]; st.global.u32 [%gb], %r0;
    """,
    ),
    Planted(
        "bulk load",
        """
        setp.eq.u32 %p0, %t, 0; @!%p0 bra WAIT;
        mbarrier.init.shared.b64 [%s+1024], 1; fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared.b64 _, [%s+1024], <<256 -> 512 ?? deadlock>>;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 256,
        [%s+1024];
    WAIT: <<bar.sync 0; ?? barrier-init>>
    W:  <<mbarrier.try_wait.parity.shared.b64 %p1, [%s+1024], 0; @!%p1 bra W;
        -> mbarrier.try_wait.parity.shared.b64 %p1, [%s+1024], 1; ?? race-RAW,uninitialised>>
        ld.shared.u32 %r0, [%next]; st.global.u32 [%gb], %r0;
    """,
    ),
    Planted(
        "bulk load over what was read",
        """
        st.shared.u32 [%mine], %t; bar.sync 0; ld.shared.u32 %r0, [%next];
        setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [%s+1024], 1;
        <<fence.proxy.async; ?? missing-proxy-fence>>
        <<bar.sync 0; ?? race-WAR,barrier-init,missing-proxy-fence>>
        @!%p0 bra W;
        mbarrier.arrive.expect_tx.shared.b64 _, [%s+1024], 256;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 256,
        [%s+1024];
    W:  mbarrier.try_wait.parity.shared.b64 %p1, [%s+1024], 0; @!%p1 bra W;
        ld.shared.u32 %r1, [%next]; add.u32 %r0, %r0, %r1; st.global.u32 [%gb], %r0;
    """,
    ),
    Planted(
        "bulk load over what a bulk load brought",
        """
        setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [%s+1024], 1;
        @%p0 fence.mbarrier_init.release.cluster; bar.sync 0; mov.u32 %r0, 0; mov.u32 %r7, 0;
    A:  @!%p0 bra W;
        mbarrier.arrive.expect_tx.shared.b64 _, [%s+1024], 256;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 256,
        [%s+1024];
    W:  mbarrier.try_wait.parity.shared.b64 %p1, [%s+1024], %r7; @!%p1 bra W;
        ld.shared.u32 %r1, [%next]; add.u32 %r0, %r0, %r1;
        <<fence.proxy.async.shared::cta; ?? missing-proxy-fence>>
        <<bar.sync 0; ?? race-WAR,missing-proxy-fence>>
        xor.b32 %r7, %r7, 1; setp.eq.u32 %p2, %r7, 1; @%p2 bra A;
        st.global.u32 [%gb], %r0;
    """,
    ),
    Planted(
        "bulk store",
        """
        st.shared.u32 [%mine], %t;
        <<fence.proxy.async.shared::cta; ?? missing-proxy-fence>>
        <<bar.sync 0; ?? race-RAW,missing-proxy-fence>>
        setp.eq.u32 %p0, %t, 0; @!%p0 bra L;
        cp.async.bulk.global.shared::cta.bulk_group [%a], [%s], 256;
        <<cp.async.bulk.commit_group; ?? race-WAR,exit-race>>
        <<cp.async.bulk.wait_group.read 0; ?? race-WAR>>
    L:  <<bar.sync 0; ?? race-WAR>>
        st.shared.u32 [%mine], %l;
    """,
    ),
    Planted(
        "st.async",
        """
        setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [%s+1024], 1;
        @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%s+1024], <<128 -> 256 ?? deadlock>>;
        <<bar.sync 0; ?? barrier-init>>
        setp.eq.u32 %p1, %w, 1;
        @%p1 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%mine+-128], %t,
        [%s+1024];
        setp.eq.u32 %p2, %w, 0; @!%p2 bra DONE;
    W:  <<mbarrier.try_wait.parity.shared.b64 %p3, [%s+1024], 0; @!%p3 bra W;
         ?? race-RAW,uninitialised>>
        ld.shared.u32 %r0, [%mine]; st.global.u32 [%gb], %r0;
    """,
    ),
    Planted(
        "atomics and loads",
        """
        setp.eq.u32 %p0, %t, 0; mov.u32 %r9, 0; @%p0 st.shared.u32 [%s], %r9;
        <<bar.sync 0; ?? race-WAW,race-RAW,race-WAR>>
        <<atom.shared.add.u32 %r0, [%s], 1; -> ld.shared.u32 %r0, [%s]; add.u32 %r0, %r0, 1;
        st.shared.u32 [%s], %r0; ?? race-RAW,race-WAW,race-WAR>>
        <<bar.sync 0; ?? race-RAW>>
        ld.shared.u32 %r1, [%s]; st.global.u32 [%ga], %r1;
    """,
    ),
    Planted(
        "ping and pong of two buffers",
        """
        mov.u32 %r0, 0; mov.u32 %r1, 0;
    L:  add.u32 %r2, %mine, %r1; st.shared.u32 [%r2], %r0;
        bar.sync 0;
        add.u32 %r3, %next, %r1; ld.shared.u32 %r4, [%r3];
        <<xor.b32 %r1, %r1, 1024; ?? race-WAR>>
        add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 4; @%p0 bra L;
        st.global.u32 [%ga], %r4;
    """,
    ),
    Planted(
        "named barriers of producer and consumer",
        """
        setp.eq.u32 %p0, %w, 0; @%p0 bra PRODUCE;
        <<bar.sync 1, 64; ?? race-RAW,deadlock>>
        ld.shared.u32 %r0, [%mine+-128];
        <<bar.arrive 2, 64; ?? deadlock>>
        st.global.u32 [%ga], %r0; bra DONE;
    PRODUCE: st.shared.u32 [%mine], %t;
        <<bar.arrive 1, 64; -> bar.arrive 3, 64; ?? deadlock>>
        <<bar.sync 2, 64; -> bar.arrive 2, 64; ?? race-WAR,race-RAW>>
        st.shared.u32 [%mine], %l;
    """,
    ),
)
