"""CTAs that divide the iterations of few tile blocks compute what one CTA for each computes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernels.cutile import Problem, emulated, simulated
from kernels.cutile.matmul import product_problem
from tests.support.assembling import needs_ptxas
from tests.support.ptx_edits import Edit, changing
from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile_module
from tileas_xdsl.interpreters.ptx.execution.state import Order
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.target.kernel_abi import TRANSFER
from tileas_xdsl.target.launches.divided_sums import DividedSums
from tileas_xdsl.target.launches.few_tile_blocks import FewTileBlocks
from tileas_xdsl.target.launches.specializations import LaunchPredicate, Specialization

SIZES = 130, 136, 648
"""Four tile blocks of 11 iterations, seven parts of each."""

PRODUCT = product_problem("matmul", "f16", "f16", (72, 72, 648), (64, 64, 64))
"""Threads have registers for four parts more than their own."""

WIDE = product_problem("matmul", "f16", "f16", SIZES, (128, 128, 64))
PROBLEMS = {
    "A stored as K x M": product_problem(
        "matmul_at", "bf16", "bf16", (72, 136, 648), (64, 128, 64)
    ),
    "B stored as N x K": product_problem("matmul_bt", "e4m3", "bf16", SIZES, (128, 128, 128)),
    "integers": product_problem("matmul", "i8", "i32", (40, 136, 648), (64, 64, 64)),
    "tf32": product_problem("matmul_tf32", "f32", "f32", (72, 72, 300), (64, 64, 32)),
    "by mma.sync": product_problem("matmul", "f16", "f16", (16, 72, 648), (16, 64, 64)),
}


def _divided(problem: Problem, few_ctas: int = 0) -> CompiledKernel:
    usual = problem.compiled("sm_90a")

    def choose(predicate: LaunchPredicate) -> bool:
        is_few = isinstance(predicate, FewTileBlocks) and predicate.count == few_ctas
        return is_few or isinstance(predicate, DividedSums)

    assert usual.tile_ir is not None
    made = compile_module(usual.tile_ir, usual.ctx, "sm_90a", choose=choose)
    return replace(made, parameters=usual.parameters)


@pytest.fixture(scope="module")
def divided() -> CompiledKernel:
    return _divided(PRODUCT)


@pytest.mark.parametrize("name", PROBLEMS)
def test_operands_of_all_kinds_are_divided(name: str) -> None:
    kernel = _divided(PROBLEMS[name])
    assert kernel.abi.is_divided
    assert emulated(PROBLEMS[name], kernel, order="random", seed=1).is_right


@pytest.mark.parametrize("order", ["eager", "lazy", "random", "drift"])
def test_any_order_gives_the_same_bits(order: Order, divided: CompiledKernel) -> None:
    arguments = PRODUCT.arguments()
    found = divided.emulate(*arguments, grid=PRODUCT.grid, order=order, seed=3)
    again = divided.emulate(*arguments, grid=PRODUCT.grid)
    assert not found.findings
    np.testing.assert_array_equal(found.arrays[2], again.arrays[2])


def test_parts_are_of_tile_blocks_that_two_ctas_compute() -> None:
    kernel = _divided(WIDE, few_ctas=2)
    assert kernel.abi.is_divided
    assert kernel.abi.cluster == (2, 1, 1)
    assert kernel.abi.ctas(WIDE.grid) == (2 * 7 * np.prod(WIDE.grid), 1, 1)
    assert emulated(WIDE, kernel, order="random", seed=1).is_right


def test_sums_are_added_up_in_the_tile_interpreter(divided: CompiledKernel) -> None:
    between = replace(divided, source=divided.module_after("tileas-pipeline-loads"))
    assert simulated(PRODUCT, between).is_right


@needs_ptxas
@pytest.mark.parametrize("tiles", [(128, 256, 64), (64, 64, 64)])
def test_nothing_is_spilled(tiles: tuple[int, int, int]) -> None:
    problem = product_problem("matmul", "f16", "f16", SIZES, tiles)
    assembled = assemble(_divided(problem).ptx, "sm_90a")
    assert assembled.messages == ()
    assert assembled.spills == 0


def test_a_launch_decides_by_its_grid_and_its_iterations(divided: CompiledKernel) -> None:
    abi = divided.abi
    assert abi.divided_sums is not None
    short, long = ([extent] * 15 for extent in (256, 1 << 20))
    for args, grid, suits in (
        (long, (1, 1, 1), True),
        (short, (1, 1, 1), False),
        (long, (200, 2, 1), False),
    ):
        assert abi.divided_sums.suits(args, grid, 132) is suits
    assert abi.ctas((4, 4, 1), 132, long) == (128, 1, 1)
    assert TRANSFER in abi.parameters
    assert abi.wanted(lambda one: isinstance(one, DividedSums)) == abi.specialization
    stored = Executable("sm_90a", abi, divided.ptx, b"").to_bytes()
    assert Executable.from_bytes(stored).abi == abi


def test_how_many_ctas_are_best_does_not_depend_on_what_was_compiled() -> None:
    """768x768x8192: one CTA and three parts for each of 36 tile blocks, not two CTAs and one."""
    array = (None, 768, 8192, 8192, 1), (None, 8192, 768, 768, 1), (None, 768, 768, 768, 1)
    args = [value for one in array for value in one]
    made = _divided(WIDE, few_ctas=2).abi
    assert made.divided_sums is not None
    assert made.divided_sums.ctas == 2
    wanted = made.wanted(lambda one: one.suits(args, (6, 6, 1), 132))
    assert wanted == Specialization(few_ctas=1, is_divided=True)


FAULTS: dict[str, tuple[Edit, str]] = {
    "nobody says that it is there": (changing(r"^.*st\.release\.gpu.*\n", ""), "deadlock"),
    "stores are not released": (changing(r"st\.release\.gpu", "st.relaxed.gpu"), "race-RAW"),
    "nothing is acquired": (
        changing(r"ld\.acquire\.gpu", "ld.relaxed.gpu", every=True),
        "race-RAW",
    ),
    "one lane is enough": (changing(r"vote\.sync\.any", "vote.sync.all", every=True), "race-WAR"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found(
    name: str, divided: CompiledKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit, kind = FAULTS[name]
    monkeypatch.setattr(divided, "ptx", edit(divided.ptx))
    found = emulated(PRODUCT, divided, order="random", seed=1)
    assert kind in {getattr(one, "kind", "") for one in found.findings}


def test_a_kernel_that_asks_for_one_cta_has_its_sums_in_order() -> None:
    asked = replace(PRODUCT, kernel=PRODUCT.kernel.replace_hints(num_ctas=1))
    assert asked.compiled("sm_90a").abi.divided_sums is None
    assert PRODUCT.compiled("sm_90a").abi.divided_sums is not None
