"""A kernel with a race, and an access out of bounds, at known lines of a source."""

RACY = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry swap(.param .u64 x, .param .u32 n)
{
    .reg .b32 %r<7>;
    .reg .b64 %rd<4>;
    .reg .pred %p<2>;
    .shared .align 4 .b8 tile[512];
    .loc 1 7 3
    ld.param.u64 %rd0, [x];
    ld.param.u32 %r6, [n];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, tile;
    shl.b32 %r2, %r0, 2;
    add.u32 %r3, %r1, %r2;
    .loc 1 8 3
    st.shared.u32 [%r3], %r0;
BARRIER
    .loc 1 9 5
    xor.b32 %r2, %r2, 252;
    add.u32 %r4, %r1, %r2;
    ld.shared.u32 %r5, [%r4];
    setp.ge.u32 %p0, %r0, %r6;
    @%p0 ret;
    mul.wide.u32 %rd1, %r0, 4;
    add.s64 %rd2, %rd0, %rd1;
    .loc 1 10 1
    st.global.u32 [%rd2], %r5;
    ret;
}
.file 1 "swap.py"
"""
RIGHT = RACY.replace("BARRIER", "    bar.sync 0;")
"""The same with the barrier between write and read."""
WRONG = RACY.replace("BARRIER\n", "")
