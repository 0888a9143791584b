"""What a launch takes beside the units of a multiprocessor: DRAM, misses, starts of blocks."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("cuda.tile")

from benchmarks.prediction_cases import CASES, Arrays, Case
from tileas_xdsl.target.costs import latencies as table
from tileas_xdsl.tuning.candidates import predict
from tileas_xdsl.tuning.prediction.launch_time import Predicted

HOPPER = table.latencies("sm_90a")


def _predicted(case: Case, **config: int) -> Predicted:
    request = case.request(Arrays(), "sm_90a")
    found = predict(request.task({**request.constants, **request.hints, **config}))
    assert isinstance(found, Predicted)
    return found


def test_a_loop_that_loads_ahead_waits_for_dram_in_each_block() -> None:
    """What a block begins and ends with comes on top: few blocks of one multiprocessor are even."""
    found = _predicted(CASES["flash_decode"], tm=64, tn=128, per_part=16)
    moving = 2 * 8 * 8 * 8192 * 128 * 2 / (1e3 * HOPPER.dram_bandwidth)
    assert found.bound == "memory"
    assert found.microseconds > moving + HOPPER.grid_launch / 1e3 + 4


def test_misses_of_the_first_wave_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    tiles = {"tm": 128, "tn": 128, "tk": 64}
    slow = _predicted(CASES["split_k_atomic f16"], **tiles)
    monkeypatch.setitem(table.LATENCIES, "sm_90a", replace(HOPPER, missing=0))
    fast = _predicted(CASES["split_k_atomic f16"], **tiles)
    assert slow.waves == 1
    assert 1.05 < slow.microseconds / fast.microseconds < 1 + HOPPER.missing / 100
