"""How fast the tile interpreter is: a GEMM of 1024^3, operations per second, schedules, traces.

    python benchmarks/simulator.py [--size 1024] [--repeat 5]

Medians of several runs in one process; the bar is 1 s for f16 with tiles of 128x128x64.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from kernels import make
from kernels.simulating import parse
from tileas_xdsl.interpreters.tile.launch import Schedule, simulate
from tileas_xdsl.tools.failures import ends_with_its_reader

BAR = 1.0
"""Seconds for the f16 GEMM."""


def measure(element: str, form: str, size: int, repeat: int, schedule: Schedule, jobs: int) -> str:
    """One line of the table."""
    kernel = make("gemm", element=element, form=form, bm=128, bn=128, bk=64)
    sizes = dict.fromkeys(kernel.sizes, size)
    inputs = list(kernel.make_inputs(np.random.default_rng(0), sizes))
    module = parse(kernel.text())
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        run = simulate(module, inputs, grid=kernel.grid(sizes), schedule=schedule, jobs=jobs)
        times.append(time.perf_counter() - start)
    seconds = statistics.median(times)
    worst = kernel.check(inputs, run.arrays)
    return (
        f"{element:8} {form:7} {schedule.policy:12} {jobs:4} {seconds:8.3f} s "
        f"{run.operations / seconds:10,.0f} op/s {run.cycles:8} cycles  error {worst.error:.2e}, "
        f"{worst.share:.1%} of its bound"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__};")
    print(f"GEMM of {options.size}^3, tiles of 128x128x64, bar {BAR} s")
    cases = [
        ("f16", "region", Schedule(), 1),
        ("f16", "scalar", Schedule(), 1),
        ("bf16", "region", Schedule(), 1),
        ("e4m3", "region", Schedule(), 1),
        ("f16", "region", Schedule("adversarial"), 1),
        ("f16", "region", Schedule("random", 1), 1),
        ("f16", "region", Schedule(), 2),
    ]
    for element, form, schedule, jobs in cases:
        print(measure(element, form, options.size, options.repeat, schedule, jobs))


if __name__ == "__main__":
    with ends_with_its_reader():
        main()
