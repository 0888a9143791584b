"""The choice among candidates: by prediction, compilation and measurement; what is kept."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas
from tileas_xdsl.executors import ExecutorError, SerialExecutor, executor_named
from tileas_xdsl.frontend.cutile.kernels import load_kernel
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.gpu.driver import DriverError
from tileas_xdsl.tuning.autotune import AutotunedKernel
from tileas_xdsl.tuning.candidates import Built, Task, build, predict
from tileas_xdsl.tuning.prediction.launch_time import Predicted
from tileas_xdsl.tuning.results import TuningResult, rank_correlation
from tileas_xdsl.tuning.space import SpaceError
from tileas_xdsl.tuning.tuner import Request, Trial, tune

pytest.importorskip("cuda.tile")

M, N, K = 4000, 512, 8192
SPACE = {"tm": (64, 128, 256), "tn": (64, 128)}
MATMUL = load_kernel(f"{Path(__file__).parents[1] / 'explanation' / 'matmul.py'}:matmul")


def cdiv(number: int, by: int) -> int:
    return -(-number // by)


def arrays() -> Sequence[Any]:
    return [np.zeros(shape, np.float16) for shape in ((M, K), (K, N), (M, N))]


def request(**options: Any) -> Request:
    a, b, c = arrays()
    named = {"a": a, "b": b, "c": c, "tm": 128, "tn": 128, "tk": 64}
    grid = lambda config: (cdiv(M, config["tm"]), cdiv(N, config["tn"]))  # noqa: E731
    return Request(MATMUL, named, SPACE, grid, **options)


class Canned(Executor):
    """Predicts by the grid: fewer blocks are faster, and spill below a number of them."""

    def __init__(self, spilling: int = 0) -> None:
        self.spilling = spilling
        self.built: list[int] = []

        self.code: Callable[[Task], str] = lambda task: ""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        task: Task = args[0]
        blocks = task.grid[0] * task.grid[1]
        if fn is predict:
            answer: object = Predicted(float(blocks), "tma", 1, 1, True, self.code(task))
        else:
            self.built.append(blocks)
            answer = Built("8 bytes are spilled" if blocks <= self.spilling else "", 128, 0)
        assert fn in (predict, build)
        future: Future[Any] = Future()
        future.set_result(answer)
        return future


def tuned(executor: Executor, **options: Any) -> TuningResult:
    measure = options.pop("measure", None)
    return tune(request(**options), executor=executor, measure=measure, cached=False)


def test_the_best_by_prediction_are_compiled_and_today_s_constants() -> None:
    executor = Canned()
    found = tuned(executor, top=2)
    assert executor.built == [16 * 4, 32 * 4]
    assert found.best == {"tm": 256, "tn": 128}
    assert found.default == {"tm": 128, "tn": 128}
    assert [one.built for one in found.candidates] == [True, True, False, False, False, False]


def test_what_spills_is_out_and_others_are_compiled_instead() -> None:
    executor = Canned(spilling=128)
    found = tuned(executor, top=2)
    assert executor.built == [64, 128, 128, 252]
    assert found.best == {"tm": 64, "tn": 128}
    assert {one.problem for one in found.candidates if one.problem} == {"8 bytes are spilled"}
    assert not tuned(Canned(spilling=10_000)).works


def test_measurements_decide_and_equal_times_keep_the_constants() -> None:
    times = {(16, 4, 1): 120.0, (32, 4, 1): 100.5, (32, 8, 1): 100.0}
    found = tuned(Canned(), measure=lambda trial: times.get(trial.grid, 300.0))
    assert found.best == found.default
    assert found.correlation is not None
    assert -1 <= found.correlation <= 1
    times[32, 8, 1] = 90.0
    found = tuned(Canned(), measure=lambda trial: times.get(trial.grid, 300.0))
    assert found.best == {"tm": 128, "tn": 64}
    assert "90.0 us" in found.table()


def test_a_prediction_is_waves_of_blocks_of_iterations() -> None:
    """128 blocks are a wave: 128 iterations of 640 cycles, of which the first ends after 1599,
    for they share the lines that they load, and a launch of 390, then a conversion of 171 and
    32768 bytes at 18 a cycle; 8 warps issue 60
    instructions each at the start, and 10 around each 512 bytes; 1830 cycles are a microsecond, the
    launch of the grid 2.85."""
    task = request().task({"tm": 128, "tn": 128})
    found = predict(task)
    assert isinstance(found, Predicted)
    cycles = 390 + 1599 + (K // 64 - 1) * 640 + 128 * 128 * 2 / 18 + 171
    issued = (8 * 60 + 10 * 128 * 128 * 2 / 512) / 4
    assert found.microseconds == pytest.approx((cycles + issued) / 1830 + 2.85)
    assert (found.waves, found.bound, found.is_exact) == (1, "shared_memory", True)


@pytest.mark.parametrize(("sizes", "count"), [((128, 128), 1), ((64, 64), 0)])
def test_candidates_are_compiled_in_the_form_that_their_launch_wants(
    sizes: tuple[int, int], count: int
) -> None:
    """128 tile blocks have a multiprocessor each, 504 have not."""
    made = build(request().task(dict(zip(("tm", "tn"), sizes, strict=True))))
    assert Executable.from_bytes(made.code).abi.specialization[2] == count


def test_results_are_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEAS_CACHE_DIR", str(tmp_path))
    first = tune(request(), executor=Canned())
    again = tune(request(), executor=SerialExecutor())
    assert (again.best, again.table()) == (first.best, first.table())


def test_a_decorated_kernel_tunes_for_its_arguments_and_launches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TILEAS_CACHE_DIR", "")
    monkeypatch.setattr("tileas_xdsl.runtime.cutile.settings.has_gpu", lambda: False)
    launched: list[Any] = []
    monkeypatch.setattr(
        "tileas_xdsl.runtime.cutile.dispatch.launch", lambda *given: launched.append(given)
    )
    made = tileas.autotune(
        space={**SPACE, "tk": (64,)},
        grid=lambda config, a, b, c: (cdiv(c.shape[0], config["tm"]), cdiv(N, config["tn"])),
        executor=Canned(),
    )(MATMUL)
    assert isinstance(made, AutotunedKernel)
    given = arrays()
    made(*given)
    made(*given)
    assert len(made.results) == 1
    (_, grid, kernel, values), _ = launched
    assert (grid, kernel, values[3:]) == ((16, 4), MATMUL, (256, 128, 64))
    with pytest.raises(TypeError, match="2 arguments; the kernel takes a, b, c"):
        made(*given[:2])
    with pytest.raises(SpaceError, match="'tz' is no parameter and no hint"):
        AutotunedKernel(MATMUL, {"tz": (1,)}, lambda config: (1,))


def test_hints_are_axes_and_launches_of_a_key_share_their_constants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The prediction is of the grid alone, so measured times decide; 0 is no hint."""
    monkeypatch.setenv("TILEAS_CACHE_DIR", "")
    launched: list[Any] = []
    monkeypatch.setattr(
        "tileas_xdsl.runtime.cutile.dispatch.launch", lambda *given: launched.append(given)
    )

    def occupancy(trial: Trial) -> float:
        return {None: 3.0, 1: 1.0, 2: 2.0}[trial.kernel._compiler_options.occupancy]

    monkeypatch.setattr("tileas_xdsl.tuning.measuring.gpu_measure", lambda stream: occupancy)
    space = {"tm": (128,), "tn": (128,), "tk": (64,), "occupancy": (2, 1)}
    made = tileas.autotune(
        space=space,
        grid=lambda config, a, b, c: (cdiv(c.shape[0], config["tm"]), cdiv(N, config["tn"])),
        executor=Canned(),
        key=lambda a, b, c: a.dtype,
    )(MATMUL)
    a, b, c = arrays()
    found = made.tune(a, b, c)
    assert (found.default["occupancy"], found.best["occupancy"]) == (0, 1)
    assert made.tune(a[:8], b, c[:8]) is found
    made(a, b, c)
    made(a, b, c)
    (_, _, kernel, values), (_, _, again, _) = launched
    assert (kernel._compiler_options.occupancy, values[3:]) == (1, (128, 128, 64))
    assert again is kernel
    with pytest.raises(SpaceError, match="'opt_level' has no effect: there is one level"):
        AutotunedKernel(MATMUL, {"opt_level": (1, 2)}, lambda config: (1,))


def test_candidates_of_the_same_code_are_compiled_once() -> None:
    executor = Canned()
    executor.code = lambda task: str(task.grid[0])  # as if tn changed nothing
    found = tuned(executor)
    assert executor.built == [32 * 4, 16 * 8, 63 * 8]
    assert "the code of tn=128" in found.table()


def test_a_candidate_that_cannot_be_launched_is_out() -> None:
    def measure(trial: Trial) -> float:
        if trial.grid == (16, 4, 1):
            raise DriverError("too many resources")
        return 1.0

    found = tuned(Canned(), top=2, measure=measure)
    assert {one.problem for one in found.candidates} == {"", "too many resources"}
    assert found.best == found.default


def test_ranks_of_equal_numbers_are_their_mean() -> None:
    assert rank_correlation([(1, 3), (2, 2), (3, 1)]) == -1
    assert rank_correlation([(1, 1), (1, 2), (2, 3)]) == pytest.approx(1.5 / 3**0.5)
    assert rank_correlation([(1, 1), (1, 2)]) is None
    assert rank_correlation([]) is None


def test_executors_have_names(monkeypatch: pytest.MonkeyPatch) -> None:
    with executor_named("serial") as executor:
        assert executor.submit(max, 1, 2).result() == 2
        assert isinstance(executor.submit(int, "x").exception(), ValueError)
    with executor_named("processes:1") as executor:
        assert executor.submit(max, 1, 2).result() == 2
    monkeypatch.setitem(sys.modules, "distributed", None)
    for name, why in (("threads", "no executor 'threads'"), ("dask://h:1", "needs the package")):
        with pytest.raises(ExecutorError, match=why), executor_named(name):
            pass
