"""The door for work that fans out: each executor runs all of it, also if a worker is killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels import make
from kernels.compiled import compiled
from tileas_xdsl.executors import ExecutorError, executor_named


def squared(number: int) -> int:
    """A piece of work."""
    return number * number


@pytest.mark.parametrize("name", ["serial", "processes:2"])
def test_all_work_is_done(name: str) -> None:
    with executor_named(name) as pool:
        assert list(pool.map(squared, range(20))) == [n * n for n in range(20)]


@pytest.mark.parametrize("name", ["threads", "serial:2", "processes:0", "dask://nowhere"])
def test_there_is_no_such_executor(name: str) -> None:
    with pytest.raises(ExecutorError, match=r"there is no|needs the package"), executor_named(name):
        raise AssertionError


# A cluster on this machine: two workers, each a process.


@pytest.fixture
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as found:
        yield found


def leave_a_mark(folder: str, number: int) -> int:
    """A piece of work that is seen while it runs: a file with the process that does it."""
    Path(folder, f"{number}.{os.getpid()}").touch()
    time.sleep(0.2)
    return number


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_work_of_a_worker_that_is_killed_is_done_by_another(cluster: Any, tmp_path: Path) -> None:
    with executor_named(f"dask://{cluster.scheduler_address.removeprefix('tcp://')}") as pool:
        waiting = [pool.submit(leave_a_mark, str(tmp_path), number) for number in range(20)]
        while len(pids := {path.suffix for path in tmp_path.iterdir()}) < 2:
            time.sleep(0.05)
        os.kill(int(min(pids).removeprefix(".")), signal.SIGKILL)
        assert [one.result(timeout=60) for one in waiting] == list(range(20))
    done = [path.stem for path in tmp_path.iterdir()]
    assert set(done) == {str(number) for number in range(20)}
    assert len(done) > 20


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_blocks_of_a_launch_run_on_a_cluster(cluster: Any) -> None:
    kernel = make("vector_add")
    sizes = kernel.sizes
    arguments, grid = kernel.make_inputs(np.random.default_rng(0), sizes), kernel.grid(sizes)
    where = f"dask://{cluster.scheduler_address.removeprefix('tcp://')}"
    for run in (compiled(kernel).emulate, compiled(kernel).simulate):
        here, there = (run(*arguments, grid=grid, jobs=jobs) for jobs in (1, where))
        for one, other in zip(here.arrays, there.arrays, strict=True):
            np.testing.assert_array_equal(one, other)
