"""Warps that fall behind: the order `drift` finds what no other order does, and says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from interpreters.ptx.checking.planted.drift import DRIFTING, KERNELS
from interpreters.ptx.checking.planted.kernels import Planted
from interpreters.ptx.harness import execute, pointers

from tileas_xdsl.interpreters.ptx.execution.state import Order

OTHERS: tuple[tuple[Order, int], ...] = (
    ("eager", 0),
    ("lazy", 0),
    *(("random", seed) for seed in range(8)),
)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_only_warps_that_drift_miss_a_phase(kernel: Planted) -> None:
    """Without drift no warp of a group is behind the others; with it one seed of six is enough."""
    for _, text, _ in kernel.faults:
        assert not replace(kernel, orders=OTHERS).findings(text)
        found = [bool(replace(kernel, orders=(one,)).findings(text)) for one in DRIFTING]
        assert sum(found) * 6 >= len(DRIFTING)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_deadlock_says_which_phase_was_missed(kernel: Planted) -> None:
    for _, text, _ in kernel.faults:
        stories: list[str] = []
        for one in DRIFTING:
            for found in replace(kernel, orders=(one,)).findings(text):
                assert "try_wait" in text.splitlines()[found.line - 1]
                stories.append(str(found))
        assert any("missed the end of phase" in story for story in stories)
        assert any("must not end twice while a warp waits" in story for story in stories)


def test_a_seed_is_one_schedule() -> None:
    kernel = KERNELS[0]
    _, text, _ = next(kernel.faults)
    for one in DRIFTING[:6]:
        again = replace(kernel, orders=(one,))
        assert list(map(str, again.findings(text))) == list(map(str, again.findings(text)))


SHARED = """
    .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<4>; .shared .align 16 .b8 sm[1024];
    ld.param.u64 %rd0, [o]; mov.u32 %r0, %tid.x; mov.u32 %r1, sm; mov.u32 %r9, 0; mov.u32 %r4, 0;
    mad.lo.u32 %r2, %r0, 4, %r1; xor.b32 %r3, %r0, 32; mad.lo.u32 %r3, %r3, 4, %r1;
L:  add.u32 %r5, %r0, %r4; st.shared.u32 [%r2], %r5; bar.sync 0;
    ld.shared.u32 %r6, [%r3]; add.u32 %r9, %r9, %r6; bar.sync 0;
    add.u32 %r4, %r4, 1; setp.lt.u32 %p0, %r4, 5; @%p0 bra L;
    mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r9; ret;
"""


@pytest.mark.parametrize("seed", range(6))
def test_warps_that_wait_for_each_other_compute_the_same(seed: int) -> None:
    out = np.zeros(128, np.uint32)
    report = execute(SHARED, pointers("o"), [out], block=128, order="drift", seed=seed)
    assert (report.arrays[0] == 5 * (np.arange(128) ^ 32) + 10).all()
