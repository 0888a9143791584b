"""CTAs that share the tile blocks of a last wave compute what one CTA for each computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from xdsl.utils.arg_spec import ArgSpec

pytest.importorskip("cuda.tile")

from kernels.cutile import Problem, emulated, simulated
from kernels.cutile.matmul import product_problem
from tests.support.assembling import needs_ptxas
from tests.support.ptx_edits import Edit, changing
from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile, compile_module
from tileas_xdsl.interpreters.ptx.execution.state import Order
from tileas_xdsl.pipelines import PIPELINES, with_persistence
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.target.kernel_abi import TRANSFER, TRANSFER_SLOTS, TRANSFER_ZEROS
from tileas_xdsl.target.launches.persistent_launches import PersistentLaunches
from tileas_xdsl.target.launches.specializations import Grid, LaunchPredicate
from tileas_xdsl.target.launches.uneven_waves import UnevenWaves

PASS = "tileas-deal-iterations"

PRODUCT = product_problem("matmul", "f16", "f16", (632, 104, 1784), (128, 128, 64))
"""Five tile blocks of 28 iterations, of two CTAs: the third wave is shared."""

_WIDE = product_problem("matmul", "f16", "f16", (1272, 104, 1784), (256, 128, 64))
PAIRS = replace(_WIDE, kernel=_WIDE.kernel.replace_hints(num_ctas=2))
"""The same, of two CTAs for each tile block: they transfer to those that have the same rows."""


def _compiled(problem: Problem, *, dealt: bool = True) -> CompiledKernel:
    passes = [*with_persistence(PIPELINES["tileas-to-ptx"].passes, "on")]
    position = [spec.name for spec in passes].index("tileas-make-persistent")
    passes[position + 1 : position + 1] = [ArgSpec(PASS, {"mode": ("on",)})] if dealt else []
    return compile(problem.kernel, *problem.arguments(), target="sm_90a", passes=passes)


@pytest.fixture(scope="module")
def dealt() -> CompiledKernel:
    return _compiled(PRODUCT)


@pytest.mark.parametrize(("problem", "order"), [(PRODUCT, "lazy"), (PAIRS, "random")], ids=str)
def test_every_bit_is_that_of_whole_tile_blocks(problem: Problem, order: Order) -> None:
    arguments, kernel = problem.arguments(), _compiled(problem)
    assert kernel.abi.transfer_bytes == 4 * 128 * 128
    found = kernel.emulate(*arguments, grid=problem.grid, order=order, seed=1)
    whole = _compiled(problem, dealt=False).emulate(*arguments, grid=problem.grid)
    assert not found.findings
    np.testing.assert_array_equal(found.arrays[2], whole.arrays[2])


@needs_ptxas
def test_a_product_runs_on_beside_its_next_operand() -> None:
    """Sums come from memory or are zeros: ptxas sees one move of them in front of the rounds."""
    late = product_problem("matmul_tf32", "f32", "f32", (512, 104, 1784), (256, 128, 32))
    assembled = assemble(_compiled(late).ptx, "sm_90a")
    assert assembled.messages == ()
    assert assembled.spills == 0


def test_tiles_are_transferred_in_the_tile_interpreter(dealt: CompiledKernel) -> None:
    divided = replace(dealt, source=dealt.module_after("tileas-pipeline-loads"))
    assert simulated(PRODUCT, divided).is_right


def test_a_launch_has_memory_to_transfer_tiles(dealt: CompiledKernel) -> None:
    abi = dealt.abi
    assert TRANSFER in abi.parameters
    assert abi.transfer_bytes == 4 * 128 * 128
    assert abi.transfer_size((132, 1, 1)) == TRANSFER_ZEROS + 132 * abi.transfer_bytes
    stored = Executable("sm_90a", abi, dealt.ptx, b"").to_bytes()
    assert Executable.from_bytes(stored).abi == abi
    assert abi.ctas((64, 64, 1), 132) == (132, 1, 1)
    assert abi.ctas((1000, 10, 1)) == (TRANSFER_SLOTS, 1, 1)


FAULTS: Mapping[str, tuple[Edit, str]] = {
    "nobody says that it is there": (
        changing(r"^.*st\.release\.gpu.*\n", ""),
        "deadlock",
    ),
    "stores are not released": (changing(r"st\.release\.gpu", "st.relaxed.gpu"), "race-RAW"),
    "nothing is acquired": (changing(r"ld\.acquire\.gpu", "ld.relaxed.gpu"), "race-RAW"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found(
    name: str, dealt: CompiledKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit, kind = FAULTS[name]
    monkeypatch.setattr(dealt, "ptx", edit(dealt.ptx))
    found = emulated(PRODUCT, dealt, order="random", seed=1)
    assert kind in {getattr(one, "kind", "") for one in found.findings}


def test_a_launch_decides_by_its_grid() -> None:
    """The form that shares keeps what it asks, and so is found for such launches alone."""
    usual = PRODUCT.compiled("sm_90a")
    assert usual.tile_ir is not None
    uneven, even = ((133, 1, 1), True), ((264, 1, 1), False)
    of_launch = [8192] * len(usual.function.args)
    for grid, is_dealt in (uneven, even):

        def choose(predicate: LaunchPredicate, grid: Grid = grid) -> bool:
            return isinstance(predicate, PersistentLaunches | UnevenWaves) and (
                isinstance(predicate, PersistentLaunches) or predicate.suits(of_launch, grid, 132)
            )

        made = compile_module(usual.tile_ir, usual.ctx, "sm_90a", choose=choose)
        assert made.abi.is_persistent
        assert (TRANSFER in made.abi.parameters) is is_dealt
        assert made.abi.specialization == made.abi.wanted(choose)
        stored = Executable("sm_90a", made.abi, made.ptx, b"").to_bytes()
        assert Executable.from_bytes(stored).abi == made.abi
