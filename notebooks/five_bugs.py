# /// script
# requires-python = ">=3.11"
# dependencies = ["marimo", "tileas-xdsl"]
# ///
"""Five famous bugs of GPU programs, found in their PTX without a GPU."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Five famous bugs")


@app.cell
def _():
    import marimo as mo
    import numpy as np

    from tileas_xdsl import check

    head = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
    .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .shared .align 128 .b8 tile[1024];
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 4, %r2;
    mov.u32 %r13, %ctaid.x; mov.u32 %r14, %ntid.x; mad.lo.u32 %r4, %r13, %r14, %r1;
    mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
"""

    def checked(body, grid=1, block=64):
        """The report of a kernel with two arrays of 256 words."""
        arrays = [np.arange(256, dtype=np.uint32), np.zeros(256, np.uint32)]
        text = f"{head}{body}\nDONE:\n    ret;\n}}\n"
        return check.ptx(text, grid, arrays, block, schedules=8, limit=200_000)

    def shown(body, report):
        """The body with each finding under its line."""
        first = head.count("\n") + 1
        under = {}
        for finding in report.failures:
            notes = [note for note in finding.notes if "hint: " in note or "waits" in note]
            text = [f"[{finding.kind}]", finding.message, *notes]
            under.setdefault(finding.line, []).extend(text)
        lines = []
        for number, line in enumerate(body.split("\n"), first):
            lines.append(line)
            lines += [f"    // ^ {text}" for text in under.get(number, ())]
        return mo.md("```\n" + "\n".join(lines).strip("\n") + "\n```")

    def without(body, instruction):
        """The body without the lines of an instruction."""
        kept = [line for line in body.split("\n") if not line.strip().startswith(instruction)]
        return "\n".join(kept)

    return checked, mo, shown, without


@app.cell
def _(mo):
    mo.md(r"""
    # Five famous bugs

    Each of these kernels gives the right result nearly always: on this GPU, with these clocks,
    until a compiler reorders, a warp is late or a bigger GPU runs two blocks at a time. The checker
    does not wait for bad luck. It runs the PTX on an emulator, knows by vector clocks what is
    ordered before what, and names the two instructions that are not.

    Findings stand under their lines; every kernel has a twin with the bug repaired, and none.
    """)
    return


@app.cell
def _(mo):
    mo.md(r"""
    ## 1. The barrier that somebody took out

    Threads write a tile to shared memory and read what another warp wrote. `__syncthreads()`
    stands between the two, until it is removed because "it is fast and still right".
    """)
    return


@app.cell
def _(checked, shown, without):
    barrier_right = """
    ld.global.u32 %r5, [%rd4];
    st.shared.u32 [%r3], %r5;
    bar.sync 0;
    xor.b32 %r6, %r1, 63; mad.lo.u32 %r6, %r6, 4, %r2;
    ld.shared.u32 %r7, [%r6];
    st.global.u32 [%rd5], %r7;"""
    barrier_wrong = without(barrier_right, "bar.sync")
    barrier_report = checked(barrier_wrong)
    barrier_twin = checked(barrier_right)
    shown(barrier_wrong, barrier_report)
    return barrier_report, barrier_twin


@app.cell
def _(mo):
    mo.md(r"""
    ## 2. Warp-synchronous programming

    "The threads of a warp run in lockstep, so a reduction within a warp needs no barrier": true
    until Volta, and in thousands of reductions. Since then each thread has a program counter of its
    own, and `__syncwarp()` is what orders the lanes. Hardware still runs converged lanes in order,
    so that the severity is `isa`; after a divergent branch it is `error`.
    """)
    return


@app.cell
def _(checked, shown, without):
    warp_right = """
    ld.global.u32 %r5, [%rd4];
    st.shared.u32 [%r3], %r5;
    bar.warp.sync -1;
    xor.b32 %r6, %r1, 16; mad.lo.u32 %r6, %r6, 4, %r2;
    ld.shared.u32 %r7, [%r6]; add.u32 %r5, %r5, %r7;
    bar.warp.sync -1;
    st.shared.u32 [%r3], %r5;
    bar.warp.sync -1;
    xor.b32 %r6, %r1, 8; mad.lo.u32 %r6, %r6, 4, %r2;
    ld.shared.u32 %r7, [%r6]; add.u32 %r5, %r5, %r7;
    st.global.u32 [%rd5], %r5;"""
    warp_wrong = without(warp_right, "bar.warp.sync")
    warp_report = checked(warp_wrong)
    warp_twin = checked(warp_right)
    shown(warp_wrong, warp_report)
    return warp_report, warp_twin


@app.cell
def _(mo):
    mo.md(r"""
    ## 3. Data first, flag second

    One block computes, sets a flag, and another that polls the flag reads the data. Without a
    `__threadfence()` on both sides, or a release and an acquire, the flag may be seen before the data.
    """)
    return


@app.cell
def _(checked, shown):
    flag_right = """
    setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;
    setp.ne.u32 %p0, %r13, 0; @%p0 bra POLL;
    st.global.u32 [%rd1], 42;
    st.release.gpu.global.u32 [%rd2], 1;
    bra DONE;
POLL:
    ld.acquire.gpu.global.u32 %r5, [%rd2];
    setp.eq.u32 %p2, %r5, 0; @%p2 bra POLL;
    ld.global.u32 %r6, [%rd1];
    st.global.u32 [%rd2+64], %r6;"""
    flag_wrong = flag_right.replace("st.release", "st.relaxed")
    flag_report = checked(flag_wrong, grid=2, block=32)
    flag_twin = checked(flag_right, grid=2, block=32)
    shown(flag_wrong, flag_report)
    return flag_report, flag_twin


@app.cell
def _(mo):
    mo.md(r"""
    ## 4. Two locks, two orders

    Block 0 takes lock A and then B, block 1 takes B and then A. It works whenever one of them is
    done before the other begins, which is what a test usually sees. The checker also runs several
    blocks at a time and lets others run after an atomic.
    """)
    return


@app.cell
def _(checked, shown):
    locks_right = """
    setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;
    setp.eq.u32 %p0, %r13, 9;
    selp.b64 %rd6, 64, 0, %p0; add.u64 %rd6, %rd6, %rd2;
    selp.b64 %rd7, 0, 64, %p0; add.u64 %rd7, %rd7, %rd2;
FIRST:
    atom.acquire.gpu.global.cas.b32 %r5, [%rd6], 0, 1;
    setp.ne.u32 %p2, %r5, 0; @%p2 bra FIRST;
SECOND:
    atom.acquire.gpu.global.cas.b32 %r5, [%rd7], 0, 1;
    setp.ne.u32 %p2, %r5, 0; @%p2 bra SECOND;
    ld.global.u32 %r6, [%rd1]; add.u32 %r6, %r6, 1; st.global.u32 [%rd1], %r6;
    st.release.gpu.global.u32 [%rd7], 0;
    st.release.gpu.global.u32 [%rd6], 0;"""
    locks_wrong = locks_right.replace("setp.eq.u32 %p0, %r13, 9", "setp.eq.u32 %p0, %r13, 1")
    locks_report = checked(locks_wrong, grid=2, block=32)
    locks_twin = checked(locks_right, grid=2, block=32)
    shown(locks_wrong, locks_report)
    return locks_report, locks_twin


@app.cell
def _(mo):
    mo.md(r"""
    ## 5. The proxy fence

    Ordinary stores to shared memory and the copies of TMA go through different proxies of the memory
    system. A barrier orders the threads, but not the proxies: before a copy reads what threads
    have written, `fence.proxy.async` is needed. Compilers forget it too: the products by pointers
    of Triton 3.6 do.
    """)
    return


@app.cell
def _(checked, shown, without):
    proxy_right = """
    st.shared.u32 [%r3], %r1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.u32 %p0, %r1, 0; @%p0 bra DONE;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;"""
    proxy_wrong = without(proxy_right, "fence.proxy")
    proxy_report = checked(proxy_wrong)
    proxy_twin = checked(proxy_right)
    shown(proxy_wrong, proxy_report)
    return proxy_report, proxy_twin


@app.cell
def _(
    barrier_report,
    barrier_twin,
    flag_report,
    flag_twin,
    locks_report,
    locks_twin,
    mo,
    proxy_report,
    proxy_twin,
    warp_report,
    warp_twin,
):
    reports = {
        "barrier": (barrier_report, barrier_twin),
        "lockstep": (warp_report, warp_twin),
        "flag": (flag_report, flag_twin),
        "locks": (locks_report, locks_twin),
        "proxy": (proxy_report, proxy_twin),
    }
    rows = "\n".join(
        f"| {name} | {', '.join(sorted({f'{f.severity} {f.kind}' for f in wrong.failures}))} "
        f"| {len(right.failures)} |"
        for name, (wrong, right) in reports.items()
    )
    mo.md(
        f"""
    | bug | found | findings of the twin |
    |---|---|---|
    {rows}

    The same for your own kernels: `tileas check kernel.ptx --grid 4 --block 128 --arg f32:1024:random`,
    `check.ptx(text, ...)` in Python, or `with check.triton():` around unmodified Triton
    (`docs/checker.md`).
    """.replace("\n    ", "\n")
    )
    return (reports,)


@app.cell
def test_each_bug_is_found_and_no_twin_is_blamed(reports):
    kinds = {name: {f.kind for f in wrong.failures} for name, (wrong, _) in reports.items()}
    assert kinds == {
        "barrier": {"race-RAW", "race-WAR"},
        "lockstep": {"race-RAW", "race-WAR"},
        "flag": {"race-RAW"},
        "locks": {"deadlock"},
        "proxy": {"missing-proxy-fence"},
    }
    assert not any(right.failures for _, right in reports.values())
    return


if __name__ == "__main__":
    app.run()
