"""GEMMs of tiled copies and a tiled MMA: numpy and the emulator agree, ptxas is content."""

from __future__ import annotations

import numpy as np
import pytest
from support.assembling import needs_nvdisasm

from kernels.compiled import ORDERS, TWO_ORDERS, compiled, emulated
from kernels.kernel import Sizes
from kernels.sass import TILED_GEMMS, facts
from kernels.tiled_gemm import TiledGemm
from tileas_xdsl.compiler import compile
from tileas_xdsl.pipelines import PIPELINES

KERNELS = (TiledGemm(), TiledGemm(instruction="tcgen05", element="bf16"))
MORE = (
    TiledGemm(element="e4m3", bn=128, stages=2),
    TiledGemm(element="bf16", bn=256, stages=2),
    TiledGemm(instruction="tcgen05", element="e4m3", bn=128, stages=4),
    TiledGemm(instruction="tcgen05", bn=32),
)


def ragged(seed: int) -> Sizes:
    """Sizes whose rows are whole pieces of 16 bytes in any element, and nothing else."""
    m, n, k = np.random.default_rng(seed).integers(1, 18, 3)
    return {"m": int(m) * 13, "n": int(n) * 4, "k": int(k) * 16}


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_it_computes_what_numpy_does(kernel: TiledGemm) -> None:
    for seed, order in enumerate(TWO_ORDERS):
        found = emulated(kernel, ragged(seed), order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kernel", [*KERNELS, *MORE], ids=str)
def test_it_does_for_any_size_in_every_order(kernel: TiledGemm, seed: int) -> None:
    for order in ORDERS:
        found = emulated(kernel, ragged(seed), order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


def test_it_is_one_instruction_for_each_step() -> None:
    by_wgmma, by_tcgen05 = (compiled(kernel) for kernel in KERNELS)
    assert by_wgmma.ptx.count("wgmma.mma_async") == by_tcgen05.ptx.count("tcgen05.mma") == 4
    for made in (by_wgmma, by_tcgen05):
        assert made.ptx.count("cp.async.bulk.tensor.2d.shared::cluster") == 2
        assert made.ptx.count("cp.async.bulk.tensor.2d.global") == 2


def test_views_and_atoms_are_gone() -> None:
    left = compiled(KERNELS[1]).ir("convert-cute-to-nvgpu")
    for name in (
        "cute.memref",
        "make_atom",
        "cute.gemm",
        "tma_partition",
        "coord_tensor",
        "desc_v",
    ):
        assert name not in left


@pytest.mark.parametrize(
    ("kernel", "right", "wrong"),
    [
        (KERNELS[0], '%group) <{operand_id = "A"}>', '%here) <{operand_id = "A"}>'),
        (KERNELS[0], "%below = arith.constant 128", "%below = arith.constant 96"),
        (KERNELS[0], "(%stage) : (i32)", "(%k) : (i32)"),
        (KERNELS[1], '(%reads, %sc, %thread)', '(%reads, %sc, %here)'),
        (KERNELS[1], '    cute_nvgpu.arch.sm100.wait_tmem "load"\n', ""),
        (KERNELS[1], '"accum_c"] = %adds', '"accum_c"] = %zero_if'),
    ],
)  # fmt: skip
def test_a_wrong_text_is_found(
    kernel: TiledGemm, right: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The emulator finds a wrong row, stage or accumulator, without the verifier's help."""
    monkeypatch.setenv("TILEAS_VERIFY_EACH", "0")
    text = kernel.text()
    assert right in text
    made = compile(
        text.replace(right, wrong, 1), kernel.target, passes=PIPELINES[kernel.pipeline].passes
    )
    sizes = {"m": 128, "n": 64, "k": 320}
    inputs = kernel.make_inputs(np.random.default_rng(0), sizes)
    found = made.emulate(*inputs, grid=kernel.grid(sizes), order="lazy", limit=20_000)
    assert found.findings or not found.finished or not kernel.check(inputs, found.arrays).is_right


def test_variants_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="no gemm multiplies f16 by mma"):
        TiledGemm(instruction="mma")


@needs_nvdisasm
@pytest.mark.parametrize("kernel", TILED_GEMMS, ids=str)
def test_it_is_within_the_bars(kernel: TiledGemm) -> None:
    assert [*facts(kernel).problems] == []
