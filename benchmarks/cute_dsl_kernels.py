"""Check kernels of the CuTe DSL on the emulator: which run and are right, and what is found.

    pip install nvidia-cutlass-dsl
    python benchmarks/cute_dsl_kernels.py sm_90a sm_100a [--save FOLDER]

It needs no GPU: `cute.compile` of fake tensors gives PTX, which `check.ptx` launches with the grid
and the arguments that are written here.  The host code that the DSL compiles needs a driver, and is
not run.  `reverse_racy` leaves out the barrier of `reverse` and has to be found.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

os.environ["CUTE_DSL_KEEP_PTX"] = "1"

import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import make_fake_compact_tensor

from tileas_xdsl import check

THREADS = 128


@cute.kernel
def add_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    i, _, _ = cute.arch.block_idx()
    at = i * THREADS + t
    c[at] = a[at] + b[at]


@cute.jit
def add(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    add_kernel(a, b, c).launch(grid=[4, 1, 1], block=[THREADS, 1, 1])


@cute.kernel
def reverse_kernel(a: cute.Tensor, b: cute.Tensor, waits: cutlass.Constexpr):
    t, _, _ = cute.arch.thread_idx()
    i, _, _ = cute.arch.block_idx()
    shared = cutlass.memory.SmemAllocator()
    tile = shared.allocate_tensor(cutlass.Float32, cute.make_layout(THREADS), 16)
    tile[t] = a[i * THREADS + t]
    if cutlass.const_expr(waits):
        cute.arch.sync_threads()
    b[i * THREADS + t] = tile[THREADS - 1 - t]


@cute.jit
def reverse(a: cute.Tensor, b: cute.Tensor):
    reverse_kernel(a, b, True).launch(grid=[2, 1, 1], block=[THREADS, 1, 1])


@cute.jit
def reverse_racy(a: cute.Tensor, b: cute.Tensor):
    reverse_kernel(a, b, False).launch(grid=[2, 1, 1], block=[THREADS, 1, 1])


@cute.kernel
def warp_sum_kernel(a: cute.Tensor, b: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    i, _, _ = cute.arch.block_idx()
    total = a[i * 32 + t]
    for k in cutlass.range_constexpr(5):
        total = total + cute.arch.shuffle_sync_bfly(total, 1 << k)
    if t == 0:
        b[i] = total


@cute.jit
def warp_sum(a: cute.Tensor, b: cute.Tensor):
    warp_sum_kernel(a, b).launch(grid=[4, 1, 1], block=[32, 1, 1])


@cute.kernel
def transpose_kernel(a: cute.Tensor, b: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    x, y, _ = cute.arch.block_idx()
    shared = cutlass.memory.SmemAllocator()
    layout = cute.make_layout((32, 32), stride=(33, 1))
    tile = shared.allocate_tensor(cutlass.Float16, layout, 16)
    row, column = t // 32, t % 32
    for i in cutlass.range_constexpr(4):
        tile[row + 8 * i, column] = a[y * 32 + row + 8 * i, x * 32 + column]
    cute.arch.sync_threads()
    for i in cutlass.range_constexpr(4):
        b[x * 32 + row + 8 * i, y * 32 + column] = tile[column, row + 8 * i]


@cute.jit
def transpose(a: cute.Tensor, b: cute.Tensor):
    transpose_kernel(a, b).launch(grid=[2, 3, 1], block=[256, 1, 1])


@cute.kernel
def square_kernel(a: cute.Tensor, b: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    i, _, _ = cute.arch.block_idx()
    at = (None, (i * 64 + t,))
    values = cute.zipped_divide(a, (8,))[at].load()
    cute.zipped_divide(b, (8,))[at].store(values * values)


@cute.jit
def square(a: cute.Tensor, b: cute.Tensor):
    square_kernel(a, b).launch(grid=[2, 1, 1], block=[64, 1, 1])


@dataclass(frozen=True)
class Subject:
    """A function, its arrays, its launch, and what its last array has to be."""

    function: Any
    arrays: Sequence[Any]
    grid: tuple[int, ...]
    block: int
    shared: int
    wanted: Callable[[Sequence[Any]], Any]
    kinds: tuple[str, ...] = ()
    """Findings that it has to have."""


def subjects() -> Iterator[Subject]:
    """All kernels with random arrays."""
    rng = np.random.default_rng(0)

    def floats(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    yield Subject(add, [floats(512) for _ in range(3)], (4,), THREADS, 0, lambda o: o[0] + o[1])
    for function, kinds in ((reverse, ()), (reverse_racy, ("race-RAW",))):
        arrays = [floats(256), floats(256)]
        yield Subject(function, arrays, (2,), THREADS, 4 * THREADS,
                      lambda o: o[0].reshape(2, THREADS)[:, ::-1].ravel(), kinds)  # fmt: skip
    yield Subject(warp_sum, [floats(128), floats(4)], (4,), 32, 0,
                  lambda o: o[0].reshape(4, 32).sum(1))  # fmt: skip
    halves = [floats(96, 64).astype(np.float16), floats(64, 96).astype(np.float16)]
    yield Subject(transpose, halves, (2, 3), 256, 4096, lambda o: o[0].T)
    halves = [floats(1024).astype(np.float16) for _ in range(2)]
    yield Subject(square, halves, (2,), 64, 0, lambda o: o[0] * o[0])


ELEMENTS = {np.dtype(np.float32): cutlass.Float32, np.dtype(np.float16): cutlass.Float16}


def compiled(subject: Subject) -> str:
    """The PTX of a function for arrays of these types and shapes, rows first."""
    fakes = [
        make_fake_compact_tensor(
            ELEMENTS[array.dtype], array.shape, stride_order=(*range(array.ndim - 1, -1, -1),)
        )
        for array in subject.arrays
    ]
    return str(cute.compile(subject.function, *fakes).__ptx__).rstrip("\0")


def main(targets: Sequence[str], folder: Path | None = None) -> int:
    """Print a row for each kernel and target; 1 where one is wrong or is blamed or missed."""
    failed = 0
    for target in targets:
        os.environ["CUTE_DSL_ARCH"] = target
        for subject in subjects():
            name, text = subject.function.__name__, compiled(subject)
            if folder is not None:
                (folder / f"{target}_{name}.ptx").write_text(text)
            report = check.ptx(text, subject.grid, subject.arrays, subject.block,
                               shared=subject.shared, name=f"{name}.ptx")  # fmt: skip
            found = report.arrays[len(subject.arrays) - 1]
            right = np.allclose(found, subject.wanted(subject.arrays), atol=1e-5)
            kinds = tuple(sorted({f.kind for f in report.findings}))
            failed |= not right or kinds != subject.kinds
            print(f"| {name} | {target} | {'right' if right else 'wrong'} | {', '.join(kinds)} |")
    return int(failed)


if __name__ == "__main__":
    words = sys.argv[1:]
    place = Path(words.pop(words.index("--save") + 1)) if "--save" in words else None
    sys.exit(main([w for w in words if w != "--save"] or ["sm_90a"], place))
