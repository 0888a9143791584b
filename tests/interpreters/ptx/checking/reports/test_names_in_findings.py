"""Findings name what the compiler and the program call things."""

from __future__ import annotations

import numpy as np

from tileas_xdsl.interpreters.ptx import SharedName, load, run

PTX = """
.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 buffer[];
.file 1 "kernel.py"
.visible .entry k(.param .u64 k_param_0) .reqntid 32 {
  .reg .b64 %a;
  .reg .pred %p;
  .reg .b32 %b, %t;
  ld.param.u64 %a, [k_param_0];
  .loc 1 7 5
  st.global.u32 [%a+64], 1;
  mov.u32 %b, buffer;
  mov.u32 %t, %tid.x;
  setp.eq.u32 %p, %t, 0;
  @%p mbarrier.init.shared::cta.b64 [%b+24], 1;
  bar.sync 0;
again:
  .loc 1 9 3
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%b+24], 0;
  @!%p bra again;
  ret;
}
"""


def finding(size: int) -> str:
    """What is found in a run with an array of `size` elements."""
    report = run(
        load(PTX, "k.ptx"),
        "k",
        [np.zeros(size, np.int32)],
        1,
        dynamic_shared=32,
        shared_names=[SharedName(0, 16, "%tiles"), SharedName(16, 16, "full of %tiles", 8)],
        argument_names=["'c'"],
    )
    (found,) = report.findings
    return str(found)


def test_arguments_barriers_and_sources_have_their_names() -> None:
    outside, deadlock = finding(4), finding(32)
    assert "past the end of the array of 'c'" in outside
    assert "compiled from kernel.py:7:5" in outside
    assert "mbarrier buffer+0x18 (full of %tiles, stage 1) of CTA 0" in deadlock
    assert "compiled from kernel.py:9:3" in deadlock
