"""Where an operand may be a literal, and of which kind: the emulator refuses what ptxas refuses."""

from __future__ import annotations

import pytest

from tests.support.assembling import needs_ptxas, refused_lines
from tileas_xdsl.interpreters.ptx import PtxError, load
from tileas_xdsl.interpreters.ptx.launch import prepare

HEADER = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a) {
.reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %p;
"""

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}"
S8 = "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%r4, %r5, %r6, %r7}"
SPARSE = "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r4, %r5, %r6, %r7}, {%r0, %r1}"
A, B, SUMS, WORDS = "{%r0, %r1, %r2, %r3}", "{%r0, %r1}", "{%f0, %f1, %f2, %f3}", "{0, 0, 0, 0}"

TAKEN = (
    "mov.f32 %f0, 0f3F800000;",
    "mov.f32 %f0, 1.5;",
    "mov.b32 %r0, 0f3F800000;",
    "add.s32 %r0, %r1, 1;",
    "st.global.v2.b32 [%p], {1, 1};",
    "st.global.v2.f32 [%p], {0f3F800000, %f0};",
    "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r0], {1, %r1};",
    f"{F16}, {A}, {{1, %r1}}, {SUMS};",
    f"{F16}, {A}, {B}, {{0f00000000, 0f00000000, 0f00000000, 0f00000000}};",
    f"{S8}, {B}, {{%r2}}, {WORDS};",
)

REFUSED = (
    "mov.f32 %f0, 1;",
    "mov.u32 %r0, 0f3F800000;",
    "add.f32 %f0, %f1, 1;",
    "add.s32 %r0, %r1, 0f3F800000;",
    "st.global.f32 [%p], 1;",
    "st.global.u32 [%p], 0f3F800000;",
    "selp.f32 %f0, 1, %f1, 1;",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], {1};",
    "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r0], {1, 1};",
    f"{F16}, {A}, {{1, 1}}, {SUMS};",
    f"{F16}, {{1, 1, 1, 1}}, {B}, {SUMS};",
    f"{F16}, {A}, {B}, {WORDS};",
    f"{S8}, {B}, {{1}}, {WORDS};",
    f"{SPARSE}, {B}, {WORDS}, 1, 0;",
)


def text_of(*lines: str) -> str:
    return HEADER + "".join(f"{line}\n" for line in lines) + "ret;\n}\n"


@pytest.mark.parametrize("line", TAKEN)
def test_literals_that_are_taken(line: str) -> None:
    prepare(load(text_of(line)), None, [0], 1, 32)


@pytest.mark.parametrize("line", REFUSED)
def test_literals_that_are_refused(line: str) -> None:
    with pytest.raises(PtxError, match="literal") as found:
        prepare(load(text_of(line)), None, [0], 1, 32)
    assert found.value.location.line == HEADER.count("\n") + 1


@needs_ptxas
def test_ptxas_refuses_the_same() -> None:
    refused = refused_lines(text_of(*TAKEN, *REFUSED), "sm_90a")
    first = HEADER.count("\n") + 1 + len(TAKEN)
    assert sorted(refused) == list(range(first, first + len(REFUSED)))
