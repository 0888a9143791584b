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
from tileas_xdsl.compiler import compile
from tileas_xdsl.runtime.gpu import device as device_module
from tileas_xdsl.runtime.gpu.device import gpu
from tileas_xdsl.runtime.gpu.driver import MissingDriverError
from tileas_xdsl.target.tma.tensor_map_bytes import decode
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
    assert (
        "has compute capability 8.0; kernels are compiled for sm_90a, sm_100a, sm_120a"
        in found.stderr
    )


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, add: str) -> None:
    def missing() -> None:
        raise MissingDriverError("there is no GPU to be used: libcuda was not found")

    gpu.cache_clear()
    monkeypatch.setattr(device_module, "installed_driver", missing)
    found = run(add, "--grid", "2", *ARRAYS)
    assert (found.exit_code, found.stdout) == (1, "")
    assert found.stderr.startswith("tileas: error: there is no GPU to be used")


def test_a_signature_is_for_kernels_of_cutile(api: RecordingApi, tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(compile(VectorAdd().text()).ptx, encoding="utf-8")
    found = run(str(path), "--grid", "1", "--sig", "a: f32[?]")
    assert found.exit_code == 2
    assert "--sig has no meaning with .ptx files" in found.stderr


def test_arguments_that_do_not_fit_are_refused(api: RecordingApi, add: str) -> None:
    found = run(add, "--grid", "2", *ARRAYS[:4])
    assert found.exit_code == 1
    assert "argument" in found.stderr
    assert api.launches == []


DOUBLE = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 A, .param .align 64 .b8 T[128], .param .u32 N)
{
  ret;
}
"""


@pytest.fixture
def text(tmp_path: Path) -> str:
    path = tmp_path / "k.ptx"
    path.write_text(DOUBLE, encoding="utf-8")
    return str(path)


TEXT_ARGS = ("--arg", "f32:8x16:random", "--arg", "map:0:8x16:64B", "--arg", "i32:7")


def test_a_text_is_launched_with_its_maps(api: RecordingApi, text: str, tmp_path: Path) -> None:
    def effect(launched: Launched) -> None:
        place = launched.word(0)
        assert decode(launched.parameter(1, 128)).address == place
        assert launched.word(2, 4) == 7
        array: Any = np.frombuffer((ctypes.c_float * 128).from_address(place), "f4")
        array[:] = 3

    api.effect = effect
    options = ("--block", "64", "--shared", "65536", "--out", str(tmp_path))
    found = run(text, "--grid", "3", *TEXT_ARGS, *options)
    assert found.exit_code == 0, found.output
    np.testing.assert_array_equal(np.load(tmp_path / "arg0.npy"), np.full((8, 16), 3, "f4"))
    (launched,) = api.launches
    assert (launched.grid, launched.block, launched.shared) == ((3, 1, 1), (64, 1, 1), 65536)


def test_what_a_text_lacks_is_said(api: RecordingApi, text: str, add: str) -> None:
    found = run(text, "--grid", "3", *TEXT_ARGS)
    assert found.exit_code == 1
    assert "say the block size" in found.stderr
    found = run(add, "--grid", "2", *ARRAYS, "--block", "64")
    assert found.exit_code == 2
    assert "--block has a meaning with .ptx files only" in found.stderr
    assert api.launches == []
