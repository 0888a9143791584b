"""Costs of accesses of a warp, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.interpreters.ptx import load, run

PROGRAM = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry copy(.param .u64 out)
.reqntid 32, 1, 1
{{
  .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .f32 %f<5>;
  .shared .align 16 .b8 tile[4096];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.lo.u32 %r2, %r1, {step};
  mov.u32 %r3, tile;
  add.u32 %r3, %r3, %r2;
  mov.f32 %f1, 0f3F800000;
  st.shared.f32 [%r3], %f1;
  ld.shared.f32 %f2, [%r3];
  mul.wide.u32 %rd2, %r1, {step};
  add.u64 %rd2, %rd2, %rd1;
  st.global.f32 [%rd2], %f2;
  ret;
}}
"""


@pytest.mark.parametrize(
    ("step", "wavefronts", "sectors"),
    [(4, 1, 4), (8, 2, 8), (12, 1, 12), (32, 8, 32), (128, 32, 32)],
)
def test_a_stride_costs_wavefronts_and_sectors(step: int, wavefronts: int, sectors: int) -> None:
    """32 banks of 4 bytes; sectors of 32 bytes: lanes `step` bytes apart."""
    out = np.zeros(1024, np.float32)
    report = run(load(PROGRAM.format(step=step)), None, [out], 1, count_accesses=1)
    stored, loaded, written = report.accesses
    for one in (stored, loaded):
        assert (one.memory, one.accesses, one.bytes) == ("shared", 1, 128)
        assert (one.transactions, one.ideal) == (wavefronts, 1)
    assert (written.memory, written.transactions, written.ideal) == ("global", sectors, 4)


def test_nothing_is_counted_unless_asked_for() -> None:
    report = run(load(PROGRAM.format(step=4)), None, [np.zeros(32, np.float32)], 1)
    assert report.accesses == ()
