"""Check launches of the CuTe DSL on the emulator: which run and are right, and what is found.

    pip install nvidia-cutlass-dsl torch
    python benchmarks/cute_dsl_kernels.py sm_90a sm_100a [--save FOLDER]

It needs no GPU: tensors are those of the CPU, and `check.cute_dsl` captures what the compiled host
code launches.  `reverse_racy` leaves out the barrier of `reverse` and has to be found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import cutlass
import cutlass.cute as cute
import torch
from cutlass.cute.nvgpu import cpasync, warp
from cutlass.cute.runtime import from_dlpack

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


@cute.kernel
def tma_copy_kernel(atom: cute.CopyAtom, source: cute.Tensor, b: cute.Tensor, layout: cute.Layout):
    t, _, _ = cute.arch.thread_idx()
    x, y, _ = cute.arch.block_idx()
    shared = cutlass.memory.SmemAllocator()
    tile = shared.allocate_tensor(cutlass.Float16, layout, 128)
    full = shared.allocate_array(cutlass.Int64, 1)
    if t == 0:
        cute.arch.mbarrier_init(full, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.sync_threads()
    box = cute.group_modes(cute.local_tile(source, (32, 64), (x, y)), 0, 2)
    to, of = cpasync.tma_partition(atom, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2), box)
    if cute.arch.make_warp_uniform(cute.arch.warp_idx()) == 0:
        with cute.arch.elect_one():
            cute.arch.mbarrier_arrive_and_expect_tx(full, 32 * 64 * 2)
        cute.copy(atom, of, to, tma_bar_ptr=full)
    cute.arch.mbarrier_wait(full, 0)
    out = cute.local_tile(b, (32, 64), (x, y))
    for i in cutlass.range(16):
        out[(i * 2 + t // 64, t % 64)] = tile[(i * 2 + t // 64, t % 64)]


@cute.jit
def tma_copy(a: cute.Tensor, b: cute.Tensor):
    layout = cute.make_layout((32, 64), stride=(64, 1))
    load = cpasync.CopyBulkTensorTileG2SOp()
    atom, source = cpasync.make_tiled_tma_atom(load, a, layout, (32, 64))
    tma_copy_kernel(atom, source, b, layout).launch(grid=[2, 2, 1], block=[THREADS, 1, 1])


@cute.kernel
def cp_async_kernel(a: cute.Tensor, b: cute.Tensor, copy: cute.TiledCopy):
    t, _, _ = cute.arch.thread_idx()
    i, _, _ = cute.arch.block_idx()
    shared = cutlass.memory.SmemAllocator()
    tile = shared.allocate_tensor(cutlass.Float32, cute.make_layout(4 * THREADS), 16)
    mine = copy.get_slice(t)
    cute.copy(copy, mine.partition_S(cute.local_tile(a, (4 * THREADS,), (i,))),
              mine.partition_D(tile))  # fmt: skip
    cute.arch.cp_async_commit_group()
    cute.arch.cp_async_wait_group(0)
    cute.arch.sync_threads()
    for k in cutlass.range_constexpr(4):
        b[i * 4 * THREADS + k * THREADS + t] = tile[4 * THREADS - 1 - k * THREADS - t]


@cute.jit
def cp_async_reverse(a: cute.Tensor, b: cute.Tensor):
    atom = cute.make_copy_atom(cpasync.CopyG2SOp(), cutlass.Float32, num_bits_per_copy=128)
    copy = cute.make_tiled_copy_tv(atom, cute.make_layout(THREADS), cute.make_layout(4))
    cp_async_kernel(a, b, copy).launch(grid=[2, 1, 1], block=[THREADS, 1, 1])


@cute.kernel
def product_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, mma: cute.TiledMma):
    t, _, _ = cute.arch.thread_idx()
    x, y, _ = cute.arch.block_idx()
    mine = mma.get_slice(t)
    of_a = mine.partition_A(cute.local_tile(a, (32, 16), (x, None)))
    of_b = mine.partition_B(cute.local_tile(b, (32, 16), (y, None)))
    of_c = mine.partition_C(cute.local_tile(c, (32, 32), (x, y)))
    left = mma.make_fragment_A(of_a[None, None, None, 0])
    right = mma.make_fragment_B(of_b[None, None, None, 0])
    total = mma.make_fragment_C(of_c)
    total.fill(0.0)
    for k in cutlass.range_constexpr(cute.size(of_a, mode=[3])):
        cute.autovec_copy(of_a[None, None, None, k], left)
        cute.autovec_copy(of_b[None, None, None, k], right)
        cute.gemm(mma, total, left, right, total)
    cute.autovec_copy(total, of_c)


@cute.jit
def product(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    atom = warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16))
    mma = cute.make_tiled_mma(atom, cute.make_layout((2, 2, 1)))
    product_kernel(a, b, c, mma).launch(grid=[2, 2, 1], block=[THREADS, 1, 1])


@dataclass(frozen=True)
class Subject:
    """A function, its arrays, and what the last one has to be; findings that it has to have."""

    function: Any
    arrays: Sequence[Any]
    wanted: Callable[[Sequence[Any]], Any]
    kinds: tuple[str, ...] = ()
    is_dynamic: bool = False
    """Extents and strides are parameters."""


def subjects() -> Iterator[Subject]:
    """All kernels with random arrays."""
    rng = np.random.default_rng(0)

    def floats(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    def halves(*shape: int) -> Any:
        return floats(*shape).astype(np.float16)

    def reversed_blocks(arrays: Sequence[Any]) -> Any:
        return arrays[0].reshape(2, -1)[:, ::-1].ravel()

    for is_dynamic in (False, True):
        yield Subject(add, [floats(512) for _ in range(3)], lambda o: o[0] + o[1],
                      is_dynamic=is_dynamic)  # fmt: skip
    yield Subject(reverse, [floats(256), floats(256)], reversed_blocks)
    yield Subject(reverse_racy, [floats(256), floats(256)], reversed_blocks, ("race-RAW",))
    yield Subject(warp_sum, [floats(128), floats(4)], lambda o: o[0].reshape(4, 32).sum(1))
    yield Subject(transpose, [halves(96, 64), halves(64, 96)], lambda o: o[0].T)
    yield Subject(square, [halves(1024), halves(1024)], lambda o: o[0] * o[0])
    yield Subject(tma_copy, [halves(64, 128), halves(64, 128)], lambda o: o[0])
    yield Subject(cp_async_reverse, [floats(1024), floats(1024)], reversed_blocks)
    yield Subject(product, [halves(64, 64), halves(64, 64), floats(64, 64)],
                  lambda o: o[0].astype(np.float32) @ o[1].astype(np.float32).T)  # fmt: skip


def row(subject: Subject, target: str, folder: Path | None) -> tuple[str, bool]:
    """The row of a kernel and target, and whether it is as it has to be."""
    tensors = [torch.from_numpy(array.copy()) for array in subject.arrays]
    with check.cute_dsl(target, save=folder) as reports:
        given = [from_dlpack(tensor, assumed_align=16) for tensor in tensors]
        if subject.is_dynamic:
            given = [tensor.mark_layout_dynamic() for tensor in given]
        subject.function(*given)
    right = np.allclose(tensors[-1].numpy(), subject.wanted(subject.arrays), atol=1e-3)
    kinds = tuple(sorted({f.kind for report in reports for f in report.findings}))
    name = subject.function.__name__ + ", dynamic" * subject.is_dynamic
    shown = "right" if right else "wrong"
    is_as_wanted = len(reports) == 1 and right and kinds == subject.kinds
    return f"| {name} | {target} | {shown} | {', '.join(kinds)} |", is_as_wanted


def main(targets: Sequence[str], folder: Path | None = None) -> int:
    """Print a row for each kernel and target; 1 where one is wrong or is blamed or missed."""
    failed = False
    for target in targets:
        for subject in subjects():
            text, is_as_wanted = row(subject, target, folder)
            print(text, flush=True)
            failed |= not is_as_wanted
    return int(failed)


if __name__ == "__main__":
    words = sys.argv[1:]
    place = Path(words.pop(words.index("--save") + 1)) if "--save" in words else None
    sys.exit(main([w for w in words if w != "--save"] or ["sm_90a"], place))
