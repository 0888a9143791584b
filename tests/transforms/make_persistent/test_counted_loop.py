# pyright: basic
"""CTAs that take tile blocks from a counter compute each once, and leave the counter at zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct
from xdsl.dialects import func

from kernels.cutile import Problem, emulated
from kernels.cutile.cross_entropy import problem as entropy_problem
from kernels.cutile.layer_norm import problem as norm_problem
from kernels.cutile.problem import Judged
from kernels.cutile.rms_norm import problem as rms_problem
from kernels.cutile.softmax import problem as softmax_problem
from kernels.cutile.softmax import softmax
from tests.support.orders import in_turns
from tests.support.ptx_edits import Edit, changing
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile
from tileas_xdsl.interpreters.ptx import Report
from tileas_xdsl.interpreters.ptx.execution.state import Order
from tileas_xdsl.interpreters.tile.launch import POLICIES, Schedule
from tileas_xdsl.runtime import emulation
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.kernel_abi import TRANSFER, TRANSFER_ZEROS
from tileas_xdsl.transforms.chunk_tiles.row_forms import RowForm, choose_row_form
from tileas_xdsl.transforms.kernels import tileas_chunk_tiles

ROWS = softmax_problem(softmax, "f16", 22, 1024, 1, 1024)
"""Eight CTAs in the emulator, which have sixteen rows by their numbers."""
ONE_SUM = rms_problem("f32", 13, 1024, 1, 1024)
"""Threads meet once in a round."""
WEIGHTED = norm_problem("f16", 13, 2048, 1, 2048)
"""All rows meet weights and biases, which are kept."""
LABELLED = entropy_problem("f16", 13, 1024, 1, 1024)
"""A label is loaded behind the reductions of its row in the program, and a round ahead too."""


@pytest.fixture(autouse=True)
def _rows_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load rows a round ahead, however few there are."""

    def choose(kernel: func.FuncOp, target: Target, _: str) -> RowForm | None:
        return choose_row_form(kernel, target, "ahead")

    monkeypatch.setattr(tileas_chunk_tiles, "choose_row_form", choose)


@cache
def _compiled(problem: Problem) -> CompiledKernel:
    """The kernel of a problem, once for all tests, which all choose as above."""
    return problem.compiled("sm_90a")


@pytest.mark.parametrize(
    ("problem", "order"), in_turns([(ROWS,), (ONE_SUM,), (WEIGHTED,), (LABELLED,)]), ids=str
)
def test_each_row_is_computed_once(problem: Problem, order: Order) -> None:
    kernel = _compiled(problem)
    assert "atom.relaxed.gpu.global.inc.u32" in kernel.ptx
    assert emulated(problem, kernel, order=order, seed=1).is_right


@pytest.mark.parametrize("problem", [ROWS, ONE_SUM, WEIGHTED], ids=str)
def test_no_barrier_is_added(problem: Problem) -> None:
    """The number is handed out by the last barrier of a reduction; rounds are apart by another."""
    assert _compiled(problem).ptx.count("bar.sync") == 2


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ["tileas-make-persistent", "tileas-pipeline-loads"])
def test_any_order_of_rows_has_the_same_bits(name: str, policy: str) -> None:
    kernel, arguments = _compiled(ROWS), ROWS.arguments()
    made = replace(kernel, source=kernel.module_after(name))
    first, other = (
        made.simulate(*arguments, grid=ROWS.grid, schedule=Schedule(policy, seed)).arrays
        for seed in range(2)
    )
    assert Judged(ROWS.check(arguments, first)).is_right
    np.testing.assert_array_equal(first[1], other[1])


@ct.kernel
def of_two_axes(x, y, columns: ct.Constant[int]):
    """Tile blocks along two axes: rows of two matrices, the numbers of matrices run slower."""
    i, j = ct.bid(1), ct.bid(0)
    tile = ct.load(x, (i, j, 0), (1, 1, columns))
    ct.store(y, (i, j, 0), tile - ct.max(tile, axis=2, keepdims=True))


def _launched_twice(
    kernel: CompiledKernel,
    arguments: Sequence[Any],
    grid: Sequence[int],
    monkeypatch: pytest.MonkeyPatch,
) -> Sequence[Any]:
    """Launch twice with the same hidden memory; the results of both launches."""
    left: list[Any] = []
    position = kernel.abi.parameters.index(TRANSFER)
    plain = emulation.run

    def run(module: Any, name: str, values: list[Any], *args: Any, **options: Any) -> Report:
        if left:
            values[position] = left[-1]
        report = plain(module, name, values, *args, **options)
        left.append(report.arrays[position])
        return report

    monkeypatch.setattr(emulation, "run", run)
    found = [kernel.emulate(*arguments, grid=grid, order="random", seed=n) for n in range(2)]
    assert not any(one.findings for one in found)
    assert [memory.any() for memory in left] == [False, False]
    return [one.arrays for one in found]


def test_a_launch_leaves_the_counter_as_it_found_it(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ROWS.arguments()
    for arrays in _launched_twice(_compiled(ROWS), arguments, ROWS.grid, monkeypatch):
        assert Judged(ROWS.check(arguments, arrays)).is_right


def test_numbers_are_places_in_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).standard_normal((4, 5, 1024)).astype(np.float32)
    arguments = x, np.zeros_like(x), 1024
    kernel = compile(of_two_axes, *arguments, target="sm_90a")
    for arrays in _launched_twice(kernel, arguments, (5, 4), monkeypatch):
        np.testing.assert_array_equal(arrays[1], x - x.max(axis=2, keepdims=True))


@ct.kernel
def of_loaded_depth(a, b, depths, c):
    """Products of as many tiles along K as an array says for each row of tiles."""
    i, j = ct.bid(0), ct.bid(1)
    total = ct.zeros((128, 256), ct.float32)
    for k in range(ct.load(depths, (i,), (1,)).item()):
        left, right = ct.load(a, (i, k), (128, 64)), ct.load(b, (k, j), (64, 256))
        total = ct.mma(left, right, total)
    ct.store(c, (i, j), total.astype(c.dtype))


DEPTHS = (1, 0, 2)
"""Tiles along K of each row of tiles."""
BY_TMA, BY_THREADS = 128, 130
"""Columns of A whose rows TMA loads, and those that threads copy."""


@cache
def _of_products(columns: int) -> tuple[CompiledKernel, Sequence[Any], Any]:
    """A kernel whose CTAs take products of unknown depth, its arguments, and the result."""
    random = np.random.default_rng(0)
    shapes = ((384, columns), (columns, 256))
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in shapes)
    ends = 64 * np.repeat(DEPTHS, 128)[:, None]
    left = np.where(np.arange(columns) < ends, a.astype(np.float32), 0)
    arguments = a, b, np.array(DEPTHS, np.int32), np.full((384, 256), np.nan, np.float16)
    kernel = compile(of_loaded_depth, *arguments, target="sm_90a")
    return kernel, arguments, left @ b.astype(np.float32)


@pytest.mark.parametrize("columns", [BY_TMA, BY_THREADS])
def test_a_producer_asks_for_products_of_unknown_depth(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, arguments, want = _of_products(columns)
    asked = usual.abi.persistent_launches
    assert asked is not None
    assert [asked.suits(arguments, (n, 1, 1), 132) for n in (132, 133)] == [False, True]
    kernel = usual.persistent
    assert "atom.relaxed.gpu.global.inc.u32" in kernel.ptx
    assert ("cp.async.ca" in kernel.ptx) == (columns == BY_THREADS)
    monkeypatch.setattr(type(kernel.abi), "ctas", lambda *_: (2, 1, 1))
    for arrays in _launched_twice(kernel, arguments, (3, 1), monkeypatch):
        np.testing.assert_allclose(arrays[3], want, atol=0.05)


def test_an_agent_hands_on_what_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its barrier some threads of the producer read the ids of the round before."""
    usual, arguments, _ = _of_products(BY_THREADS)
    kernel = usual.persistent
    edit = changing(r"bar\.sync 1, 128;\n(?=\s*ld\.shared)", "")
    monkeypatch.setattr(kernel, "ptx", edit(kernel.ptx))
    monkeypatch.setattr(type(kernel.abi), "ctas", lambda *_: (2, 1, 1))
    found = kernel.emulate(*arguments, grid=(3, 1), order="random", seed=1).findings
    assert "race-RAW" in {getattr(one, "kind", "") for one in found}


def test_a_launch_has_memory_for_a_counter() -> None:
    abi = _compiled(ROWS).abi
    assert abi.transfer_size((132, 1, 1)) == TRANSFER_ZEROS
    assert abi.ctas((100_000, 1, 1), 264) == (264, 1, 1)
    stored = Executable("sm_90a", abi, "", b"").to_bytes()
    assert Executable.from_bytes(stored).abi == abi


FAULTS: Mapping[str, tuple[Edit, str]] = {
    "a counter goes on from where it was": (changing(r"inc\.u32", "add.u32"), ""),
    "nobody waits for the number": (changing(r"(?s)(.*)bar\.sync 0;", r"\1"), "race-RAW"),
    "a round does not wait for the one before": (changing(r"bar\.sync 0;", ""), "race-WAR"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    edit, kind = FAULTS[name]
    kernel = _compiled(ONE_SUM)
    monkeypatch.setattr(kernel, "ptx", edit(kernel.ptx))
    if kind:
        found = emulated(ONE_SUM, kernel, order="random", seed=1).findings
        assert kind in {getattr(one, "kind", "") for one in found}
    else:
        with pytest.raises(AssertionError):
            _launched_twice(kernel, ONE_SUM.arguments(), ONE_SUM.grid, monkeypatch)
