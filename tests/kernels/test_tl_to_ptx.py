"""tl kernels as PTX: laid out, lowered, emulated; the emulator agrees with numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from kernels import tl
from kernels.kernel import Sizes
from tests.support.assembling import needs_ptxas
from tests.support.compiling import compile
from tileas_xdsl.compiler import CompiledKernel

TARGETS = ("sm_90a", "sm_100a")


@dataclass(frozen=True)
class Case:
    """A program and the size of a problem."""

    kernel: tl.BlockProgram
    sizes: Sizes

    def __str__(self) -> str:
        return f"{self.kernel} {'x'.join(map(str, self.sizes.values()))}"

    def compiled(self, target: str) -> CompiledKernel:
        """The program for a target."""
        return compile(self.kernel.text(), target)


USUAL = [Case(kind(), kind.sizes) for kind in tl.KERNELS.values()]
OTHERS = [
    Case(tl.Gemm(activation="relu", b="nk", policy="full_row"), {"m": 64, "n": 64, "k": 32}),
    Case(tl.Gemm("bf16", policy="full_col", stages=1, bk=16), {"m": 1, "n": 130, "k": 40}),
    Case(tl.Gemm(b="nk", stages=4, bk=64), {"m": 64, "n": 70, "k": 200}),
    Case(tl.DequantGemm(), {"m": 64, "n": 8, "k": 2}),
    Case(tl.Attention(d=32), {"queries": 64, "keys": 64}),
    Case(tl.Attention("bf16", bn=32), {"queries": 3, "keys": 100}),
    Case(tl.Softmax("bf16"), {"m": 9, "n": 1}),
    Case(tl.RmsNorm("f32", columns=40), {"m": 1}),
    Case(tl.Copy(element="f16"), {"m": 33, "n": 7}),
]


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("case", "target"),
    [
        *((case, TARGETS[number % 2]) for number, case in enumerate([*USUAL[:-3], *OTHERS])),
        *((case, target) for case in USUAL[-3:] for target in TARGETS),
    ],
    ids=str,
)
def test_the_emulator_agrees_with_numpy(case: Case, target: str) -> None:
    inputs = case.kernel.make_inputs(np.random.default_rng(4), case.sizes)
    found = case.compiled(target).emulate(*inputs, grid=case.kernel.grid(case.sizes))
    assert not found.findings
    deviation = case.kernel.check(inputs, found.arrays)
    assert deviation.is_right, deviation


@pytest.mark.sample(2)
@pytest.mark.parametrize("order", ["lazy", "random", "drift"])
@pytest.mark.parametrize("case", [USUAL[-3], USUAL[-1]], ids=str)
def test_copies_ahead_may_end_late(case: Case, order: str) -> None:
    inputs = case.kernel.make_inputs(np.random.default_rng(4), case.sizes)
    found = case.compiled("sm_90a").emulate(
        *inputs, grid=case.kernel.grid(case.sizes), order=order, seed=1
    )
    assert not found.findings
    assert case.kernel.check(inputs, found.arrays).is_right


def test_products_are_those_of_the_target() -> None:
    hopper, blackwell = (Case(tl.Gemm(), {}).compiled(target).ptx for target in TARGETS)
    assert "wgmma.mma_async" in hopper
    assert "tcgen05.mma" in blackwell
    assert "wgmma" not in blackwell
    for ptx in (hopper, blackwell):
        assert "cp.async.bulk.tensor" in ptx
        assert "mma.sync" not in ptx


@pytest.mark.sample(3)
@needs_ptxas
@pytest.mark.parametrize("case", USUAL[-6:], ids=str)
def test_nothing_is_spilled(case: Case) -> None:
    for target in TARGETS:
        assembled = case.compiled(target).assemble()
        assert not assembled.spills
        assert not assembled.stack
