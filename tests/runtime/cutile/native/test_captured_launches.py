# pyright: basic
"""Launches that are recorded for a graph have memory of their own: it may run beside others."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from tests.runtime.cutile.launches import RecordingGpu
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.cutile.gpu import launch_plan
from tileas_xdsl.runtime.cutile.gpu.chosen_plan import ChosenPlan
from tileas_xdsl.runtime.cutile.gpu.launch_plan import LaunchPlan
from tileas_xdsl.runtime.cutile.native import build, relaunch
from tileas_xdsl.target.kernel_abi import TRANSFER, KernelAbi

STREAM = 7
ABI = KernelAbi("k", 128, (1, 1, 1), 0, (TRANSFER,), (), 0, "", is_persistent=True)
EXECUTABLE = Executable("sm_90a", ABI, ".entry k(.param .u64 a)", b"")


@pytest.mark.parametrize("has_forms", [False, True])
def test_a_graph_has_memory_of_its_own(has_forms: bool) -> None:
    gpu = RecordingGpu()
    plan: LaunchPlan | ChosenPlan = LaunchPlan(EXECUTABLE, gpu, ())
    if has_forms:
        only = plan
        plan = ChosenPlan(lambda grid: only)
    memory: list[int] = []
    for capture in (0, 1, 2, 0, 0):
        gpu.captures[STREAM] = capture
        plan.start((64,), STREAM, ())
        assert plan.has_launched == (capture == 0)  # for C to do again
        memory += gpu.launches[-1].numbers()
    assert len(set(memory)) == 3
    assert memory[0] == memory[3] == memory[4]


def test_a_launch_for_a_graph_is_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver says whether a stream is recorded."""
    monkeypatch.delenv(build.VARIABLE, raising=False)
    try:
        native: Any = build.load()
    except build.BuildError as error:
        pytest.skip(str(error))
    gpu = RecordingGpu()
    record = gpu.launch
    launch = ctypes.PYFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)
    monkeypatch.setattr(
        gpu, "launch", launch(lambda c, f, p, e: record(c or 0, f or 0, p or 0, e or 0))
    )

    def is_capturing(stream: int, status: Any) -> int:
        status[0] = gpu.captures.get(stream, 0)
        return 0

    typed = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.POINTER(ctypes.c_int))
    function = typed(is_capturing)
    address = ctypes.cast(function, ctypes.c_void_p).value
    monkeypatch.setattr(launch_plan, "capturing_address", lambda: address)
    plan = LaunchPlan(EXECUTABLE, gpu, ())
    plan.start((64,), STREAM, ())
    launcher = native.Launcher((), relaunch._readers, {}, 1 << 24)
    launcher.add((), False, plan.native(native.Launch))
    assert launcher(STREAM, (64,), (), False) is True
    assert gpu.launches[-1] == gpu.launches[-2]
    gpu.captures[STREAM] = 1
    assert launcher(STREAM, (64,), (), False) is False
    assert len(gpu.launches) == 2
