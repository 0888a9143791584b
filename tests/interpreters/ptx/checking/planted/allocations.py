"""Faults of memory that threads allocate: `malloc` and `free`, `alloca` and `stackrestore`."""

from __future__ import annotations

from interpreters.ptx.checking.planted.kernels import Planted

MALLOC = """
        {{ .param .b64 size; .param .b64 found; st.param.b64 [size], {size};
        call.uni (found), malloc, (size); ld.param.b64 {into}, [found]; }}
"""
FREE = "{{ .param .b64 old; st.param.b64 [old], {what}; call.uni free, (old); }}"

KERNELS = (
    Planted(
        "memory of a thread's own",
        MALLOC.format(size="20", into="%rd0")
        + """
        <<st.u32 [%rd0], %t; ?? uninitialised>>
        st.u32 [%rd0+<<16 -> 20 ?? illegal-address>>], %l;
        ld.u32 %r0, [%rd0]; ld.u32 %r1, [%rd0+16]; add.u32 %r0, %r0, %r1;
        """
        + "<< -> "
        + FREE.format(what="%rd0")
        + " ?? invalid>>\n"
        + FREE.format(what="%rd0")
        + """
        <<  -> ld.u32 %r0, [%rd0]; ?? illegal-address>> st.global.u32 [%ga], %r0;
    """,
        block=40,
    ),
    Planted(
        "memory that one thread allocates for all",
        """
        mov.u64 %rd0, 0; setp.ne.u32 %p0, %t, 0; @%p0 bra J;
        """
        + MALLOC.format(size="256", into="%rd0")
        + """
        st.shared.u64 [%s], %rd0;
    J:  bar.sync 0; ld.shared.u64 %rd0, [%s];
        mul.wide.u32 %rd1, %t, 4; add.u64 %rd1, %rd0, %rd1; st.u32 [%rd1], %t;
        <<bar.sync 0; ?? race-RAW>>
        xor.b32 %r0, %t, 32; mul.wide.u32 %rd2, %r0, 4;
        add.u64 %rd2, %rd0, %rd2; ld.u32 %r0, [%rd2]; st.global.u32 [%ga], %r0;
        <<bar.sync 0; ?? race-WAR,illegal-address>>
        @%p0 bra DONE;
        """
        + FREE.format(what="%rd0"),
        block=64,
    ),
    Planted(
        "a stack",
        """
        stacksave.u64 %rd0; and.b32 %r0, %t, 3; add.u32 %r0, %r0, 1; shl.b32 %r0, %r0, 2;
        cvt.u64.u32 %rd1, %r0; alloca.u64 %rd2, %rd1, 8;
        <<st.local.u32 [%rd2], %t; ?? uninitialised>>
        add.u64 %rd3, %rd2, %rd1; st.local.u32 [%rd3+<<-4 -> 0 ?? illegal-address>>], %l;
        <<  -> stackrestore.u64 %rd0; ?? illegal-address>>
        ld.local.u32 %r1, [%rd2]; st.global.u32 [%ga], %r1;
        <<  -> add.u64 %rd0, %rd0, 4096; ?? invalid>> stackrestore.u64 %rd0;
        alloca.u64 %rd2, <<16 -> 4194304 ?? illegal-address>>;
        st.local.u32 [%rd2], %t; ld.local.u32 %r1, [%rd2]; st.global.u32 [%gb], %r1;
    """,
    ),
)
