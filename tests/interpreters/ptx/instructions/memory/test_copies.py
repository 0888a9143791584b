"""Asynchronous copies: cp.async, bulk and tensor copies, in every order."""

from typing import Any

import numpy as np
import pytest
from interpreters.ptx.harness import execute, pointers

from tileas_xdsl.interpreters.ptx import TensorMapArg
from tileas_xdsl.target.tma.tensor_map import TensorMap

RNG = np.random.default_rng(31)
ORDERS = ["eager", "lazy", "random"]

BEGIN = """
.reg .b32 %t, %s, %r<8>; .reg .b64 %a, %b, %o, %g; .reg .pred %p<4>; .reg .b16 %h;
.shared .align 1024 .b8 box[8192]; .shared .align 8 .b8 bar[8];
mov.u32 %t, %tid.x; ld.param.u64 %b, [B]; mov.u32 %s, box;
setp.ne.u32 %p0, %t, 0; @%p0 bra MADE; mbarrier.init.shared::cta.b64 [bar], 1;
fence.mbarrier_init.release.cluster; MADE: bar.sync 0;
"""

WAIT = "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W;"

COPY_OUT = """
mul.wide.u32 %o, %t, 16; add.u64 %b, %b, %o; mad.lo.u32 %r0, %t, 16, %s;
ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r0]; st.global.v4.b32 [%b], {%r4, %r5, %r6, %r7}; ret;
"""


@pytest.mark.parametrize("order", ORDERS)
def test_cp_async_in_groups_and_by_barrier(order: str) -> None:
    a = RNG.integers(0, 1 << 32, (2, 64, 4), dtype=np.uint32)
    body = (
        BEGIN.replace("[bar], 1", "[bar], 64")
        + f"""
    ld.param.u64 %a, [A]; mul.wide.u32 %o, %t, 16; add.u64 %a, %a, %o; mad.lo.u32 %r0, %t, 16, %s;
    cp.async.cg.shared.global [%r0], [%a], 16; cp.async.commit_group;
    cp.async.ca.shared.global [%r0+1024], [%a+1024], 16, 8; cp.async.commit_group;
    cp.async.wait_group 1; ld.shared.v4.b32 {{%r4, %r5, %r6, %r7}}, [%r0];
    add.u64 %b, %b, %o; st.global.v4.b32 [%b], {{%r4, %r5, %r6, %r7}};
    cp.async.mbarrier.arrive.noinc.shared.b64 [bar]; {WAIT}
    xor.b32 %r1, %t, 63; mad.lo.u32 %r1, %r1, 16, %s;
    ld.shared.v4.b32 {{%r4, %r5, %r6, %r7}}, [%r1+1024];
    st.global.v4.b32 [%b+1024], {{%r4, %r5, %r6, %r7}}; ret;
    """
    )
    report = execute(body, pointers("AB"), [a, np.zeros_like(a)], block=64, order=order, seed=1)
    assert report.arrays[1] is not None
    np.testing.assert_array_equal(report.arrays[1][0], a[0])
    half = a[1, ::-1].copy()
    half[:, 2:] = 0
    np.testing.assert_array_equal(report.arrays[1][1], half)


def test_reading_before_cp_async_is_over_is_a_race() -> None:
    body = (
        BEGIN
        + f"""
    ld.param.u64 %a, [A]; mul.wide.u32 %o, %t, 16; add.u64 %a, %a, %o; mad.lo.u32 %r0, %t, 16, %s;
    cp.async.cg.shared.global [%r0], [%a], 16; cp.async.commit_group; {COPY_OUT}
    """
    )
    a = np.zeros((32, 4), np.uint32)
    report = execute(body, pointers("AB"), [a, a.copy()], clean=False)
    # Nobody ever waits for the copies: the block ends while they may still write.
    assert [f.kind for f in report.findings] == ["race-RAW", "exit-race"]


@pytest.mark.parametrize("team", ["", "multimem."], ids=["device", "team"])
@pytest.mark.parametrize("order", ORDERS)
def test_bulk_copies_there_and_back(order: str, team: str) -> None:
    a = RNG.integers(0, 1 << 16, 512, dtype=np.uint32)
    body = (
        BEGIN
        + f"""
    ld.param.u64 %a, [A]; @%p0 bra W;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 2048;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], 2048, [bar];
    {WAIT}
    mad.lo.u32 %r0, %t, 4, %s; ld.shared.u32 %r1, [%r0]; add.u32 %r1, %r1, 7;
    bar.sync 0; st.shared.u32 [%r0], %r1; fence.proxy.async.shared::cta; bar.sync 0; @%p0 ret;
    {team}cp.async.bulk.global.shared::cta.bulk_group [%b], [%s], 1024;
    {team}cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%b+1024], [%s+1024], 1024;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;
    """
    )
    b = np.full(512, 100, np.uint32)
    report = execute(body, pointers("AB"), [a, b], block=128, order=order, seed=2, version="9.1")
    assert report.arrays[1] is not None
    added = np.where(np.arange(512) < 128, 7, 0)
    base = np.where(np.arange(512) < 256, 0, 100)
    np.testing.assert_array_equal(report.arrays[1], a + added + base)


@pytest.mark.parametrize("name", ["cp.async.bulk", "multimem.cp.async.bulk"])
def test_a_bulk_store_of_some_bytes_leaves_the_others(name: str) -> None:
    """A bit of the mask is a byte of each 16; a multicast address is of the one device."""
    a = RNG.integers(0, 256, 64, dtype=np.uint8)
    body = (
        BEGIN
        + f"""
    .reg .b16 %m; .reg .b32 %word; ld.param.u64 %a, [A]; @%p0 ret; mov.u32 %r0, 0;
    FILL: cvt.u64.u32 %g, %r0; add.u64 %g, %g, %a; ld.global.u32 %word, [%g];
    add.u32 %r1, %s, %r0; st.shared.u32 [%r1], %word; add.u32 %r0, %r0, 4;
    setp.lt.u32 %p0, %r0, 64; @%p0 bra FILL;
    fence.proxy.async.shared::cta; mov.b16 %m, 0x8421;
    {name}.global.shared::cta.bulk_group.cp_mask [%b], [%s], 64, %m;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;
    """
    )
    b = RNG.integers(0, 256, 64, dtype=np.uint8)
    report = execute(body, pointers("AB"), [a, b], block=32, target="sm_100a", version="9.1")
    assert report.arrays[1] is not None
    copied = np.arange(64) % 16 % 5 == 0
    np.testing.assert_array_equal(report.arrays[1], np.where(copied, a, b))


PARAMETERS = ".param .align 64 .b8 T[128], .param .u64 B"


@pytest.mark.parametrize("order", ORDERS)
def test_rows_gathered_by_a_kernel(order: str) -> None:
    a = RNG.integers(0, 1 << 16, (16, 64), dtype=np.uint16)
    tensor = TensorMapArg(TensorMap("u16", 0, (64, 16), (128,), (64, 1)), a)
    body = (
        BEGIN
        + f"""
    mov.b64 %a, T; cvta.param.u64 %g, %a; @%p0 bra W;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
    cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%s],
      [%g, {{0, 3, 1, 15, 7}}], [bar];
    {WAIT} {COPY_OUT}
    """
    )
    report = execute(body, PARAMETERS, [tensor, np.zeros((4, 64), np.uint16)],
                     target="sm_100a", order=order)  # fmt: skip
    assert report.arrays[1] is not None
    np.testing.assert_array_equal(report.arrays[1], a[[3, 1, 15, 7]])


@pytest.mark.parametrize(
    ("operation", "function"),
    [("add", np.add), ("min", np.minimum), ("max", np.maximum), ("xor", np.bitwise_xor)],
)
def test_tensor_copies_reduce(operation: str, function: Any) -> None:
    a = RNG.integers(-50, 50, (8, 8), dtype=np.int32)
    tensor = TensorMapArg(TensorMap("s32", 0, (8, 8), (32,), (8, 8)), a)
    body = (
        BEGIN
        + f"""
    mov.b64 %a, T; cvta.param.u64 %g, %a; mad.lo.u32 %r0, %t, 4, %s;
    sub.s32 %r1, %t, 30; st.shared.u32 [%r0], %r1; fence.proxy.async.shared::cta; bar.sync 0;
    @%p0 ret; mov.u32 %r2, 4; mov.u32 %r3, 3;
    cp.reduce.async.bulk.tensor.2d.global.shared::cta.{operation}.tile.bulk_group
      [%g, {{%r2, %r3}}], [%s];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;
    """
    )
    report = execute(body, PARAMETERS, [tensor, np.zeros(1, np.uint32)], block=64)
    box = (np.arange(64) - 30).reshape(8, 8).astype(np.int32)
    wanted = a.copy()
    wanted[3:, 4:] = function(a[3:, 4:], box[:5, :4])
    assert report.arrays[0] is not None
    np.testing.assert_array_equal(report.arrays[0], wanted)


def test_maps_are_changed_on_the_device() -> None:
    """A map in global memory is moved to other data, other sizes and strides."""
    a = RNG.integers(0, 1 << 32, (2, 16, 32), dtype=np.uint32)
    first = TensorMap("u32", 1 << 20, (32, 4), (128,), (16, 4))
    from tileas_xdsl.target.tma.tensor_map_bytes import encode

    held = np.frombuffer(encode(first), np.uint8).copy()
    parameters = pointers("MAB")
    body = (
        BEGIN
        + f"""
    ld.param.u64 %g, [M]; ld.param.u64 %a, [A]; @%p0 bra W;
    tensormap.replace.tile.global_address.global.b1024.b64 [%g], %a;
    tensormap.replace.tile.global_dim.global.b1024.b32 [%g], 0, 8;
    tensormap.replace.tile.global_dim.global.b1024.b32 [%g], 1, 3;
    tensormap.replace.tile.global_stride.global.b1024.b64 [%g], 0, 256;
    fence.proxy.tensormap::generic.release.gpu;
    fence.proxy.tensormap::generic.acquire.gpu [%g], 128;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s],
      [%g, {{0, 0}}], [bar];
    {WAIT} setp.gt.u32 %p2, %t, 15; @%p2 ret; {COPY_OUT}
    """
    )
    report = execute(body, parameters, [held, a, np.zeros((4, 16), np.uint32)])
    wanted = np.zeros((4, 16), np.uint32)
    wanted[:3, :8] = a.reshape(16, 64)[:3, :8]
    assert report.arrays[2] is not None
    np.testing.assert_array_equal(report.arrays[2], wanted)


@pytest.mark.parametrize("order", ORDERS)
def test_multicast_and_stores_to_peers(order: str) -> None:
    """Rank 0 copies one tile to both CTAs; each CTA sends a word to the other with st.async."""
    a = RNG.integers(0, 1 << 32, (8, 16), dtype=np.uint32)
    tensor = TensorMapArg(TensorMap("u32", 0, (16, 8), (64,), (16, 8)), a)
    body = (
        BEGIN
        + f"""
    mov.b64 %a, T; cvta.param.u64 %g, %a; mov.u32 %r0, %cluster_ctarank; mov.b16 %h, 3;
    @%p0 bra ARRIVED; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 516;
    ARRIVED: barrier.cluster.arrive; barrier.cluster.wait; @%p0 bra W;
    xor.b32 %r1, %r0, 1; mapa.shared::cluster.u32 %r2, %s, %r1; mov.u32 %r4, bar;
    mapa.shared::cluster.u32 %r3, %r4, %r1; add.u32 %r5, %r0, 40;
    st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r2+1024], %r5, [%r3];
    setp.ne.u32 %p2, %r0, 0; @%p2 bra W;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
      [%s], [%g, {{0, 0}}], [bar], %h;
    {WAIT}
    mul.lo.u32 %r1, %r0, 528; cvt.u64.u32 %o, %r1; add.u64 %b, %b, %o;
    mul.wide.u32 %o, %t, 16; add.u64 %b, %b, %o; mad.lo.u32 %r1, %t, 16, %s;
    ld.shared.v4.b32 {{%r4, %r5, %r6, %r7}}, [%r1]; st.global.v4.b32 [%b], {{%r4, %r5, %r6, %r7}};
    setp.ne.u32 %p2, %t, 0; @%p2 bra END;
    ld.shared.u32 %r4, [%s+1024]; st.global.u32 [%b+512], %r4;
    END: barrier.cluster.arrive; barrier.cluster.wait; ret;
    """
    )
    b = np.zeros((2, 132), np.uint32)
    report = execute(body, PARAMETERS, [tensor, b], grid=2, cluster=2, order=order, seed=5)
    assert report.arrays[1] is not None
    for rank in (0, 1):
        np.testing.assert_array_equal(report.arrays[1][rank, :128], a.ravel())
        assert report.arrays[1][rank, 128] == 41 - rank


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("[%s+16], [%g, {0, 0}], [bar];", "misaligned-address", "is not aligned to 128"),
        ("[%s], [%b, {0, 0}], [bar];", "tma", "are no tensor map"),
        ("[%s+8192], [%g, {0, 0}], [bar];", "illegal-address", "are outside of the"),
    ],
)
def test_rules_of_tensor_copies(text: str, kind: str, says: str) -> None:
    a = np.zeros((8, 16), np.uint32)
    tensor = TensorMapArg(TensorMap("u32", 0, (16, 8), (64,), (16, 8)), a)
    body = (
        BEGIN
        + f"""
    mov.b64 %a, T; cvta.param.u64 %g, %a; @%p0 ret;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes {text} ret;
    """
    )
    other = np.full(64, 0xFFFFFFFF, np.uint32)
    report = execute(body, PARAMETERS, [tensor, other], clean=False)
    assert report.findings[0].kind == kind
    assert says in report.findings[0].message
