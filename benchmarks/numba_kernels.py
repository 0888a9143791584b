"""Check kernels of numba-cuda on the emulator: which run and are right, and what is found.

    pip install numba-cuda[cu13]
    python benchmarks/numba_kernels.py sm_90a sm_100a

It needs no GPU.  The kernels are our own; `right` compares with numpy.  `reversed_racy` leaves out
the barrier of `reversed_rows` and has to be found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda, float32, int32

sys.path.insert(0, str(Path(__file__).parents[1]))

from tileas_xdsl import check

TILE = 16


@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def reversed_rows(x, y):
    tile = cuda.shared.array(128, float32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    tile[t] = x[b, t]
    cuda.syncthreads()
    y[b, t] = tile[127 - t]


@cuda.jit
def reversed_racy(x, y):
    tile = cuda.shared.array(128, float32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    tile[t] = x[b, t]
    y[b, t] = tile[127 - t]


@cuda.jit
def row_sums(x, y):
    parts = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    parts[t] = x[cuda.blockIdx.x, t]
    step = 64
    while step > 0:
        cuda.syncthreads()
        if t < step:
            parts[t] += parts[t + step]
        step //= 2
    if t == 0:
        y[cuda.blockIdx.x] = parts[0]


@cuda.jit
def warp_sums(x, y):
    value = x[cuda.blockIdx.x, cuda.threadIdx.x]
    for k in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, k)
    if cuda.threadIdx.x == 0:
        y[cuda.blockIdx.x] = value


@cuda.jit
def histogram(x, y):
    mine = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        mine[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(mine, x[cuda.grid(1)], 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(y, t, mine[t])


@cuda.jit
def product(a, b, c):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    i, j = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(a.shape[1] // TILE):
        left[x, y] = a[i, k * TILE + y]
        right[x, y] = b[k * TILE + x, j]
        cuda.syncthreads()
        for n in range(TILE):
            total += left[x, n] * right[n, y]
        cuda.syncthreads()
    c[i, j] = total


Case = tuple[Any, Any, Any, Sequence[Any], Callable[[Sequence[Any]], Any], tuple[str, ...]]


def cases() -> Iterator[Case]:
    """Kernels, grids, blocks, arguments, what the last one has to be, findings they have to have."""
    rng = np.random.default_rng(0)

    def floats(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    x = floats(3, 128)
    yield axpy, 4, 128, [2.0, floats(500), floats(500)], lambda o: 2 * o[1] + o[2], ()
    for kernel, kinds in ((reversed_rows, ()), (reversed_racy, ("race-RAW",))):
        yield kernel, 3, 128, [x, np.zeros_like(x)], lambda o: o[0][:, ::-1], kinds
    yield row_sums, 3, 128, [x, np.zeros(3, np.float32)], lambda o: o[0].sum(1), ()
    yield warp_sums, 3, 32, [x[:, :32].copy(), np.zeros(3, np.float32)], lambda o: o[0].sum(1), ()
    yield (histogram, 2, 128, [rng.integers(0, 16, 256, np.int32), np.zeros(16, np.int32)],
           lambda o: np.bincount(o[0], minlength=16), ())  # fmt: skip
    a, b = floats(32, 48), floats(48, 32)
    yield (product, (2, 2), (TILE, TILE), [a, b, np.zeros((32, 32), np.float32)],
           lambda o: o[0] @ o[1], ())  # fmt: skip


def main(targets: Sequence[str]) -> int:
    """Print a row for each kernel and target; 1 where one is wrong or is blamed or missed."""
    failed = False
    print("| kernel | target | right | findings |\n|---|---|---|---|")
    for target in targets:
        for kernel, grid, block, given, wanted, kinds in cases():
            expected = wanted(given)
            with check.numba(target) as reports:
                kernel[grid, block](*given)
            right = np.allclose(given[-1], expected, atol=1e-4)
            found = tuple(sorted({f.kind for report in reports for f in report.findings}))
            failed |= not right or found != kinds
            name, shown = kernel.py_func.__name__, "yes" if right else "NO"
            print(f"| {name} | {target} | {shown} | {', '.join(found) or 'none'} |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["sm_90a", "sm_100a"]))
