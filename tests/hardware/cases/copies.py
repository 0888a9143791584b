"""Asynchronous non-tensor copies: `cp.async` per thread and `cp.async.bulk`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from hardware.cases.boxes import elements
from hardware.cases.case import Array, Case, kernel_text, pointers
from hardware.cases.inputs import rng_of

LANES = 32
ROOM = 16
"""Shared-memory bytes per lane."""

BY_LANES = f"""
.reg .b32 %t, %s, %n, %v<4>; .reg .b64 %a, %b, %c, %o; .reg .pred %p;
.shared .align 16 .b8 box[{LANES * ROOM}];
mov.u32 %t, %tid.x; ld.param.u64 %a, [A]; ld.param.u64 %b, [B]; ld.param.u64 %c, [C];
mov.u32 %s, box; mad.lo.u32 %s, %t, {ROOM}, %s; mul.wide.u32 %o, %t, {ROOM};
add.u64 %a, %a, %o; add.u64 %b, %b, %o; mul.wide.u32 %o, %t, 4; add.u64 %c, %c, %o;
ld.global.u32 %n, [%c]; setp.ne.u32 %p, %n, 0; mov.u32 %v0, 0xA5A5A5A5;
st.shared.v4.b32 [%s], {{{{%v0, %v0, %v0, %v0}}}};
{{copy}}
{{wait}}
ld.shared.v4.b32 {{{{%v0, %v1, %v2, %v3}}}}, [%s];
st.global.v4.b32 [%b], {{{{%v0, %v1, %v2, %v3}}}}; ret;
"""

WAITS = {
    "all": "cp.async.wait_all;",
    "group": "cp.async.commit_group; cp.async.wait_group 0;",
}

FORMS = (
    *(("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)),
    *(("ca.shared.global.L2::128B", 16), ("cg.shared.global.L2::256B", 16)),
)
"""Cache operators with L2 hints, and sizes in bytes."""


def copy_cases() -> Iterator[Case]:
    """Yield per-lane copies (full, partial, zero-filled) and bulk copies to and from blocks."""
    for (cache, size), (how, wait) in product(FORMS, WAITS.items()):
        spaces = "" if "shared" in cache else ".shared.global"
        head = f"cp.async.{cache}{spaces} [%s], [%a], {size}"
        counts = rng_of(f"cp.async {cache} {size} {how}").integers(0, size + 1, LANES)
        for what, copy in (
            ("whole", f"{head};"),
            ("source sizes", f"{head}, %n;"),
            ("some lanes", f"@%p {head};"),
        ):
            name = f"{cache} {size}, {what}, wait for {how}"
            yield _by_lanes(name, copy, wait, counts, size, what)
    yield from bulk_cases()


def _by_lanes(name: str, copy: str, wait: str, counts: Array, size: int, what: str) -> Case:
    a = elements("u8", LANES * ROOM, rng_of(name)).reshape(LANES, ROOM)
    b, c = np.zeros((LANES, ROOM), np.uint8), counts.astype(np.uint32)
    wanted = np.full((LANES, ROOM), 0xA5, np.uint8)
    for lane, count in enumerate(counts.tolist()):
        if what == "some lanes" and not count:
            continue
        taken = count if what == "source sizes" else size
        wanted[lane, :size] = 0
        wanted[lane, :taken] = a[lane, :taken]
    text = kernel_text(BY_LANES.format(copy=copy, wait=wait), pointers("ABC"))
    return Case("cp.async", name, text, (a, b, c), wanted={1: wanted})


BULK = """
.reg .b32 %t, %s, %d, %i, %rank, %n, %peer, %bars, %v; .reg .b64 %a, %b, %o; .reg .pred %p<4>;
.reg .b16 %h;
.shared .align 128 .b8 box[{room}]; .shared .align 8 .b8 bar[8];
mov.u32 %t, %tid.x; ld.param.u64 %a, [A]; ld.param.u64 %b, [B]; mov.u32 %s, box;
mov.u32 %rank, %cluster_ctarank; mov.u32 %n, %cluster_nctarank; setp.ne.u32 %p0, %t, 0;
mul.wide.u32 %o, %rank, {room}; add.u64 %b, %b, %o;
mov.u32 %i, %t;
FILL: mad.lo.u32 %d, %i, 4, %s; mad.lo.u32 %v, %i, 0x01030507, %rank; st.shared.u32 [%d], %v;
add.u32 %i, %i, 32; setp.lt.u32 %p1, %i, {words}; @%p1 bra FILL;
@%p0 bra MADE; mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;
MADE: fence.proxy.async.shared::cta; barrier.cluster.arrive; barrier.cluster.wait;
{body}
barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %i, %t;
OUT: mad.lo.u32 %d, %i, 4, %s; mad.wide.u32 %o, %i, 4, %b; ld.shared.u32 %v, [%d];
st.global.u32 [%o], %v; add.u32 %i, %i, 32; setp.lt.u32 %p1, %i, {words}; @%p1 bra OUT; ret;
"""
"""Kernel template: initialise shared memory, copy, write shared memory to global memory."""

EXPECT = "@%p0 bra SENT; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {size};"
WAIT = "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; @!%p2 bra W;"
LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
TO_PEER = """
add.u32 %peer, %rank, 1; rem.u32 %peer, %peer, %n; mov.u32 %bars, bar;
mapa.shared::cluster.u32 %bars, %bars, %peer; add.u32 %d, %s, {to};
mapa.shared::cluster.u32 %d, %d, %peer;
"""
SIZES = (16, 48, 256, 1008)
ROOM_OF_BLOCK = 2048


def bulk_cases() -> Iterator[Case]:
    """Yield bulk copies into a block, to some blocks of a cluster, to a peer, to global memory."""
    for size in SIZES:
        body = f"{EXPECT} {LOAD} [%s+64], [%a+32], {{size}}, [bar]; SENT: {WAIT}"
        yield _bulk(f"in, {size} bytes", body.format(size=size), 1)
        yield _bulk(f"to a peer, {size} bytes", _to_peer(size), 4)
        body = f"""
        @%p0 bra DONE; cp.async.bulk.global.shared::cta.bulk_group [%a+48], [%s+32], {size};
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; DONE:
        """
        yield _bulk(f"out, {size} bytes", body, 1)
    for mask in (0b11, 0b10, 0b1101):
        yield _bulk(f"multicast to {mask:#06b}", _multicast(mask, 512), 4)


def _to_peer(size: int) -> str:
    copy = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
    head = EXPECT.format(size=size)
    return f"{head} {TO_PEER.format(to=1024)} {copy} [%d], [%s+16], {size}, [%bars]; SENT: {WAIT}"


def _multicast(mask: int, size: int) -> str:
    return f"""
    shr.b32 %v, {mask}, %rank; and.b32 %v, %v, 1; setp.eq.u32 %p3, %v, 0;
    @%p0 bra TOLD; @%p3 bra TOLD; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {size};
    TOLD: barrier.cluster.arrive; barrier.cluster.wait; mov.b16 %h, {mask};
    or.b32 %v, %t, %rank; setp.ne.u32 %p1, %v, 0; @%p1 bra SENT;
    {LOAD}.multicast::cluster [%s+128], [%a], {size}, [bar], %h;
    SENT: @%p3 bra DONE; {WAIT} DONE:
    """


def _bulk(name: str, body: str, blocks: int, element: str = "u8", family: str = "") -> Case:
    """Return a case whose output is the final shared memory of all blocks, and the array."""
    text = BULK.format(room=ROOM_OF_BLOCK, words=ROOM_OF_BLOCK // 4, body=body)
    a = elements(element, ROOM_OF_BLOCK, rng_of(f"bulk {name}"))
    out = np.zeros((blocks, ROOM_OF_BLOCK), np.uint8)
    kernel = kernel_text(text, pointers("AB"))
    return Case(family or "bulk copies", name, kernel, (a, out), grid=blocks, cluster=blocks)


TO_GLOBAL = {
    "add": ("u32", "s32", "u64", "f32", "f64", "noftz.f16", "noftz.bf16"),
    **dict.fromkeys(("min", "max"), ("u32", "s32", "u64", "s64", "f16", "bf16")),
    **dict.fromkeys(("inc", "dec"), ("u32",)),
    **dict.fromkeys(("and", "or", "xor"), ("b32", "b64")),
}
TO_SHARED = {
    "add": ("u32", "s32", "u64"),
    **dict.fromkeys(("min", "max"), ("u32", "s32")),
    **dict.fromkeys(("inc", "dec"), ("u32",)),
    **dict.fromkeys(("and", "or", "xor"), ("b32",)),
}
"""Types of bulk reductions by operation (PTX ISA 9.7.9.25, cp.reduce.async.bulk)."""


def bulk_reduction_cases() -> Iterator[Case]:
    """Yield bulk reductions into global memory and into a peer's shared memory."""
    for operation, types in TO_GLOBAL.items():
        for type_ in types:
            body = f"""
            @%p0 bra DONE;
            {LOAD} [%s], [%b], 512, [bar];
            mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512; {WAIT}
            cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation}.{type_}
              [%a+16], [%s], 496;
            cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; DONE:
            """
            yield _reduced(f"{operation} {type_} in global memory", body, type_)
    for operation, types in TO_SHARED.items():
        for type_ in types:
            copy = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
            body = f"""{EXPECT.format(size=512)} {TO_PEER.format(to=1024)}
            {copy}.{operation}.{type_} [%d], [%s], 512, [%bars]; SENT: {WAIT}
            """
            yield _bulk(f"{operation} {type_} in a peer", body, 2, "u32", "bulk reductions")


def _reduced(name: str, body: str, type_: str) -> Case:
    """Return a bulk case whose output array starts with the elements to reduce."""
    element = type_.removeprefix("noftz.")
    element = element if element in ("f16", "bf16", "f32", "f64") else "u32"
    made = _bulk(name, body, 1, element, "bulk reductions")
    out = made.arguments[1]
    out[0, :512] = elements(element, 512, rng_of(f"{name} out"))
    return made
