"""Three kernels in Triton, and the PTX that it makes of them for sm_90a.

    python -m tests.interpreters.ptx.triton_kernels FOLDER

writes `triton_add.ptx` and the others; `pip install 'tileas-xdsl[triton]'` first.  It needs no GPU.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

# Said, because Triton warns where it is not.
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")


@triton.jit
def add(a, b, c, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    exists = at < n
    tl.store(c + at, tl.load(a + at, mask=exists) + tl.load(b + at, mask=exists), mask=exists)


@triton.jit
def softmax(x, y, n, stride, block: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, block)
    v = tl.load(x + row * stride + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * stride + at, e / tl.sum(e, axis=0), mask=at < n)


@triton.jit
def matmul(a, b, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    columns = tl.program_id(1) * bn + tl.arange(0, bn)
    inner = tl.arange(0, bk)
    total = tl.zeros((bm, bn), tl.float32)
    for first in range(0, k, bk):
        left = tl.load(a + rows[:, None] * k + (first + inner)[None, :])
        right = tl.load(b + (first + inner)[:, None] * n + columns[None, :])
        total += tl.dot(left, right)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


KERNELS = {
    "add": (add, {"a": "*fp32", "b": "*fp32", "c": "*fp32", "n": "i32"}, {"block": 1024}),
    "softmax": (
        softmax,
        {"x": "*fp32", "y": "*fp32", "n": "i32", "stride": "i32"},
        {"block": 1024},
    ),
    "matmul": (
        matmul,
        {"a": "*fp16", "b": "*fp16", "c": "*fp32", "m": "i32", "n": "i32", "k": "i32"},
        {"bm": 64, "bn": 64, "bk": 64},
    ),
}


def ptx_of(name: str) -> str:
    """What Triton makes of a kernel."""
    function, signature, constants = KERNELS[name]
    types = {**signature, **dict.fromkeys(constants, "constexpr")}
    source = ASTSource(fn=function, signature=types, constexprs=constants)
    compiled: Any = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    return compiled.asm["ptx"]


if __name__ == "__main__":
    for kernel in KERNELS:
        Path(sys.argv[1], f"triton_{kernel}.ptx").write_text(ptx_of(kernel), encoding="utf-8")
