"""Consumer Blackwell, one row of targets: kernels are right in the emulator and in ptxas's eyes.

It multiplies by `mma.sync` and a block has 99 KB of shared memory; tiles are chosen to fit.
"""

from __future__ import annotations

import numpy as np
import pytest

from kernels import tl
from kernels.gemm import Gemm
from tests.support.assembling import needs_ptxas
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.features import Feature

TARGET = "sm_120a"
PROGRAMS = (tl.Add(), tl.Softmax(), tl.RmsNorm(), tl.Gemm(), tl.Attention())


@pytest.mark.sample(3)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_block_programs(program: tl.BlockProgram) -> None:
    kernel = compile(program.text(), TARGET)
    inputs = program.make_inputs(np.random.default_rng(4), program.sizes)
    found = kernel.emulate(*inputs, grid=program.grid(program.sizes))
    assert not found.findings
    deviation = program.check(inputs, found.arrays)
    assert deviation.is_right, deviation


@pytest.mark.sample(3)
@needs_ptxas
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_block_programs_do_not_spill(program: tl.BlockProgram) -> None:
    check_code(compile(program.text(), TARGET))


def check_code(kernel: CompiledKernel) -> None:
    """Nothing is spilled, and no instruction is one that the target lacks."""
    assert ".target sm_120a" in kernel.ptx
    assert not {"wgmma", "tcgen05"} & set(kernel.ptx.replace(".", " ").split())
    assert kernel.abi.shared_bytes <= get_target(TARGET).shared_memory_per_block
    assert kernel.assemble().spills == 0


CUTILE = ("vector_add", "softmax", "layer_norm", "matmul", "attention")


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", CUTILE)
def test_kernels_of_cutile(name: str) -> None:
    """Tile IR chooses `mma.sync` for the products."""
    pytest.importorskip("cuda.tile")
    from kernels.cutile import emulated, problems, simulated
    from kernels.cutile.attention import Attention

    fitting = {"matmul": 1, "attention": 0}
    problem = list(problems(name))[fitting.get(name, 0)]
    if name == "attention":
        problem = Attention(1, 2, 100, 150, 64, tn=32).problem()
    kernel = problem.compiled(TARGET)
    assert ("mma.sync" in kernel.ptx) == (name in fitting)
    assert simulated(problem, kernel).is_right
    found = emulated(problem, kernel, order="random")
    assert found.is_right, str(found)


@pytest.mark.sample(3)
@needs_ptxas
@pytest.mark.parametrize("name", CUTILE)
def test_kernels_of_cutile_do_not_spill(name: str) -> None:
    pytest.importorskip("cuda.tile")
    from kernels.cutile import problems
    from kernels.cutile.attention import Attention

    problem = list(problems(name))[name == "matmul"]
    if name == "attention":
        problem = Attention(1, 2, 100, 150, 64, tn=32).problem()
    check_code(problem.compiled(TARGET))


def test_refusals_say_what_would_do() -> None:
    with pytest.raises(DiagnosticError, match=r"needs sm_90a; sm_120a multiplies by mma\.sync"):
        compile(Gemm(bm=64, bn=64, bk=64, consumers=1, stages=2).text(), TARGET)


def test_shared_memory_is_that_of_the_row() -> None:
    pytest.importorskip("cuda.tile")
    from kernels.cutile import problems

    large = next(problems("matmul"))
    taken = large.compiled(TARGET).abi.shared_bytes
    assert 0 < taken <= get_target(TARGET).shared_memory_per_block


def test_the_row() -> None:
    target = get_target(TARGET)
    assert (target.capability, target.ptx_version) == (120, (8, 7))
    assert target.shared_memory_per_block == 99 << 10
    assert not target.has_tensor_memory
    assert not target.matrix_unit.reads_shared_memory
    assert Feature.SETMAXNREG in target.features
    assert not {Feature.WGMMA, Feature.TCGEN05, Feature.TILE_GATHER} & target.features
    assert latencies(TARGET).peak("f16") == pytest.approx(209.5, rel=0.01)
