"""Check kernels of Triton on the emulator: which are parsed, run and right, and what is found.

    pip install triton torch
    python benchmarks/foreign_kernels.py sm_90a sm_100a

It needs no GPU.  The kernels are our own; a row is a kernel and a target, `right` compares with
PyTorch, findings are by severity and kind.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tileas_xdsl import check


@triton.jit
def add(a, b, c, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(c + at, tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n), mask=at < n)


@triton.jit
def softmax(x, y, n, block: tl.constexpr):
    at = tl.arange(0, block)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + tl.program_id(0) * n + at, e / tl.sum(e, axis=0), mask=at < n)


@triton.jit
def total(x, y, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.atomic_add(y, tl.sum(tl.load(x + at, mask=at < n, other=0), axis=0))


@triton.jit
def running_sum(x, y, n, block: tl.constexpr):
    at = tl.arange(0, block)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0)
    tl.store(y + tl.program_id(0) * n + at, tl.cumsum(v, axis=0), mask=at < n)


@triton.jit
def transpose(x, y, m, n, block: tl.constexpr):
    rows = tl.program_id(0) * block + tl.arange(0, block)
    columns = tl.program_id(1) * block + tl.arange(0, block)
    tile = tl.load(x + rows[:, None] * n + columns[None, :])
    tl.store(y + columns[:, None] * m + rows[None, :], tl.trans(tile))


@triton.jit
def sort_rows(x, y, n: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(y + at, tl.sort(tl.load(x + at)))


@triton.jit(noinline=True)
def factor(i):
    return i * i + 2


@triton.jit
def called(x, y, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + at, tl.load(x + at, mask=at < n) * factor(tl.program_id(0)), mask=at < n)


@triton.jit
def matmul(a, b, c, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    columns = tl.program_id(1) * bn + tl.arange(0, bn)
    inner = tl.arange(0, bk)
    acc = tl.zeros((bm, bn), tl.float32)
    for first in range(0, k, bk):
        left = tl.load(a + rows[:, None] * k + (first + inner)[None, :])
        acc += tl.dot(left, tl.load(b + (first + inner)[:, None] * n + columns[None, :]))
    tl.store(c + rows[:, None] * n + columns[None, :], acc)


@triton.jit
def matmul_tma(a, b, c, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    row, column = tl.program_id(0) * bm, tl.program_id(1) * bn
    acc = tl.zeros((bm, bn), tl.float32)
    for first in range(0, k, bk):
        acc += tl.dot(a.load([row, first]), b.load([first, column]))
    c.store([row, column], acc)


Case = Callable[[], tuple[torch.Tensor, torch.Tensor]]
"""Launches a kernel; returns its result and the right one."""


def vectors(kernel: Any, reference: Callable[[torch.Tensor], torch.Tensor], rows: int) -> Case:
    """A kernel of one array, a block for each row of 500."""

    def case() -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.randn(rows, 500)
        y = torch.empty_like(x)
        kernel[(rows,)](x, y, 500, block=512)
        return y, reference(x)

    return case


def sum_of_vectors() -> tuple[torch.Tensor, torch.Tensor]:
    a, b, c = torch.randn(1000), torch.randn(1000), torch.empty(1000)
    add[(4,)](a, b, c, 1000, block=256)
    return c, a + b


def sum_of_all() -> tuple[torch.Tensor, torch.Tensor]:
    x, y = torch.randint(-9, 9, (1000,)).float(), torch.zeros(1)
    total[(4,)](x, y, 1000, block=256)
    return y, x.sum(0, keepdim=True)


def transposed() -> tuple[torch.Tensor, torch.Tensor]:
    x, y = torch.randn(64, 128), torch.empty(128, 64)
    transpose[(2, 4)](x, y, 64, 128, block=32)
    return y, x.T


def sorted_rows() -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randn(3, 128)
    y = torch.empty_like(x)
    sort_rows[(3,)](x, y, n=128)
    return y, x.sort(1).values


def through_function() -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randn(500)
    y = torch.empty_like(x)
    called[(2,)](x, y, 500, block=256)
    return y, x * torch.where(torch.arange(500) < 256, 2, 3)


def product(dtype: torch.dtype, *, tma: bool, tile: int = 64) -> Case:
    """A product of 128 x K and K x 128, by pointers or tensor descriptors; K is five tiles."""
    k = 5 * tile

    def case() -> tuple[torch.Tensor, torch.Tensor]:
        a, b = torch.randn(128, k).to(dtype), torch.randn(k, 128).to(dtype)
        c = torch.empty(128, 128)
        if tma:
            maps = [TensorDescriptor.from_tensor(t, [tile, tile]) for t in (a, b, c)]
            matmul_tma[(128 // tile,) * 2](*maps, k, bm=tile, bn=tile, bk=tile)
        else:
            matmul[(128 // tile,) * 2](a, b, c, 128, k, bm=tile, bn=tile, bk=tile)
        return c, a.double().matmul(b.double()).float()

    return case


CASES: dict[str, Case] = {
    "add": sum_of_vectors,
    "softmax": vectors(softmax, lambda x: x.softmax(1), 3),
    "atomic sum": sum_of_all,
    "cumsum": vectors(running_sum, lambda x: x.cumsum(1), 3),
    "transpose": transposed,
    "sort": sorted_rows,
    "noinline function": through_function,
    "matmul f16": product(torch.float16, tma=False),
    "matmul bf16": product(torch.bfloat16, tma=False),
    "matmul f32 (tf32)": product(torch.float32, tma=False, tile=32),
    "matmul f16 by TMA": product(torch.float16, tma=True),
    "matmul bf16 by TMA": product(torch.bfloat16, tma=True),
}


def row(name: str, target: str) -> str:
    """Run a case; a refusal is shown, and no end of the table."""
    torch.manual_seed(0)
    try:
        with check.triton(target) as reports:
            found, wanted = CASES[name]()
    except Exception as error:
        return f"| {name} | {target} | no | | {type(error).__name__}: {' '.join(str(error).split())[:90]} |"
    tolerance = 0.1 if "tf32" in name else 1e-3
    right = "yes" if torch.allclose(found, wanted, tolerance, tolerance) else "NO"
    kinds = Counter(f"{f.severity} {f.kind}" for report in reports for f in report.findings)
    shown = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "none"
    return f"| {name} | {target} | yes | {right} | {shown} |"


def main() -> None:
    print(f"Triton {triton.__version__}\n\n| kernel | target | run | right | findings |")
    print("|---|---|---|---|---|")
    for target in sys.argv[1:] or ["sm_90a", "sm_100a"]:
        for name in CASES:
            print(row(name, target), flush=True)


if __name__ == "__main__":
    main()
