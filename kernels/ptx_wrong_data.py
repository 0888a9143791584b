"""Compiled GEMMs that move or multiply the wrong bytes.

Each has an edit that breaks one rule of the PTX ISA: 9.7.9.25 (tensor copies), 9.7.15 (wgmma),
9.7.19 (setmaxnreg); or none, so that only the numbers tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernels.ptx_mutations import (
    CLUSTER,
    EVERYWHERE,
    FULL,
    HALVES,
    NUMBERS,
    PLAIN,
    REFUSED,
    SOME_LINES,
    STAGED,
    STORED,
    WIDE,
    PtxFault,
    changing,
    dropping,
    nothing,
    with_less_shared_memory,
    with_swizzle,
)

SWIZZLE_128B, SWIZZLE_64B = 1 << 62, 2 << 62
STRIDE = 64 << 32
"""Bits of matrix descriptors (PTX ISA 9.7.15.5.1): a stride of 1024 bytes in units of 16."""
ROWS = SWIZZLE_128B | STRIDE | 1 << 16
"""A, whose rows are K."""
PANELS = SWIZZLE_128B | STRIDE | 512 << 16
"""B of 128 columns: two panels of 64, 8192 bytes apart."""

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
        changing(r"^.*bulk\.wait_group.*\n((?:(?!.*bulk\.wait_group).*\n)*?\$L)", r"\1"),
        ("exit-race",),
        "ends while this copy may still read its shared memory",
    ),
    PtxFault(
        "the multicast leaves out a block",
        CLUSTER,
        changing(r"(mov\.b16 %h\d+), 3;", r"\1, 1;"),
        ("deadlock",),
        "bytes that no copy in flight delivers",
    ),
    PtxFault(
        "the multicast names a block that is not there",
        CLUSTER,
        changing(r"(mov\.b16 %h\d+), 3;", r"\1, 7;"),
        ("invalid",),
        "the multicast mask 0x7 names CTAs beyond the 2",
    ),
    PtxFault(
        "both blocks of a cluster load the same half of a tile",
        CLUSTER,
        changing(
            rf"(multicast::cluster \[)%r\d+(\].*\n{SOME_LINES}.*bytes \[(%r\d+)\+16384)",
            r"\1\3\2",
        ),
        ("race-WAW", "uninitialised"),
        "nothing orders the two writes",
    ),
    PtxFault(
        "all threads of the producer's warp load",
        STORED,
        changing(r"(elect\.sync.*\n).*bra.*\n", r"\1"),
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
        "four threads store, one elected by each warp",
        STORED,
        changing(r"(elect\.sync.*\n    )and\.pred (%p\d+), %p\d+, (%p\d+)", r"\1mov.pred \2, \3"),
        ("issue",),
        "4 threads issue this tensor copy",
    ),
    PtxFault(
        "the tensor map of A asks for a swizzle mode too narrow for its box",
        STORED,
        nothing,
        (REFUSED,),
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
        changing(
            r"xor\.b32 (%r\d+, %r\d+), %r\d+;((?:\n(?!.*xor).*)*?\n.*st\.shared)",
            r"mov.b32 \1;\2",
        ),
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
        changing(r"(\+16384\], \[%rd\d+, \{)(%r\d+), (%r\d+)", r"\1\3, \2"),
        (NUMBERS,),
        "",
    ),
    PtxFault(
        "two consumers stage their results in one buffer",
        STORED,
        changing(rf"(st\.shared.*\+){STAGED + 8192}", rf"\g<1>{STAGED}", times=EVERYWHERE),
        ("race-WAW", "race-WAR"),
        "nothing orders the two writes",
    ),
    PtxFault(
        "results are written over the mbarriers",
        STORED,
        changing(rf"(st\.shared.*\+){STAGED}", rf"\g<1>{FULL}", times=EVERYWHERE),
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
        changing(r"@%p\d+ (st\.global)", r"\1", times=EVERYWHERE),
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
        changing(r"(add\.s64 %rd\d+, %rd\d+, )2;", r"\g<1>4;"),
        (NUMBERS,),
        "",
    ),
    PtxFault(
        "the descriptor advances by half of a step along K",
        STORED,
        changing(r"(add\.s64 %rd\d+, %rd\d+, )2;", r"\g<1>1;"),
        (NUMBERS,),
        "",
    ),
    PtxFault(
        "the descriptor leaves its stage",
        STORED,
        changing(r"(add\.s64 %rd\d+, %rd\d+, )1408;", r"\g<1>1664;"),
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
        changing(r"(mov\.pred %p\d+), 1;", r"\1, 0;"),
        (NUMBERS,),
        "",
    ),
    PtxFault(
        "an accumulator does not start at zero",
        STORED,
        changing(r"(mov\.f32 %f\d+), 0f00000000;", r"\1, 0f3F800000;"),
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
        ("deadlock", "diverged"),
        "setmaxnreg",
    ),
)
"""Products, descriptors and registers."""
