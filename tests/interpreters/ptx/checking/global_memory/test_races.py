"""Races on global memory: planted faults, each beside its right twin.

Two threads pass data on: the producer stores and publishes, the consumer polls and loads.  They are
in two blocks, in two blocks of a cluster, or in two warps of a block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tileas_xdsl.interpreters.ptx import Finding, load, run

TEXT = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    .shared .align 128 .b8 sm[256];
    ld.param.u64 %rd0, [a];
    ld.param.u64 %rd1, [b];
    mov.u32 %r0, ROLE;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r4, 7;
    mov.u32 %r6, sm;
    mov.u32 %r12, %laneid;
    setp.eq.u32 %p7, %r12, 0;
    mul.wide.u32 %rd2, %r12, 4;
    add.s64 %rd3, %rd0, %rd2;
    mad.lo.u32 %r13, %r1, 4, %r6;
    st.shared.u32 [%r13], %r12;
    fence.proxy.async;
    bar.warp.sync -1;
BODY
DONE:
    ret;
}
"""

PLACES = {
    "blocks": ("%ctaid.x", {"grid": 2, "block": 32}),
    "cluster": ("%ctaid.x", {"grid": 2, "block": 32, "cluster": 2}),
    "warps": ("%warpid", {"grid": 1, "block": 64}),
}
"""What tells producer and consumer apart, and the launch."""


def findings(body: str, place: str, grid: int | None = None, drop: str = "") -> list[Finding]:
    """The findings of two roles that run `body`; `a` is for data, `b` for flags."""
    role, launch = PLACES[place]
    text = TEXT.replace("ROLE", role).replace("BODY", body).replace(drop, "")
    options = launch | ({"grid": grid} if grid else {})
    a, b = np.zeros(256, np.uint32), np.zeros(32, np.uint32)
    return run(load(text, "k.ptx"), "k", [a, b], **options).findings  # pyright: ignore


@dataclass(frozen=True)
class Passing:
    """How data is passed from the producer to the consumer."""

    store: str = "st.global.u32 [%rd0], %r4;"
    publish: str = "st.release.gpu.global.u32 [%rd1], 1;"
    poll: str = "ld.acquire.gpu.global.u32 %r5, [%rd1];"
    after: str = ""
    load: str = "ld.global.u32 %r7, [%rd0];"
    place: str = "blocks"

    @property
    def body(self) -> str:
        """The producer, then the consumer."""
        return f"""
    setp.ne.u32 %p0, %r0, 0;
    setp.eq.u32 %p1, %r4, 7;
    @%p0 bra CONSUMER;
    {self.store}
    {self.publish}
    bra DONE;
CONSUMER:
    {self.poll}
    setp.ne.u32 %p2, %r5, 1;
    @%p2 bra CONSUMER;
    {self.after}
    {self.load}
"""


FENCE, CTA_FENCE = "fence.acq_rel.gpu;", "fence.acq_rel.cta;"
RELAXED_STORE = "st.relaxed.gpu.global.u32 [%rd1], 1;"
RELAXED_LOAD = "ld.relaxed.gpu.global.u32 %r5, [%rd1];"
RIGHT = Passing()
FENCED = Passing(publish=FENCE + RELAXED_STORE, poll=RELAXED_LOAD, after=FENCE)
ATOMIC = Passing(
    publish="red.release.gpu.global.or.b32 [%rd1], 1;",
    poll="atom.acquire.gpu.global.or.b32 %r5, [%rd1], 0;",
)
LEGACY = Passing(
    publish="membar.gl; st.volatile.global.u32 [%rd1], 1;",
    poll="ld.volatile.global.u32 %r5, [%rd1];",
    after="membar.gl;",
)
WARPS = Passing(
    publish="st.release.cta.global.u32 [%rd1], 1;",
    poll="ld.acquire.cta.global.u32 %r5, [%rd1];",
    place="warps",
)
CLUSTER = Passing(
    publish="st.release.cluster.global.u32 [%rd1], 1;",
    poll="ld.acquire.cluster.global.u32 %r5, [%rd1];",
    place="cluster",
)
BULK = Passing(
    store="@%p7 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r6], 16;"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
)
WAIT_TWICE = "wait_group.read 0; cp.async.bulk.wait_group 0"
"""What has been read is written later, and waited for alone."""

BULK_READER = Passing(
    publish="fence.proxy.async; st.release.gpu.global.u32 [%rd1], 1;",
    load="@%p7 mbarrier.init.shared.b64 [%r6+192], 1;"
    "@%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r6+192], 16;"
    "@%p7 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    " [%r6], [%rd0], 16, [%r6+192];"
    "COPIED: mbarrier.try_wait.parity.shared.b64 %p6, [%r6+192], 0; @!%p6 bra COPIED;",
)
SWAPPED = Passing(
    publish="atom.exch.release.gpu.global.b32 %r8, [%rd1], 1;",
    poll="atom.cas.acquire.gpu.global.b32 %r5, [%rd1], 1, 1;",
)

RELEASED_TWICE = Passing(publish="st.release.gpu.global.u32 [%rd1], 2;" + RELAXED_STORE)
"""A release, and a strong write of the same location (PTX ISA 8.9, release patterns)."""
ACQUIRED_LATER = Passing(poll=RELAXED_LOAD, after="ld.acquire.gpu.global.u32 %r9, [%rd1];")

TWINS = (
    RIGHT, FENCED, ATOMIC, LEGACY, WARPS, CLUSTER, BULK, BULK_READER, SWAPPED,
    replace(FENCED, publish="fence.sc.gpu;" + RELAXED_STORE, after="fence.sc.gpu;"),
    replace(FENCED, publish="fence.acq_rel.sys;" + RELAXED_STORE),
    replace(FENCED, publish=FENCE + CTA_FENCE + RELAXED_STORE, after=CTA_FENCE + FENCE),
    RELEASED_TWICE, ACQUIRED_LATER, replace(ACQUIRED_LATER, place="cluster"),
    replace(RELEASED_TWICE, place="warps", poll=RELAXED_LOAD, after=FENCE),
    replace(RIGHT, place="warps"), replace(RIGHT, place="cluster"),
    replace(FENCED, place="warps"), replace(ATOMIC, place="cluster"),
    replace(BULK_READER, publish="st.release.gpu.global.u32 [%rd1], 1;",
            after="fence.proxy.async;"),
    replace(RIGHT, load="ld.global.u32 %r7, [%rd0]; st.global.u32 [%rd0], %r2;"),
    replace(RIGHT, after="st.global.u32 [%rd1], 0;"),
    replace(FENCED, after=FENCE + "st.global.u32 [%rd1], 0;"),
    replace(RIGHT, store="st.relaxed.gpu.global.u32 [%rd0], %r4;", publish=RELAXED_STORE,
            load="ld.relaxed.gpu.global.u32 %r7, [%rd0];"),
    replace(BULK, store=BULK.store.replace("wait_group 0", WAIT_TWICE)),
)  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A wrong way to pass data: the kind that must be found, and text of the explanation."""

    name: str
    passing: Passing
    kind: str = "race-RAW"
    says: str = ""


FAULTS = (
    Fault("relaxed publication", replace(RIGHT, publish=RELAXED_STORE),
          says="without a release before it"),
    Fault("relaxed poll", replace(RIGHT, poll=RELAXED_LOAD), says="without an acquire after it"),
    Fault("no fence before the flag", replace(FENCED, publish=RELAXED_STORE),
          says="without a release before it"),
    Fault("no fence after the flag", replace(FENCED, after=""), says="without an acquire"),
    Fault("the fence after the flag's store", replace(FENCED, publish=RELAXED_STORE + FENCE),
          says="without a release before it"),
    Fault("fence of the block before the flag",
          replace(FENCED, publish=CTA_FENCE + RELAXED_STORE), says="scope does not include both"),
    Fault("fence of the block after the flag", replace(FENCED, after=CTA_FENCE),
          says="without an acquire"),
    Fault("the flag is of the block's scope",
          replace(FENCED, publish=FENCE + "st.relaxed.cta.global.u32 [%rd1], 1;"),
          says="scope that does not include both"),
    Fault("the poll is of the block's scope",
          replace(FENCED, poll="ld.relaxed.cta.global.u32 %r5, [%rd1];"), says="scope"),
    Fault("release of the block's scope",
          replace(RIGHT, publish="st.release.cta.global.u32 [%rd1], 1;"), says="scope"),
    Fault("acquire of the block's scope",
          replace(RIGHT, poll="ld.acquire.cta.global.u32 %r5, [%rd1];"), says="scope"),
    Fault("release of the cluster's scope",
          replace(RIGHT, publish="st.release.cluster.global.u32 [%rd1], 1;"), says="scope"),
    Fault("acquire of the cluster's scope",
          replace(RIGHT, poll="ld.acquire.cluster.global.u32 %r5, [%rd1];"), says="scope"),
    Fault("release of the block's scope in a cluster",
          replace(CLUSTER, publish="st.release.cta.global.u32 [%rd1], 1;"), says="scope"),
    Fault("acquire of the block's scope in a cluster",
          replace(CLUSTER, poll="ld.acquire.cta.global.u32 %r5, [%rd1];"), says="scope"),
    Fault("relaxed publication between warps",
          replace(WARPS, publish="st.relaxed.cta.global.u32 [%rd1], 1;"), says="without a release"),
    Fault("relaxed poll between warps",
          replace(WARPS, poll="ld.relaxed.cta.global.u32 %r5, [%rd1];"), says="without an acquire"),
    Fault("plain flag", replace(RIGHT, publish="st.global.u32 [%rd1], 1;"), says="plain access"),
    Fault("plain poll", replace(RIGHT, poll="ld.global.u32 %r5, [%rd1];"), says="plain access"),
    Fault("plain flag and poll", replace(RIGHT, publish="st.global.u32 [%rd1], 1;",
                                         poll="ld.global.u32 %r5, [%rd1];"), says="on a flag"),
    Fault("plain poll between warps", replace(WARPS, poll="ld.global.u32 %r5, [%rd1];"),
          says="plain access"),
    Fault("plain poll of an atomic", replace(ATOMIC, poll="ld.global.u32 %r5, [%rd1];"),
          says="plain access"),
    Fault("relaxed atomic", replace(ATOMIC, publish="red.global.or.b32 [%rd1], 1;"),
          says="without a release"),
    Fault("relaxed atomic poll", replace(ATOMIC, poll="atom.global.or.b32 %r5, [%rd1], 0;"),
          says="without an acquire"),
    Fault("atomic release of the block's scope",
          replace(ATOMIC, publish="red.release.cta.global.or.b32 [%rd1], 1;"), says="scope"),
    Fault("relaxed exchange",
          replace(SWAPPED, publish="atom.exch.relaxed.gpu.global.b32 %r8, [%rd1], 1;"),
          says="without a release"),
    Fault("release where acquire is meant",
          replace(SWAPPED, poll="atom.cas.release.gpu.global.b32 %r5, [%rd1], 1, 1;"),
          says="without an acquire"),
    Fault("no membar before the flag",
          replace(LEGACY, publish="st.volatile.global.u32 [%rd1], 1;"), says="without a release"),
    Fault("no membar after the flag", replace(LEGACY, after=""), says="without an acquire"),
    Fault("membar of the block",
          replace(LEGACY, publish="membar.cta; st.volatile.global.u32 [%rd1], 1;"), says="scope"),
    Fault("store after the release",
          replace(RIGHT, store="", publish=RIGHT.publish + RIGHT.store), says="on a flag"),
    Fault("release of another location", replace(RELEASED_TWICE,
          publish="st.release.gpu.global.u32 [%rd1+64], 2;" + RELAXED_STORE),
          says="without a release"),
    Fault("store within the release pattern", replace(RELEASED_TWICE, store="",
          publish=RELEASED_TWICE.publish.replace("2;", "2; st.global.u32 [%rd0], %r4;"))),
    Fault("acquire of another location", replace(ACQUIRED_LATER,
          after="ld.acquire.gpu.global.u32 %r9, [%rd1+64];"), says="without an acquire"),
    Fault("later acquire of the block's scope", replace(ACQUIRED_LATER,
          after="ld.acquire.cta.global.u32 %r9, [%rd1];"), says="without an acquire"),
    Fault("read-only load", replace(RIGHT, load="ld.global.nc.u32 %r7, [%rd0];"),
          "read-only-load", "while the kernel runs"),
    Fault("overwrites what is relaxed",
          replace(RIGHT, publish=RELAXED_STORE, load="st.global.u32 [%rd0], %r2;"), "race-WAW",
          "without a release"),
    Fault("overwrites what may still be read",
          replace(RIGHT, store="ld.global.u32 %r7, [%rd0];", publish=RELAXED_STORE,
                  load="st.global.u32 [%rd0], 9;"), "race-WAR", "without a release"),
    Fault("resets a flag that is relaxed",
          replace(RIGHT, publish=RELAXED_STORE, load="st.global.u32 [%rd1], 0;"), "race-WAW"),
    Fault("a bulk store that was read only",
          replace(BULK, store=BULK.store.replace("wait_group 0", "wait_group.read 0")),
          says="wait_group without .read"),
    Fault("a bulk store without a wait",
          replace(BULK, store=BULK.store.replace("cp.async.bulk.wait_group 0;", "")),
          says="wait_group without .read"),
    Fault("a bulk store of the last group",
          replace(BULK, store=BULK.store.replace("wait_group 0", "wait_group 1")),
          says="wait_group without .read"),
    Fault("a bulk store of the last group, which has been read",
          replace(BULK, store=BULK.store.replace("wait_group 0", WAIT_TWICE[:-1] + "1")),
          says="wait_group without .read"),
    Fault("a bulk store read by its own warp too early",
          replace(BULK, store=BULK.store.replace("wait_group 0", "wait_group.read 0")
                  + "ld.global.u32 %r7, [%rd0];"), says="wait_group without .read"),
    Fault("a bulk load of generic writes",
          replace(BULK_READER, publish="st.release.gpu.global.u32 [%rd1], 1;"),
          "missing-proxy-fence", "fence.proxy.async by the writer"),
    Fault("a bulk load without an acquire", replace(BULK_READER, poll=RELAXED_LOAD),
          says="without an acquire"),
    Fault("a reduction beside a plain load",
          replace(BULK, store="@%p7 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"
                  " [%rd0], [%r6], 16;"
                  "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;"),
          says="wait_group without .read"),
)  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_a_planted_fault_is_found_and_explained(fault: Fault) -> None:
    found = findings(fault.passing.body, fault.passing.place)
    mine = [f for f in found if f.kind == fault.kind]
    assert mine, found
    assert any(fault.says in line for f in mine for line in f.notes), "\n".join(map(str, found))
    assert any("was there at line" in f.notes[0] for f in mine)


@pytest.mark.parametrize("twin", TWINS, ids=lambda t: f"{t.place} {t.publish[:40]} {t.after[:20]}")
def test_a_right_twin_is_not_blamed(twin: Passing) -> None:
    assert findings(twin.body, twin.place) == []


# Without any flag

MINE, OURS = "[%rd4]", "[%rd3]"
OWN = "mad.lo.u32 %r3, %r0, 32, %r12; mul.wide.u32 %rd4, %r3, 4; add.s64 %rd4, %rd0, %rd4;"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("lines", "kinds"),
    [
        (f"st.global.u32 {OURS}, %r0;", {"race-WAW"}),
        (f"st.global.u32 {OURS}, %r0; ld.global.u32 %r5, {OURS};", {"race-WAW"}),
        (f"ld.global.u32 %r5, {OURS}; st.global.u32 {OURS}, %r0;", {"race-RAW", "race-WAW"}),
        (f"red.global.add.u32 {OURS}, 1; ld.global.u32 %r5, {OURS};", {"race-WAR"}),
        (f"st.global.u32 {OURS}, %r0; fence.acq_rel.gpu;", {"race-WAW"}),
        (f"st.global.u32 {OURS}, %r4;", {"same-value"}),
        ("st.global.u32 [%rd0], %r12;", {"race-WAW"}),
        (f"{OWN} st.global.u32 {MINE}, %r0; ld.global.u32 %r5, {MINE};", set[str]()),
        (f"{OWN} ld.global.u32 %r5, {OURS}; st.global.u32 {MINE}+1024, %r0;", set[str]()),
        (f"red.global.add.u32 {OURS}, 1;", set[str]()),
        (f"st.relaxed.gpu.global.u32 {OURS}, %r0;", set[str]()),
    ],
)  # fmt: skip
def test_accesses_that_nothing_orders(lines: str, kinds: set[str], place: str) -> None:
    lines = lines.replace("[%rd4]+1024", "[%rd4+512]")
    found = {f.kind for f in findings(lines, place)}
    assert bool(found) == bool(kinds)
    assert place == "warps" or found == kinds


@pytest.mark.parametrize(("value", "kind"), [("7", "same-value"), ("%r0", "race-WAW")])
def test_warps_that_store_at_once_are_compared_with_one_another(value: str, kind: str) -> None:
    """One instruction of all warps: none finds in memory what those before it write."""
    assert {f.kind for f in findings(f"st.global.u32 {OURS}, {value};", "warps")} == {kind}


def test_neighbours_in_a_granule_do_not_race() -> None:
    """Bytes of one granule of 16 belong to different blocks; the last one is shared."""
    bytes_ = "cvt.u64.u32 %rd5, %r2; add.s64 %rd5, %rd0, %rd5; st.global.u8 [%rd5], %r2;"
    assert findings(bytes_, "blocks", grid=20) == []
    assert findings(bytes_ + "st.global.u8 [%rd0], %r2;", "blocks", grid=20) != []


def test_order_is_passed_on_through_a_barrier_and_through_a_third_block() -> None:
    """Causality is cumulative: block 0 -> block 1 -> block 2 (PTX ISA 8.9)."""
    body = """
    mov.u32 %r9, %warpid;
    setp.eq.u32 %p0, %r2, 0;
    @%p0 st.global.u32 [%rd0], %r4;
    @%p0 st.release.gpu.global.u32 [%rd1], 1;
    setp.eq.and.u32 %p1, %r9, 0, %p3;
WAIT:
    ld.acquire.gpu.global.u32 %r5, [%rd1];
    setp.lt.u32 %p2, %r5, %r2;
    @%p2 bra WAIT;
    bar.sync 0;
    add.u32 %r10, %r2, 1;
    st.release.gpu.global.u32 [%rd1], %r10;
    ld.global.u32 %r7, [%rd0];
"""
    body = body.replace("    setp.eq.and.u32 %p1, %r9, 0, %p3;\n", "")
    assert findings(body, "blocks", grid=3) == []
    assert findings(body.replace("st.release.gpu.global.u32 [%rd1], %r10", "st.relaxed.gpu"
                    ".global.u32 [%rd1], %r10"), "blocks", grid=3) != []  # fmt: skip


REPEATED = """
    mov.u32 %r9, %laneid;
    ld.global.u32 %r7, [%rd3];
    add.u32 %r7, %r7, 1;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 st.global.u32 [%rd3], %r7;
"""


def test_what_only_repeats_a_load_may_read_anything() -> None:
    """In place, with lanes that repeat others: nobody uses what they have loaded."""
    setup = "st.shared.u32 [%r13], %r12;"
    assert findings(REPEATED, "warps", drop=setup) == []
    used = REPEATED + "@!%p1 st.global.u32 [%rd3+128], %r7;"
    assert [f.kind for f in findings(used, "warps", drop=setup)] == ["race-WAR"]
