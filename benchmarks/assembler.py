"""Products on a GPU by `tileas-as` and cuTile's own launcher, beside our launcher and torch.

    python benchmarks/assembler.py

The cubin takes the parameters of the Tile IR entry alone, so that its CTAs build their tensor maps.
Prints the median time of each, in turns, and whether both launchers leave the same bits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

import cuda.tile as ct
import torch
from cuda.tile import _compile as compilation
from cuda.tile._cext import launch as own_launch

sys.path.insert(0, str(Path(__file__).parents[1]))
import tileas_xdsl as tileas
from benchmarks.conformance.assembler_on_path import use_assembler
from tileas_xdsl.runtime.cutile import settings
from tileas_xdsl.runtime.cutile.settings import Settings

SIZES = ((4096, 4096, 4096), (8192, 8192, 8192), (4096, 4096, 1024), (1024, 1024, 1024))
TILE = (128, 256, 64)
ROUNDS, LAUNCHES = 9, 20


@ct.kernel
def product(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C = A B."""
    i, j = ct.bid(0), ct.bid(1)
    sums = ct.zeros((tm, tn), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), (tk, tn), padding_mode=ct.PaddingMode.ZERO)
        sums = ct.mma(x, y, sums)
    ct.store(c, (i, j), sums.astype(c.dtype))


def milliseconds(runs: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The median time of a launch of each, in rounds in which they take turns."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS + 1):
        for name, run in runs.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            for _ in range(LAUNCHES):
                run()
            end.record()
            torch.cuda.synchronize()
            found[name].append(start.elapsed_time(end) / LAUNCHES)
    return {name: median(times[1:]) for name, times in found.items()}


def measured(m: int, n: int, k: int) -> str:
    """TFLOP/s of a product by each launcher, as text."""
    stream = torch.cuda.current_stream()
    a, b = (torch.randn(shape, device="cuda", dtype=torch.float16) for shape in ((m, k), (k, n)))
    c, d, e = (torch.empty(m, n, device="cuda", dtype=torch.float16) for _ in range(3))
    grid = (-(-m // TILE[0]), -(-n // TILE[1]))
    times = milliseconds(
        {
            "tileas-as": lambda: own_launch(stream, grid, product, (a, b, c, *TILE)),
            "tileas.launch": lambda: tileas.launch(stream, grid, product, (a, b, d, *TILE)),
            "torch": lambda: torch.matmul(a, b, out=e),
        }
    )
    rates = (f"{name} {2 * m * n * k / 1e9 / time:.0f}" for name, time in times.items())
    return f"TFLOP/s {', '.join(rates)}; equal bits: {torch.equal(c, d)}"


def main() -> None:
    """Measure and print."""
    settings.current = Settings("gpu")
    use_assembler(compilation)
    for size in SIZES:
        print("x".join(map(str, size)), measured(*size))


if __name__ == "__main__":
    main()
