"""Calls of functions of the module, and of those that a driver has."""

from __future__ import annotations

import numpy as np
import pytest
from interpreters.ptx.harness import HEADER, execute

from tileas_xdsl.interpreters.ptx import PtxError, load, run

# As nvcc writes it: two calls, each in a scope of its own with the same names.
PRINTING = (
    HEADER.format(version="8.6", target="sm_90a")
    + r"""
.extern .func (.param .b32 func_retval0) vprintf
(
    .param .b64 vprintf_param_0,
    .param .b64 vprintf_param_1
)
;
.global .align 1 .b8 $str[15] = {118, 97, 108, 61, 37, 100, 32, 37, 46, 50, 102, 37, 37, 10};
.global .align 1 .b8 $end[6] = {37, 108, 108, 120, 10};
.visible .entry k(.param .u64 out)
{
    .local .align 8 .b8 __local_depot0[16];
    .reg .b64 %SP, %SPL, %rd<9>;
    .reg .b32 %r<4>;
    .reg .pred %p;
    mov.u64 %SPL, __local_depot0;
    cvta.local.u64 %SP, %SPL;
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p, %r1, 1;
    @%p ret;
    st.local.u32 [%SPL+0], %r1;
    mov.b64 %rd2, 0dC002000000000000;
    st.local.u64 [%SPL+8], %rd2;
    mov.u64 %rd3, $str;
    cvta.global.u64 %rd4, %rd3;
    { // callseq 0, 0
    .reg .b32 temp_param_reg;
    .param .b64 param0;
    st.param.b64 [param0+0], %rd4;
    .param .b64 param1;
    st.param.b64 [param1+0], %SP;
    .param .b32 retval0;
    call.uni (retval0), vprintf, (param0, param1);
    ld.param.b32 %r2, [retval0+0];
    } // callseq 0
    st.local.u64 [%SPL+0], -1;
    mov.u64 %rd5, $end;
    cvta.global.u64 %rd6, %rd5;
    {
    .param .b64 param0;
    st.param.b64 [param0+0], %rd6;
    .param .b64 param1;
    st.param.b64 [param1+0], %SP;
    .param .b32 retval0;
    call.uni (retval0), vprintf, (param0, param1);
    ld.param.b32 %r3, [retval0+0];
    }
    ld.param.u64 %rd7, [out];
    st.global.v2.u32 [%rd7], {%r2, %r3};
    ret;
}
"""
)


def test_text_is_that_of_each_thread() -> None:
    report = run(load(PRINTING, "k.ptx"), "k", [np.zeros(2, np.uint32)], 2, 32)
    assert {finding.kind for finding in report.findings} == {"same-value"}
    block = "val=0 -2.25%\nval=1 -2.25%\n" + 2 * "ffffffffffffffff\n"
    assert report.printed == 2 * block
    assert report.arrays[0] is not None
    assert report.arrays[0].tolist() == [2, 1]


def test_several_processes_print_in_one() -> None:
    module = load(PRINTING, "k.ptx")
    one, two = (run(module, "k", [np.zeros(2, np.uint32)], 4, 32, jobs=n) for n in (1, 2))
    assert one.printed == two.printed


FAILING = """
.reg .b64 %a, %b; .reg .b32 %r; .reg .pred %p;
mov.u32 %r, %tid.x; setp.ne.u32 %p, %r, 40; @%p ret;
mov.u64 %a, text; cvta.global.u64 %b, %a;
.loc 1 12 7
.param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
st.param.b64 [p0], %b; st.param.b64 [p1], FILE; st.param.b32 [p2], LINE;
st.param.b64 [p3], %b; st.param.b64 [p4], 1;
call.uni __assertfail, (p0, p1, p2, p3, p4);
ret;
"""
TEXTS = """
.extern .func __assertfail
(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .b8 text[3] = {110, 111, 0};
.global .b8 file[4] = {97, 46, 99, 0};
"""


def failing(file: str, line: int) -> str:
    header = HEADER.format(version="8.6", target="sm_90a")
    body = FAILING.replace("LINE", str(line))
    body = body.replace("[p1], FILE", "[p1], %a")
    body = body.replace("st.param.b64 [p1]", f"mov.u64 %a, {file}; st.param.b64 [p1]")
    return f'{header}{TEXTS}.visible .entry k()\n{{{body}}}\n.file 1 "a.c"\n'


@pytest.mark.parametrize(
    ("line", "place"),
    [(12, "a.c:12:7"), (13, "a.c:13:1")],
    ids=["the column is that of .loc", "another line has none"],
)
def test_an_assertion_is_located_in_the_source(line: int, place: str) -> None:
    report = run(load(failing("file", line), "k.ptx"), "k", [], 1, 64)
    [finding] = report.findings
    assert str(finding).startswith(f"{place}: error: assertion failed: no [assertion]")
    assert "in kernel no, by CTA 0, warp 1, lane 8" in str(finding)
    assert not report.finished


def test_a_text_without_an_end_is_a_finding() -> None:
    text = failing("file", 12).replace(".b8 text[3] = {110, 111, 0}", ".b8 text[2] = {110, 111}")
    [finding] = run(load(text, "k.ptx"), "k", [], 1, 64).findings
    assert finding.kind in ("illegal-address", "invalid")


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("call.uni (r), vprintf, (p);", "'vprintf' has 2 parameters, not 1"),
        ("call.uni cudaMalloc, (p);", "function 'cudaMalloc' is called; calls are supported of"),
        ("call.uni (r), vprintf, (p, nothing);", "variables in .param space of the body"),
    ],
)
def test_calls_that_cannot_be(call: str, why: str) -> None:
    with pytest.raises(PtxError, match=why):
        execute(f".param .b64 p; .param .b32 r; {call} ret;", "", [])


def test_formats_that_nobody_prints_are_findings() -> None:
    text = PRINTING.replace("{37, 108, 108, 120, 10}", "{37, 107, 108, 120, 0}")
    report = run(load(text, "k.ptx"), "k", [np.zeros(2, np.uint32)], 1, 32)
    assert "the format of vprintf prints by '%klx'" in report.findings[0].message


def test_strings_are_printed() -> None:
    """The second text prints the first three characters of the first one."""
    text = PRINTING.replace("{37, 108, 108, 120, 10}", "{37, 46, 51, 115, 10}")
    text = text.replace("st.local.u64 [%SPL+0], -1", "st.local.u64 [%SPL+0], %rd4")
    report = run(load(text, "k.ptx"), "k", [np.zeros(2, np.uint32)], 1, 32)
    assert report.printed.splitlines()[:3:2] == ["val=0 -2.25%", "val"]


FUNCTIONS = (
    HEADER.format(version="8.6", target="sm_90a")
    + """
.func (.param .b32 r) collatz(.param .b32 x, .param .b64 steps);
.func (.param .b32 r) half(.param .b32 x)
{
    .reg .b32 %a;
    .local .align 4 .b8 room[4];
    ld.param.b32 %a, [x];
    shr.u32 %a, %a, 1;
    st.local.u32 [room], %a;
    ld.local.u32 %a, [room];
    st.param.b32 [r], %a;
    ret;
}
.func (.param .b32 r) collatz(.param .b32 x, .param .b64 steps)
{
    .reg .b32 %a<3>;
    .reg .b64 %rd;
    .reg .pred %p<2>;
    ld.param.b32 %a0, [x];
    ld.param.b64 %rd, [steps];
    setp.ne.u32 %p1, %rd, 0;
    and.b32 %a1, %a0, 1;
    setp.eq.u32 %p0, %a1, 1;
    @%p0 bra odd;
    {
        .param .b32 p0;
        .param .b32 q0;
        st.param.b32 [p0], %a0;
        call.uni (q0), half, (p0);
        ld.param.b32 %a0, [q0];
    }
    st.param.b32 [r], %a0;
    ret;
odd:
    mad.lo.u32 %a0, %a0, 3, 1;
    st.param.b32 [r], %a0;
}
.func broken(.param .b32 x) { frobnicate; }
.visible .entry k(.param .u64 out, .param .u64 other)
{
    .reg .b32 %a<4>;
    .reg .b64 %rd<3>;
    .reg .pred %p;
    ld.param.u64 %rd0, [out];
    mov.u32 %a0, %tid.x;
    mov.u32 %a1, 0;
again:
    {
        .param .b32 p0;
        .param .b64 p1;
        .param .b32 q0;
        st.param.b32 [p0], %a0;
        st.param.b64 [p1], %rd0;
        setp.gt.u32 %p, %a0, 1;
        st.param.b32 [q0], 1;
        @%p call (q0), collatz, (p0, p1);
        ld.param.b32 %a0, [q0];
    }
    add.u32 %a1, %a1, 1;
    setp.lt.u32 %p, %a1, 9;
    @%p bra again;
    mov.u32 %a2, %tid.x;
    mul.wide.u32 %rd1, %a2, 4;
    add.s64 %rd2, %rd0, %rd1;
    st.global.u32 [%rd2], %a0;
    ret;
}
""".replace("setp.ne.u32 %p1, %rd, 0", "setp.ne.u64 %p1, %rd, 0")
)


def test_functions_of_the_module_run_where_they_are_called() -> None:
    """Nested, divergent and predicated calls, each function with registers of its own."""
    report = run(load(FUNCTIONS), "k", [np.zeros(96, np.uint32), 0], 1, 96, raise_on_findings=True)

    def wanted(value: int) -> int:
        for _ in range(9):
            value = (3 * value + 1 if value & 1 else value // 2) if value > 1 else 1
        return value

    assert report.arrays[0].tolist() == [wanted(i) for i in range(96)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("call (q0), half, (p0, p0);", "call: 'half' has 1 results and 1 parameters"),
        ("call broken, (p0);", "expected ';'|frobnicate"),
        ("call (q0), again, (p0);", "'again' calls itself and has local variables"),
    ],
)
def test_calls_that_cannot_be_followed_are_refused(call: str, message: str) -> None:
    recursive = """
.func (.param .b32 r) again(.param .b32 x)
{ .local .b32 depot; .param .b32 p0; .param .b32 q0; call (q0), again, (p0); ret; }
.visible .entry k("""
    text = FUNCTIONS.replace(".visible .entry k(", recursive)
    text = text.replace("@%p call (q0), collatz, (p0, p1);", call)
    with pytest.raises(PtxError, match=message):
        run(load(text), "k", [np.zeros(96, np.uint32), 0], 1, 96)


# As nvcc writes tables of functions: an initial value is an address, the prototype has a name.
POINTERS = (
    HEADER.format(version="8.6", target="sm_90a")
    + """
.func (.param .b32 r) twice(.param .b32 x);
.func (.param .b32 r) plus(.param .b32 x)
{ .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, 100; st.param.b32 [r], %a; ret; }
.global .align 8 .u64 table[3] = {twice, plus, 0};
.global .align 8 .u64 where = generic(table);
.func (.param .b32 r) twice(.param .b32 x)
{ .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, %a; st.param.b32 [r], %a; ret; }
.visible .entry k(.param .u64 out, .param .u32 modulus)
{
    .reg .b32 %t, %i, %m, %r; .reg .b64 %o, %f, %at;
    mov.u32 %t, %tid.x; ld.param.u32 %m, [modulus]; rem.u32 %i, %t, %m;
    ld.global.u64 %at, [where]; mul.wide.u32 %o, %i, 8; add.u64 %at, %at, %o; ld.u64 %f, [%at];
    {
    .param .b32 p0; st.param.b32 [p0], %t;
    .param .b32 q0;
    prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
    call (q0), %f, (p0), prototype_0;
    ld.param.b32 %r, [q0];
    }
    ld.param.u64 %at, [out]; mul.wide.u32 %o, %t, 4; add.u64 %at, %at, %o;
    st.global.u32 [%at], %r;
    ret;
}
"""
)


def test_calls_through_pointers_go_where_each_lane_points() -> None:
    report = run(load(POINTERS), "k", [np.zeros(64, np.uint32), 2], 1, 64, raise_on_findings=True)
    assert report.arrays[0].tolist() == [t + 100 if t % 2 else 2 * t for t in range(64)]


def test_a_pointer_to_no_function_is_a_finding() -> None:
    (finding,) = run(load(POINTERS), "k", [np.zeros(64, np.uint32), 3], 1, 64).findings
    assert "%f is 0x0, which is no function with these parameters" in finding.message
    assert finding.notes[-1] == "functions whose addresses are taken: twice, plus"


RECURSIVE = (
    HEADER.format(version="8.6", target="sm_90a")
    + """
.func (.param .b32 r) odd(.param .b32 n);
.func (.param .b32 r) even(.param .b32 n)
{
    .reg .b32 %a, %b; .reg .pred %p; ld.param.b32 %a, [n]; mov.u32 %b, 1;
    setp.ne.u32 %p, %a, 0; add.u32 %a, %a, -1;
    .param .b32 p0; .param .b32 q0; st.param.b32 [p0], %a; st.param.b32 [q0], %b;
    @%p call (q0), odd, (p0); ld.param.b32 %b, [q0]; st.param.b32 [r], %b; ret;
}
.func (.param .b32 r) odd(.param .b32 n)
{
    .reg .b32 %a, %b; .reg .pred %p; ld.param.b32 %a, [n]; mov.u32 %b, 0;
    setp.ne.u32 %p, %a, 0; add.u32 %a, %a, -1;
    .param .b32 p0; .param .b32 q0; st.param.b32 [p0], %a; st.param.b32 [q0], %b;
    @%p call (q0), even, (p0); ld.param.b32 %b, [q0]; st.param.b32 [r], %b; ret;
}
.func (.param .b32 r) fib(.param .b32 n)
{
    .reg .b32 %a, %b, %c; .reg .b64 %f; .reg .pred %p;
    ld.param.b32 %a, [n]; setp.lt.s32 %p, %a, 2; @%p bra DONE; add.s32 %b, %a, -1;
    { .param .b32 p0; st.param.b32 [p0], %b; .param .b32 q0;
      call.uni (q0), fib, (p0); ld.param.b32 %c, [q0]; }
    add.s32 %b, %a, -2; mov.u64 %f, fib;
    { .param .b32 p0; st.param.b32 [p0], %b; .param .b32 q0;
      prototype : .callprototype (.param .b32 _) _ (.param .b32 _);
      call (q0), %f, (p0), prototype; ld.param.b32 %b, [q0]; }
    add.s32 %a, %b, %c;
DONE: st.param.b32 [r], %a; ret;
}
.func (.param .b32 r) ackermann(.param .b32 m, .param .b32 n)
{
    .reg .b32 %m, %n; .reg .pred %p; .param .b32 p0; .param .b32 p1; .param .b32 q0;
    ld.param.b32 %m, [m]; ld.param.b32 %n, [n]; setp.ne.u32 %p, %m, 0; @%p bra MORE;
    add.u32 %n, %n, 1; st.param.b32 [r], %n; ret;
MORE: setp.eq.u32 %p, %n, 0; @!%p bra BOTH; st.param.b32 [p1], 1; bra OUTER;
BOTH: add.u32 %n, %n, -1; st.param.b32 [p0], %m; st.param.b32 [p1], %n;
    call (q0), ackermann, (p0, p1); ld.param.b32 %n, [q0]; st.param.b32 [p1], %n;
OUTER: add.u32 %m, %m, -1; st.param.b32 [p0], %m;
    call (q0), ackermann, (p0, p1); ld.param.b32 %n, [q0]; st.param.b32 [r], %n; ret;
}
.visible .entry k(.param .u64 O)
{
    .reg .b32 %t, %n, %m; .reg .b64 %o, %w; ld.param.u64 %o, [O]; mov.u32 %t, %tid.x;
    rem.u32 %n, %t, 7; and.b32 %m, %t, 1; .param .b32 p0; .param .b32 p1; .param .b32 q0;
    st.param.b32 [p0], %n; st.param.b32 [p1], %m; CALL ld.param.b32 %n, [q0];
    mul.wide.u32 %w, %t, 4; add.u64 %o, %o, %w; st.global.u32 [%o], %n; ret;
}
"""
)


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    return ackermann(m - 1, ackermann(m, n - 1) if n else 1)


@pytest.mark.parametrize("order", ["eager", "random"])
@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("call (q0), fib, (p0);", lambda t: fibonacci(t % 7)),
        ("call (q0), even, (p0);", lambda t: (t % 7 + 1) % 2),
        ("call (q0), ackermann, (p1, p0);", lambda t: ackermann(t & 1, t % 7)),
    ],
)
def test_functions_call_themselves(order: str, call: str, wanted) -> None:
    text = RECURSIVE.replace("CALL", call)
    report = run(load(text), "k", [np.zeros(64, np.uint32)], 1, 64, order=order, seed=1,
                 raise_on_findings=True)  # fmt: skip
    assert report.arrays[0].tolist() == [wanted(t) for t in range(64)]


def test_calls_that_do_not_end_are_a_finding() -> None:
    text = RECURSIVE.replace("CALL", "call (q0), fib, (p0);").replace("@%p bra DONE;", "")
    (finding,) = run(load(text), "k", [np.zeros(64, np.uint32)], 1, 64).findings
    assert finding.kind == "illegal-address"
    assert "'fib' calls itself 1024 deep: the stack of a thread is full" in finding.message
