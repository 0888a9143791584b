"""Compiled block-scaled GEMMs whose scales are late, elsewhere, or those of other elements.

Each has an edit that breaks one rule of the PTX ISA: 9.7.16 (tcgen05); or none, so that only the
numbers tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernels.ptx_mutations import (
    EVERYWHERE,
    NUMBERS,
    REFUSED,
    SOME_LINES,
    PtxFault,
    changing,
    nothing,
    with_swizzle,
)
from kernels.scaled_gemm import GemmMxf4, GemmMxf8, GemmNvf4

MXF8 = GemmMxf8(stages=2)
MXF4 = GemmMxf4(stages=2)
NVF4 = GemmNvf4(stages=2)
"""The right kernels that the faults are planted in."""

_SCALE_B = 4
"""The first of two bits of instruction descriptors: the byte at which the scales of B begin."""
_PLACE = r"^ *tcgen05\.cp\S* \[%r\d+\], "
_COPY = r"^ *tcgen05\.cp\S* \[%r\d+\], %rd\d+;\n"
_ADDS = r"(?:^ *add\.s64 .*\n)*"
"""Descriptors of the copy after."""
_COMMIT = r"^ *@%p\d+ tcgen05\.commit.*\n"
_ISSUED = rf"^ *@!%p\d+ bra \$L\d+;\n(?:(?!.*bra ).*\n)*?{_COPY}{SOME_LINES}^\$L\d+:\n"
"""What the issuing thread does of a stage."""

SCALES: Sequence[PtxFault] = (
    PtxFault(
        "the scales of A are not copied",
        MXF8,
        changing(_COPY, ""),
        ("uninitialised",),
        "lanes 0..15, column 128, which nothing has written",
    ),
    PtxFault(
        "scales are copied behind the products",
        MXF8,
        changing(rf"((?:{_COPY})+)({SOME_LINES})(^\$L\d+:\n)", r"\2\1\3"),
        ("uninitialised",),
        "which nothing has written",
    ),
    PtxFault(
        "the scales of B are copied over those of A",
        MXF8,
        changing(rf"(cp\S* \[)(%r\d+)(\], .*\n{_ADDS} *tcgen05\.cp\S* \[)%r\d+", r"\1\2\3\2"),
        ("uninitialised",),
        "lanes 0..15, column 132, which nothing has written",
    ),
    PtxFault(
        "half of an atom of scales is copied, to both halves of the lanes",
        NVF4,
        changing(r"32x128b\.warpx4", "64x128b.warpx2::01_23", times=EVERYWHERE),
        ("race-RAW",),
        "'tcgen05.cp.cta_group::1.64x128b...' reads",
    ),
    PtxFault(
        "an atom of scales in the place of the next one",
        NVF4,
        changing(rf"({_PLACE})(%rd\d+)(;\n{_ADDS}{_PLACE})%rd\d+", r"\1\2\3\2"),
        (NUMBERS,),
        "",
    ),
    PtxFault(
        "no commit behind the products of a stage",
        MXF8,
        changing(_COMMIT, ""),
        ("deadlock",),
        "nobody ever arrives on it",
    ),
    PtxFault(
        "the commit of a stage before its copies and products",
        MXF8,
        changing(rf"({_ISSUED})({SOME_LINES}{_COMMIT})", r"\2\1"),
        ("race-WAR", "race-RAW"),
        "tcgen05.cp",
    ),
    PtxFault(
        "a stage announces its operands, not their scales",
        NVF4,
        changing(r"(expect_tx.*), 36864;", r"\1, 32768;"),
        ("race-RAW", "deadlock"),
        "",
    ),
    PtxFault(
        "a step takes the scales of the first one",
        MXF8,
        changing(rf"(mov\.b32 %r\d+), {681574416};", rf"\1, {144703488};"),
        (NUMBERS,),
        "",
    ),
    PtxFault(
        "two scales of a row begin at an odd byte",
        MXF4,
        changing(rf"(mov\.b32 %r\d+), {144704640};", rf"\1, {144704640 | 1 << _SCALE_B};"),
        ("descriptor",),
        "the scale id of B is 1, not 0, 2",
    ),
    PtxFault(
        "two scales of a row where there are four",
        NVF4,
        changing(r"scale_vec::4X", "scale_vec::2X", times=EVERYWHERE),
        ("descriptor",),
        "takes 2 scales as ue8m0, not ue4m3",
    ),
    PtxFault(
        "atoms of scales are swizzled",
        MXF8,
        nothing,
        (REFUSED,),
        "box[0] takes 256 bytes of shared memory; swizzle 128B spans 128",
        with_swizzle(2, "128B"),
    ),
)
"""Scales that are missing, late, or not those of their elements."""
