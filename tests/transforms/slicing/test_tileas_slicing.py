"""`tileas-slicing` on programs that run: the same results from slices as from the loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner
from xdsl.context import Context
from xdsl.dialects import arith, scf, test
from xdsl.dialects.builtin import UNKNOWN_LOC, IntegerAttr, ModuleOp, i32
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.arg_spec import ArgSpec

from kernels import Gemm
from kernels.compiled import TWO_ORDERS
from kernels.simulating import parse as parse_kernel
from kernels.simulating import run as run_kernel
from kernels.simulating import schedules
from tests.support.assembling import needs_ptxas
from tests.support.ir import parse
from tests.support.orders import some
from tests.support.simulating import kernel, numbers
from tests.transforms.slicing.sliced import sliced
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile as compile_kernel
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.tools.tileas import app
from tileas_xdsl.transforms.loops.tileas_slicing import TileasSlicing
from tileas_xdsl.transforms.slicing.plan import AfterShares, SliceRange, plan_slices
from tileas_xdsl.transforms.slicing.rewrite import cut


def loops_of(module: ModuleOp) -> list[scf.ForOp]:
    return [op for op in module.walk() if isinstance(op, scf.ForOp)]


def innermost(module: ModuleOp) -> list[scf.ForOp]:
    loops = loops_of(module)
    around = {op.parent_op() for op in loops}
    return [op for op in loops if op not in around]


def ask(loops: Sequence[Operation], count: int) -> None:
    for loop in loops:
        loop.attributes["sliceCount"] = IntegerAttr(count, i32)


# Nested loops, tiles that are carried, memory.

TILES = {
    "m": "memref<?x?xf32>",
    "view": "!nv_tileas.tiled_view<4x8xf32, gmem>",
    "tile": "tensor<4x8xf32>",
    "row": "tensor<1x8xf32>",
    "big": "tensor<16x8xf32>",
    "all": "!nv_tileas.tiled_view<16x8xf32, gmem>",
}
BEGIN = """
  %va = nv_tileas.view %a : !m -> !view
  %vb = nv_tileas.view %b : !m -> !view
  %half = arith.constant dense<0.5> : !tile
"""
HORNER = (
    BEGIN
    + """
  %start = nv_tileas.tiled_load %vb[%zero, %zero] {atom = #ldg} : !view -> !tile
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %start) -> (!tile) {
    %x = nv_tileas.tiled_load %va[%i, %zero] {atom = #ldg} : !view -> !tile
    %y = arith.mulf %s, %half : !tile
    %z = arith.addf %y, %x : !tile
    scf.yield %z : !tile
  } {sliceCount = 3 : i32}
  nv_tileas.tiled_store %r, %vb[%zero, %zero] {atom = #stg} : !tile, !view
"""
)
"""A sum in which the order counts, from a start that is loaded."""
IN_PLACE = (
    BEGIN
    + """
  scf.for %i = %one to %n step %one {
    %before = arith.subi %i, %one : index
    %x = nv_tileas.tiled_load %va[%before, %zero] {atom = #ldg} : !view -> !tile
    %y = nv_tileas.tiled_load %va[%i, %zero] {atom = #ldg} : !view -> !tile
    %z = arith.mulf %x, %half : !tile
    %w = arith.addf %y, %z : !tile
    nv_tileas.tiled_store %w, %va[%i, %zero] {atom = #stg} : !tile, !view
  } {sliceCount = 2 : i32}
"""
)
"""Every iteration reads what the one before it wrote, in memory."""
NESTED = (
    BEGIN
    + """
  %start = nv_tileas.tiled_load %vb[%zero, %zero] {atom = #ldg} : !view -> !tile
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %start) -> (!tile) {
    %first = affine.apply affine_map<(d0) -> (d0 * 2 - 3)> (%i)
    %q = scf.for %j = %first to %n step %two iter_args(%t = %s) -> (!tile) {
      %inside = arith.maxsi %j, %zero : index
      %x = nv_tileas.tiled_load %va[%inside, %zero] {atom = #ldg} : !view -> !tile
      %y = arith.mulf %t, %half : !tile
      %z = arith.addf %y, %x : !tile
      scf.yield %z : !tile
    } {sliceCount = 3 : i32}
    %p = scf.for %j = %zero to %three step %one iter_args(%t = %q) -> (!tile) {
      %x = nv_tileas.tiled_load %va[%j, %zero] {atom = #ldg} : !view -> !tile
      %y = arith.mulf %t, %half : !tile
      %z = arith.addf %y, %x : !tile
      scf.yield %z : !tile
    } {sliceCount = 2 : i32}
    scf.yield %p : !tile
  } {sliceCount = 2 : i32}
  nv_tileas.tiled_store %r, %vb[%zero, %zero] {atom = #stg} : !tile, !view
"""
)
"""Sliced loops in a sliced loop, one of them from an affine function of its counter."""
FILLING = (
    BEGIN
    + """
  %rows = nv_tileas.view %a : !m -> !all
  %c5 = arith.constant 5 : index
  %whole = nv_tileas.tiled_load %rows[%zero, %zero] {atom = #ldg} : !all -> !big
  %r = scf.for %i = FIRST to LAST step %one iter_args(%s = %whole) -> (!big) {
    %twice = arith.muli %i, %two : index
    %next = arith.addi %twice, %one : index
    %x = nv_tileas.extract_slice %s[%twice, 0][1, 8][1, 1] : !big -> !row
    %y = nv_tileas.extract_slice %s[%next, 0][1, 8][1, 1] : !big -> !row
    %z = arith.subf %x, %y : !row
    %t = nv_tileas.insert_slice %z into %s[%i, 0][1, 8][1, 1] : !row into !big
    %u = nv_tileas.insert_slice %x into %t[%next, 0][1, 8][1, 1] : !row into !big
    scf.yield %u : !big
  } {sliceCount = COUNT : i32}
  nv_tileas.tiled_store %r, %rows[%zero, %zero] {atom = #stg} : !big, !all
"""
)
"""Rows of a carried tile are read and filled at places that move."""


def filling(first: str, last: str, count: int) -> str:
    text = FILLING.replace("FIRST", first).replace("LAST", last)
    return text.replace("COUNT", str(count))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 6])
@pytest.mark.parametrize(
    "body",
    [
        HORNER,
        IN_PLACE,
        NESTED,
        filling("%zero", "%n", 2),
        filling("%one", "%three", 2),
        filling("%zero", "%c5", 5),
        filling("%zero", "%c5", 3),
        filling("%two", "%c5", 1),
    ],
    ids=["horner", "in-place", "nested", "filling", "two", "each-its-own", "with-rest", "whole"],
)
@pytest.mark.sample(24)
def test_tiles_and_memory(body: str, n: int) -> None:
    module = parse(kernel("%a: !m, %b: !m, %n: index", body, types=TILES))
    rng = np.random.default_rng(5)
    args = [numbers(rng, (24, 8), np.float32), numbers(rng, (4, 8), np.float32), n]
    before, after = (simulate(each, args).arrays for each in (module, sliced(module)))
    assert [np.asarray(x).tobytes() for x in before] == [np.asarray(x).tobytes() for x in after]


REDUCTIONS = (
    BEGIN
    + """
  %start = nv_tileas.tiled_load %vb[%zero, %zero] {atom = #ldg} : !view -> !tile
  %r, %m = scf.for %i = %zero to %n step %one iter_args(%s = %start, %t = %half) -> (!tile, !tile) {
    %x = nv_tileas.tiled_load %va[%i, %zero] {atom = #ldg} : !view -> !tile
    %y = arith.addf %x, %s : !tile
    %z = arith.subf %y, %half : !tile
    %w = arith.maximumf %t, %x : !tile
    scf.yield %z, %w : !tile, !tile
  } {sliceCount = 3 : i32}
  nv_tileas.tiled_store %r, %vb[%zero, %zero] {atom = #stg} : !tile, !view
  nv_tileas.tiled_store %m, %va[%zero, %zero] {atom = #stg} : !tile, !view
"""
)


@pytest.mark.parametrize("n", [0, 1, 5, 6])
def test_independent_slices_reduce_to_what_the_loop_does(n: int) -> None:
    module = parse(kernel("%a: !m, %b: !m, %n: index", REDUCTIONS, types=TILES))
    rng = np.random.default_rng(5)
    args = [rng.integers(-99, 99, (rows, 8)).astype(np.float32) / 2 for rows in (24, 4)]
    independent = module.clone()
    TileasSlicing(independent=True).apply(Context(), independent)
    verify_module(independent)
    first, *others = loops_of(independent)
    assert not {*first.results} & {value for loop in others for value in loop.operands}
    before, after = (simulate(each, [*args, n]).arrays for each in (module, independent))
    assert [np.asarray(x).tobytes() for x in before] == [np.asarray(x).tobytes() for x in after]


def test_windows_of_single_iterations_are_static() -> None:
    """A tile in registers has no places that move: each slice knows its own."""
    text = kernel("%a: !m, %b: !m, %n: index", filling("%zero", "%c5", 5), types=TILES)
    inserted = [line for line in str(sliced(parse(text))).splitlines() if "insert_slice" in line]
    places = [line.split("[")[1].split(",")[0] for line in inserted]
    assert places == [str(place) for i in range(5) for place in (i, 2 * i + 1)]


# Kernels.

GEMMS = [
    Gemm(),
    Gemm(form="scalar"),
    Gemm(persistent=4, group=2),
    Gemm(persistent=3, form="scalar", stages=2),
    Gemm(cluster=2, element="bf16"),
    Gemm(instruction="tcgen05", form="scalar"),
    Gemm(consumers=1, epilogue="tma"),
]


def k_loops(module: ModuleOp) -> list[scf.ForOp]:
    """The loops over K: those that carry a pipeline's token and hold no loop."""
    return [
        loop for loop in innermost(module) if any("token" in v.type.name for v in loop.iter_args)
    ]


def bits(arrays: Sequence[Any]) -> list[bytes]:
    return [np.asarray(array).tobytes() for array in arrays]


@pytest.mark.sample(6)
@pytest.mark.parametrize("count", [2, 3, 7])
@pytest.mark.parametrize("gemm", GEMMS, ids=str)
def test_gemms_compute_the_same_bits(gemm: Gemm, count: int) -> None:
    """Five tiles of K, known when it runs; producers and consumers are sliced alike."""
    module = parse_kernel(gemm.text())
    loops = k_loops(module)
    assert len(loops) == 1 + gemm.consumers
    reference = bits(run_kernel(gemm, data=3).simulation.arrays)
    ask(loops, count)
    made = sliced(module)
    assert len(k_loops(made)) == len(loops) * (count + 1)
    for schedule in schedules(2):
        found = run_kernel(gemm, schedule=schedule, data=3, module=made)
        assert found.deviation.is_right
        assert bits(found.simulation.arrays) == reference


@pytest.mark.sample(3)
@pytest.mark.parametrize("agent", [0, 1, 2])
@pytest.mark.parametrize("form", ["region", "scalar"])
def test_one_agent_alone_may_be_sliced(form: str, agent: int) -> None:
    """What an agent does stays in order, so that the others need not know."""
    gemm = Gemm(form=form)
    module = parse_kernel(gemm.text())
    ask([k_loops(module)[agent]], 3)
    reference = bits(run_kernel(gemm, data=4).simulation.arrays)
    for schedule in schedules(2):
        found = run_kernel(gemm, schedule=schedule, data=4, module=sliced(module))
        assert bits(found.simulation.arrays) == reference


def test_the_outer_loop_of_persistent_blocks_begins_at_a_block() -> None:
    """Which is no constant, and no function of a counter."""
    module = parse_kernel(Gemm(persistent=4).text())
    outer = [op for op in loops_of(module) if op not in innermost(module)]
    ask(outer[:1], 2)
    with pytest.raises(OpError, match=r"unsupported op to be a lower bound in slicing pass $"):
        TileasSlicing().apply(Context(), module)


def test_agent_switch_speaks_for_the_loops_of_its_agents() -> None:
    one, other = (parse_kernel(Gemm().text()) for _ in range(2))
    ask(k_loops(one), 2)
    ask([op for op in other.walk() if op.name.endswith("agent_switch")], 2)
    assert str(sliced(one)) == str(sliced(other))


def test_tileas_validate_lets_it_through(tmp_path: Path) -> None:
    gemm = Gemm(form="scalar")
    module = parse_kernel(gemm.text())
    ask(k_loops(module), 2)
    file = tmp_path / "gemm.mlir"
    file.write_text(str(module))
    arguments = [f"--arg={spec}" for spec in ("f16:20x144:random", "f16:144x48:random")]
    command = ["validate", str(file), "-p", "tileas-slicing", "--grid", "2,1", *arguments]
    ran = CliRunner().invoke(app, [*command, "--arg", "f32:20x48:random", "--schedules", "4"])
    assert ran.exit_code == 0, ran.output


COMPILED = [Gemm(bm=128, bn=128, bk=64), Gemm(bm=128, bn=128, bk=64, form="scalar", persistent=2)]


@cache
def in_three_slices(gemm: Gemm) -> CompiledKernel:
    module = parse_kernel(gemm.text())
    ask(k_loops(module), 3)
    passes = [ArgSpec("tileas-slicing", {}), *PIPELINES["tileas-to-ptx"].passes]
    return compile_kernel(module, gemm.target, passes=passes)


@pytest.mark.parametrize("gemm", COMPILED, ids=str)
def test_slices_are_lowered_to_ptx(gemm: Gemm) -> None:
    """Seven tiles of K in three slices and a rest, then one tile, which is all rest."""
    made = in_three_slices(gemm)
    for k in (400, 64):
        sizes = {"m": 130, "n": 72, "k": k}
        inputs = gemm.make_inputs(np.random.default_rng(1), sizes)
        for order, seed in some(TWO_ORDERS, (gemm, k)):
            found = made.emulate(*inputs, grid=gemm.grid(sizes), order=order, seed=seed)
            assert [str(finding) for finding in found.findings] == []
            assert gemm.check(inputs, found.arrays).is_right


@needs_ptxas
def test_ptxas_is_content_with_slices() -> None:
    assembled = in_three_slices(COMPILED[0]).assemble()
    assert assembled.messages == ()
    assert (assembled.spills, assembled.stack) == (0, 0)


# The plan, and what is left alone.

TWO = """
func.func @f(%n: index, %z: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %r = scf.for %i = %c0 to %c7 step %c1 iter_args(%s = %z) -> (index) {
    %x = arith.muli %s, %i : index
    scf.yield %x : index
  } {sliceCount = 3 : i32}
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%s = %r) -> (index) {
    %x = arith.muli %s, %i : index
    scf.yield %x : index
  } {sliceCount = 2 : i32}
  func.return %q : index
}
"""


def test_the_plan_is_made_before_anything_changes() -> None:
    module = parse(TWO)
    text = str(module)
    known, dynamic = plan_slices(module, independent=False)
    assert str(module) == text
    assert known.ranges == (
        SliceRange(None, 2),
        SliceRange(2, 4),
        SliceRange(4, 6),
        SliceRange(6, None, 6),
    )
    assert dynamic.ranges == (
        SliceRange(None, AfterShares(1)),
        SliceRange(AfterShares(1), AfterShares(2)),
        SliceRange(AfterShares(2), None),
    )
    assert [list(plan.loop.initial) for plan in (known, dynamic)] == [
        [loop.iter_args[0]] for loop in loops_of(module)
    ]


def test_what_came_into_a_loop_after_its_plan_is_refused() -> None:
    module = parse(TWO)
    plans = plan_slices(module, independent=False)
    second = loops_of(module)[1]
    Rewriter.insert_op(test.TestOp(), InsertPoint.at_start(second.body.block))
    text = str(module)
    with pytest.raises(OpError) as caught:
        cut(plans)
    (report,) = caught.value.diagnostics
    expected = "'scf.for' op 'test.op' is not expected inside sliced part in SlicingPass"
    assert expected == report.headline.split("error: ")[1]
    assert str(module) == text


def _returning(op: scf.ForOp) -> None:
    """The value that the second loop begins with is returned too."""
    block = op.parent
    assert block is not None
    assert block.last_op is not None
    block.last_op.operands = [op.iter_args[0]]


def _unknown(op: scf.ForOp) -> None:
    Rewriter.insert_op(test.TestOp(), InsertPoint.at_start(op.body.block))


def _counted_by_text(op: scf.ForOp) -> None:
    op.attributes["sliceCount"] = IntegerAttr(-1, i32)


def _beginning_anywhere(op: scf.ForOp) -> None:
    op.operands[0] = op.ub


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (_counted_by_text, "The `sliceCount` need to be a `IntegerAttr`"),
        (_unknown, "unsupported op in Slicing pass"),
        (_beginning_anywhere, "unsupported op to be a lower bound in slicing pass "),
        (_returning, "fail to get an initial forOperand in slicing pass"),
    ],
)
def test_one_loop_that_cannot_be_sliced_leaves_all_as_they_are(
    spoil: Callable[[scf.ForOp], None], expected: str
) -> None:
    module = parse(TWO)
    spoil(loops_of(module)[1])
    text = str(module)
    with pytest.raises(OpError) as caught:
        TileasSlicing().apply(Context(), module)
    assert [report.message for report in caught.value.diagnostics] == [expected]
    assert str(module) == text


def test_every_operation_has_the_place_of_its_loop() -> None:
    module = parse(TWO)
    places = {op.location for op in module.walk()}
    made = sliced(module)
    for op in made.walk():
        assert op.location is not UNKNOWN_LOC
        assert op.location in places
    added = [op for op in made.walk() if isinstance(op, arith.DivUIOp)]
    assert [op.location for op in added] == [loops_of(module)[1].location]


def test_it_is_deterministic_and_idempotent() -> None:
    once, again = (sliced(parse(TWO)) for _ in range(2))
    assert str(once) == str(again) == str(sliced(once))


def test_a_long_chain_of_arithmetic_is_followed_to_its_end() -> None:
    """As a lower bound, and as a place in a slice of one iteration, which stays dynamic."""
    length = 1200
    chain = "\n".join(f"%v{k + 1} = arith.addi %v{k}, %c0 : index" for k in range(length))
    inner = "\n".join(f"%w{k + 1} = arith.addi %w{k}, %c0 : index" for k in range(length))
    text = f"""
    func.func @f(%t: tensor<4x8xf32>) -> tensor<4x8xf32> {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %r = scf.for %v0 = %c0 to %c1 step %c1 iter_args(%a = %t) -> (tensor<4x8xf32>) {{
        {chain}
        %b = scf.for %i = %v{length} to %c2 step %c1 iter_args(%s = %a) -> (tensor<4x8xf32>) {{
          scf.yield %s : tensor<4x8xf32>
        }} {{sliceCount = 2 : i32}}
        %q = scf.for %w0 = %c0 to %c2 step %c1 iter_args(%s = %b) -> (tensor<4x8xf32>) {{
          {inner}
          %x = nv_tileas.extract_slice %s[%w{length}, 0][1, 8][1, 1]
            : tensor<4x8xf32> -> tensor<1x8xf32>
          scf.yield %s : tensor<4x8xf32>
        }} {{sliceCount = 2 : i32}}
        scf.yield %q : tensor<4x8xf32>
      }}
      func.return %r : tensor<4x8xf32>
    }}
    """
    assert str(sliced(parse(text))).count("scf.for") == 6
