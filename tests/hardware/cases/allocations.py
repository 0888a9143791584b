"""Memory that threads allocate: `malloc` and `free`, `alloca` and the stack of a function."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hardware.cases.case import HEADER, Case

DECLARED = """
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func (.param .b64 r) __cuda_syscall_aligned_malloc (.param .b64 n, .param .b64 a);
.extern .func free (.param .b64 p);
"""

ENTRY = """
.visible .entry k(.param .u64 A)
{
    .reg .b64 %o, %p, %q, %n; .reg .b32 %t, %s, %i; .reg .pred %c;
    ld.param.u64 %o, [A]; mov.u32 %t, %tid.x; mul.wide.u32 %q, %t, 4; add.u64 %o, %o, %q;
"""

HEAP = """
    { .param .b64 n; .param .b64 a; .param .b64 r;
    mad.lo.u32 %s, %t, 12, 4; cvt.u64.u32 %n, %s; st.param.b64 [n], %n; st.param.b64 [a], 128;
    call (r), FUNCTION, (ARGUMENTS); ld.param.b64 %p, [r]; }
    mul.lo.u32 %i, %t, 3; mul.wide.u32 %q, %i, 4; add.u64 %q, %q, %p;
    st.u32 [%p], %t; add.u32 %i, %i, 7; st.u32 [%q], %i;
    ld.u32 %s, [%p]; ld.u32 %i, [%q]; mad.lo.u32 %s, %s, 1000, %i;
    and.b64 %q, %p, LOW; cvt.u32.u64 %i, %q; mad.lo.u32 %s, %i, 1000000, %s;
    { .param .b64 p; st.param.b64 [p], %p; call free, (p); }
    st.global.u32 [%o], %s; ret;
}
"""

FUNCTION = """
.func (.param .b32 r) sum(.param .b32 n)
{
    .reg .b32 %n, %i, %s; .reg .b64 %p, %q; .reg .pred %c;
    ld.param.b32 %n, [n]; mul.wide.u32 %q, %n, 4; alloca.u64 %p, %q, 16; cvta.local.u64 %q, %p;
    mov.u32 %i, 0;
    FILL: mul.lo.u32 %s, %i, %i; st.u32 [%q], %s; add.u64 %q, %q, 4; add.u32 %i, %i, 1;
    setp.ne.u32 %c, %i, %n; @%c bra FILL;
    mov.u32 %s, 0;
    ADD: add.u64 %q, %q, -4; ld.u32 %i, [%q]; add.u32 %s, %s, %i; cvta.local.u64 %p, %p;
    setp.ne.u64 %c, %q, %p; cvta.to.local.u64 %p, %p; @%c bra ADD;
    st.param.b32 [r], %s; ret;
}
"""

STACK = """
    add.u32 %s, %t, 1; stacksave.u64 %n; mul.wide.u32 %q, %s, 4;
    alloca.u64 %p, %q; st.local.u32 [%p], %t;
    { .param .b32 n; .param .b32 r; st.param.b32 [n], %s; call (r), sum, (n);
    ld.param.b32 %s, [r]; }
    ld.local.u32 %i, [%p]; mad.lo.u32 %s, %i, 100000, %s; stackrestore.u64 %n;
    st.global.u32 [%o], %s; ret;
}
"""


def allocation_cases() -> Iterator[Case]:
    """Pieces of the heap that are apart and aligned, and stacks within functions."""
    head = HEADER.format(version="8.0", target="sm_90a")
    t = np.arange(64, dtype=np.uint32)
    heaps = (("malloc", "n", 15), ("__cuda_syscall_aligned_malloc", "n, a", 127))
    for name, arguments, low in heaps:
        body = HEAP.replace("FUNCTION", name).replace("ARGUMENTS", arguments)
        # Thread 0 has one word only, which the second store overwrites.
        wanted = np.where(t, t * 1000 + 3 * t + 7, 7007).astype(np.uint32)
        text = head + DECLARED + ENTRY + body.replace("LOW", str(low))
        yield Case("allocations", name, text, [np.zeros_like(t)], block=64, wanted={0: wanted})
    squares = np.cumsum(t * t, dtype=np.uint32)
    text = head + FUNCTION + ENTRY + STACK
    wanted = t * 100000 + squares
    yield Case("allocations", "alloca", text, [np.zeros_like(t)], block=64, wanted={0: wanted})
