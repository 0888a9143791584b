"""Faults of warps that fall behind: what they wait for has ended twice before they look.

No data is at stake, so that no check of accesses finds them; where the warps of a group run as one,
none is ever behind.
"""

from __future__ import annotations

from collections.abc import Sequence

from interpreters.ptx.checking.planted.kernels import Planted

from tileas_xdsl.interpreters.ptx.execution.state import Order

SEEDS = 24
DRIFTING: Sequence[tuple[Order, int]] = tuple(("drift", seed) for seed in range(SEEDS))

RING = """
        setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %l, 0; setp.lt.u32 %p2, %w, 2;
        @!%p0 bra I; mbarrier.init.shared.b64 [%s+1024], 1; mbarrier.init.shared.b64 [%s+1032], 2;
        fence.mbarrier_init.release.cluster;
"""
"""Barriers of one stage, full at 1024 and empty at 1032; warps 0 and 1 fill it, 2 and 3 read it."""

FILL = """
        mov.u32 %r30, 0; mov.u32 %r31, 1; mov.u32 %r32, 0; @!%p2 bra C;
    P:  mbarrier.try_wait.parity.shared.b64 %p3, [%s+1032], %r31; @!%p3 bra P;
"""
"""The beginning of rounds, and the wait of those who fill: %r30 counts, %r31 and %r32 are the
parities of empty and full."""

NEXT = "add.u32 %r30, %r30, 1; setp.lt.u32 %p4, %r30, 7;"
READ = "mbarrier.try_wait.parity.shared.b64 %p3, [%s+1024], %r32; @!%p3 bra C;"
MEET = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
MISSED = "deadlock,phase-lap"

KERNELS = (
    Planted(
        "warps that fill a stage together",
        f"""{RING}
    I:  bar.sync 0; {FILL}
        <<bar.sync 1, 64; ?? {MISSED}>>
        @%p0 mbarrier.arrive.shared.b64 _, [%s+1024];
        xor.b32 %r31, %r31, 1; {NEXT} @%p4 bra P; bra DONE;
    C:  {READ}
        @%p1 mbarrier.arrive.shared.b64 _, [%s+1032];
        xor.b32 %r32, %r32, 1; {NEXT} @%p4 bra C;
        """,
        block=128,
        orders=DRIFTING,
    ),
    Planted(
        "warps that release a stage together, of two blocks",
        f"""{RING}
    I:  {MEET} setp.eq.u32 %p6, %rank, 0; setp.eq.u32 %p7, %w, 2; and.pred %p7, %p7, %p1;
        mov.u32 %r20, 0; mapa.shared::cluster.u32 %r21, %s, %r20;
        mov.u32 %r20, 1; mapa.shared::cluster.u32 %r22, %s, %r20;
        {FILL.replace("@!%p2 bra C", "@!%p2 bra C; and.pred %p0, %p0, %p6; @!%p0 bra E")}
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r21+1024];
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r22+1024];
        xor.b32 %r31, %r31, 1; {NEXT} @%p4 bra P; bra E;
    C:  {READ}
        <<bar.sync 1, 64; ?? {MISSED}>>
        @%p7 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r21+1032];
        xor.b32 %r32, %r32, 1; {NEXT} @%p4 bra C;
    E:  {MEET}
        """,
        block=128,
        grid=2,
        cluster=2,
        orders=DRIFTING,
    ),
)
