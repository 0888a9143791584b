"""Compiled GEMMs whose threads and copies do not wait for one another as they should.

Each has an edit that breaks one rule of the PTX ISA: 9.7.13 (barriers, fences, mbarrier).
"""

from __future__ import annotations

from collections.abc import Sequence

from kernels.ptx_mutations import (
    CLUSTER,
    EMPTY,
    EVERYWHERE,
    FULL,
    SOME_LINES,
    STEPS,
    STORED,
    PtxFault,
    changing,
    dropping,
)

_WAIT_FULL = rf"^\$W\d+:\n.*try_wait.*\+{FULL}\].*\n.*bra.*\n"
_WAIT_EMPTY = rf"^\$W\d+:\n.*try_wait.*\+{EMPTY}\].*\n.*bra.*\n"

_BY_ORDER = ("race-RAW", "race-WAR", "race-WAW", "uninitialised", "deadlock")
"""Stages out of step: which of these comes first depends on the order."""

FENCES: Sequence[PtxFault] = (
    PtxFault(
        "no fence.proxy.async before a TMA store",
        STORED,
        dropping(r"fence\.proxy\.async"),
        ("missing-proxy-fence",),
        "with no fence.proxy.async in between",
    ),
    PtxFault(
        "fence.proxy.async before the writes instead of after them",
        STORED,
        changing(rf"(^ *st\.shared{SOME_LINES})(^ *fence\.proxy\.async.*\n)", r"\2\1"),
        ("missing-proxy-fence",),
        "with no fence.proxy.async in between",
    ),
    PtxFault(
        "no fence.mbarrier_init after the initialisation",
        CLUSTER,
        dropping(r"fence\.mbarrier_init"),
        ("barrier-init",),
        "whose initialisation no fence has made visible",
    ),
    PtxFault(
        "no bar.sync after the initialisation",
        STORED,
        dropping(r"bar\.sync 0;"),
        ("barrier-init",),
        "may still initialise it",
    ),
    PtxFault(
        "no cluster barrier after the initialisation",
        CLUSTER,
        changing(r"^.*cluster\.arrive\.relaxed.*\n.*cluster\.wait.*\n", ""),
        ("barrier-init",),
        "may still initialise it",
    ),
    PtxFault(
        "no closing cluster barrier",
        CLUSTER,
        changing(r"^.*cluster\.arrive\.aligned.*\n.*cluster\.wait.*\n(?=    ret)", ""),
        ("exit-race",),
        "may end before",
    ),
    PtxFault(
        "no bar.sync before one thread stores what all wrote",
        STORED,
        dropping(r"bar\.sync 2, 128"),
        ("race-RAW",),
        "nothing orders the write before the read",
    ),
    PtxFault(
        "no bar.sync between the wait for a TMA store and the next use of its buffer",
        STORED,
        changing(r"(bulk\.wait_group.*\n(?:.*\.loc.*\n)?).*bar\.sync.*\n", r"\1"),
        ("race-WAR",),
        "while a copy of",
    ),
    PtxFault(
        "two warpgroups use one named barrier",
        STORED,
        changing(r"bar\.sync 3,", "bar.sync 2,", times=EVERYWHERE),
        ("named-barrier",),
        "it could have been counted there",
    ),
    PtxFault(
        "a named barrier expects a warp that never comes",
        STORED,
        changing(r"bar\.sync 2, 128", "bar.sync 2, 160"),
        ("deadlock",),
        "barrier 2",
    ),
)
"""Fences, barriers of threads and of clusters."""

PIPELINES: Sequence[PtxFault] = (
    PtxFault(
        "the consumer does not wait for the stage",
        STORED,
        changing(_WAIT_FULL, ""),
        ("race-RAW", "uninitialised"),
        "wait",
    ),
    PtxFault(
        "the consumer waits for another stage",
        STORED,
        changing(rf"(try_wait.*\+){FULL}", rf"\g<1>{FULL + 8}"),
        ("race-RAW", "deadlock"),
        "1 of 1 arrivals are missing",
    ),
    PtxFault(
        "the producer does not wait for the free stage",
        STORED,
        changing(_WAIT_EMPTY, ""),
        _BY_ORDER,
        "",
    ),
    PtxFault(
        "try_wait once, and on without looking at its result",
        STORED,
        changing(rf"(try_wait.*\+{FULL}\].*\n).*bra.*\n", r"\1"),
        _BY_ORDER,
        "",
    ),
    PtxFault(
        "the consumer starts with the wrong parity",
        STORED,
        changing(r"(mov\.b32 %r\d+, )0(;\n    mov\.f32 %f0,)", r"\g<1>1\2"),
        ("race-RAW", "uninitialised"),
        "which nothing has written",
    ),
    PtxFault(
        "the consumer never flips its parity",
        STEPS,
        changing(rf"(try_wait.*\+{FULL}\]), %r\d+;", r"\1, 0;"),
        _BY_ORDER,
        "",
    ),
    PtxFault(
        "the producer starts with the wrong parity",
        STORED,
        changing(r"xor\.b32 (%r\d+, %r\d+), 1;", r"mov.b32 \1;"),
        ("deadlock",),
        "nobody ever arrives on it",
    ),
    PtxFault(
        "expect_tx announces too few bytes",
        STORED,
        changing(r"(expect_tx.*), 24576", r"\1, 16384"),
        _BY_ORDER,
        "",
    ),
    PtxFault(
        "expect_tx announces too many bytes",
        STORED,
        changing(r"(expect_tx.*), 24576", r"\1, 32768"),
        ("deadlock",),
        "expect_tx announced 8192 bytes that no copy in flight delivers",
    ),
    PtxFault(
        "a consumer never releases a stage",
        STEPS,
        dropping(r"mbarrier\.arrive\.shared::cta"),
        ("deadlock",),
        "4 of 8 arrivals are missing",
    ),
    PtxFault(
        "the producer announces bytes but does not arrive",
        STORED,
        changing(r"mbarrier\.arrive\.expect_tx(.*) _, ", r"mbarrier.expect_tx.relaxed.cta\1 "),
        ("deadlock",),
        "1 of 1 arrivals are missing",
    ),
    PtxFault(
        "a stage expects an arrival too many",
        STORED,
        changing(rf"(mbarrier\.init.*\+{EMPTY}\]), 8", r"\1, 9"),
        ("deadlock",),
        "arrivals are missing",
    ),
    PtxFault(
        "a stage expects the arrivals of one consumer only",
        STORED,
        changing(rf"(mbarrier\.init.*\+{EMPTY}\]), 8", r"\1, 4"),
        _BY_ORDER,
        "",
    ),
    PtxFault(
        "a barrier is initialised twice, and another not at all",
        STORED,
        changing(rf"(mbarrier\.init.*\+){FULL + 8}", rf"\g<1>{FULL}"),
        ("barrier-init",),
        "is initialised again without mbarrier.inval",
    ),
    PtxFault(
        "a stage is released to one block of the cluster only",
        CLUSTER,
        changing(r"(mapa.* %r\d+, %r\d+), %r\d+;", r"\1, 0;", times=EVERYWHERE),
        _BY_ORDER,
        "",
    ),
    PtxFault(
        "a stage of a cluster expects the arrivals of one block only",
        CLUSTER,
        changing(rf"(mbarrier\.init.*\+{EMPTY}\]), 16", r"\1, 8"),
        _BY_ORDER,
        "",
    ),
    PtxFault(
        "blocks of a cluster release stages of their own only, twice",
        CLUSTER,
        changing(r"(mapa.* %r\d+, %r\d+), %r\d+;", r"\1, %cluster_ctarank;", times=EVERYWHERE),
        _BY_ORDER,
        "",
    ),
    PtxFault(
        "the wrong stage is released",
        STORED,
        changing(rf"(mbarrier\.arrive\.shared.*\+){EMPTY}", rf"\g<1>{EMPTY + 8}"),
        ("barrier-init",),
        "it was never initialised",
    ),
    PtxFault(
        "a stage is released before its products are done",
        STORED,
        changing(rf"(^.*wgmma\.wait_group.*\n)({SOME_LINES}.*mbarrier\.arrive.*\n)", r"\2\1"),
        ("race-WAR",),
        "while a tensor-core instruction of",
    ),
    PtxFault(
        "a copy signals the barrier of free stages",
        STORED,
        changing(rf"(complete_tx::bytes .*\+){FULL}", rf"\g<1>{EMPTY}"),
        ("deadlock",),
        "bytes more arrived than expect_tx announced",
    ),
    PtxFault(
        "the producer loads a tile more than is consumed",
        STORED,
        changing(rf"(elect\.sync{SOME_LINES}.*setp\.)lt", r"\1le"),
        ("exit-race", "access-after-exit"),
        "",
    ),
    PtxFault(
        "the producer's warps run into the code of a consumer",
        STORED,
        changing(r"and\.pred (%p\d+), %p\d+, (%p\d+);\n    @!", r"mov.pred \1, \2;\n    @!"),
        ("deadlock",),
        "registers; 0 are free of those that the block began with",
    ),
    PtxFault(
        "a consumer expects a tile more than is loaded",
        STORED,
        changing(rf"(setmaxnreg\.inc{SOME_LINES}.*setp\.)lt", r"\1le"),
        ("deadlock",),
        "1 of 1 arrivals are missing",
    ),
)
"""Stages and their mbarriers."""
