"""`cuda.tile.tune` on this compiler."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct
import cuda.tile.tune
from cuda.tile.tune import Measurement, TuningResult, exhaustive_search
from support.cutile_programs import increment

import tileas_xdsl.cutile
from tileas_xdsl.runtime.cutile import dispatch, settings
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.tuning import searching
from tileas_xdsl.tuning.candidates import build


def grid(tile: int) -> tuple[int]:
    return (256 // tile,)


def test_without_a_gpu_configurations_are_ranked_by_prediction() -> None:
    x = np.zeros(256, np.float32)

    def args(tile: int) -> tuple[Any, ...]:
        return x, tile, 1.0

    with tileas_xdsl.cutile.installed(on="emulator"):
        found = cuda.tile.tune.exhaustive_search([32, 256, 30], None, grid, increment, args)
        with pytest.raises(ValueError, match=r"(?s)No valid config.+Config: 30"):
            cuda.tile.tune.exhaustive_search([30], None, grid, increment, args, quiet=True)
    assert cuda.tile.tune.exhaustive_search is exhaustive_search
    assert {one.config for one in found.successes} == {32, 256}
    assert found.best is found.successes[0]
    assert [(one.num_samples, one.mean_us > 0) for one in found.successes] == [(0, True)] * 2
    ((config, error, _),) = found.failures
    assert (config, error) == (30, ct.TileTypeError)
    assert not x.any()


def test_on_a_gpu_the_eight_best_by_prediction_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured: list[Any] = []

    def original(configs: list[int], *_: Any, quiet: bool) -> Any:
        assert quiet
        measured.append(configs)
        found = [
            Measurement(config=one, mean_us=one, num_samples=5, error_margin_us=0)
            for one in configs
        ]
        return TuningResult(best=found[0], successes=found, failures=())

    times = [(float(n), n) for n in range(12)]
    monkeypatch.setattr(settings, "current", replace(settings.current, on="gpu"))
    monkeypatch.setattr(searching, "predicted_times", lambda *_: (times, [(30, TypeError, "why")]))
    monkeypatch.setattr("tileas_xdsl.tuning.measuring.launch_target", lambda: "sm_90a")
    search = searching.search_by_prediction(original)
    found = search(range(13), 0, grid, increment, lambda _: (), quiet=True)
    assert measured == [list(range(8))]
    assert (found.best.config, found.failures) == (0, ((30, TypeError, "why"),))
    search(range(8), 0, grid, increment, lambda _: (), quiet=True)
    assert measured[1:] == [list(range(8))]


def test_a_kernel_launches_code_that_was_compiled_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = np.arange(64, dtype=np.float32)
    arguments = (x, 32, 1.0)
    search = searching.Search(lambda _: (2,), increment, lambda _: arguments, None)
    built = build(search.task(32, "sm_90a"))
    kernel = increment.replace_hints()
    with tileas_xdsl.cutile.installed(on="emulator"):
        monkeypatch.setattr(ct.kernel, "_compile", None)
        dispatch.provide(kernel, arguments, Executable.from_bytes(built.code))
        dispatch.launch(None, (2,), kernel, arguments)
    assert (x == np.arange(64) + 1).all()
