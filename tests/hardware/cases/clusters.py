"""Clusters: multicast copies, distributed shared memory, and `st.async` on a peer's mbarrier."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from hardware.cases.boxes import MAP
from hardware.cases.case import Case, kernel_text, pointers
from hardware.cases.inputs import rng_of

from tileas_xdsl.interpreters.ptx import TensorMapArg
from tileas_xdsl.target.tma.tensor_map import TensorMap

MULTICAST = """
.reg .b32 %t, %s, %r<8>, %rank, %a; .reg .b64 %m, %b, %o; .reg .pred %p<4>; .reg .b16 %h;
.shared .align 1024 .b8 box[4096]; .shared .align 8 .b8 bar[8];
mov.u32 %t, %tid.x; ld.param.u64 %b, [B]; mov.b64 %m, T; cvta.param.u64 %m, %m; mov.u32 %s, box;
mov.u32 %rank, %cluster_ctarank; mad.lo.u32 %a, %t, 16, %s; mov.u32 %r0, 0xA5A5A5A5;
st.shared.v4.b32 [%a], {{%r0, %r0, %r0, %r0}}; st.shared.v4.b32 [%a+2048], {{%r0, %r0, %r0, %r0}};
fence.proxy.async.shared::cta; setp.ne.u32 %p0, %t, 0;
shr.b32 %r1, {mask}, %rank; and.b32 %r1, %r1, 1; setp.eq.u32 %p1, %r1, 0;
@%p0 bra MADE; mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;
@%p1 bra MADE; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 2048;
MADE: barrier.cluster.arrive; barrier.cluster.wait; mov.b16 %h, {mask};
setp.ne.u32 %p2, %rank, {leader}; or.pred %p2, %p2, %p0; @%p2 bra SENT;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
  [%s+1024], [%m, {{0, 0}}], [bar], %h;
SENT: @%p1 bra DONE;
W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0; @!%p3 bra W;
DONE: mul.wide.u32 %o, %rank, 4096; add.u64 %b, %b, %o;
mul.wide.u32 %o, %t, 16; add.u64 %b, %b, %o;
ld.shared.v4.b32 {{%r4, %r5, %r6, %r7}}, [%a]; st.global.v4.b32 [%b], {{%r4, %r5, %r6, %r7}};
ld.shared.v4.b32 {{%r4, %r5, %r6, %r7}}, [%a+2048];
st.global.v4.b32 [%b+2048], {{%r4, %r5, %r6, %r7}};
barrier.cluster.arrive; barrier.cluster.wait; ret;
"""

PEERS = """
.reg .b32 %t, %s, %r<8>, %rank, %n, %peer, %bars; .reg .b64 %b, %o, %v; .reg .pred %p<4>;
.shared .align 16 .b8 box[1024]; .shared .align 8 .b8 bar[8];
mov.u32 %t, %tid.x; ld.param.u64 %b, [B]; mov.u32 %s, box; mov.u32 %rank, %cluster_ctarank;
mov.u32 %n, %cluster_nctarank; setp.ne.u32 %p0, %t, 0; @%p0 bra MADE;
mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
MADE: mad.lo.u32 %r0, %t, 4, %s; mad.lo.u32 %r1, %rank, 1000, %t; st.shared.u32 [%r0+512], %r1;
barrier.cluster.arrive; barrier.cluster.wait;
add.u32 %peer, %rank, {step}; rem.u32 %peer, %peer, %n; mov.u32 %bars, bar;
mapa.shared::cluster.u32 %r2, %r0, %peer; mapa.shared::cluster.u32 %r3, %bars, %peer;
ld.shared::cluster.u32 %r4, [%r2+512]; mad.lo.u32 %r5, %r4, 3, %rank;
cvt.u64.u32 %v, %r5; shl.b64 %v, %v, 7; mad.lo.u32 %r6, %t, 4, %r2;
st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r6], %v, [%r3];
W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W;
mad.lo.u32 %r0, %t, 8, %s; ld.shared.u64 %v, [%r0]; mad.lo.u32 %r1, %rank, 32, %t;
mul.wide.u32 %o, %r1, 8; add.u64 %b, %b, %o; st.global.u64 [%b], %v;
atom.shared::cluster.add.u32 %r7, [%r2+512], 1;
barrier.cluster.arrive; barrier.cluster.wait; ret;
"""


def cluster_cases() -> Iterator[Case]:
    """Yield multicasts to a subset of the cluster, and words passed around the cluster."""
    for size, (leader, mask) in product((2, 4), ((0, 3), (1, 3), (1, 1), (0, 2))):
        yield _multicast(size, leader, mask)
    for leader, mask in ((3, 0b1011), (2, 0b0101), (0, 0b1111), (0, 0b1000)):
        yield _multicast(4, leader, mask)
    for size, step in ((2, 1), (4, 1), (4, 3), (8, 5)):
        text = kernel_text(PEERS.format(step=step), pointers("B"))
        out = np.zeros((size, 32), np.uint64)
        name = f"{size} blocks, {step} further"
        yield Case("memory of peers", name, text, (out,), grid=size, cluster=size)


def _multicast(size: int, leader: int, mask: int) -> Case:
    rng = rng_of(f"multicast {size} {leader} {mask}")
    tensor = rng.integers(0, 1 << 32, (32, 16), dtype=np.uint32)
    found = TensorMap("u32", 0, (16, 32), (64,), (16, 32))
    text = kernel_text(MULTICAST.format(mask=mask, leader=leader), f"{MAP}, {pointers('B')}")
    arguments = (TensorMapArg(found, tensor), np.zeros((size, 4096), np.uint8))
    name = f"from {leader} of {size} to {mask:#06b}"
    return Case("multicast", name, text, arguments, size, 128, cluster=size)
