"""Two CTAs of a tile block that multiply together (`cta_group::2`): right, or found to be wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile import Problem, emulated, evaluated, simulated
from kernels.cutile.matmul import product_problem
from kernels.cutile.persistent import persistent_problem
from tests.support.orders import some
from tests.support.ptx_edits import Edit, changing
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.explanation.compilation.reasons import reasons_in
from tileas_xdsl.transforms.plan_cta.cta_pairs import NOT_PAIRED

ORDERS = ("lazy", "eager", "random", "drift")
SLOW = pytest.mark.slow


def _of_two(problem: Problem) -> Problem:
    return replace(problem, kernel=problem.kernel.replace_hints(num_ctas=2))


def _product(
    name: str, element: str, sizes: tuple[int, int, int], tiles: tuple[int, int, int]
) -> Problem:
    return _of_two(product_problem(name, element, "f32", sizes, tiles))


PAIRS: Mapping[str, tuple[Problem, int]] = {
    # Tile blocks end behind the rows and the columns, of which the first problem alone has two.
    "f16, B as K x N": (_product("matmul", "f16", (264, 136, 88), (256, 128, 16)), 4),
    # Half of 64 columns is half of a panel of the widest swizzle: B has a narrower one.
    "bf16, narrow": (_product("matmul", "bf16", (136, 64, 104), (256, 64, 32)), 4),
    "e4m3, B as N x K": (_product("matmul_bt", "e4m3", (264, 56, 160), (256, 64, 64)), 4),
    # 64 rows in each CTA: half of the columns of its sums are in lanes of their own.
    "f16, 64 rows each": (_product("matmul", "f16", (136, 120, 88), (128, 128, 16)), 4),
    "bf16, 64 rows each, all columns": (
        _product("matmul", "bf16", (136, 248, 40), (128, 256, 32)),
        4,
    ),
    "e4m3, 64 rows each, few columns": (
        _product("matmul_bt", "e4m3", (136, 24, 160), (128, 32, 64)),
        4,
    ),
    # Each CTA has 256 rows, which both multiply in two parts.
    "f16, 512 rows": (_product("matmul", "f16", (520, 56, 104), (512, 64, 32)), 4),
    # Three stages of A and half of B, where two of A and all of B would fit.
    "bf16, persistent": (
        _of_two(persistent_problem("bf16", (520, 248, 136), (256, 256, 128), 2)),
        3,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_two_ctas_multiply_together(name: str) -> None:
    problem, stages = PAIRS[name]
    kernel = problem.compiled("sm_100a")
    loads = [line for line in kernel.ptx.splitlines() if "cp.async.bulk.tensor" in line]
    to_shared = [line for line in loads if ".shared::cluster.global" in line]
    assert kernel.abi.cluster == (2, 1, 1)
    assert "cta_group::1" not in kernel.ptx
    assert all("cta_group::2" in line and "multicast" not in line for line in to_shared)
    assert f"numStages = {stages}" in kernel.ir("tileas-pipeline-loads")
    assert kernel.assemble().spills == 0
    assert evaluated(problem, kernel).is_right
    assert simulated(problem, kernel).is_right
    for order in some(ORDERS, name, 4 if name in (next(iter(PAIRS)), "bf16, persistent") else 1):
        assert emulated(problem, kernel, order=order, seed=1).is_right, order


ALONE: Mapping[str, tuple[Problem, str]] = {
    "64 rows": (
        _product("matmul", "f16", (64, 264, 32), (64, 256, 16)),
        "its CTAs divide its columns, or neither rows nor columns",
    ),
    "computed operands": (
        _product("matmul_tf32", "f32", (256, 128, 32), (256, 128, 16)),
        "threads compute its operands, and two CTAs multiply what TMA loads",
    ),
    # Rows of 301 bytes are not even multiples of 4: threads load A element by element.
    "not by TMA": (
        _product("matmul", "e4m3", (256, 128, 301), (256, 128, 64)),
        "a product of two blocks reads stages, A or some of its rows and all of B",
    ),
    # Rows of 300 bytes are multiples of 4: threads copy them into stages.
    "copied by threads": (
        _product("matmul", "e4m3", (256, 128, 300), (256, 128, 64)),
        "a product of two blocks reads what TMA loads, not threads",
    ),
    # Sums that were laid out for two are those of one again.
    "not by TMA, 64 rows each": (
        _product("matmul", "e4m3", (128, 128, 301), (128, 128, 64)),
        "a product of two blocks reads stages, A or some of its rows and all of B",
    ),
}


@pytest.mark.parametrize("name", ALONE)
def test_others_say_why_each_cta_multiplies_alone(name: str) -> None:
    problem, why = ALONE[name]
    kernel = problem.compiled("sm_100a")
    assert "cta_group::2" not in kernel.ptx
    module = kernel.module_after("tileas-multicast-loads")
    assert NOT_PAIRED in str(module)
    assert why in [one.why for one in reasons_in([module]) if one.what == "products of two CTAs"]
    assert emulated(problem, kernel).is_right


_replacing = partial(changing, every=True, flags=re.DOTALL)


FAULTS: Mapping[str, tuple[Edit, str]] = {
    "the leader does not wait for the loads of both": (
        _replacing(
            r"\$W\d+:\n    mbarrier\.try_wait[^\n]*\n    @!%p\d+ bra \$W\d+;\n"
            r"(?=(?:(?!\$W).)*?tcgen05\.mma)",
            "",
        ),
        "race-RAW",
    ),
    "a stage is released in the CTA of the leader alone": (
        _replacing(r"(commit\.\S*?)\.multicast::cluster(\.b64 \[%r\d+\+\d+\]), %h\d+;", r"\1\2;"),
        "deadlock",
    ),
    "sums are full in the CTA of the leader alone": (
        _replacing(r"(commit\.\S*?)\.multicast::cluster(\.b64 \[%r\d+\]), %h\d+;", r"\1\2;"),
        "deadlock",
    ),
    "loads complete at the barrier of their own CTA": (
        _replacing(r"and\.b32 (%r\d+), (%r\d+), 4278190079;", r"mov.b32 \1, \2;"),
        "deadlock",
    ),
    "only the bytes of the leader are expected": (
        _replacing(
            r"(expect_tx\S* _, \[[^]]*\]), (\d+);",
            lambda found: f"{found[1]}, {int(found[2]) // 2};",
        ),
        "race-RAW",
    ),
    "one CTA alone allocates tensor memory": (
        _replacing(
            r"(    tcgen05\.alloc[^\n]*\n    tcgen05\.relinquish[^\n]*\n)",
            "    .reg .b32 %rank;\n    .reg .pred %odd;\n    mov.u32 %rank, %cluster_ctarank;\n"
            "    setp.ne.u32 %odd, %rank, 0;\n    @%odd bra $ONE;\n\\1$ONE:\n",
        ),
        "tensor-memory",
    ),
    "one CTA alone frees tensor memory": (
        _replacing(
            r"(    tcgen05\.dealloc[^\n]*\n)",
            "    .reg .b32 %rank;\n    .reg .pred %odd;\n    mov.u32 %rank, %cluster_ctarank;\n"
            "    setp.ne.u32 %odd, %rank, 0;\n    @%odd bra $ONE;\n\\1$ONE:\n",
        ),
        "tensor-memory",
    ),
}


ONE_TILE_BLOCK: Mapping[str, Problem] = {
    "128 rows each": _product("matmul", "f16", (256, 128, 88), (256, 128, 16)),
    "64 rows each": _product("matmul", "f16", (128, 128, 88), (128, 128, 16)),
}
"""Products of six rounds: what goes wrong between two CTAs does so in their first tile block."""


@pytest.fixture(scope="module", params=ONE_TILE_BLOCK)
def right(request: pytest.FixtureRequest) -> tuple[Problem, CompiledKernel]:
    problem = ONE_TILE_BLOCK[request.param]
    return problem, problem.compiled("sm_100a")


def test_the_kernel_without_a_fault_is_not_accused(right: tuple[Problem, CompiledKernel]) -> None:
    assert emulated(*right, order="random", seed=1).is_right


@pytest.mark.parametrize(
    "order", [*("random", "drift"), *(pytest.param(x, marks=SLOW) for x in ("lazy", "eager"))]
)
@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found(
    name: str,
    order: str,
    right: tuple[Problem, CompiledKernel],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All faults are found in every order in which asynchronous operations complete; where warps
    fall behind another of their findings may come first."""
    problem, kernel = right
    edit, kind = FAULTS[name]
    monkeypatch.setattr(kernel, "ptx", edit(kernel.ptx))
    found = emulated(problem, kernel, order=order, seed=1)
    kinds = {getattr(finding, "kind", "") for finding in found.findings}
    assert kind in kinds or (order == "drift" and kinds)
