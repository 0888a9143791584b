"""What is measured on a GPU, with tensors and times that stand in for those of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import gpu
from benchmarks.gpu_ablation import CHANGES
from benchmarks.gpu_cases import PASSES, Case, compile_with
from benchmarks.gpu_timing import COLD_BYTES, sets_for
from benchmarks.results import Results, Row
from tileas_xdsl.compiler import passes_to_ptx
from tileas_xdsl.runtime.gpu.driver import MissingDriverError, installed_driver

DIAGNOSIS = Path(gpu.__file__).parent / "measured" / "diagnosis_h200.json"


@dataclass
class Tensor:
    """As much of a tensor as `gpu` uses."""

    values: np.ndarray[Any, Any]

    def fill_(self, value: float) -> None:
        self.values[...] = value

    def float(self) -> Tensor:
        return self

    def clone(self) -> Tensor:
        return Tensor(self.values.copy())

    def norm(self) -> float:
        return float(np.linalg.norm(self.values))

    def __sub__(self, other: Tensor) -> Tensor:
        return Tensor(self.values - other.values)


@dataclass(frozen=True)
class Scaling:
    """Return a matrix-product launch with its stated cost."""

    factor: float
    milliseconds: float

    def __call__(self, data: Any) -> None:
        data["out"].values[...] = self.factor * data["x"].values


def refused(data: Any) -> None:
    raise RuntimeError("no such tiles")


def case(ours: Mapping[str, Any], tolerance: float = 1e-3) -> Case:
    def data() -> Mapping[str, Tensor]:
        x = np.random.default_rng(0).standard_normal(16)
        return {"x": Tensor(x), "out": Tensor(np.zeros(16))}

    peers = {"torch": {"": Scaling(2.0, 4.0)}, "Triton": {"a": refused, "b": Scaling(2.0, 1.0)}}
    return Case("doubling", "16", 8e6, "GB/s", data, ours, peers, tolerance, size=1 << 20)


def times(launches: Mapping[str, Any], sets: Sequence[Any], rounds: int) -> dict[str, float]:
    assert len(sets) == sets_for(1 << 20)
    return {name: run.milliseconds for name, run in launches.items()}


def test_the_fastest_variants_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu, "medians", times)
    ours = {"64": Scaling(2.0, 3.0), "128": Scaling(2.0, 2.0), "256": refused}
    row = gpu.measured(case(ours), 1)
    assert (row.value, row.others) == (4.0, {"torch": 2.0, "Triton": 8.0})
    assert row.facts == {"ms": 2.0, "our tiles": "128", "Triton's": "b", "of the best": 0.5}
    assert "16: ours 256: RuntimeError: no such tiles\n" in capsys.readouterr().out


def test_an_older_run_stands_beside() -> None:
    old = Row("doubling", "16", 2.0, "GB/s", {"torch": 1.0, "tileiras": 3.0})
    now = Row("doubling", "16", 4.0, "GB/s", {"torch": 2.0})
    assert gpu.beside(now, {"16": old}).others == {"before": 2.0, "torch": 2.0, "tileiras": 3.0}
    assert gpu.beside(now, {"8": old}) is now


def test_wrong_results_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "medians", times)
    with pytest.raises(gpu.WrongResultError, match="16: ours 64: an error of 5"):
        gpu.measured(case({"64": Scaling(1.0, 3.0)}), 1)
    with pytest.raises(gpu.WrongResultError, match="an error of nan"):
        gpu.measured(case({"64": lambda data: None}), 1)
    with pytest.raises(gpu.WrongResultError, match="no variant of ours runs"):
        gpu.measured(case({"64": refused}), 1)


def test_data_rotates_until_the_cache_is_cold() -> None:
    assert sets_for(COLD_BYTES) == 2
    assert sets_for(10 * COLD_BYTES) == 2
    assert sets_for(COLD_BYTES // 8) == 9
    assert sets_for(4) == 64


def test_every_case_has_peers_and_variants() -> None:
    pytest.importorskip("cuda.tile")
    found = [*gpu.cases("sm_90a", ())]
    assert len({(one.group, one.name) for one in found}) == len(found) >= 100
    assert all(one.ours and one.others and one.size > 0 for one in found)
    square = next(one for one in found if one.name == "2048^3 f16")
    assert square.rate(1.0) == pytest.approx(2 * 2048**3 / 1e9)
    diagnosed = {row.name for row in Results.read(DIAGNOSIS).rows}
    assert diagnosed <= {one.name for one in found}


def test_each_change_of_the_ablation_compiles_with_other_passes() -> None:
    pytest.importorskip("cuda.tile")
    found = [*gpu.cases("sm_90a", (), None, parts=True)]
    assert {name for one in found for name in one.others} > set(CHANGES)
    default = [*passes_to_ptx()]
    for name, changes in CHANGES.items():
        compile_with(changes)
        assert default != PASSES != [], name
    compile_with(())
    assert not PASSES


def test_without_a_gpu_or_torch_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        installed_driver()
    except MissingDriverError as error:
        assert gpu.main([]) == 1
        assert capsys.readouterr().err == f"benchmarks/gpu.py: {error}\n"
        return
    if find_spec("torch") is None:
        assert gpu.main([]) == 1
        assert "needs torch" in capsys.readouterr().err
