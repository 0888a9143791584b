"""`tileas-pipeline-loads`: the same results before and after; what agents get, and why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr

from tests.support.ir import parse
from tileas_xdsl.analysis.memory.shared_memory import tile_bytes
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpecAttr
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import STAGES_ARE_A_HINT, CreatePipelineOp
from tileas_xdsl.interpreters.tile.launch import Schedule, simulate
from tileas_xdsl.transforms.memory.tileas_choose_tma import TileasChooseTma
from tileas_xdsl.transforms.pipeline_loads.fewer_stages import take_stages
from tileas_xdsl.transforms.pipelining.tileas_pipeline_loads import (
    NOT_PIPELINED,
    TileasPipelineLoads,
)

TEXT = """
func.func @matmul(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>, %n: index)
    attributes {{nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<{spec}>}} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %va = nv_tileas.view %a : memref<?x?xf16> -> !nv_tileas.tiled_view<{m}x{k}xf16, gmem>
  %vb = nv_tileas.view %b : memref<?x?xf16> -> !nv_tileas.tiled_view<{k}x{n}xf16, gmem>
  %vc = nv_tileas.view %c : memref<?x?xf32> -> !nv_tileas.tiled_view<{m}x{n}xf32, gmem>
  %start = arith.constant dense<0.0> : tensor<{m}x{n}xf32>
  {ahead}
  %sum, %last = scf.for %i = %zero to %n step %one iter_args(%acc = %start, %seen = %zero)
      -> (tensor<{m}x{n}xf32>, index) {{
    {before}
    %x = nv_tileas.tiled_load %va[%zero, {at}] {{{hint} atom = #nv_tileas<atom tma_load_2d>}}
      : !nv_tileas.tiled_view<{m}x{k}xf16, gmem> -> tensor<{m}x{k}xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %vb[{at}, %zero] {{atom = #nv_tileas<atom tma_load_2d>}}
      : !nv_tileas.tiled_view<{k}x{n}xf16, gmem> -> tensor<{k}x{n}xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {{atom = #nv_tileas<atom {unit}_f16_f16_f32>}}
      : tensor<{m}x{k}xf16, #nv_tileas<space smem>>, tensor<{k}x{n}xf16, #nv_tileas<space smem>>,
        tensor<{m}x{n}xf32> -> tensor<{m}x{n}xf32>
    %more = arith.addi %seen, %i : index
    scf.yield %next, %more : tensor<{m}x{n}xf32>, index
  }}
  nv_tileas.tiled_store %sum, %vc[%zero, %zero] {{atom = #nv_tileas<atom stg>}}
    : tensor<{m}x{n}xf32>, !nv_tileas.tiled_view<{m}x{n}xf32, gmem>
  func.return
}}
"""

USUAL: Mapping[str, object] = {
    "spec": "num_warps = 4",
    "m": 64,
    "n": 64,
    "k": 32,
    "at": "%i",
    "ahead": "",
    "before": "",
    "hint": "",
    "unit": "wgmma",
}


def program(**changes: object) -> ModuleOp:
    return parse(TEXT.format(**{**USUAL, **changes}))


def piped(target: str = "sm_90a", **changes: object) -> ModuleOp:
    module = program(**changes)
    TileasPipelineLoads(target).apply(Context(), module)
    verify_module(module)
    return module


def inputs(rounds: int, sizes: Mapping[str, int]) -> Sequence[NDArray[Any]]:
    rng = np.random.default_rng(rounds)
    a = rng.standard_normal((sizes["m"], sizes["k"] * rounds)).astype(np.float16)
    b = rng.standard_normal((sizes["k"] * rounds, sizes["n"])).astype(np.float16)
    return a, b, np.full((sizes["m"], sizes["n"]), np.nan, np.float32)


SIZES = {"m": 64, "n": 64, "k": 32}


@pytest.mark.parametrize("rounds", [0, 1, 3, 9])
def test_the_results_are_the_same(rounds: int) -> None:
    """For no round at all, fewer than there are stages, and more."""
    a, b, c = inputs(max(rounds, 1), SIZES)
    arguments = (a, b, c, rounds)
    before = simulate(program(), arguments).arrays[2]
    for policy, seed in (("round-robin", 0), ("random", 1), ("adversarial", 2)):
        found = simulate(piped(), arguments, schedule=Schedule(policy, seed)).arrays[2]
        np.testing.assert_array_equal(found, before)
    assert np.abs(before).max() > 1 or rounds == 0


def test_values_that_loops_carry_stay_what_they_are() -> None:
    """The places of tiles may depend on numbers from in front of the loop."""
    changes = {"ahead": "%twice = arith.addi %one, %one : index", "before": AT_TWICE, "at": "%at"}
    arguments = (*inputs(6, SIZES), 3)
    before = simulate(program(**changes), arguments).arrays[2]
    after = simulate(piped(**changes), arguments).arrays[2]
    np.testing.assert_array_equal(after, before)


AT_TWICE = "%at = arith.muli %i, %twice : index"


@pytest.mark.parametrize(
    ("changes", "stages", "warps", "registers"),
    [
        ({}, 4, (4, 4), (40, 216)),
        ({"hint": "latency = 1 : i32,"}, 2, (4, 4), (40, 216)),
        ({"hint": "latency = 10 : i32,"}, 8, (4, 4), (40, 216)),
        ({"k": 128}, 3, (4, 4), (40, 216)),
        ({"k": 256}, 3, (4, 4), (56, 232)),
        ({"m": 128, "n": 128, "k": 64}, 3, (4, 4), (40, 216)),
        ({"m": 128, "n": 256, "k": 64}, 4, (4, 8), (40, 232)),
        ({"m": 64, "n": 256, "k": 32}, 4, (4, 4), (56, 232)),
        ({"m": 128, "n": 128, "k": 64, "unit": "tcgen05"}, 4, (4, 8), (72, 216)),
        ({"m": 128, "n": 128, "k": 128}, 3, (4, 8), (40, 232)),
        ({"spec": "num_warps = 4, occupancy = 2"}, 4, (4, 4), (40, 216)),
        ({"spec": "num_warps = 4, occupancy = 2", "n": 256, "k": 64}, 4, (4, 4), (56, 232)),
        ({"spec": "num_warps = 4, occupancy = 3", "m": 128, "n": 256}, 4, (4, 8), (40, 232)),
        ({"spec": "num_warps = 4, occupancy = 2", "m": 128, "n": 128}, 4, (4, 4), (40, 216)),
    ],
)
def test_what_the_agents_get(
    changes: Mapping[str, object],
    stages: int,
    warps: tuple[int, int],
    registers: tuple[int, int],
) -> None:
    module = piped(**changes)
    (pipeline,) = (op for op in module.walk() if isinstance(op, CreatePipelineOp))
    (switch,) = (op for op in module.walk() if isinstance(op, AgentSwitchOp))
    assert pipeline.stages == stages
    assert switch.agent_warps == warps
    assert switch.max_regs.get_values() == registers
    spec = next(iter(module.ops)).attributes[KERNEL_SPEC]
    assert isinstance(spec, KernelSpecAttr)
    assert spec.data.occupancy == (2 if registers == (40, 216) else 1)
    assert spec.data.num_warps == sum(warps)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {
                "before": "%at = tensor.extract %many[%i] : tensor<256xindex>",
                "ahead": "%many = arith.constant dense<0> : tensor<256xindex>",
                "at": "%at",
            },
            "where a tile of the loop lies is computed from tiles",
        ),
        (
            {
                "ahead": "%many = arith.constant dense<0> : tensor<256xindex>\n"
                "%at = tensor.extract %many[%zero] : tensor<256xindex>",
                "at": "%at",
            },
            "where a tile of the loop lies is computed from tiles",
        ),
        (
            {
                "ahead": "nv_tileas.tiled_store %start, %vc[%zero, %zero] "
                "{atom = #nv_tileas<atom stg>}"
                " : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>"
            },
            "a store without a token may write what the loop loads",
        ),
        ({"n": 256, "k": 256}, "two stages of 163840 bytes do not fit"),
        (
            {"m": 256, "n": 256},
            "the sums of a tile do not fit 232 registers of each of its threads",
        ),
    ],
)
def test_why_not_is_said(changes: Mapping[str, object], reason: str) -> None:
    module = piped(**changes)
    said = next(iter(module.ops)).attributes[NOT_PIPELINED]
    assert isinstance(said, StringAttr)
    assert said.data.startswith(reason)
    assert not any(isinstance(op, AgentSwitchOp) for op in module.walk())


def test_loops_without_loads_of_tma_say_so_and_stay() -> None:
    text = str(program()).replace("tma_load_2d", "ldg")
    module = parse(text.replace(", #nv_tileas<space smem>", ""))
    before = str(module)
    TileasChooseTma().apply(Context(), module)
    TileasPipelineLoads().apply(Context(), module)
    (loop,) = (op for op in module.walk() if isinstance(op, scf.ForOp))
    said = loop.attributes.pop(NOT_PIPELINED)
    assert said == StringAttr("a load is not done by TMA")
    assert str(module) == before


@pytest.mark.parametrize(("slots", "more", "stages"), [(0, 1, 3), (3, 0, 1), (3, 1, None)])
def test_stages_that_do_not_fit_are_taken(slots: int, more: int, stages: int | None) -> None:
    module = piped()
    (function,) = (op for op in module.walk() if isinstance(op, func.FuncOp))
    (pipeline,) = (op for op in module.walk() if isinstance(op, CreatePipelineOp))
    slot = tile_bytes(pipeline.view.type) // pipeline.stages
    assert pipeline.stages == 4
    assert take_stages(function, slots * slot + more) is (stages is not None)
    assert pipeline.stages == (stages or 4)
    verify_module(module)
    assert f", {pipeline.stages}, smem>" in str(module)


def test_stages_that_the_program_asks_for_are_not_taken() -> None:
    module = piped()
    (function,) = (op for op in module.walk() if isinstance(op, func.FuncOp))
    (pipeline,) = (op for op in module.walk() if isinstance(op, CreatePipelineOp))
    del pipeline.attributes[STAGES_ARE_A_HINT]
    assert not take_stages(function, 1)
