"""Groups of a part of a warp, registers that nothing defines, and who comes to which barrier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from interpreters.ptx.harness import execute, pointers

from tileas_xdsl.interpreters.ptx import Report, Severity

HEAD = """
    .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<8>; .shared .align 16 .b8 sm[512];
    ld.param.u64 %rd0, [o]; mov.u32 %r0, %tid.x; mov.u32 %r1, %laneid; mov.u32 %r2, sm;
    mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1; mad.lo.u32 %r3, %r0, 4, %r2;
    mov.u32 %r4, %cluster_ctarank; xor.b32 %r5, %r4, 1;
"""
STORE = "st.global.u32 [%rd0], %r9; DONE: ret;"


def run_lines(lines: str, block: int = 64, grid: int = 1, **options: Any) -> Report:
    """Run lines between the definitions of indices and a store of %r9."""
    out = np.zeros(block, np.uint32)
    return execute(
        HEAD + lines + STORE, "".join(pointers("o")), [out], block=block, grid=grid, clean=False,
        **options,
    )  # fmt: skip


HALVES = "shr.u32 %r6, %r1, 4; shl.b32 %r6, %r6, 4; mov.u32 %r7, 0xffff; shl.b32 %r7, %r7, %r6;"
"""The member mask of a half warp, by lane."""


def test_halves_of_a_warp_shuffle_with_masks_of_their_own() -> None:
    """`tiled_partition<16>` of cooperative groups."""
    lines = HALVES + "shfl.sync.idx.b32 %r9, %r0, 3, 0x100f, %r7; bar.warp.sync %r7;"
    report = run_lines(lines)
    assert report.findings == []
    lane = np.arange(64)
    assert (report.arrays[0] == lane // 16 * 16 + 3).all()


def test_coalesced_groups_vote_among_the_lanes_that_are_active() -> None:
    report = run_lines("""
        rem.u32 %r6, %r1, 3; setp.eq.u32 %p0, %r6, 0; mov.u32 %r9, 99;
        @!%p0 bra ELSE;
        activemask.b32 %r7; vote.sync.ballot.b32 %r9, %p0, %r7; bra JOIN;
    ELSE: activemask.b32 %r7; vote.sync.ballot.b32 %r9, %p0, %r7;
    JOIN: bar.warp.sync -1;
    """)
    assert report.findings == []
    mask = sum(1 << i for i in range(0, 32, 3))
    assert (report.arrays[0] == np.where(np.arange(64) % 32 % 3 == 0, mask, 0)).all()


@pytest.mark.parametrize(
    ("lines", "kind", "severity"),
    [
        ("add.u32 %r9, %r8, 1;", "undefined-register", Severity.ERROR),
        ("@%p5 mov.u32 %r9, 1;", "undefined-register", Severity.ERROR),
        ("ld.shared.u32 %r9, [%r8];", "undefined-register", Severity.ERROR),
        ("mov.u32 %r9, %r8;", "undefined-register", Severity.NOTE),
        ("mov.u32 %r9, 0; setp.eq.u32 %p1, %r0, 3; @%p1 add.u32 %r9, %r8, 1;",
         "undefined-register", Severity.ERROR),
        ("mov.u32 %r9, 0; bra L; add.u32 %r9, %r8, 1; L:", "", None),
        ("mov.u32 %r9, 0; setp.eq.u32 %p1, %r0, 3; @%p1 mov.u32 %r8, 1; @%p1 add.u32 %r9, %r8, 1;",
         "", None),
        ("mov.u32 %r9, 0; L: setp.gt.u32 %p1, %r9, 3; @%p1 add.u32 %r9, %r8, 1; mov.u32 %r8, 1;"
         "add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 9; @%p2 bra L;", "", None),
    ],
)  # fmt: skip
def test_registers_that_no_path_has_written(
    lines: str, kind: str, severity: Severity | None
) -> None:
    found = [f for f in run_lines(lines, 32).findings if f.kind == "undefined-register"]
    assert [f.kind for f in found][:1] == ([kind] if kind else [])
    assert not kind or found[0].severity is severity


REMOTE = """
    st.shared.u32 [%r3], %r0; {barrier}
    mapa.shared::cluster.u32 %r6, %r3, %r5; ld.shared::cluster.u32 %r9, [%r6];
    barrier.cluster.arrive; barrier.cluster.wait;
"""
CLUSTER = "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;"


@pytest.mark.parametrize("order", ["eager", "lazy"])
def test_a_missing_barrier_is_named_where_a_block_reads_before_the_other_writes(order: str) -> None:
    right = run_lines(REMOTE.format(barrier=CLUSTER), 32, 2, cluster=2, order=order)
    wrong = run_lines(REMOTE.format(barrier=""), 32, 2, cluster=2, order=order)
    assert [f.kind for f in right.findings] in ([], ["same-value"], ["race-WAW"])
    kinds = {f.kind for f in wrong.findings}
    assert "race-RAW" in kinds
    assert "uninitialised" not in kinds
    assert any("of the cluster if they are" in n for f in wrong.findings for n in f.notes)


def test_who_came_before_is_only_said_where_somebody_did() -> None:
    report = run_lines("mov.u32 %r9, 0; bar.sync 1, 32;", 64)
    notes = [n for f in report.findings for n in f.notes]
    assert not [n for n in notes if n.endswith("came before: ")]


@pytest.mark.parametrize(("operands", "count"), [("%r1, %r8", 0), ("%r8, %r1", 1)])
def test_only_the_operand_that_a_lane_selects_has_to_be_defined(operands: str, count: int) -> None:
    """%r8 is written in lane 0 alone; so nvcc writes a variable that other lanes do not use."""
    lines = "setp.ne.u32 %p1, %r1, 0; @%p1 bra L; mov.u32 %r8, 9; L: "
    report = run_lines(f"{lines} selp.b32 %r9, {operands}, %p1;", 32)
    assert [f.kind for f in report.findings] == ["undefined-register"] * count
