"""Kernels without layouts and atoms: the passes find those that their writers would have chosen."""

from __future__ import annotations

from typing import Any

import pytest
from support.assembling import needs_nvdisasm
from support.stripping import strip

from kernels import Copy, Gemm, Kernel, Softmax, VectorAdd
from kernels.simulating import parse
from tileas_xdsl.backend.sass import disassemble
from tileas_xdsl.compiler import CompiledKernel, compile


def _gemm(bm: int = 128, bn: int = 128, bk: int = 64, **parameters: Any) -> Kernel:
    return Gemm(bm=bm, bn=bn, bk=bk, **parameters)


def _tcgen05(consumers: int = 1, **parameters: Any) -> Kernel:
    return _gemm(instruction="tcgen05", consumers=consumers, **parameters)


BLACKWELL = [
    _tcgen05(),
    _tcgen05(bn=256, stages=4, element="bf16", output="bf16", epilogue="tma"),
    _tcgen05(2, element="e4m3", b="nk", bk=128, output="f16", epilogue="tma"),
    _tcgen05(2, bn=256, persistent=2, form="scalar"),
    _tcgen05(element="e4m3", cluster=2),
    _tcgen05(pair=2, b="nk"),
    _tcgen05(2, bm=256, stages=2, pair=2, b="nk", element="e4m3", form="scalar"),
    _tcgen05(
        bn=256, pair=2, b="nk", element="bf16", output="bf16", epilogue="tma", persistent=4, group=2
    ),
]
KERNELS = [
    _gemm(),
    _gemm(element="bf16", output="f16", epilogue="tma"),
    _gemm(element="e4m3", b="nk", consumers=1),
    _gemm(form="scalar", cluster=2, persistent=4),
    _gemm(bn=256, stages=4, element="bf16", output="bf16", epilogue="tma"),
    VectorAdd(),
    Copy("f32"),
    Softmax("f16", rows=4, columns=256),
    *BLACKWELL,
]


def _stripped(kernel: Kernel) -> CompiledKernel:
    module = parse(kernel.text())
    assert strip(module) >= 2
    return compile(module, kernel.target)


@pytest.mark.sample(5)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_ptx_is_the_same(kernel: Kernel) -> None:
    assert _stripped(kernel).ptx == compile(parse(kernel.text()), kernel.target).ptx


@needs_nvdisasm
def test_the_main_loop_is_as_tight() -> None:
    made = _stripped(KERNELS[4])
    loops = disassemble(made.cubin())["gemm"].loops_with("HGMMA")
    assert [loop.count("HGMMA") for loop in loops] == [4, 4]
    assert [loop.count("WARPGROUP.DEPBAR") for loop in loops] == [1, 1]
    assert [loop.count("MOV") for loop in loops] == [0, 0]
    assert made.assemble().spills == 0
