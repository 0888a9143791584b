"""Faults injected into correct kernels: each is found, at its line, with an event trace."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest
from interpreters.ptx.gemms import SAMPLES

from tileas_xdsl.interpreters.ptx import KINDS, Finding, Severity

HOPPER = replace(SAMPLES["sm90_gemm_ws"], shape=(256, 512, 448))
"""Two tile blocks of each cluster, of more rounds than there are stages."""
BLACKWELL = replace(SAMPLES["sm100_gemm_2cta"], shape=(256, 768, 192))
"""Three tile blocks: one more than accumulators."""

Edit = Callable[[str], str]


def change(*pairs: tuple[str, str]) -> Edit:
    """Replace texts that must be there."""

    def edit(text: str) -> str:
        for old, new in pairs:
            assert old in text, old
            text = text.replace(old, new)
        return text

    return edit


def drop(line: str, which: int | None = None) -> Edit:
    """Remove one occurrence of a line (counted from 0), or all."""

    def edit(text: str) -> str:
        lines = text.splitlines(keepends=True)
        places = [i for i, found in enumerate(lines) if line in found]
        assert places, line
        gone = places if which is None else [places[which]]
        return "".join(found for i, found in enumerate(lines) if i not in gone)

    return edit


@dataclass(frozen=True)
class Fault:
    """An edit, the kinds of findings, one of which must occur, and text of the diagnosis."""

    name: str
    edit: Edit
    kinds: Sequence[str]
    says: str = ""
    blackwell: bool = False


FAULTS = (
    Fault("no proxy fence", drop("fence.proxy.async.shared::cta;"), ("missing-proxy-fence",),
          "stmatrix.sync.aligned"),
    Fault("too few bytes announced", change(("[%r31], 49152;", "[%r31], 32768;")),
          ("race-RAW", "deadlock"), "bytes more arrived than expect_tx announced"),
    Fault("too many bytes announced", change(("[%r31], 49152;", "[%r31], 65536;")),
          ("deadlock",), "expect_tx announced 16384 bytes that no copy in flight delivers"),
    Fault("consumer begins with the wrong parity",
          change(("u32 232;\n    mov.u32 %r17, 0;", "u32 232;\n    mov.u32 %r17, 1;")),
          ("uninitialised", "race-RAW"), "the copy that should fill it was not waited for"),
    Fault("producer begins with the wrong parity",
          change(("mov.u32 %r17, 1;  ", "mov.u32 %r17, 0;  ")), ("deadlock",),
          "nobody ever arrives on it"),
    Fault("stage released before it was read",
          change(("    and.pred %p14, %p8, %p13;\n    @%p14 mb", "    @%p8 mb"),
                 ("mad.lo.u32 %r69, %r54, 8, %r40;\n    @%p8",
                  "mad.lo.u32 %r69, %r16, 8, %r40;\n    @%p8")),
          ("race-WAR",), "wgmma.mma_async"),
    Fault("stage never released", drop("@%p14 mbarrier.arrive"), ("deadlock",),
          "arrivals are missing"),
    Fault("no closing cluster barrier",
          change(("    barrier.cluster.arrive.release;\n    barrier.cluster.wait.acquire;\n", "")),
          ("exit-race", "access-after-exit"), ""),
    Fault("descriptor stride too small", change(("0x4000004000010000", "0x4000002000010000")),
          ("descriptor",), "stride offset 512"),
    Fault("descriptor stride too large", change(("0x4000004000010000", "0x4000008000010000")),
          ("descriptor",), "stride offset 2048"),
    Fault("wrong swizzle of the descriptor", change(("0x4000004000010000", "0x8000004000010000")),
          ("descriptor",), "swizzle 64B"),
    Fault("no wgmma.fence", drop("wgmma.fence.sync.aligned;"), ("wgmma-fence",),
          "wgmma.fence.sync.aligned before the first"),
    Fault("accumulator read before the wait", drop("wgmma.wait_group.sync.aligned 0;"),
          ("wgmma-wait",), "wgmma.wait_group.sync.aligned 0"),
    Fault("staging buffer reused too early", drop("cp.async.bulk.wait_group.read 1;"),
          ("race-WAR",), "cp.async.bulk.tensor.2d.global"),
    Fault("stores not waited for at the end", drop("@%p9 cp.async.bulk.wait_group 0;"),
          ("exit-race",), "wait_group.read 0"),
    Fault("no barrier before the store", drop("bar.sync %r53, 128;", 1), ("race-RAW",),
          "nothing orders the write before the read"),
    Fault("no barrier before the buffer is filled", drop("bar.sync %r53, 128;", 2),
          ("race-WAR",), "signal that it is done"),
    Fault("barrier count too large", change((", 4;            // 2 consumer", ", 5; // ")),
          ("deadlock",), "1 of 5 arrivals are missing"),
    Fault("barrier count too small", change((", 4;            // 2 consumer", ", 3; // ")),
          ("race-WAR",), "wgmma.mma_async"),
    Fault("no fence after mbarrier.init", drop("fence.mbarrier_init.release"), ("barrier-init",),
          "fence.mbarrier_init.release.cluster after mbarrier.init"),
    Fault("no barrier after mbarrier.init",
          change(("    barrier.cluster.wait.acquire.aligned;\n", ""),
                 ("    barrier.cluster.arrive.relaxed.aligned; ", "    // ")),
          ("barrier-init",), "a barrier of the block or cluster comes between"),
    Fault("too many registers", change(("u32 232", "u32 240")), ("deadlock",),
          "registers; "),
    Fault("copies by all lanes", drop("@!%p3 bra PROD_JOIN;"), ("issue",), "elect.sync"),
    Fault("named barrier of the wrong size",
          change(("bar.sync %r53, 128;\n    cvt.rn.bf16x2.f32 %r73",
                  "bar.sync %r53, 160;\n    cvt.rn.bf16x2.f32 %r73")), ("deadlock",),
          "128 of 160 threads came"),
    Fault("one named barrier for two groups", change(("add.u32 %r53, %r36, 1;",
                                                      "mov.u32 %r53, 1;")),
          ("named-barrier",), "need barriers of their own"),
    Fault("parity never flips", drop("xor.b32 %r17, %r17, %r70;"),
          ("race-RAW", "phase-lap", "deadlock"), ""),
    Fault("copy to the wrong place",
          change(("add.u32 %r34, %r33, 16384;", "add.u32 %r34, %r33, 8192;")),
          ("race-WAW", "uninitialised"), ""),
    Fault("multicast to one CTA only", change(("mov.b16 %h0, 3;", "mov.b16 %h0, 1;")),
          ("deadlock",), "bytes that no copy in flight delivers"),
    Fault("no fence after the wait",
          change(("bra W_TFULL_3;\n    tcgen05.fence::after_thread_sync;", "bra W_TFULL_3;")),
          ("missing-tcgen05-fence",), "has to fence after it synchronises", blackwell=True),
    Fault("no fence before the arrival", drop("tcgen05.fence::before_thread_sync;", 1),
          ("missing-tcgen05-fence",), "has to fence before it synchronises", blackwell=True),
    Fault("no tcgen05.wait::ld", drop("tcgen05.wait::ld.sync.aligned;"), ("tcgen05-wait",),
          "comes before their first use", blackwell=True),
    Fault("no tcgen05.dealloc", drop("tcgen05.dealloc"), ("tensor-memory",),
          "tcgen05.dealloc by the warp that allocated", blackwell=True),
    Fault("too few columns", change(("[%r8], 512;", "[%r8], 256;")), ("tensor-memory",),
          "tcgen05.alloc gives columns", blackwell=True),
    Fault("lanes of another warp", change(("shl.b32 %r69, %r55, 21;", "shl.b32 %r69, %r55, 20;")),
          ("tensor-memory",), "executed by", blackwell=True),
)  # fmt: skip


def found_in(fault: Fault, seed: int) -> list[Finding]:
    sample = BLACKWELL if fault.blackwell else HOPPER
    report, _ = sample.run(fault.edit(sample.text), order="random", seed=seed)
    return report.findings


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_a_planted_fault_is_found_and_explained(fault: Fault) -> None:
    findings = found_in(fault, 1)
    kinds = {finding.kind for finding in findings}
    assert kinds & set(fault.kinds), f"found only {kinds or 'nothing'}"
    assert kinds <= set(KINDS)
    mine = [f for f in findings if f.kind in fault.kinds]
    assert any(fault.says in line for f in mine for line in f.notes)
    for finding in findings:
        assert finding.line > 0
        assert str(finding).startswith(f"{finding.path}:{finding.line}:{finding.column}: error: ")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_faults_are_found_in_any_order(fault: Fault, seed: int) -> None:
    assert {finding.kind for finding in found_in(fault, seed)} & set(fault.kinds)


def test_a_finding_prints_its_severity() -> None:
    """The severity of a kind is `error` unless its row says otherwise; only notes do not fail."""
    finding = Finding("deadlock", "all wait", 3, ("hint: wait",), 5, "a.ptx", Severity.ISA)
    assert str(finding) == "a.ptx:3:5: isa: all wait [deadlock]\n  hint: wait"
    assert KINDS["deadlock"].severity is Severity.ERROR
    assert [severity.fails for severity in Severity] == [True, True, False]
