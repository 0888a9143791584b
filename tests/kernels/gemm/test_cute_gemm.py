"""GEMMs written with `cutlass` and `cute_nvgpu`: numpy and the emulator agree, ptxas is content."""

from __future__ import annotations

import numpy as np
import pytest
from support.assembling import needs_nvdisasm

from kernels.compiled import ORDERS, TWO_ORDERS, compiled, emulated
from kernels.cute_gemm import CuteGemm
from kernels.sass import CUTE_GEMMS, facts
from tests.support.orders import some
from tileas_xdsl.compiler import compile
from tileas_xdsl.pipelines import PIPELINES

KERNELS = (
    CuteGemm(),
    CuteGemm(element="bf16", produce="region", scheduler="static_persistent", groups=1, stages=2),
    CuteGemm(instruction="tcgen05"),
    CuteGemm(
        instruction="tcgen05", element="bf16", produce="region", scheduler="static_persistent"
    ),
)
MORE = (
    CuteGemm(bn=128, stages=4),
    CuteGemm(bn=256, element="e4m3"),
    CuteGemm(scheduler="static_persistent", blocks=2),
    CuteGemm(instruction="tcgen05", bn=256, element="e4m3", stages=2),
    CuteGemm(instruction="tcgen05", bn=128, scheduler="static_persistent", blocks=1),
)
SIZES = ({"m": 140, "n": 72, "k": 208}, {"m": 3, "n": 4, "k": 16}, {"m": 400, "n": 260, "k": 576})


@pytest.mark.sample(2)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_it_computes_what_numpy_does(kernel: CuteGemm) -> None:
    for order in some(TWO_ORDERS, kernel):
        found = emulated(kernel, kernel.sizes, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("kernel", [*KERNELS, *MORE], ids=str)
def test_it_does_in_every_order(kernel: CuteGemm, sizes: dict[str, int]) -> None:
    for order in ORDERS:
        found = emulated(kernel, sizes, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


def test_nothing_of_cutlass_is_left() -> None:
    kernel = compiled(KERNELS[0])
    assert "cutlass." in kernel.ir()
    assert "cutlass." not in kernel.ir("convert-pipeline-to-nvgpu")
    assert "wgmma.mma_async" in kernel.ptx


@pytest.mark.parametrize(
    ("kernel", "wrong", "right"),
    [
        (KERNELS[0], 'create "producer"', 'create "consumer"'),
        (KERNELS[0], "bytes 24576", "bytes 24575"),
        (KERNELS[2], 'create "producer" : !half', 'create "consumer" : !half'),
    ],
)
def test_a_wrong_protocol_is_found(kernel: CuteGemm, wrong: str, right: str) -> None:
    """Pipeline ends that start with the wrong phase, bytes that never arrive."""
    text = kernel.text()
    assert wrong in text
    made = compile(
        text.replace(wrong, right), kernel.target, passes=PIPELINES[kernel.pipeline].passes
    )
    inputs = kernel.make_inputs(np.random.default_rng(0), kernel.sizes)
    found = made.emulate(*inputs, grid=kernel.grid(kernel.sizes), limit=20_000)
    assert found.findings or not found.finished


def test_variants_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="no gemm multiplies by mma"):
        CuteGemm(instruction="mma")
    with pytest.raises(ValueError, match="no gemm multiplies by wgmma and fills x"):
        CuteGemm(produce="x")
    with pytest.raises(ValueError, match="no gemm is scheduled x"):
        CuteGemm(scheduler="x")


@needs_nvdisasm
@pytest.mark.parametrize("kernel", CUTE_GEMMS[1:3], ids=str)
def test_it_is_within_the_bars(kernel: CuteGemm) -> None:
    assert [*facts(kernel).problems] == []
