"""`tileas run`, with a stand-in for the driver."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

pytest.importorskip("cuda.bindings.driver")

from support.recording_driver import Launched, RecordingApi, recording_driver

from kernels import VectorAdd
from tileas_xdsl.runtime import device as device_module
from tileas_xdsl.runtime.device import gpu
from tileas_xdsl.runtime.driver import MissingDriverError
from tileas_xdsl.tools.tileas import app


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> RecordingApi:
    driver, found = recording_driver()
    gpu.cache_clear()
    monkeypatch.setattr(device_module, "installed_driver", lambda: driver)
    return found


@pytest.fixture
def add(tmp_path: Path) -> str:
    path = tmp_path / "add.mlir"
    path.write_text(VectorAdd().text(), encoding="utf-8")
    return str(path)


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["run", *words])


ARRAYS = [word for k in range(3) for word in ("--arg", f"f32:100:random:{k}")]


def test_a_kernel_is_launched_and_its_arrays_are_written(
    api: RecordingApi, add: str, tmp_path: Path
) -> None:
    def effect(launched: Launched) -> None:
        place = launched.word(0)
        array: Any = np.frombuffer((ctypes.c_float * 100).from_address(place), "f4")
        array[:] = 7

    api.effect = effect
    found = run(add, "--grid", "2", *ARRAYS, "--bench", "--out", str(tmp_path))
    assert found.exit_code == 0, found.output
    assert "Stand-in" in found.stdout
    assert "median 0.2500 ms" in found.stdout
    assert "100 of 100" in found.stdout
    np.testing.assert_array_equal(np.load(tmp_path / "arg0.npy"), np.full(100, 7, np.float32))
    assert all(launched.grid == (2, 1, 1) for launched in api.launches)


def test_the_target_is_that_of_the_gpu(api: RecordingApi, add: str) -> None:
    api.capability = (10, 0)
    assert "sm_100a" in run(add, "--grid", "2", *ARRAYS).stdout
    found = run(add, "--grid", "2", *ARRAYS, "--target", "sm_90a")
    assert found.exit_code == 1
    assert "compiled for sm_90a" in found.stderr


def test_a_gpu_that_runs_nothing_of_ours_is_refused(api: RecordingApi, add: str) -> None:
    api.capability = (8, 0)
    found = run(add, "--grid", "2", *ARRAYS)
    assert (found.exit_code, found.stdout) == (1, "")
    assert "has compute capability 8.0; kernels are compiled for sm_90a, sm_100a" in found.stderr


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, add: str) -> None:
    def missing() -> None:
        raise MissingDriverError("there is no GPU to be used: libcuda was not found")

    gpu.cache_clear()
    monkeypatch.setattr(device_module, "installed_driver", missing)
    found = run(add, "--grid", "2", *ARRAYS)
    assert (found.exit_code, found.stdout) == (1, "")
    assert found.stderr.startswith("tileas: error: there is no GPU to be used")


def test_arguments_that_do_not_fit_are_refused(api: RecordingApi, add: str) -> None:
    found = run(add, "--grid", "2", *ARRAYS[:4])
    assert found.exit_code == 1
    assert "argument" in found.stderr
    assert api.launches == []
