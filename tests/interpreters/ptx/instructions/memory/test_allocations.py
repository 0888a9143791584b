"""Memory that threads allocate: from the heap, and on their stacks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from interpreters.ptx.harness import HEADER, execute, pointers

from tileas_xdsl.interpreters.ptx import PtxError, load, run

MALLOC = """
    .reg .b64 %o, %n, %p, %q; .reg .b32 %t; .reg .pred %c;
    ld.param.u64 %o, [A]; ld.param.u64 %n, [N]; mov.u32 %t, %tid.x;
    .param .b64 size; .param .b64 align; .param .b64 found; .param .b64 old;
    st.param.b64 [size], %n; st.param.b64 [align], 256;
"""
ADDRESS = "mul.wide.u32 %q, %t, 8; add.u64 %o, %o, %q; st.global.u64 [%o], %p;"


def test_the_heap_gives_each_thread_its_own_until_it_is_full() -> None:
    body = MALLOC + "call (found), malloc, (size); ld.param.b64 %p, [found];" + ADDRESS + "ret;"
    arguments = [np.ones(10, np.uint64), 1 << 20]
    report = execute(body, ".param .u64 A, .param .u64 N", arguments, block=10, clean=False)
    found = report.arrays[0].tolist()
    assert found[8:] == [0, 0], "8 MB are there"
    assert all(b - a > 1 << 20 for a, b in pairwise(found[:8]))
    assert not [address for address in found if address % 16]
    [leak] = report.findings
    assert (leak.kind, leak.severity) == ("leak", "note")
    assert leak.message.startswith("8388608 bytes in 8 allocations, the first of CTA 0, warp 0")


def test_what_is_freed_is_there_again() -> None:
    """A slab whose pieces are free is dropped: 20 MB pass through a heap of 8."""
    body = f"""
    {MALLOC}
    LOOP: call (found), __cuda_syscall_aligned_malloc, (size, align); ld.param.b64 %p, [found];
    st.u64 [%p+8], %n; ld.u64 %q, [%p+8]; st.param.b64 [old], %p; call free, (old);
    add.u32 %t, %t, 2; setp.lt.u32 %c, %t, 10; @%c bra LOOP; and.b64 %p, %p, 255;
    st.param.b64 [old], 0; call free, (old); mov.u32 %t, %tid.x; {ADDRESS} ret;
    """
    arguments = [np.ones(2, np.uint64), 2 << 20]
    report = execute(body, ".param .u64 A, .param .u64 N", arguments, block=2)
    assert report.arrays[0].tolist() == [0, 0]


STACK = (
    HEADER.format(version="8.6", target="sm_90a")
    + """
.func (.param .b32 r) sum(.param .b32 n)
{
    .reg .b32 %n, %i, %s; .reg .b64 %p, %q; .reg .pred %c; .param .b32 less; .param .b32 rest;
    ld.param.b32 %n, [n]; st.param.b32 [r], 0; setp.eq.u32 %c, %n, 0; @%c ret;
    mul.wide.u32 %q, %n, 4; alloca.u64 %p, %q; cvta.local.u64 %q, %p; mov.u32 %i, 0;
    FILL: st.u32 [%q], %n; add.u64 %q, %q, 4; add.u32 %i, %i, 1; setp.ne.u32 %c, %i, %n;
    @%c bra FILL;
    sub.u32 %s, %n, 1; st.param.b32 [less], %s; call (rest), sum, (less);
    ld.param.b32 %s, [rest]; ld.local.u32 %i, [%p]; add.u32 %s, %s, %i; st.param.b32 [r], %s; ret;
}
.visible .entry k(.param .u64 A)
{
    .reg .b64 %o, %q, %before, %after; .reg .b32 %t, %s; .param .b32 n; .param .b32 r;
    ld.param.u64 %o, [A]; mov.u32 %t, %tid.x; mul.wide.u32 %q, %t, 8; add.u64 %o, %o, %q;
    stacksave.u64 %before; st.param.b32 [n], %t; call (r), sum, (n); ld.param.b32 %s, [r];
    stacksave.u64 %after; sub.u64 %q, %after, %before; cvt.u32.u64 %t, %q;
    st.global.v2.u32 [%o], {%s, %t}; ret;
}
"""
)


def test_a_function_that_calls_itself_gives_its_stack_back() -> None:
    report = run(load(STACK, "k.ptx"), "k", [np.zeros((20, 2), np.uint32)], 1, 20)
    assert not report.findings
    assert report.arrays[0].tolist() == [[t * (t + 1) // 2, 0] for t in range(20)]


def test_stacks_are_aligned() -> None:
    body = """
    .reg .b64 %o, %p; .reg .b32 %t, %n, %a; ld.param.u64 %o, [A]; mov.u32 %t, %tid.x;
    mul.wide.u32 %p, %t, 4; add.u64 %o, %o, %p; mad.lo.u32 %n, %t, 5, 3;
    alloca.u32 %a, %n; alloca.u32 %a, %n, 64; and.b32 %a, %a, 63; st.global.u32 [%o], %a; ret;
    """
    report = execute(body, pointers("A"), [np.ones(32, np.uint32)])
    assert not report.arrays[0].any()


def test_the_alignment_of_a_stack_is_a_power_of_two() -> None:
    with pytest.raises(PtxError, match=r"power of two up to 8388608, not 24"):
        execute(".reg .b64 %p; alloca.u64 %p, 8, 24; ret;", "", [])
