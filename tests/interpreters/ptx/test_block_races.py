"""Races between blocks on global memory."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.interpreters.ptx import load, run

HEAD = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
.reqntid 32, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd0, [a];
    ld.param.u64 %rd1, [b];
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd0, %rd2;
    mad.lo.u32 %r2, %r0, 32, %r1;
    mul.wide.u32 %rd4, %r2, 4;
    add.s64 %rd5, %rd1, %rd4;
    mov.u32 %r3, 7;
"""

SHARED_STORE, OWN_STORE = "st.global.u32 [%rd3], %r0;", "st.global.u32 [%rd5], %r0;"
SHARED_LOAD, OWN_LOAD = "ld.global.u32 %r4, [%rd3];", "ld.global.u32 %r4, [%rd5];"


def kinds(*lines: str, grid: int = 3) -> list[str]:
    """The kinds of findings for blocks that run these lines; `a` is shared, of `b` each has 32."""
    text = HEAD + "".join(f"    {line}\n" for line in lines) + "    ret;\n}\n"
    a, b = np.zeros(32, np.uint32), np.zeros(32 * grid, np.uint32)
    return [finding.kind for finding in run(load(text), "k", [a, b], grid).findings]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((SHARED_STORE,), ["race-WAW"]),
        ((SHARED_STORE, SHARED_LOAD), ["race-WAW", "race-WAR"]),
        ((SHARED_LOAD, SHARED_STORE), ["race-RAW", "race-WAW"]),
    ],
)
def test_plain_accesses_to_one_element(lines: tuple[str, ...], expected: list[str]) -> None:
    assert sorted(kinds(*lines)) == sorted(expected)


def test_a_write_after_another_block_has_read() -> None:
    """Block 0 reads all of it first; the others write what is another value."""
    assert "race-WAR" in kinds(
        "setp.eq.u32 %p0, %r0, 0;", "@%p0 ld.global.u32 %r4, [%rd3];",
        "@!%p0 st.global.u32 [%rd3], %r0;",
    )  # fmt: skip


@pytest.mark.parametrize(
    "lines",
    [
        (OWN_STORE, OWN_LOAD),
        (SHARED_LOAD, OWN_STORE),
        ("st.global.u32 [%rd3], %r3;",),
        (SHARED_STORE, "atom.global.add.u32 %r5, [%rd3], 1;"),
        (SHARED_STORE, "fence.acq_rel.gpu;"),
    ],
    ids=["own elements", "reads only", "one value", "atomics", "fences"],
)
def test_what_is_no_race_or_may_be_ordered(lines: tuple[str, ...]) -> None:
    assert kinds(*lines) == []


def test_one_block_does_not_race() -> None:
    assert kinds(SHARED_STORE, SHARED_LOAD, grid=1) == []
