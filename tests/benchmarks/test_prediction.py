"""What becomes of predicted and measured times; what fails costs its own row."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

pytest.importorskip("cuda.tile")

from benchmarks import prediction
from benchmarks.prediction import Measured, loss_of_top
from benchmarks.prediction_cases import CASES, Arrays, all_configs, distinct
from benchmarks.results import Results
from tileas_xdsl.executors import SerialExecutor
from tileas_xdsl.tuning.candidates import Built
from tileas_xdsl.tuning.prediction.launch_time import Predicted


def predicted(time: float, code: str = "") -> Predicted:
    return Predicted(time, "tma", 1, 1, True, code)


def test_the_loss_of_the_first_by_prediction() -> None:
    pairs = [(1.0, 20.0), (2.0, 11.0), (3.0, 10.0)]
    assert loss_of_top(pairs, 2) == pytest.approx(0.1)
    assert loss_of_top(pairs) == 0


def test_there_are_thirty_kernels_with_their_own_configurations() -> None:
    assert len(CASES) == 30
    request = CASES["split_k_atomic f16"].request(Arrays(), "sm_90a")
    configs = all_configs(request)
    assert configs[0] == request.default
    assert len(configs) >= 40
    assert request.grid_of(configs[0]) == (4, 4, 8)
    found = distinct([(c, predicted(1.0, str(c["tm"]))) for c in configs], 20)
    assert found[0][0]["tm"] == 128
    assert len(found) == 3


def test_what_fails_costs_its_row() -> None:
    class Measurer(prediction.Measurer):
        def measure(self, name: str, config: object, target: str, code: bytes) -> float | str:
            return {b"a": 3.0, b"b": 5.0}.get(code, "hangs for 30 s")

    built = [Built(code=b"a"), "TimeoutError: ", Built("8 bytes are spilled"), Built(code=b"c")]
    rows = [
        prediction._measured(Measurer(), "n", "sm_90a", {"tm": 1}, predicted(1.0), one)
        for one in [*built, Built(code=b"b")]
    ]
    assert [row.microseconds for row in rows] == [3.0, None, None, None, 5.0]
    assert rows[3].problem == "hangs for 30 s"
    assert prediction._timed(lambda: 1 // 0).startswith("ZeroDivisionError")
    rows = [Measured({}, predicted(k), time) for k, time in enumerate((3.0, 5.0, 4.0))]
    summary = {row.name: row.value for row in prediction._summary({"n": rows})}
    assert summary["n"] == summary["mean of kernels"] == 0.5
    assert summary["the fastest is among the eight"] == 1


def test_times_of_another_run_are_replayed(tmp_path: Path) -> None:
    configs = [{"tile": 256, "num_worker_warps": 4}, {"tile": 1024, "num_worker_warps": 8}]
    kept = [
        Measured(config, predicted(9.0), time)
        for config, time in zip(configs, (3.0, 2.0), strict=True)
    ]
    rows = list(prediction._config_rows("gelu_erf", [*kept, Measured({"tile": 2}, predicted(1.0))]))
    Results({}, rows).write(file := tmp_path / "old.json")
    options = argparse.Namespace(replay=file, only=[], target=None)
    found = prediction._replayed(options, SerialExecutor(), float("inf"))
    assert [(one.config, one.microseconds) for one in found["gelu_erf"]] == [
        (configs[0], 3.0),
        (configs[1], 2.0),
    ]
    assert all(one.predicted.microseconds not in (1.0, 9.0) for one in found["gelu_erf"])
