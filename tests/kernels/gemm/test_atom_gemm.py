"""A GEMM written with layouts and atoms: the emulator and numpy agree."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.atom_gemm import AtomGemm
from kernels.compiled import TWO_ORDERS, compiled, emulated
from tests.support.orders import some
from tileas_xdsl.compiler import compile
from tileas_xdsl.pipelines import PIPELINES

KERNELS = (AtomGemm(), AtomGemm(element="bf16"))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_it_computes_what_numpy_does(kernel: AtomGemm) -> None:
    for order in some(TWO_ORDERS, kernel):
        found = emulated(kernel, kernel.sizes, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


def test_it_uses_the_instructions_of_its_atoms() -> None:
    ptx = compiled(KERNELS[0]).ptx
    for instruction in (
        "cp.async.cg",
        "ldmatrix.sync.aligned.m8n8.x4",
        "mma.sync.aligned.m16n8k16",
    ):
        assert instruction in ptx
    per_warp = (64 // 16 // 2) * (32 // 8 // 2) * (32 // 16)
    assert ptx.count("mma.sync") == per_warp


def test_views_and_atoms_are_gone() -> None:
    left = compiled(KERNELS[0]).ir("convert-cute-to-nvgpu")
    for name in ("cute.memref", "cute.make_atom", "cute.gemm", "!cute.coord"):
        assert name not in left


def test_warps_that_read_for_others_are_seen() -> None:
    """Warps are numbered along N first for the products, along M first for what they read."""
    kernel = KERNELS[0]
    text = kernel.text().replace("(2,2,1):(1,2,0)", "(2,2,1):(2,1,0)")
    assert text != kernel.text()
    made = compile(text, kernel.target, passes=PIPELINES[kernel.pipeline].passes)
    inputs = kernel.make_inputs(np.random.default_rng(2), kernel.sizes)
    found = made.emulate(*inputs, grid=kernel.grid(kernel.sizes))
    assert not kernel.check(inputs, found.arrays).is_right
