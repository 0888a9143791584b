"""tl kernels agree with numpy within rounding for any sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.transforms.canonicalize import CanonicalizePass as Canonicalize
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

from kernels import tl
from kernels.__main__ import main
from kernels.kernel import Sizes
from kernels.simulating import parse, run
from tileas_xdsl.dialects.tl.kernel import KernelOp


@dataclass(frozen=True)
class Case:
    """A program and the size of a problem."""

    kernel: tl.BlockProgram
    sizes: Sizes

    def __str__(self) -> str:
        return f"{self.kernel} {'x'.join(map(str, self.sizes.values()))}"


USUAL = [Case(kind(), kind.sizes) for kind in tl.KERNELS.values()]
TILES = [
    Case(kind(element=element), {"m": m, "n": n})
    for kind in (tl.Copy, tl.Add, tl.Transpose)
    for element in ("f32", "f16", "bf16", "i32")
    for m, n in ((16, 32), (33, 7))
]
OTHERS = [
    Case(tl.Outer(rows=5, columns=6), {"m": 11, "n": 1}),
    Case(tl.Histogram(bins=7, chunk=100), {"n": 100}),
    Case(tl.Softmax("f16"), {"m": 3, "n": 64}),
    Case(tl.Softmax("bf16"), {"m": 9, "n": 1}),
    Case(tl.RmsNorm("bf16"), {"m": 8}),
    Case(tl.RmsNorm("f32", columns=40), {"m": 1}),
    Case(tl.ColumnSums(rows=3, columns=5), {"m": 100, "n": 9}),
    Case(tl.Gemm(activation="relu", b="nk", policy="full_row"), {"m": 64, "n": 64, "k": 32}),
    Case(tl.Gemm("bf16", policy="full_col", stages=1, bk=16), {"m": 1, "n": 130, "k": 40}),
    Case(tl.DequantGemm(), {"m": 64, "n": 8, "k": 2}),
    Case(tl.Attention(d=32), {"queries": 64, "keys": 64}),
    Case(tl.Attention("bf16", bn=32), {"queries": 3, "keys": 100}),
    Case(tl.Attention(bm=32, stages=1), {"queries": 40, "keys": 7}),
]


@pytest.mark.sample(49)
@pytest.mark.parametrize("case", [*USUAL, *TILES, *OTHERS], ids=str)
@pytest.mark.parametrize("data", [1, 2])
def test_a_program_equals_numpy(case: Case, data: int):
    found = run(case.kernel, case.sizes, data=data)
    assert found.deviation.is_right, found.deviation


@pytest.mark.parametrize("case", USUAL, ids=str)
def test_a_program_has_a_kernel_with_threads(case: Case):
    module = parse(case.kernel.text())
    (kernel,) = [op for op in module.walk() if isinstance(op, KernelOp)]
    assert kernel.thread_count >= 64
    assert len(kernel.extents) <= sum(n > 1 for n in case.kernel.grid(case.sizes)) + 1


@pytest.mark.parametrize("case", USUAL, ids=str)
def test_cleaning_up_keeps_the_meaning(case: Case):
    module, ctx = parse(case.kernel.text()), Context()
    for passes in (Canonicalize(), CommonSubexpressionElimination(), DeadCodeElimination()):
        passes.apply(ctx, module)
    assert run(case.kernel, case.sizes, module=module).deviation.is_right


def test_a_wrong_program_is_not_near():
    """The bounds are tight: attention whose sums do not shrink with the maximum is far off."""
    kernel = tl.Attention()
    text = kernel.text().replace("math.fma %old, %by, %new", "math.fma %old, %old, %new")
    assert text != kernel.text()
    assert not run(kernel, module=parse(text)).deviation.is_right


@pytest.mark.parametrize(
    ("kernel", "one", "other"),
    [
        (tl.Gemm(), "arith.addf %sum, %shift", "arith.subf %sum, %shift"),
        (tl.DequantGemm(), "constant 8 : i8", "constant 7 : i8"),
        (tl.Softmax(), "arith.select %exists, %v, %lowest", "arith.select %exists, %v, %v"),
        (tl.RmsNorm(), "1.0e-5", "1.0e-2"),
        (tl.ColumnSums(), "{clear = false}", ""),
    ],
    ids=str,
)
def test_a_small_edit_is_found(kernel: tl.BlockProgram, one: str, other: str):
    text = kernel.text().replace(one, other)
    assert text != kernel.text()
    assert not run(kernel, module=parse(text)).deviation.is_right


def test_programs_are_listed_and_printed(capsys: pytest.CaptureFixture[str]):
    assert main([], tl.KERNELS) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(tl.KERNELS)
    assert main(["gemm", "activation=relu"], tl.KERNELS, "x") == 0
    assert capsys.readouterr().out == tl.Gemm(activation="relu").text()
    assert main(["gemm", "activation=no"], tl.KERNELS, "x") == 2
    assert capsys.readouterr().err.startswith("x: no gemm has activation 'no'")


def test_inputs_are_random_and_outputs_are_not_there_before():
    for kind in tl.KERNELS.values():
        kernel = kind()
        one, other = (
            kernel.make_inputs(np.random.default_rng(seed), kernel.sizes) for seed in (1, 2)
        )
        assert any(not np.array_equal(a, b) for a, b in zip(one, other, strict=True))
        assert set(kernel.reference(one)) <= set(range(len(one)))
