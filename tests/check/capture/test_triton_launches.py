"""Capture of Triton's launches, with what Triton and PyTorch show of themselves.

Neither is installed with the project: the stand-ins have the attributes that the capture reads, and
the PTX is what Triton made.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from tileas_xdsl import check
from tileas_xdsl.check.capture.triton_launches import CaptureUnavailableError
from tileas_xdsl.tools.tileas import app

DATA = Path(__file__).parents[2] / "interpreters" / "ptx" / "data"
SIGNATURE = {"x": "*fp32", "y": "*fp32", "n": "i32", "stride": "i32", "block": "constexpr"}


@dataclass
class Tensor:
    """The part of `torch.Tensor` that Triton's launcher uses: a view of a storage."""

    storage: NDArray[np.float32]
    first: int = 0
    where: str = "cpu"

    @property
    def device(self) -> SimpleNamespace:
        return SimpleNamespace(type=self.where)

    def data_ptr(self) -> int:
        return self.storage.ctypes.data + 4 * self.first

    def untyped_storage(self) -> Any:
        address, size = self.storage.ctypes.data, self.storage.nbytes
        return SimpleNamespace(data_ptr=lambda: address, nbytes=lambda: size)


class DriverConfig:
    """`triton.runtime.driver.driver`."""

    def __init__(self) -> None:
        self._active: Any = "the one before"

    def set_active(self, driver: Any) -> None:
        self._active = driver

    @property
    def active(self) -> Any:
        return self._active


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[DriverConfig]:
    config = DriverConfig()
    cache = SimpleNamespace(get_file=lambda name: str(DATA / f"triton_{name}"))
    parts: dict[str, dict[str, Any]] = {
        "torch": {},
        "triton": {},
        "triton.runtime": {},
        "triton.runtime.driver": {"driver": config},
        "triton.runtime.cache": {"get_cache_manager": lambda key: cache},
    }
    for name, attributes in parts.items():
        module = ModuleType(name)
        module.__dict__.update(attributes)
        monkeypatch.setitem(sys.modules, name, module)
    yield config
    assert config.active == "the one before"


def launch(driver: DriverConfig, x: Tensor, y: Tensor, grid: tuple[int, int, int]) -> None:
    """Launch `softmax` as `CompiledKernel.run` does."""
    source = SimpleNamespace(name="softmax", signature=SIGNATURE)
    metadata = SimpleNamespace(
        name="softmax", hash="h", num_warps=4, num_ctas=1, shared=64, global_scratch_size=0
    )
    run = driver.active.launcher_cls(source, metadata)
    *_, threads = driver.active.utils.load_binary("softmax", b"", 64, 0)
    assert threads == 1024
    run(*grid, 0, None, (), None, None, None, x, y, 700, 700, 1024)


def test_a_launch_is_checked_and_leaves_its_results_in_the_tensors(driver: DriverConfig) -> None:
    data = np.random.default_rng(0).standard_normal((3, 700)).astype(np.float32)
    out = np.zeros((5, 700), np.float32)
    with check.triton() as reports:
        launch(driver, Tensor(data), Tensor(out, first=700), (3, 1, 1))
    check.assert_no_findings(reports)
    expected = np.exp(data - data.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(out[1:4], expected, 1e-5)
    assert not out[[0, 4]].any()


def test_findings_and_suppressions_are_those_of_the_checker(driver: DriverConfig) -> None:
    short = np.zeros((2, 700), np.float32)
    with check.triton(schedules=1) as reports:
        launch(driver, Tensor(short), Tensor(short.copy()), (3, 1, 1))
    assert {f.kind for f in reports[0].failures} == {"illegal-address"}
    with check.triton(allow=["illegal-address"], schedules=1) as reports:
        launch(driver, Tensor(short), Tensor(short.copy()), (3, 1, 1))
    check.assert_no_findings(reports)


def test_a_saved_launch_is_repeated_by_one_command(driver: DriverConfig, tmp_path: Path) -> None:
    """The files have all that the command needs, and it finds what the capture found."""
    short = np.random.default_rng(1).standard_normal((2, 700)).astype(np.float32)
    with check.triton(schedules=1, save=tmp_path) as reports:
        launch(driver, Tensor(short), Tensor(short.copy()), (3, 1, 1))
    files = [str(tmp_path / f"softmax.{end}") for end in ("ptx", "json")]
    words = ["check", files[0], "--launch", files[1], "--schedules", "1", "--json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    found = {(f["kind"], f["location"]["line"]) for f in json.loads(result.stdout)["findings"]}
    assert found == {(f.kind, f.line) for f in reports[0].findings}


def test_autotuning_checks_each_configuration_once_and_keeps_the_first(
    driver: DriverConfig,
) -> None:
    data = np.random.default_rng(2).standard_normal((1, 700)).astype(np.float32)
    with check.triton(schedules=1) as reports:
        benchmark = driver.active.get_benchmarker()
        outputs = [np.zeros((1, 700), np.float32) for _ in range(3)]
        times = [
            benchmark(partial(launch, driver, Tensor(data), Tensor(out), (1, 1, 1)), (0.5, 0.2))
            for out in outputs
        ]
    assert len(reports) == 3
    assert times.index(min(times)) == 0
    assert all(np.array_equal(out, outputs[0]) and out.any() for out in outputs)


def test_no_block_is_no_launch(driver: DriverConfig) -> None:
    with check.triton() as reports:
        launch(driver, Tensor(np.zeros(1, np.float32)), Tensor(np.zeros(1, np.float32)), (0, 1, 1))
    assert reports == []


def test_a_tensor_of_a_gpu_is_refused(driver: DriverConfig) -> None:
    cells = np.zeros(700, np.float32)
    with check.triton(), pytest.raises(ValueError, match=r"a tensor is on .*; the checker takes"):
        launch(driver, Tensor(cells, where="cuda"), Tensor(cells), (1, 1, 1))


def test_without_triton_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(CaptureUnavailableError, match=r"needs .*: pip install"), check.triton():
        pass
