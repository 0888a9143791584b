"""GEMMs with one consumer, with persistent blocks, with B as N x K: on the emulator, for ptxas."""

from __future__ import annotations

from typing import Any

import pytest
from support.assembling import needs_ptxas

from kernels import Gemm
from kernels.compiled import ORDERS, TWO_ORDERS, compiled, emulated
from tileas_xdsl.backend.ptxas import assemble


def _gemm(bn: int = 128, bk: int = 64, stages: int = 4, **parameters: Any) -> Gemm:
    return Gemm(bm=128, bn=bn, bk=bk, stages=stages, **parameters)


ONE_CONSUMER = [
    _gemm(consumers=1),
    _gemm(consumers=1, element="bf16", form="scalar", epilogue="tma", cluster=2),
    Gemm(bm=64, bn=256, bk=64, stages=4, consumers=1, form="scalar"),
]
PERSISTENT = [
    _gemm(persistent=2, group=1),
    _gemm(persistent=3, stages=5, element="bf16", form="scalar", epilogue="tma", output="f16"),
    _gemm(256, stages=3, persistent=2, group=2, cluster=2, epilogue="tma"),
    _gemm(persistent=16, consumers=1, epilogue="tma"),
]
EIGHT_BITS = [
    _gemm(element="e4m3", b="nk"),
    _gemm(bk=128, element="e4m3", b="nk", form="scalar", epilogue="tma", output="f16"),
    _gemm(256, stages=5, element="e4m3", b="nk", cluster=2, epilogue="tma", output="bf16"),
    _gemm(256, 128, 3, element="e4m3", b="nk", form="scalar"),
    _gemm(bk=128, stages=3, element="e4m3", b="nk", persistent=4, group=2, cluster=2),
]
SIXTEEN_BITS = [_gemm(element="bf16", b="nk", form="scalar"), _gemm(256, element="f16", b="nk")]
VARIANTS = [*ONE_CONSUMER, *PERSISTENT, *EIGHT_BITS, *SIXTEEN_BITS]

SIZES = ({"m": 300, "n": 272, "k": 208}, {"m": 1, "n": 16, "k": 16})
FEW_BLOCKS = ({"m": 140, "n": 136, "k": 208}, SIZES[1])


@pytest.mark.sample(4)
@pytest.mark.parametrize("kernel", VARIANTS, ids=str)
def test_the_ptx_computes_what_numpy_does(kernel: Gemm) -> None:
    for sizes, order in zip(FEW_BLOCKS, TWO_ORDERS, strict=True):
        found = emulated(kernel, sizes, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: "x".join(map(str, sizes.values())))
@pytest.mark.parametrize("kernel", VARIANTS, ids=str)
def test_the_ptx_computes_it_in_every_order(kernel: Gemm, sizes: dict[str, int]) -> None:
    for order in ORDERS:
        found = emulated(kernel, sizes, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


@needs_ptxas
@pytest.mark.parametrize("kernel", VARIANTS, ids=str)
@pytest.mark.sample(7)
def test_ptxas_takes_it_without_warnings_or_spills(kernel: Gemm) -> None:
    made = assemble(compiled(kernel).ptx)
    assert 0 < made.registers <= 255


def test_persistent_blocks_need_no_more_barriers() -> None:
    """The pipeline goes on from tile to tile: barriers are initialised once."""
    once, often = (compiled(kernel).ptx for kernel in (_gemm(), _gemm(persistent=2)))
    assert once.count("mbarrier.init") == often.count("mbarrier.init") > 0
