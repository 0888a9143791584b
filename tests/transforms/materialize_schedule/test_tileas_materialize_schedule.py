"""`tileas-materialize-schedule` and `tileas-materialize-async`: rotated loops give the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import takewhile
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.arg_spec import ArgSpec

from kernels.cutile import Problem, emulated
from kernels.cutile.attention import Attention
from kernels.cutile.attention_backward import Gradients
from kernels.cutile.matmul import matmul  # pyright: ignore[reportUnknownVariableType]
from tests.cutile_loops import sparse  # pyright: ignore[reportUnknownVariableType]
from tests.support.ir import parse
from tests.support.orders import in_turns
from tileas_xdsl.compiler import CompiledKernel, compile, passes_to_ptx
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import ConsumerReleaseOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.pipelines.turns import TurnOp
from tileas_xdsl.interpreters.ptx.execution.state import Order
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.launch import Schedule, simulate
from tileas_xdsl.scheduling.schedule_attributes import clear_schedule
from tileas_xdsl.transforms.conversion.convert_tileas_to_cute_nvgpu import NO_TURNS
from tileas_xdsl.transforms.pipeline_loads.fewer_stages import take_stages
from tileas_xdsl.transforms.pipelining.tileas_materialize_async import TileasMaterializeAsync
from tileas_xdsl.transforms.pipelining.tileas_materialize_schedule import (
    NOT_MATERIALIZED,
    NOT_ROTATED,
    TileasMaterializeSchedule,
)

PLACE = (
    "tileas.schedule = {{stage = {0} : i32, order = {1} : i32, start = {2} : i32, "
    'role = "{3}", unit = "{4}"}}'
)
TEXT = """
func.func @chained(%q: memref<?x?xf16>, %k: memref<?x?xf16>, %v: memref<?x?xf16>,
    %o: memref<?x?xf32>, %n: index)
    attributes {{nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>}} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %vq = nv_tileas.view %q : memref<?x?xf16> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %vk = nv_tileas.view %k : memref<?x?xf16> -> !nv_tileas.tiled_view<32x16xf16, gmem>
  %vv = nv_tileas.view %v : memref<?x?xf16> -> !nv_tileas.tiled_view<16x16xf16, gmem>
  %vo = nv_tileas.view %o : memref<?x?xf32> -> !nv_tileas.tiled_view<64x16xf32, gmem>
  %a = nv_tileas.tiled_load %vq[%zero, %zero] {{atom = #nv_tileas<atom tma_load_2d>}}
    : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  %sum, %most = scf.for %i = %zero to %n step %one iter_args(%acc = %none, %seen = %none)
      -> (tensor<64x16xf32>, tensor<64x16xf32>) {{
    %x = nv_tileas.tiled_load %vk[%zero, %i] {{atom = #nv_tileas<atom tma_load_2d>, {load}}}
      : !nv_tileas.tiled_view<32x16xf16, gmem> -> tensor<32x16xf16, #nv_tileas<space smem>>
    %s = nv_tileas.dot %a, %x, %none {{atom = #nv_tileas<atom wgmma_f16_f16_f32>, {first}}}
      : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x16xf16, #nv_tileas<space smem>>,
        tensor<64x16xf32> -> tensor<64x16xf32>
    %top = arith.maxnumf %seen, {compared} {{{between}}} : tensor<64x16xf32>
    %p = arith.truncf %top {{{between}}} : tensor<64x16xf32> to tensor<64x16xf16>
    %y = nv_tileas.tiled_load %vv[%i, %zero] {{atom = #nv_tileas<atom tma_load_2d>, {more}}}
      : !nv_tileas.tiled_view<16x16xf16, gmem> -> tensor<16x16xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %p, %y, %acc {{atom = #nv_tileas<atom wgmma_f16_f16_f32>, {second}}}
      : tensor<64x16xf16>, tensor<16x16xf16, #nv_tileas<space smem>>, tensor<64x16xf32>
        -> tensor<64x16xf32>
    {extra}
    scf.yield %next, %top : tensor<64x16xf32>, tensor<64x16xf32>
  }} {{tileas.schedule = {{ii = 32 : i32, roles = [
    {producer}{{name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 1 : i32}}],
    buffers = [{{value = 0 : i32, stages = 2 : i32}}, {{value = 1 : i32, stages = 3 : i32}}]}}}}
  nv_tileas.tiled_store %sum, %vo[%zero, %zero] {{atom = #nv_tileas<atom stg>}}
    : tensor<64x16xf32>, !nv_tileas.tiled_view<64x16xf32, gmem>
  func.return
}}
"""
STORE = (
    "nv_tileas.tiled_store %acc, %vo[%i, %zero] {atom = #nv_tileas<atom stg>, nv_tileas.until_read}"
    " : tensor<64x16xf32>, !nv_tileas.tiled_view<64x16xf32, gmem>"
)
PRODUCER = '{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, '


def place(stage: int, order: int, role: str = "consumer", unit: str = "issue") -> str:
    return PLACE.format(stage, order, 32 * stage + 4 * order, role, unit)


def program(first: int = 0, between: int = 0, second: int = 1, **changes: str) -> ModuleOp:
    """Two chained products; what is between them is in the stages given."""
    words = {
        "load": place(0, 0, "producer", "tma"),
        "more": place(0, 1, "producer", "tma"),
        "first": place(first, 2),
        "between": place(between, 4),
        "second": place(second, 3 if second > between else 5),
        "compared": "%s",
        "extra": "",
        "producer": PRODUCER,
    }
    return parse(TEXT.format(**{**words, **changes}))


def materialized(module: ModuleOp, *, in_background: bool = True) -> ModuleOp:
    TileasMaterializeSchedule().apply(Context(), module)
    if in_background:
        TileasMaterializeAsync().apply(Context(), module)
    verify_module(module)
    return module


def inputs(rounds: int) -> Sequence[NDArray[Any]]:
    rng = np.random.default_rng(rounds)
    shapes = ((64, 32), (32, 16 * max(rounds, 1)), (16 * max(rounds, 1), 16))
    halves = [rng.standard_normal(shape).astype(np.float16) for shape in shapes]
    return (*halves, np.full((64, 16), np.nan, np.float32))


STAGES: Mapping[str, tuple[int, int, int]] = {
    "nothing is late": (0, 0, 0),
    "the second product is late": (0, 0, 1),
    "all behind the first product is late": (0, 1, 1),
    "three stages": (0, 1, 2),
}


@pytest.mark.parametrize("stages", STAGES.values(), ids=STAGES.keys())
def test_the_results_are_the_same(stages: tuple[int, int, int]) -> None:
    """For no round at all, for fewer than there are stages, and for more."""
    after, before = materialized(program(*stages)), program(*stages)
    for rounds, policy in ((0, "round-robin"), (1, "random"), (2, "random"), (7, "adversarial")):
        arguments = (*inputs(rounds), rounds)
        wanted = simulate(before, arguments).arrays[3]
        found = simulate(after, arguments, schedule=Schedule(policy, rounds)).arrays[3]
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"extra": STORE}, "'nv_tileas.tiled_store' has effects, and no place in the schedule"),
    ],
)
def test_why_a_loop_is_not_rotated_is_said(changes: Mapping[str, Any], reason: str | None) -> None:
    module = program(**changes)
    for loop in instances_in(module, scf.ForOp):
        clear_schedule(loop)
    TileasMaterializeSchedule(default=True).apply(Context(), module)
    said = [op.attributes[NOT_ROTATED] for op in module.walk() if NOT_ROTATED in op.attributes]
    texts = [text.data for text in said if isinstance(text, StringAttr)]
    assert len(texts) == (reason is not None)
    assert all(text.startswith(reason or "") for text in texts)


def test_a_loop_without_a_producer_keeps_its_path() -> None:
    module = program(load=place(0, 0, unit="tma"), more=place(0, 1, unit="tma"), producer="")
    materialized(module)
    (said,) = (op for op in module.walk() if NOT_MATERIALIZED in op.attributes)
    assert "not both the role of a producer" in str(said.attributes[NOT_MATERIALIZED])
    assert "tileas.schedule" not in str(module)


def test_a_release_in_front_of_the_wait_is_found() -> None:
    module = materialized(program())
    waits = [op for op in module.walk() if isinstance(op, WaitOp)]
    for wait in waits:
        release = wait.next_op
        if isinstance(release, ConsumerReleaseOp):
            release.detach()
            block = wait.parent
            assert block is not None
            block.insert_op_before(release, wait)
    with pytest.raises(SimulationError):
        simulate(module, (*inputs(7), 7), schedule=Schedule("adversarial", 0))


def test_the_deepest_ring_gives_up_stages_first() -> None:
    module = materialized(program())
    (function,) = (op for op in module.walk() if isinstance(op, func.FuncOp))
    rings = [op for op in module.walk() if isinstance(op, CreatePipelineOp)]
    assert take_stages(function, 1, 2)
    assert [ring.stages for ring in rings] == [2, 2]
    verify_module(module)
    assert not take_stages(function, 1, 2)


def passes(**options: bool) -> Sequence[ArgSpec]:
    """The default passes, but the schedule that is materialised is the pass's own."""
    name = TileasMaterializeSchedule.name
    own = ArgSpec(name, {"default": (True,), **{key: (on,) for key, on in options.items()}})
    return [own if one.name == name else one for one in passes_to_ptx()]


@cache
def attention_to(keys: int, **options: bool) -> tuple[Problem, CompiledKernel]:
    problem = Attention(1, 1, 64, keys, 32, tm=64, tn=32).problem()
    chosen = passes(**options)
    return problem, compile(problem.kernel, *problem.arguments(), target="sm_90a", passes=chosen)


def attention(**options: bool) -> tuple[Problem, CompiledKernel]:
    return attention_to(100, **options)


def test_products_are_waited_for_by_their_order_of_issue() -> None:
    """In the steady state the scores' product is waited for while that of the values goes on.

    A prologue of either loop, both steady states, the epilogue of both.
    """
    _, kernel = attention()
    waits = [line.split()[-1] for line in kernel.ptx.splitlines() if "wgmma.wait_group" in line]
    assert waits == [*("0;", "0;"), *("1;", "0;"), *("1;", "0;"), "0;"]


@pytest.mark.parametrize(("keys", "order"), in_turns([(100,), (96,), (20,)]))
def test_attention_is_right_in_any_order_of_completion(order: Order, keys: int) -> None:
    """Both loops have iterations, or one alone: the masked one goes on with the first."""
    problem, kernel = attention_to(keys)
    found = emulated(problem, kernel, order=order)
    assert found.is_right, str(found)


@cache
def two_groups(**options: bool) -> tuple[Problem, CompiledKernel]:
    """Attention of two warpgroups whose powers cost more than their products."""
    problem = Attention(1, 1, 128, 200, 64, tm=128, tn=64).problem()
    chosen = passes(**options)
    return problem, compile(problem.kernel, *problem.arguments(), target="sm_90a", passes=chosen)


@pytest.mark.parametrize(
    ("rows", "columns", "size", "is_rotated"),
    [(128, 128, 64, True), (256, 128, 32, False), (128, 64, 256, True)],
)
def test_products_run_apart_where_registers_hold_both(
    rows: int, columns: int, size: int, is_rotated: bool
) -> None:
    """A round holds scores, sums, and the powers of the round before.

    What is stored behind the loop (256 columns, in f32 and f16) does not count.
    """
    problem = Attention(1, 1, 256, 128, size, tm=rows, tn=columns).problem()
    scheduled = takewhile(lambda one: one.name != "tileas-pipeline-loads", passes_to_ptx())
    kernel = compile(problem.kernel, *problem.arguments(), target="sm_90a", passes=[*scheduled])
    made = [op.name for op in kernel.module.walk()]
    assert ("nv_tileas.async.pipeline.agent_switch" in made) == is_rotated


def test_heads_of_256_are_right() -> None:
    problem = Attention(1, 1, 130, 200, 256, causal=True, tm=128, tn=64).problem()
    kernel = problem.compiled("sm_90a")
    assert kernel.assemble().spills == 0
    for order in ("lazy", "random"):
        assert emulated(problem, kernel, order=order).is_right, order


def test_products_of_a_round_that_does_not_fit_two_run_at_once() -> None:
    """Gradients of attention: both products of scores are issued before either is waited for."""
    problem = Gradients(1, 1, 200, 128, tn=128, of="all").problem()
    kernel = problem.compiled("sm_90a")
    assert kernel.ptx.count("wgmma.wait_group.sync.aligned 1") == 3
    assert kernel.assemble().spills == 0
    for order in ("lazy", "random"):
        assert emulated(problem, kernel, order=order, seed=1).is_right


def test_groups_take_turns_by_themselves() -> None:
    """So attention of head size 64 is the fastest (docs/decisions/scheduling.md)."""
    problem, kernel = two_groups(turns=True)
    assert "bar.arrive" in kernel.ptx
    assert problem.compiled("sm_90a").ptx == kernel.ptx
    assert "bar.arrive" not in two_groups()[1].ptx


def test_groups_whose_products_take_longer_than_powers_take_no_turns() -> None:
    """The loads of a bias do, too: 371 TFLOP/s with turns, 400 without, at head size 128."""
    t, blocks = 128, np.zeros((2, 5), np.int32)
    rows, keys, bias = (np.empty(shape, np.float16) for shape in ((256, t), (512, t), (256, 512)))
    arguments = (rows, keys, keys, bias, blocks, rows, 0.1, t, t)
    laid_out = takewhile(lambda one: one.name != "tileas-pipeline-loads", passes(turns=True))
    made = compile(cast("Any", sparse), *arguments, target="sm_90a", passes=[*laid_out])
    operations = [op.name for op in made.module.walk()]
    assert "nv_tileas.async.pipeline.agent_switch" in operations
    assert TurnOp.name not in operations


@pytest.mark.parametrize("order", ["eager", "lazy"])
def test_groups_that_wait_ahead_are_right(order: Order) -> None:
    """They wait for a stage in front of each loop and at its end, and take no turns."""
    problem, kernel = two_groups(ahead=True)
    found = emulated(problem, kernel, order=order)
    assert found.is_right, str(found)
    waits = two_groups()[1].ptx.count("mbarrier.try_wait")
    assert "bar.arrive" not in kernel.ptx
    assert kernel.ptx.count("mbarrier.try_wait") == waits + 2


@pytest.mark.parametrize("order", ["eager", "lazy"])
def test_groups_that_take_turns_are_right(order: Order) -> None:
    problem, kernel = two_groups(turns=True)
    found = emulated(problem, kernel, order=order)
    assert found.is_right, str(found)
    assert re.findall(r"bar\.\w+ 14, \d+", kernel.ptx) == ["bar.arrive 14, 256", "bar.sync 14, 256"]


def test_a_turn_is_passed_on_among_the_powers() -> None:
    """Behind a quarter of them, in a loop, and the second product is waited for right there."""
    _, kernel = two_groups(turns=True)
    found = re.search(
        r"bar\.sync %r\d+, 256;(.*?)bar\.arrive %r\d+, 256;(.*?)\n\$L", kernel.ptx, re.S
    )
    assert found is not None
    before, behind = found.groups()
    powers = [text.count("ex2.approx") for text in (before, behind)]
    assert powers == [8, 24 + 2]  # of 32, and of two rows
    assert re.search(r"\$(W\d+):\s*$", before)
    rest = behind.split("\n", 2)
    assert re.fullmatch(r"\s*@%p\d+ bra \$W\d+;", rest[1])
    assert "wgmma.wait_group.sync.aligned 0;" in rest[2].split("ex2.approx", 1)[0]


def test_a_turn_that_is_not_passed_on_is_a_deadlock() -> None:
    problem, kernel = two_groups(turns=True)
    text, count = re.subn(r"bar\.arrive %r\d+, 256;", "", kernel.ptx)
    assert count == 2  # of two loops
    run = with_text(kernel, text).emulate(*problem.arguments(0), grid=problem.grid)
    assert "deadlock" in str(run.findings[0]).lower()


def test_groups_that_meet_between_their_products_take_no_turns() -> None:
    """A barrier of all groups, where only one of them runs, would wait forever."""
    _, kernel = two_groups(turns=True)
    text = kernel.ir("tileas-materialize-async")
    text = text.replace(
        'nv_tileas.async.turn "pass"', 'nv_tileas.fence_alias nv_tileas.async.turn "pass"'
    )
    made = compile(text)
    assert "bar.sync 2, 256" in made.ptx
    assert "bar.arrive" not in made.ptx
    assert NO_TURNS in made.ir("convert-tileas-to-cute-nvgpu")


def with_text(kernel: CompiledKernel, text: str) -> CompiledKernel:
    """The kernel with other PTX."""
    changed = replace(kernel)
    changed.__dict__["ptx"] = text
    return changed


@cache
def gemm() -> tuple[Sequence[Any], CompiledKernel]:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((64, 136), (136, 32)))
    arguments = (a, b, np.zeros((64, 32), np.float32), 64, 32, 16)
    made = compile(cast("Any", matmul), *arguments, target="sm_90a", passes=passes(defer=True))
    return arguments, made


@pytest.mark.parametrize("order", ["eager", "lazy", "random"])
def test_a_product_runs_while_the_next_one_is_issued(order: Order) -> None:
    """The loop waits for the product of the round before, the code behind it for the last one."""
    arguments, kernel = gemm()
    assert kernel.ptx.count("wgmma.wait_group.sync.aligned 1") == 1
    found = kernel.emulate(*arguments, order=order)
    assert not found.findings
    wanted = arguments[0].astype(np.float64) @ arguments[1].astype(np.float64)
    np.testing.assert_allclose(found.arrays[2], wanted, atol=1e-3)


def test_a_hint_asks_for_as_many_ctas_as_roles_have_registers_for() -> None:
    """Sums of 64x256 by one warpgroup take more than half of the registers."""
    a, b = np.zeros((64, 64), np.float16), np.zeros((64, 256), np.float16)
    arguments = (a, b, np.zeros((64, 256), np.float32), 64, 256, 64)
    kernel = cast("Any", matmul).replace_hints(occupancy=2)
    made = compile(kernel, *arguments, target="sm_90a", passes=passes(defer=True))
    assert "occupancy" not in made.ir("tileas-materialize-schedule")
    assert "setmaxnreg" in made.ptx


def test_a_stage_released_before_its_product_is_complete_is_found() -> None:
    arguments, kernel = gemm()
    text = kernel.ptx.replace("wait_group.sync.aligned 1", "wait_group.sync.aligned 2")
    assert with_text(kernel, text).emulate(*arguments, order="lazy").findings


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("wgmma.wait_group.sync.aligned 1", "wgmma.wait_group.sync.aligned 2"),
        ("wgmma.wait_group.sync.aligned 0", "wgmma.wait_group.sync.aligned 1"),
    ],
)
def test_wrong_counts_of_waits_are_found(before: str, after: str) -> None:
    problem, kernel = attention()
    assert before in kernel.ptx
    text = kernel.ptx.replace(before, after)
    arguments = problem.arguments(0)
    run = with_text(kernel, text).emulate(*arguments, grid=problem.grid, order="lazy")
    assert run.findings
