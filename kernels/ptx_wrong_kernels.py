"""Compiled GEMMs that are wrong: each has a small edit that breaks one rule.

The rules are those of the PTX ISA: 9.7.13 (barriers, mbarrier), 9.7.9.25 (tensor copies),
9.7.15 (wgmma), 9.7.19 (setmaxnreg).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernels import Gemm, Sizes
from kernels.mutations import Edit
from kernels.ptx_mutations import (
    EVERYWHERE,
    Call,
    changing,
    dropping,
    nothing,
    with_less_shared_memory,
    with_swizzle,
)

NUMBERS = "result differs"
"""What finds a fault that breaks no rule: it computes something else."""

STORED = Gemm(bm=128, bn=64, bk=64, epilogue="tma")
PLAIN = Gemm(bm=128, bn=64, bk=64)
STEPS = Gemm(bm=128, bn=64, bk=64, epilogue="tma", form="scalar")
CLUSTER = Gemm(bm=128, bn=64, bk=64, epilogue="tma", cluster=2)
WIDE = Gemm(bm=128, bn=128, bk=64, epilogue="tma")
HALVES = Gemm(bm=128, bn=64, bk=64, epilogue="tma", output="f16")
SMALL_GEMMS = (STORED, PLAIN, STEPS, CLUSTER, WIDE, HALVES)
"""The right kernels that the faults are planted in."""

RAGGED: Sizes = {"m": 100, "n": 40, "k": 200}
"""One block whose tiles are not full."""


@dataclass(frozen=True)
class PtxFault:
    """A compiled GEMM with an edit that breaks a rule."""

    name: str
    kernel: Gemm
    edit: Edit
    kinds: Sequence[str]
    """Kinds of findings; each order of asynchronous operations that finds it reports one."""
    says: str
    """A part of a message or its story, in every order."""
    call: Call | None = None
    """Changes the call instead of the text."""
    ragged: bool = False
    """Whether it needs tiles that are not full."""

    @property
    def problem(self) -> Sizes:
        """One block (one cluster) and four steps, so that a stage is filled twice."""
        return RAGGED if self.ragged else small_problem(self.kernel)


def small_problem(kernel: Gemm) -> Sizes:
    """The problem of one cluster with full tiles, and one step more than there are stages."""
    return {
        "m": kernel.bm,
        "n": kernel.bn * kernel.cluster,
        "k": kernel.bk * (kernel.stages + 1),
    }


SWIZZLE_128B, SWIZZLE_64B = 1 << 62, 2 << 62
STRIDE = 64 << 32
"""Bits of matrix descriptors (PTX ISA 9.7.15.5.1): a stride of 1024 bytes in units of 16."""
ROWS = SWIZZLE_128B | STRIDE | 1 << 16
"""A, whose rows are K."""
PANELS = SWIZZLE_128B | STRIDE | 512 << 16
"""B of 128 columns: two panels of 64, 8192 bytes apart."""

_WAIT_FULL = r"^\$W2:\n.*try_wait.*\n.*bra.*\n"
_WAIT_EMPTY = r"^\$W1:\n.*try_wait.*\n.*bra.*\n"

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
        changing(r"(^ *st\.shared(?:.*\n)+?)(^ *fence\.proxy\.async.*\n)", r"\2\1"),
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
        "",
    ),
    PtxFault(
        "no cluster barrier after the initialisation",
        CLUSTER,
        changing(r"^.*cluster\.arrive\.relaxed.*\n.*cluster\.wait.*\n", ""),
        ("barrier-init",),
        "",
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
        changing(r"(bulk\.wait_group.*\n).*bar\.sync.*\n", r"\1"),
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
        changing(r"(\$W2:\n.*\+)73728", r"\g<1>73736"),
        ("race-RAW", "uninitialised"),
        "wait",
    ),
    PtxFault(
        "the producer does not wait for the free stage",
        STORED,
        changing(_WAIT_EMPTY, ""),
        ("race-WAR", "race-WAW"),
        "",
    ),
    PtxFault(
        "try_wait once, and on without looking at its result",
        STORED,
        changing(r"^.*bra \$W2;\n", ""),
        ("race-RAW", "uninitialised"),
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
        changing(r"(\$W2:\n.*), %r\d+;", r"\1, 0;"),
        ("race-RAW", "race-WAR", "phase-lap"),
        "",
    ),
    PtxFault(
        "the producer starts with the wrong parity",
        STORED,
        changing(r"xor\.b32 (%r\d+, %r\d+), 1;(?=\n.*\n\$W1)", r"mov.b32 \1;"),
        ("deadlock",),
        "",
    ),
    PtxFault(
        "expect_tx announces too few bytes",
        STORED,
        changing(r"(expect_tx.*), 24576", r"\1, 16384"),
        ("race-RAW", "deadlock"),
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
        changing(r"(mbarrier\.init.*\+73752\]), 8", r"\1, 9"),
        ("deadlock",),
        "arrivals are missing",
    ),
    PtxFault(
        "a stage expects the arrivals of one consumer only",
        STORED,
        changing(r"(mbarrier\.init.*\+73752\]), 8", r"\1, 4"),
        ("race-WAR", "deadlock"),
        "",
    ),
    PtxFault(
        "a barrier is initialised twice, and another not at all",
        STORED,
        changing(r"(mbarrier\.init.*\+)73736", r"\g<1>73728"),
        ("barrier-init",),
        "is initialised again without mbarrier.inval",
    ),
    PtxFault(
        "a stage is released to one block of the cluster only",
        CLUSTER,
        changing(r"(mapa.* %r\d+, %r\d+), 1;", r"\1, 0;"),
        ("deadlock", "race-WAR"),
        "",
    ),
    PtxFault(
        "the wrong stage is released",
        STORED,
        changing(r"(mbarrier\.arrive\.shared::cta.*\+)73752", r"\g<1>73760"),
        ("barrier-init",),
        "it was never initialised",
    ),
    PtxFault(
        "a stage is released before its products are done",
        STORED,
        changing(r"(^.*wgmma\.wait_group.*\n)((?:.*\n){3})", r"\2\1"),
        ("race-WAR",),
        "while a tensor-core instruction of",
    ),
    PtxFault(
        "a copy signals the barrier of free stages",
        STORED,
        changing(r"(complete_tx::bytes .*\+)73728", r"\g<1>73752"),
        ("deadlock",),
        "bytes more arrived than expect_tx announced",
    ),
    PtxFault(
        "the producer loads a tile more than is consumed",
        STORED,
        changing(r"setp\.lt\.s32 %p5,", "setp.le.s32 %p5,"),
        ("exit-race", "access-after-exit"),
        "",
    ),
    PtxFault(
        "a consumer expects a tile more than is loaded",
        STORED,
        changing(r"setp\.lt\.s32 %p11,", "setp.le.s32 %p11,"),
        ("deadlock",),
        "",
    ),
)
"""Stages and their mbarriers."""

COPIES: Sequence[PtxFault] = (
    PtxFault(
        "no wait for a TMA store before its buffer is written again",
        STORED,
        dropping(r"bulk\.wait_group"),
        ("race-WAR",),
        "while a copy of",
    ),
    PtxFault(
        "no commit_group behind a TMA store",
        STORED,
        dropping(r"bulk\.commit_group"),
        ("race-WAR",),
        "while a copy of",
    ),
    PtxFault(
        "no wait for the last TMA store before the block ends",
        STORED,
        changing(r"^.*bulk\.wait_group.*\n(.*\n\$L)", r"\1"),
        ("exit-race",),
        "ends while this copy may still read its shared memory",
    ),
    PtxFault(
        "the multicast leaves out a block",
        CLUSTER,
        changing(r"mov\.b16 %h0, 3;", "mov.b16 %h0, 1;"),
        ("deadlock",),
        "",
    ),
    PtxFault(
        "the multicast names a block that is not there",
        CLUSTER,
        changing(r"mov\.b16 %h0, 3;", "mov.b16 %h0, 7;"),
        ("invalid",),
        "the multicast mask 0x7 names CTAs beyond the 2",
    ),
    PtxFault(
        "both blocks of a cluster load the same half of a tile",
        CLUSTER,
        changing(r"(shl\.b32 %r\d+, %r\d+, )7;(?=\n.*\n.*\n.*\n.*\n.*\n.*\n\$L6)", r"\g<1>31;"),
        ("race-WAW", "uninitialised"),
        "",
    ),
    PtxFault(
        "all threads of the producer's warp load",
        STORED,
        changing(r"(elect\.sync.*\n).*bra \$L9.*\n", r"\1"),
        ("issue",),
        "32 threads issue this tensor copy",
    ),
    PtxFault(
        "all threads of a warpgroup store",
        STORED,
        changing(r"@%p\d+ (cp\.async\.bulk\.tensor\.2d\.global)", r"\1"),
        ("issue",),
        "128 threads issue this tensor copy",
    ),
    PtxFault(
        "the tensor map of A asks for a swizzle mode too narrow for its box",
        STORED,
        nothing,
        ("refused",),
        "swizzle 64B spans 64",
        call=with_swizzle(0, "64B"),
    ),
    PtxFault(
        "the tensor map of B does not swizzle",
        STORED,
        nothing,
        ("descriptor",),
        "the descriptor of B has swizzle 128B, but the tile was written with none",
        call=with_swizzle(1, "none"),
    ),
    PtxFault(
        "the tensor map of C does not swizzle, but the epilogue does",
        HALVES,
        nothing,
        (NUMBERS,),
        "",
        call=with_swizzle(2, "none"),
    ),
    PtxFault(
        "the epilogue does not swizzle, but the tensor map of C does",
        STORED,
        changing(r"xor\.b32 (%r\d+, %r\d+), %r\d+;(?=\n.*shl\.b32.*, 7;)", r"mov.b32 \1;"),
        (NUMBERS,),
        "",
    ),
    PtxFault(
        "a box lands beside its tile",
        STORED,
        changing(r"(complete_tx::bytes \[%r\d+\+)16384", r"\g<1>16400"),
        ("misaligned-address",),
        "is not aligned to 128",
    ),
    PtxFault(
        "the coordinates of a copy are swapped",
        STORED,
        changing(r"(%rd4, \{)(%r\d+), (%r\d+)", r"\1\3, \2"),
        (NUMBERS,),
        "",
    ),
    PtxFault(
        "two consumers stage their results in one buffer",
        STORED,
        changing(r"(st\.shared.*\+)82944", r"\g<1>74752", times=EVERYWHERE),
        ("race-WAW", "race-WAR"),
        "",
    ),
    PtxFault(
        "results are written over the mbarriers",
        STORED,
        changing(r"(st\.shared.*\+)74752", r"\g<1>73728", times=EVERYWHERE),
        ("barrier-overwritten",),
        "ordinary data is written over mbarrier",
    ),
    PtxFault(
        "the launch has too little shared memory",
        STORED,
        nothing,
        ("illegal-address",),
        "outside of the 90112 bytes that the block has",
        call=with_less_shared_memory(1024),
    ),
    PtxFault(
        "columns beyond the matrix are stored",
        PLAIN,
        changing(r"@%p\d+ (st\.global)", r"\1", times=EVERYWHERE),
        ("illegal-address",),
        "past the end of the array",
        ragged=True,
    ),
    PtxFault(
        "rows beyond the matrix are stored",
        PLAIN,
        changing(r"^.*bra.*\n(\$L\d+:\n.*@%p\d+ st\.global)", r"\1", times=EVERYWHERE),
        ("illegal-address",),
        "past the end of the array",
        ragged=True,
    ),
)
"""Copies, stores and where they go."""

PRODUCTS: Sequence[PtxFault] = (
    PtxFault(
        "no wgmma.fence before the products",
        STORED,
        dropping(r"wgmma\.fence"),
        ("wgmma-fence",),
        "accessed without a wgmma.fence since",
    ),
    PtxFault(
        "no wgmma.wait_group: results are read before they are there",
        STORED,
        dropping(r"wgmma\.wait_group"),
        ("wgmma-wait",),
        "is read before wgmma.wait_group",
    ),
    PtxFault(
        "wgmma.wait_group leaves the last group in flight",
        STORED,
        changing(r"(wgmma\.wait_group.*) 0;", r"\1 1;"),
        ("wgmma-wait",),
        "is read before wgmma.wait_group",
    ),
    PtxFault(
        "no wgmma.commit_group",
        STORED,
        dropping(r"wgmma\.commit_group"),
        ("wgmma-wait",),
        "is read before wgmma.wait_group",
    ),
    PtxFault(
        "the descriptor has half the stride between groups of rows",
        STORED,
        changing(f", {ROWS};", f", {ROWS - STRIDE // 2};"),
        ("descriptor",),
        "reads the same bytes for different rows",
    ),
    PtxFault(
        "the descriptor has half the stride between panels",
        WIDE,
        changing(f", {PANELS};", f", {PANELS - (256 << 16)};"),
        (NUMBERS,),
        "",
    ),
    PtxFault(
        "the descriptor has another swizzle mode than the tile",
        STORED,
        changing(f", {ROWS};", f", {ROWS - SWIZZLE_128B + SWIZZLE_64B};"),
        ("descriptor",),
        "the descriptor of A has swizzle 64B, but the tile was written with 128B",
    ),
    PtxFault(
        "the descriptor advances too far along K",
        STORED,
        changing(r"(add\.s64 %rd\d+, %rd6, )2;", r"\g<1>4;"),
        (NUMBERS,),
        "",
    ),
    PtxFault(
        "the descriptor advances by half of a step along K",
        STORED,
        changing(r"(add\.s64 %rd\d+, %rd6, )2;", r"\g<1>1;"),
        (NUMBERS,),
        "",
    ),
    PtxFault(
        "the descriptor leaves its stage",
        STORED,
        changing(r"(add\.s64 %rd\d+, %rd10, )1408;", r"\g<1>1664;"),
        ("race-RAW", "race-WAR", "uninitialised"),
        "",
    ),
    PtxFault(
        "the descriptor has the wrong distance between stages",
        STORED,
        changing(r"(mad\.wide.*), 1536,", r"\1, 1024,"),
        ("race-RAW", "race-WAR"),
        "",
    ),
    PtxFault(
        "B is taken as if its rows were K",
        STORED,
        changing(r"1, 1, 0, 1;", "1, 1, 0, 0;", times=EVERYWHERE),
        ("race-RAW", "uninitialised"),
        "",
    ),
    PtxFault(
        "scale-d is 0: every product starts anew",
        STORED,
        changing(r"mov\.pred %p0, 1;", "mov.pred %p0, 0;"),
        (NUMBERS,),
        "",
    ),
    PtxFault(
        "an accumulator does not start at zero",
        STORED,
        changing(r"mov\.f32 %f0, 0f00000000;", "mov.f32 %f0, 0f3F800000;"),
        (NUMBERS,),
        "",
    ),
    PtxFault(
        "register budgets that do not fit",
        STORED,
        changing(r"(setmaxnreg\.inc.*) 232;", r"\1 240;", times=EVERYWHERE),
        ("deadlock",),
        "registers",
    ),
    PtxFault(
        "one warp of a warpgroup gives its registers back",
        STORED,
        changing(r"^( *setmaxnreg\.dec.*\n)((?:.*\n){3})", r"\2\1"),
        ("diverged",),
        "",
    ),
)
"""Products, descriptors and registers."""

PTX_FAULTS: Sequence[PtxFault] = (*FENCES, *PIPELINES, *COPIES, *PRODUCTS)
