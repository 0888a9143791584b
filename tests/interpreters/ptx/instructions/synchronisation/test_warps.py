"""Warps: divergence, shuffles, votes, matches, reductions and election."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from interpreters.ptx.harness import apply, execute, pointers

from tests.interpreters.ptx.instructions.elementwise.test_integers import RNG, signed, values

LOAD = """
.reg .b32 %t, %r<12>; .reg .b64 %a, %b, %o; .reg .pred %p<6>;
mov.u32 %t, %tid.x; ld.param.u64 %a, [A]; ld.param.u64 %b, [B];
mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o; add.u64 %b, %b, %o;
"""


def run_lanes(body: str, a: np.ndarray, **options: object) -> np.ndarray:
    text = f"{LOAD} ld.global.u32 %r0, [%a];\n{body}\nst.global.u32 [%b], %r1; ret;"
    arrays = [a, np.zeros(len(a), np.uint32)]
    report = execute(text, pointers("AB"), arrays, block=len(a), **options)
    assert report.arrays[1] is not None
    return report.arrays[1]


@pytest.mark.parametrize("threads", [32, 96, 128, 200])
def test_loops_of_different_lengths_come_together(threads: int) -> None:
    """Collatz: every lane takes its own number of steps, with a branch in each."""
    a = RNG.integers(1, 200, threads, dtype=np.uint32)
    body = """
    mov.u32 %r1, 0;
    LOOP: setp.eq.u32 %p0, %r0, 1; @%p0 bra DONE;
    and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;
    mad.lo.u32 %r0, %r0, 3, 1; bra NEXT;
    EVEN: shr.u32 %r0, %r0, 1;
    NEXT: add.u32 %r1, %r1, 1; bra LOOP;
    DONE: activemask.b32 %r3; popc.b32 %r3, %r3; mad.lo.u32 %r1, %r3, 1000, %r1;
    """

    def steps(n: int) -> int:
        count = 0
        while n != 1:
            n = 3 * n + 1 if n % 2 else n // 2
            count += 1
        return count

    found = run_lanes(body, a)
    assert (found % 1000).tolist() == [steps(int(n)) for n in a]
    whole = threads // 32 * 32
    assert (found[:whole] // 1000 == 32).all()


def test_guards_keep_what_other_lanes_hold() -> None:
    a = np.arange(64, dtype=np.uint32)
    body = """
    and.b32 %r2, %r0, 3; setp.eq.u32 %p0, %r2, 1; mov.u32 %r1, 7;
    @%p0 mul.lo.u32 %r1, %r0, 10; @!%p0 add.u32 %r1, %r1, %r0;
    setp.gt.u32 %p1, %r0, 60; @%p1 bra OUT; @%p0 add.u32 %r1, %r1, 1; OUT:
    """
    wanted = [10 * i + (i <= 60) if i % 4 == 1 else 7 + i for i in range(64)]
    assert run_lanes(body, a).tolist() == wanted


def test_lanes_may_end_early_and_tables_branch() -> None:
    a = np.arange(128, dtype=np.uint32) % 5
    body = """
    mov.u32 %r1, 99; st.global.u32 [%b], %r1;
    setp.eq.u32 %p0, %r0, 4; @%p0 ret;
    T: .branchtargets L0, L1, L2, L3;
    brx.idx %r0, T;
    L0: mov.u32 %r1, 10; bra END; L1: mov.u32 %r1, 11; bra END;
    L2: mov.u32 %r1, 12; bra END; L3: mov.u32 %r1, 13;
    END:
    """
    assert run_lanes(body, a).tolist() == [99 if v == 4 else 10 + v for v in a.tolist()]


def test_a_lock_is_passed_on_by_spinning_lanes() -> None:
    body = """
    mov.u32 %r1, 0;
    AGAIN: atom.global.cas.b32 %r2, [LOCK], 0, 1; setp.ne.u32 %p0, %r2, 0; @%p0 bra AGAIN;
    ld.volatile.global.u32 %r3, [SUM]; add.u32 %r3, %r3, %r0; st.volatile.global.u32 [SUM], %r3;
    st.volatile.global.u32 [LOCK], 0;
    WAIT: ld.volatile.global.u32 %r1, [SUM]; setp.ne.u32 %p0, %r1, 780; @%p0 bra WAIT;
    """
    body = ".global .u32 LOCK; .global .u32 SUM;" + body
    found = run_lanes(body, np.arange(40, dtype=np.uint32))
    assert found.tolist() == [780] * 40


def test_a_wait_for_nothing_is_a_deadlock() -> None:
    body = f"{LOAD} L: ld.volatile.global.u32 %r0, [%a]; setp.eq.u32 %p0, %r0, 0; @%p0 bra L; ret;"
    arrays = [np.zeros(32, np.uint32), np.zeros(32, np.uint32)]
    report = execute(body, pointers("AB"), arrays, clean=False)
    (finding,) = report.findings
    assert finding.kind == "deadlock"
    assert "polling memory that nothing changes" in finding.notes[0]


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("width", [32, 8])
def test_shuffles(mode: str, width: int) -> None:
    """The PTX ISA's pseudo-code, lane by lane."""
    a = values(32, 64)
    b = RNG.integers(0, 32, 64, dtype=np.uint32)
    segment = 32 - width
    clamp = 0 if mode == "up" else 31
    c = segment << 8 | clamp
    text = f"shfl.sync.{mode}.b32 {{x}}|{{y}}, {{a}}, {{b}}, {c}, -1;"
    found, inside = apply(text, [a, b], ["u4", bool])
    for thread in range(64):
        lane, warp = thread % 32, thread // 32 * 32
        offset = int(b[thread]) & 31
        highest = (lane & segment) | (clamp & ~segment & 31)
        lowest = lane & segment
        source = {
            "up": lane - offset,
            "down": lane + offset,
            "bfly": lane ^ offset,
            "idx": lowest | (offset & ~segment & 31),
        }[mode]
        good = source >= highest if mode == "up" else source <= highest
        assert inside[thread] == good
        assert found[thread] == a[warp + (source if good else lane)]


@pytest.mark.parametrize("threads", [32, 128])
def test_votes_are_of_one_warp(threads: int) -> None:
    a = RNG.integers(0, 4, threads, dtype=np.uint32)
    a[:32] = 1
    texts = {
        "ballot": ("vote.sync.ballot.b32 {x}, %q, -1;", "u4"),
        "all": ("vote.sync.all.pred {x}, %q, -1;", bool),
        "any": ("vote.sync.any.pred {x}, !%q, -1;", bool),
        "uni": ("vote.sync.uni.pred {x}, %q, -1;", bool),
    }
    for name, (text, dtype) in texts.items():
        (found,) = apply(f".reg .pred %q; setp.ne.u32 %q, {{a}}, 0; {text}", [a], [dtype])
        for warp in range(0, threads, 32):
            yes = a[warp : warp + 32] != 0
            wanted = {
                "ballot": sum(1 << i for i in range(32) if yes[i]),
                "all": yes.all(),
                "any": (~yes).any(),
                "uni": yes.all() or not yes.any(),
            }[name]
            assert (found[warp : warp + 32] == wanted).all()


REDUCTIONS: dict[str, tuple[str, Callable[[list[int]], int]]] = {
    "add": ("u32", sum),
    "min": ("s32", min),
    "max": ("s32", max),
    "and": ("b32", lambda v: int(np.bitwise_and.reduce(v))),
    "or": ("b32", lambda v: int(np.bitwise_or.reduce(v))),
    "xor": ("b32", lambda v: int(np.bitwise_xor.reduce(v))),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_over_members(name: str) -> None:
    type_, function = REDUCTIONS[name]
    a = values(32, 64)
    text = f"""
    .reg .pred %q; .reg .b32 %u; mov.u32 %u, %laneid; setp.lt.u32 %q, %u, 20; mov.u32 {{x}}, 0;
    @!%q bra S; redux.sync.{name}.{type_} {{x}}, {{a}}, 0xFFFFF; S:
    """
    (found,) = apply(text, [a], ["u4"])
    read = (lambda v: signed(v, 32)) if type_ == "s32" else int
    for warp in (0, 32):
        wanted = function([read(int(v)) for v in a[warp : warp + 20]]) & 0xFFFFFFFF
        assert found[warp : warp + 32].tolist() == [wanted] * 20 + [0] * 12


def test_floating_reductions_skip_nan() -> None:
    a = RNG.standard_normal(32).astype(np.float32)
    a[5] = np.nan
    (found,) = apply("redux.sync.min.f32 {x}, {a}, -1;", [a], ["f4"], target="sm_100a")
    assert (found == np.nanmin(a)).all()
    (found,) = apply("redux.sync.max.abs.NaN.f32 {x}, {a}, -1;", [a], ["f4"], target="sm_100a")
    assert np.isnan(found).all()


@pytest.mark.parametrize("bits", [32, 64])
def test_matches(bits: int) -> None:
    a = RNG.integers(0, 5, 64, dtype=np.uint64).astype(f"u{bits // 8}")
    a[32:] = 9
    (found,) = apply(f"match.any.sync.b{bits} {{x}}, {{a}}, -1;", [a], ["u4"])
    for i in range(64):
        warp = i // 32 * 32
        assert found[i] == sum(1 << j for j in range(32) if a[warp + j] == a[i])
    both, same = apply(f"match.all.sync.b{bits} {{x}}|{{y}}, {{a}}, -1;", [a], ["u4", bool])
    assert both.tolist() == [0] * 32 + [0xFFFFFFFF] * 32
    assert same.tolist() == [False] * 32 + [True] * 32


def test_one_lane_of_each_warp_is_elected() -> None:
    a = np.arange(128, dtype=np.uint32)
    leader, elected = apply("elect.sync {x}|{y}, -1;", [a], ["u4", bool])
    assert leader.tolist() == [0] * 128
    assert np.flatnonzero(elected).tolist() == [0, 32, 64, 96]


def test_lanes_that_never_come_are_told() -> None:
    body = f"""{LOAD} setp.lt.u32 %p0, %t, 5; @%p0 bra HERE;
    shfl.sync.idx.b32 %r0, %t, 0, 31, -1; ret;
    HERE: bar.warp.sync -1; shfl.sync.idx.b32 %r0, %t, 0, 31, 0x1F; ret;
    """
    arrays = [np.zeros(32, np.uint32), np.zeros(32, np.uint32)]
    report = execute(body, pointers("AB"), arrays, clean=False)
    (finding,) = report.findings
    assert finding.kind == "diverged"
    assert any("lanes 0x1f of warp 0" in line for line in finding.notes)


def test_a_lane_outside_of_its_mask_is_told() -> None:
    report = execute(f"{LOAD} shfl.sync.idx.b32 %r0, %t, 0, 31, 0xFFFF; ret;", pointers("AB"),
                     [np.zeros(32, np.uint32)] * 2, clean=False)  # fmt: skip
    assert report.findings[0].kind == "invalid"
    assert "not in the member mask 0xffff" in report.findings[0].message


def test_special_registers() -> None:
    body = """
    mov.u32 %r2, %ntid.y; mov.u32 %r3, %tid.y; mov.u32 %r4, %tid.x; mov.u32 %r5, %laneid;
    mov.u32 %r6, %warpid; mov.u32 %r7, %lanemask_lt; popc.b32 %r7, %r7;
    mad.lo.u32 %r1, %r3, 16, %r4; mad.lo.u32 %r1, %r2, 1000, %r1;
    mad.lo.u32 %r1, %r6, 100000, %r1; setp.ne.u32 %p0, %r7, %r5; @%p0 mov.u32 %r1, 0;
    """
    text = LOAD.replace("mov.u32 %t, %tid.x;", "mov.u32 %t, %tid.y; mov.u32 %r0, %tid.x; "
                        "mad.lo.u32 %t, %t, 16, %r0;")  # fmt: skip
    text = f"{text} {body} st.global.u32 [%b], %r1; ret;"
    arrays = [np.zeros(64, np.uint32), np.zeros(64, np.uint32)]
    report = execute(text, pointers("AB"), arrays, block=(16, 4))
    assert report.arrays[1] is not None
    assert report.arrays[1].tolist() == [100000 * (i // 32) + 4000 + i for i in range(64)]


ORDERS = ("eager", "lazy", "random")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "loop",
    [
        "LOOK @%p1 bra M; add.u32 %r3, %t, 7; M: setp.eq.u32 %p0, %r0, 0; @%p0 bra L;",
        "@%p1 bra M; LOOK bra N; M: LOOK N: setp.eq.u32 %p0, %r0, 0; @%p0 bra L;",
        "mov.u32 %r4, 0; K: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 9; @%p2 bra K; LOOK bra L;",
    ],
    ids=["with a branch", "with two ways", "with a loop"],
)
def test_a_longer_wait_for_nothing_is_a_deadlock(loop: str, order: str) -> None:
    loop = loop.replace("LOOK", "ld.volatile.global.u32 %r0, [%a];")
    odd = "and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 1;"
    arrays = [np.zeros(160, np.uint32), np.zeros(160, np.uint32)]
    body = f"{LOAD} {odd} L: {loop} ret;"
    report = execute(
        body, pointers("AB"), arrays, block=160, order=order, limit=100_000, clean=False
    )
    (finding,) = report.findings
    assert finding.kind == "deadlock"
    assert "CTA 0 warps 0..3" in finding.message
    assert "CTA 0 warp 4" in finding.message
    assert "polling memory that nothing changes" in finding.notes[0]


@pytest.mark.parametrize("order", ORDERS)
def test_a_lane_ahead_may_end_the_wait_of_others(order: str) -> None:
    """The others wait in a loop in which lanes go different ways."""
    body = """
    .global .u32 FLAG;
    and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 1; setp.eq.u32 %p2, %t, 5; @%p2 bra SET;
    L: ld.volatile.global.u32 %r1, [FLAG]; @%p1 bra M; add.u32 %r3, %t, 7;
    M: setp.eq.u32 %p0, %r1, 0; @%p0 bra L; bra END;
    SET: mov.u32 %r1, 0;
    N: add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 100; @%p0 bra N;
    st.volatile.global.u32 [FLAG], %r1; END:
    """
    found = run_lanes(body, np.arange(64, dtype=np.uint32), order=order, limit=100_000)
    assert found.tolist() == [100] * 64


def test_a_copy_ends_while_others_count() -> None:
    """A lazy copy is late, but not forever."""
    body = f"""
    {LOAD} .shared .align 16 .b8 S[16]; .reg .b32 %s; .reg .b64 %c; ld.param.u64 %c, [B];
    mov.u32 %s, S; mov.u32 %r1, 0; setp.ne.u32 %p0, %t, 0; @%p0 bra L;
    st.shared.u32 [%s], 77; fence.proxy.async;
    cp.async.bulk.global.shared::cta.bulk_group [%b], [%s], 16; cp.async.bulk.commit_group;
    L: add.u32 %r1, %r1, 1; ld.volatile.global.u32 %r3, [%c]; setp.ne.u32 %p1, %r3, 77;
    @%p1 bra L; cp.async.bulk.wait_group 0; ret;
    """
    arrays = [np.zeros(32, np.uint32), np.zeros(32, np.uint32)]
    options: dict[str, Any] = {"order": "lazy", "limit": 100_000, "clean": False}
    assert execute(body, pointers("AB"), arrays, **options).finished
