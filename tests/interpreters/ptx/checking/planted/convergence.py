"""Faults of convergence, of definedness, and of programs that do not end."""

from __future__ import annotations

from interpreters.ptx.checking.planted.kernels import Planted

SPLIT = "setp.lt.u32 %p0, %l, 16;"
KERNELS = (
    Planted(
        "barrier of the block",
        """
        setp.eq.u32 %p0, %w, 1;
        <<  -> @%p0 bra DONE; ?? >>
        bar.sync 0<<  -> , 96 ?? deadlock,named-barrier>>;
        st.global.u32 [%ga], %t;
    """.replace("<<  -> @%p0 bra DONE; ?? >>", ""),
    ),
    Planted(
        "a barrier that half of a warp skips",
        SPLIT
        + """
        <<bar.sync 0; -> @%p0 bra J; barrier.sync.aligned 0; J: ?? diverged,deadlock>>
        st.global.u32 [%ga], %t;
    """,
    ),
    Planted(
        "barriers in the branches",
        SPLIT
        + """
        @%p0 bra A; <<add.u32 %r0, %t, 1; -> bar.sync 0; ?? diverged,deadlock>> bra J;
    A:  <<add.u32 %r0, %t, 2; -> bar.sync 0; ?? diverged,deadlock>>
    J:  bar.sync 0; st.global.u32 [%ga], %t;
    """,
    ),
    Planted(
        "shuffle",
        SPLIT
        + """
        <<  -> @%p0 bra J; ?? diverged,deadlock>>
        shfl.sync.bfly.b32 %r0, %t, 1, 31, <<-1 -> 0xffff ?? invalid,diverged>>;
        st.global.u32 [%ga], %r0;
    J:  bar.warp.sync -1;
    """,
    ),
    Planted(
        "shuffles of the halves",
        SPLIT
        + """
        @%p0 bra A;
        shfl.sync.bfly.b32 %r0, %t, 1, 31, <<0xffff0000 -> 0xff000000 ?? invalid,diverged>>; bra J;
    A:  shfl.sync.bfly.b32 %r0, %t, 1, 31, <<0xffff -> -1 ?? diverged,deadlock>>;
    J:  bar.warp.sync -1; st.global.u32 [%ga], %r0;
    """,
    ),
    Planted(
        "a shuffle from lanes that take part",
        SPLIT
        + """
        mov.u32 %r0, 0; @!%p0 bra J;
        shfl.sync.idx.b32 %r0, %t, <<3 -> 19 ?? diverged>>, 31, 0xffff;
    J:  bar.warp.sync -1; st.global.u32 [%ga], %r0;
    """,
    ),
    Planted(
        "vote",
        SPLIT
        + """
        <<  -> @%p0 bra J; ?? diverged,deadlock>>
        vote.sync.ballot.b32 %r0, %p0, -1; st.global.u32 [%ga], %r0;
    J:  bar.warp.sync -1;
    """,
    ),
    Planted(
        "mma",
        SPLIT
        + """
        mov.u32 %r1, 0x3c003c00; mov.f32 %f0, 0f00000000;
        <<  -> @%p0 bra J; ?? diverged,deadlock>>
        <<  -> @%p0 ret; ?? diverged,deadlock>>
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4},
            {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f0, %f0, %f0, %f0};
        st.global.f32 [%ga], %f1; J:
    """,
    ),
    Planted(
        "ldmatrix",
        """
        setp.lt.u32 %p0, %l, 8; shl.b32 %r0, %t, 4; add.u32 %r0, %r0, %s; mov.u32 %r9, 3;
        st.shared.v4.u32 [%r0], {%t, %t, %r9, %r9}; bar.sync 0;
        <<  -> @!%p0 ret; ?? diverged>>
        <<  -> @!%p0 bra J; ?? diverged,deadlock>>
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0]; st.global.u32 [%ga], %r1; J:
    """,
    ),
    Planted(
        "redux and match and elect",
        SPLIT
        + """
        <<  -> @%p0 bra J; ?? diverged,deadlock>>
        redux.sync.add.u32 %r0, %t, -1; match.any.sync.b32 %r1, %t, -1;
        elect.sync %r2|%p1, -1; st.global.u32 [%ga], %r0;
    J:  bar.warp.sync -1;
    """,
    ),
    Planted(
        "reconvergence before a shared exchange",
        """
        setp.eq.u32 %p0, %l, 0; @!%p0 bra J; st.shared.u32 [%s], %t; add.u32 %r1, %t, 1;
    J:  <<bar.warp.sync -1; ?? race-RAW,uninitialised>>
        ld.shared.u32 %r0, [%s]; st.global.u32 [%ga], %r0;
    """,
        block=32,
    ),
    Planted(
        "register budgets",
        """
        setp.lt.u32 %p0, %t, 128; @%p0 bra A;
        setmaxnreg.dec.sync.aligned.u32 <<40 -> 136 ?? deadlock>>; bra DONE;
    A:  setmaxnreg.inc.sync.aligned.u32 <<232 -> 248 ?? deadlock>>;
        st.global.u32 [%ga], %t;
    """,
        block=256,
        limits=".maxnreg 136",
    ),
    Planted(
        "register budgets of a whole warpgroup",
        """
        setp.lt.u32 %p0, %t, 32;
        <<  -> @%p0 bra J; ?? registers,diverged,deadlock>>
        setmaxnreg.dec.sync.aligned.u32 <<40 -> 144 ?? registers>>;
    J:  st.global.u32 [%ga], %t;
    """,
        block=128,
        limits=".maxnreg 136",
    ),
    Planted(
        "wgmma by four warps",
        """
        mov.u64 %rd5, 0x4000004000010040; mov.u32 %r9, 0; shl.b32 %r0, %t, 4; add.u32 %r0, %r0, %s;
    F:  st.shared.v4.u32 [%r0], {%r9, %r9, %r9, %r9}; add.u32 %r0, %r0, 2048;
        add.u32 %r1, %s, 16384; setp.lt.u32 %p1, %r0, %r1; @%p1 bra F;
        <<fence.proxy.async; ?? missing-proxy-fence>>
        <<bar.sync 0; ?? race-RAW,missing-proxy-fence>>
        setp.lt.u32 %p0, %t, 32;
        <<  -> @%p0 bra J; ?? diverged,deadlock>>
        <<wgmma.fence.sync.aligned; ?? wgmma-fence>>
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd5, %rd5,
            0, 1, 1, 0, 0;
        <<wgmma.commit_group.sync.aligned; ?? wgmma-wait>>
        <<wgmma.wait_group.sync.aligned 0; ?? wgmma-wait>>
        st.global.f32 [%ga], %f0;
    J:
    """,
        block=128,
        shared=16384,
    ),
    Planted(
        "warps of a warpgroup that did not wait",
        """
        mov.u64 %rd5, 0x0000001000080040; setp.eq.u32 %p0, %t, 0; @!%p0 bra I;
        mbarrier.init.shared.b64 [%s+8192], 1; fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared.b64 _, [%s+8192], 4096;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 4096,
            [%s+8192];
    I:  bar.sync 0;
        <<  -> setp.ge.u32 %p1, %t, 32; @%p1 bra J; ?? race-RAW>>
    W:  mbarrier.try_wait.parity.shared.b64 %p2, [%s+8192], 0; @!%p2 bra W;
    J:  wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd5, %rd5,
            0, 1, 1, 0, 0;
        wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
        st.global.f32 [%gb], %f0;
    """,
        block=128,
        shared=16384,
    ),
    Planted(
        "registers that nobody wrote",
        """
        mov.u32 %r0, 5; setp.eq.u32 %p0, %t, 0;
        add.u32 %r1, <<%r0 -> %r7 ?? undefined-register>>, 1;
        @<<%p0 -> %p9 ?? undefined-register>> add.u32 %r1, %r1, 1;
        st.global.u32 [<<%ga -> %rd9 ?? undefined-register>>], %r1;
    """,
    ),
    Planted(
        "registers that one side of a branch wrote",
        """
        setp.eq.u32 %p0, %l, 0; @%p0 bra J;
        mov.u32 %r0, 4;
    J:  <<@%p0 mov.u32 %r0, 3; ?? undefined-register>>
        add.u32 %r1, %r0, 1; st.global.u32 [%ga], %r1;
    """,
    ),
    Planted(
        "local memory",
        """
        .local .align 16 .b8 mine[64]; mov.u64 %rd0, mine; cvta.local.u64 %rd1, %rd0;
        st.local.u32 [%rd0], %t; <<st.u32 [%rd1+4], %t; ?? uninitialised>>
        ld.local.u32 %r0, [%rd0<< -> +60 ?? uninitialised>>];
        ld.u32 %r1, [%rd1+<<4 -> 64 ?? illegal-address>>]; add.u32 %r0, %r0, %r1;
        st.global.u32 [%ga], %r0;
    """,
    ),
    Planted(
        "variables of shared memory",
        """
        .shared .align 16 .b8 odd[20]; .shared .align 16 .b8 other[64]; mov.u32 %r0, odd;
        setp.lt.u32 %p0, %t, 5; @%p0 mad.lo.u32 %r1, %t, 4, %r0;
        @%p0 st.shared.u32 [%r1<< -> +8 ?? illegal-address>>], %t; bar.sync 0;
        ld.shared.u32 %r2, [odd+<<16 -> 20 ?? illegal-address,uninitialised>>];
        st.global.u32 [%ga], %r2;
    """,
    ),
    Planted(
        "past the end of an array",
        """
        ld.global.u32 %r0, [%a+<<4092 -> 4096 ?? illegal-address>>];
        ld.global.u32 %r1, [%ga<< -> +2 ?? misaligned-address>>]; add.u32 %r0, %r0, %r1;
        st.global.u32 [%gb<< -> +-512 ?? illegal-address>>], %r0;
    """,
    ),
    Planted(
        "a flag that somebody sets",
        """
        setp.eq.u32 %p0, %c, 0; @!%p0 bra WAIT;
        st.release.gpu.global.u32 [%b], <<1 -> 2 ?? deadlock>>;
        bra DONE;
    WAIT: ld.acquire.gpu.global.u32 %r0, [%b]; setp.ne.u32 %p1, %r0, 1; @%p1 bra WAIT;
    """,
        grid=2,
        block=32,
    ),
    Planted(
        "a loop that counts",
        """
        mov.u32 %r0, 0;
    L:  add.u32 %r0, %r0, <<1 -> 0 ?? deadlock>>;
        setp.ne.u32 %p0, %r0, <<7 -> 0x70000000 ?? deadlock>>; @%p0 bra L;
        st.global.u32 [%ga], %r0;
    """,
        block=32,
    ),
    Planted(
        "locks in one order",
        """
        setp.eq.u32 %p5, %t, 0; @!%p5 bra DONE; mov.u32 %r10, 0;
        setp.eq.u32 %p0, %c, <<5 -> 1 ?? deadlock>>; selp.b64 %rd0, 64, 0, %p0;
        selp.b64 %rd1, 0, 64, %p0; add.u64 %rd0, %rd0, %b; add.u64 %rd1, %rd1, %b;
    A:  atom.acquire.gpu.global.cas.b32 %r0, [%rd0], 0, 1; setp.ne.u32 %p1, %r0, 0; @%p1 bra A;
    B:  atom.acquire.gpu.global.cas.b32 %r0, [%rd1], 0, 1; setp.ne.u32 %p1, %r0, 0; @%p1 bra B;
        ld.global.u32 %r1, [%a]; add.u32 %r1, %r1, 1; st.global.u32 [%a], %r1;
        <<st.release.gpu.global.u32 [%rd1], 0; ?? deadlock>>
        st.release.gpu.global.u32 [%rd0], 0;
    """,
        grid=2,
        block=32,
        orders=(("eager", 0), *(("random", i) for i in range(4))),
    ),
    Planted(
        "blocks that wait for each other",
        """
        setp.eq.u32 %p5, %t, 0; @!%p5 bra DONE; mul.wide.u32 %rd0, %c, 64; add.u64 %rd0, %b, %rd0;
        xor.b32 %r0, %c, 1; mul.wide.u32 %rd1, %r0, 64; add.u64 %rd1, %b, %rd1;
        <<st.relaxed.gpu.global.u32 [%rd0], 1;
    W:  ld.relaxed.gpu.global.u32 %r1, [%rd1]; setp.eq.u32 %p0, %r1, 0; @%p0 bra W;
        -> W:  ld.relaxed.gpu.global.u32 %r1, [%rd1]; setp.eq.u32 %p0, %r1, 0; @%p0 bra W;
        st.relaxed.gpu.global.u32 [%rd0], 1; ?? deadlock>>
    """,
        grid=2,
        block=32,
    ),
    Planted(
        "assertions and traps",
        """
        setp.gt.u32 %p0, %t, <<64 -> 63 ?? >>; setp.eq.u32 %p1, %t, <<99 -> 9 ?? invalid>>;
        @%p1 trap; st.global.u32 [%ga], %t;
    """.replace("<<64 -> 63 ?? >>", "64"),
    ),
)
