"""Compiled kernels: the emulator, the interpreter and numpy agree, and ptxas is content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.assembling import needs_nvdisasm, needs_ptxas

from kernels import Copy, Gemm, Kernel, Sizes, Softmax, VectorAdd
from kernels.compiled import ORDERS, TWO_ORDERS, compiled, emulated
from kernels.simulating import run
from tests.support.orders import some
from tileas_xdsl.backend.sass import Loop, disassemble


def _gemm(bm: int = 128, bn: int = 128, bk: int = 64, **parameters: Any) -> Kernel:
    return Gemm(bm=bm, bn=bn, bk=bk, **parameters)


GEMMS = [
    _gemm(),
    _gemm(element="bf16", form="scalar"),
    _gemm(element="bf16", output="f16", epilogue="tma"),
    _gemm(bn=64, stages=5, epilogue="tma"),
    _gemm(stages=4, cluster=2),
    _gemm(element="bf16", form="scalar", epilogue="tma", cluster=2),
    _gemm(bn=256, stages=3, epilogue="tma"),
    _gemm(bn=256, stages=4, element="bf16"),
    _gemm(bn=256, stages=4, element="bf16", output="bf16", epilogue="tma", cluster=2),
]
OTHERS = [
    *(VectorAdd(element) for element in ("f32", "f16", "bf16", "i32")),
    *(Copy(element) for element in ("f32", "f16", "bf16", "e4m3", "i32")),
    *(Softmax(element) for element in ("f32", "f16", "bf16")),
]
RAGGED: Sequence[Sizes] = (
    {"m": 128, "n": 256, "k": 192},
    {"m": 300, "n": 264, "k": 200},
    {"m": 1, "n": 8, "k": 8},
)
OTHER_SIZES: dict[type[Kernel], Sequence[Sizes]] = {
    VectorAdd: ({"n": 128}, {"n": 150}, {"n": 1}),
    Copy: ({"m": 16, "n": 96}, {"m": 20, "n": 144}, {"m": 3, "n": 16}),
    Softmax: ({"m": 4, "n": 64}, {"m": 3, "n": 45}, {"m": 1, "n": 1}),
}
CASES = [
    *((kernel, sizes) for kernel in GEMMS for sizes in RAGGED),
    *((kernel, sizes) for kernel in OTHERS for sizes in OTHER_SIZES[type(kernel)]),
]


def _name(part: Kernel | Sizes) -> str:
    return str(part) if isinstance(part, Kernel) else "x".join(map(str, part.values()))


@pytest.mark.sample(6)
@pytest.mark.parametrize(("kernel", "sizes"), CASES, ids=_name)
def test_the_ptx_computes_what_numpy_does(kernel: Kernel, sizes: Sizes) -> None:
    for order in some(TWO_ORDERS, (kernel, sizes)):
        found = emulated(kernel, sizes, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "sizes"), CASES, ids=_name)
def test_the_ptx_computes_it_in_every_order(kernel: Kernel, sizes: Sizes) -> None:
    for order in ORDERS:
        found = emulated(kernel, sizes, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


@pytest.mark.parametrize("kernel", [*GEMMS[:4], *OTHERS[:1], *OTHERS[4:5]], ids=str)
def test_the_ptx_and_the_interpreter_agree(kernel: Kernel) -> None:
    """Bit for bit but for sums, whose order is free: those differ by what rounding explains."""
    sizes = {"m": 130, "n": 72, "k": 136} if isinstance(kernel, Gemm) else kernel.sizes
    tiles = run(kernel, sizes).simulation.arrays
    ptx = emulated(kernel, sizes).emulation.arrays
    for one, other in zip(tiles, ptx, strict=True):
        a, b = (np.asarray(array).astype(np.float64) for array in (one, other))
        tolerance = 2.0**-7 * np.abs(a).max() if isinstance(kernel, Gemm) else 0.0
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


@needs_ptxas
@pytest.mark.parametrize("kernel", [*GEMMS, *OTHERS], ids=str)
@pytest.mark.sample(12)
def test_ptxas_is_content(kernel: Kernel) -> None:
    """It says nothing, spills nothing, and uses what the register budgets allow."""
    made = compiled(kernel)
    assembled = made.assemble()
    assert assembled.messages == ()
    assert (assembled.spills, assembled.stack) == (0, 0)
    assert 0 < assembled.registers <= 65536 // made.abi.threads
    assert made.abi.shared_bytes <= 227 * 1024


@needs_nvdisasm
@pytest.mark.parametrize("kernel", [kernel for kernel in GEMMS if "bn=256" in str(kernel)], ids=str)
def test_the_main_loop_is_tight(kernel: Kernel) -> None:
    """Per k-block and warpgroup four products, one fence and one wait; setmaxnreg is honoured."""
    machine_code = disassemble(compiled(kernel).cubin())["gemm"]
    loops = machine_code.loops_with("HGMMA")
    assert len(loops) == 2, "one for each consumer"
    for loop in loops:
        _check(loop)
    assert sum(i.mnemonic == "USETMAXREG" for i in machine_code.instructions) == 3
    assert not any(i.mnemonic in ("LDL", "STL") for i in machine_code.instructions)


def _check(loop: Loop) -> None:
    assert loop.count("HGMMA") == 4
    assert loop.count("WARPGROUP.ARRIVE") <= 1
    assert loop.count("WARPGROUP.DEPBAR") <= 1
    assert loop.count("MOV") == 0
