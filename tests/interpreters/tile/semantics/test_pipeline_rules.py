"""Pipelines and tensor cores: when a stage may be released; steps that are wrong by a little."""

from __future__ import annotations

import numpy as np
import pytest

from tests.interpreters.tile.pipelined import (
    CONSUMERS,
    COPY,
    OUT,
    PRODUCERS,
    TMA,
    consumer,
    matrices,
    pair,
    pipelined,
    producer,
)
from tests.support.simulating import agents, kernel, numbers, refuses, run
from tileas_xdsl.interpreters.tile.launch import Schedule

MANY = (Schedule(), Schedule("adversarial"), *[Schedule("random", s) for s in range(12)])

# Tensor cores

PRODUCTS = """
  %buffer = nv_tileas.alloc_tensor : tensor<STAGESx128x16xf16, #nv_tileas<space smem>>
  %slots = nv_tileas.view %buffer : tensor<STAGESx128x16xf16, #nv_tileas<space smem>> -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots
    {numStages = STAGES : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}
    : !slots -> !prod, !cons
  %nothing = arith.constant dense<0.0> : !acc
  %first = nv_tileas.async.to_async %nothing : !acc -> !sum
  %vb = nv_tileas.load %b[%zero, %zero] {atom = #ldg} : memref<16x8xf16> -> tensor<16x8xf16>
  %sb = nv_tileas.alloc_tensor : !b
  nv_tileas.copy %vb, %sb {atom = #any} : tensor<16x8xf16>, !b
  %desc = nv_tileas.make_tiled_tma_desc %a box[%sixteen, %rows]
    {atom = #nv_tileas<atom tma_load_2d>} : memref<?x16xf16> -> !desc
  %barrier = nv_tileas.create_none : !mem
"""
MULTIPLY = """
  %d1 = nv_tileas.async.pipeline.consumer_wait %c, %j {consumer_idx = 0 : i32}
    : !cons, !iter -> !cons
  %d2, %next = nv_tileas.async.pipeline.consumer_read %d1, %j {consumer_idx = 0 : i32}
    : !cons, !iter -> !cons, !sum {
  ^bb0(%stage: !a):
    %started = nv_tileas.async.dot %stage, %sb, %t {atom = #nv_tileas<atom ATOM>}
      : !a, !b, !sum -> !sum
    BETWEEN
    nv_tileas.async.pipeline.yield %started : !sum
  }
  %c1 = nv_tileas.async.pipeline.consumer_release %d2 : !cons -> !cons
"""
OTHER_WORK = """
    %other = nv_tileas.async.load %b[%zero, %zero] {atom = #nv_tileas<atom ldgsts>}
      : memref<16x8xf16> -> !nv_tileas.token<tensor<16x8xf16>>
    nv_tileas.async.wait %other : !nv_tileas.token<tensor<16x8xf16>>
"""


def products(atom: str, between: str, stages: int) -> str:
    produce = f"""
  %p1 = nv_tileas.async.pipeline.produce_one %p, %i {{producer_types = [!a]}}
    : (!prod, !iter) -> !prod {{
  ^bb0(%stage: !a):
    {TMA.replace("!tile", "!a")}
    nv_tileas.async.pipeline.yield %stage : !a
  }}
"""
    consume = consumer(MULTIPLY.replace("ATOM", atom).replace("BETWEEN", between))
    consume = (
        consume.replace("%cn, %jn =", "%cn, %jn, %tn =")
        .replace("%j = %j0)", "%j = %j0, %t = %first)")
        .replace("-> (!cons, !iter) {", "-> (!cons, !iter, !sum) {")
        .replace("%j1 : !cons, !iter", "%j1, %next : !cons, !iter, !sum")
    )
    end = """
  %d = nv_tileas.async.wait %tn : !sum -> !acc
  nv_tileas.store %d, %out[%zero, %zero] {atom = #stg} : !acc, memref<128x8xf32>
"""
    head = "%rows = arith.constant 128 : index\n%rounds = arith.constant 5 : index\n"
    return kernel(
        "%a: memref<?x16xf16>, %b: memref<16x8xf16>, %out: memref<128x8xf32>",
        (head + PRODUCTS + agents(producer(produce), consume + end)).replace("STAGES", str(stages)),
        types={
            "slots": f"!nv_tileas.tiled_view<{stages}x128x16xf16, smem>",
            "a": "tensor<128x16xf16>",
            "b": "tensor<16x8xf16, #nv_tileas<space smem>>",
            "acc": "tensor<128x8xf32>",
            "sum": "!nv_tileas.token<tensor<128x8xf32>>",
            "iter": f"!nv_tileas.async.pipeline.iterator<tensor<128x16xf16>, {stages}, smem>",
        },
    )


@pytest.mark.parametrize("between", ["", OTHER_WORK])
@pytest.mark.parametrize("stages", [1, 2, 4])
def test_tcgen05_releases_a_stage_when_it_has_read_it(between: str, stages: int) -> None:
    rng = np.random.default_rng(10)
    a = rng.integers(-8, 9, (640, 16)).astype(np.float16)
    b = rng.integers(-8, 9, (16, 8)).astype(np.float16)
    out = numbers(rng, (128, 8), np.float32)
    text = products("tcgen05_f16_f16_f32", between, stages)
    wanted = a.reshape(5, 128, 16).astype(np.float32).sum(0) @ b.astype(np.float32)
    found = run(text, a, b, out, target="sm_100a", schedules=MANY)[2]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("stages", [1, 2])
def test_wgmma_must_be_waited_for_before_a_release(stages: int) -> None:
    rng = np.random.default_rng(11)
    a = rng.integers(-8, 9, (640, 16)).astype(np.float16)
    b = rng.integers(-8, 9, (16, 8)).astype(np.float16)
    out = numbers(rng, (128, 8), np.float32)
    text = products("wgmma_f16_f16_f32", "", stages)
    message = "releases stage 0 of %p0 while wgmma product is still reading it"
    refuses(text, message, a, b, out, schedules=MANY)
    waited = "nv_tileas.async.wait %started : !sum\n"
    wanted = a.reshape(5, 128, 16).astype(np.float32).sum(0) @ b.astype(np.float32)
    text = products("wgmma_f16_f16_f32", waited, stages)
    np.testing.assert_array_equal(run(text, a, b, out, schedules=MANY)[2], wanted)


# What is wrong in one step


@pytest.mark.parametrize(
    ("produce", "message"),
    [
        (
            PRODUCERS["TMA with its bytes"].replace("128", "64"),
            "announces 64 bytes on .* deliver 128",
        ),
        (PRODUCERS["steps, TMA with its bytes"].replace("128", "256"), "announces 256 bytes"),
        (PRODUCERS["TMA with its bytes"].replace(TMA, COPY), "announces 128 bytes .* deliver 0"),
        (
            PRODUCERS["in the background"].replace(
                "%p1 = nv_tileas.async.pipeline.producer_commit %q1",
                "nv_tileas.tiled_store %nothing, %slot0[%zero, %zero] {atom = #any}"
                " : !tile, !part\n"
                "%p1 = nv_tileas.async.pipeline.producer_commit %q1",
            ),
            "race on %buffer|overwrites stage 0 of %p0 after it was committed",
        ),
    ],
)
def test_wrong_producers_are_found(produce: str, message: str) -> None:
    a, b = matrices()
    text = pair(produce, "steps")
    refuses(text, message, a, b)


@pytest.mark.parametrize(
    ("consume", "message"),
    [
        (
            CONSUMERS["steps"].replace("%d1, %j {c", "%c, %j {c"),
            "uses a consumer token of %p0 twice",
        ),
        (
            CONSUMERS["steps"].replace("consumer_release %d2", "consumer_release %d1"),
            "uses a consumer token of %p0 twice",
        ),
        (
            CONSUMERS["results"].replace("    {{", "{{")
            + "nv_tileas.copy %nothing, %last {atom = #any} : !tile, !part\n",
            "overwrites stage 1 of %p0|race on",
        ),
        (
            # The value that a body gives is a window of the stage, which is gone.
            CONSUMERS["in the background"].replace(
                OUT.format(of="%y"), "%z = arith.addf %y, %y : !tile\n"
            )
            + "%late = arith.addf %y, %y : !tile\n",
            "agent 1 uses stage 0 of %p0 after agent 1 released it",
        ),
        (
            CONSUMERS["in the background"]
            + """
  %half = arith.constant dense<1.0> : !half
  %late = nv_tileas.insert_slice %half into %y[0, 0][2, 8][1, 1] : !half into !tile
""",
            "agent 1 uses stage 0 of %p0 after agent 1 released it",
        ),
        (
            CONSUMERS["in the background, TMA"].replace("nv_tileas.async.wait %used : !token", ""),
            "releases stage 0 of %p0 while a TMA store is still reading it",
        ),
    ],
)
def test_wrong_consumers_are_found(consume: str, message: str) -> None:
    a, b = matrices()
    text = pair("TMA", consume)
    refuses(text, message, a, b)


@pytest.mark.parametrize("step", ["TMA", "a copy"])
@pytest.mark.parametrize("wrong", ["a stage too many", "a consumer that stops early"])
def test_stages_that_nobody_waits_for_are_found(step: str, wrong: str) -> None:
    a, b = matrices()
    fill, use = producer(PRODUCERS[step]), consumer(CONSUMERS["steps"])
    run(pipelined(agents(fill, use)), a, b)
    fewer = "%fewer = arith.constant 6 : index\n"
    if wrong == "a stage too many":
        fewer, fill = "%more = arith.constant 8 : index\n", fill.replace("%rounds", "%more")
    else:
        use = use.replace("%rounds", "%fewer")
    message = "agent 0 fills stage [01] of %p0 .* without any consumer having waited for it"
    refuses(pipelined(fewer + agents(fill, use)), message, a, b)


def test_register_budgets_fit_the_multiprocessor() -> None:
    a, b = matrices()
    steps = producer(PRODUCERS["TMA"]), consumer(CONSUMERS["steps"])
    right = pipelined(agents(*steps, warps=(4, 8)))
    run(right, a, b)
    wrong = right.replace("array<i32: 40, 232>", "array<i32: 56, 240>")
    refuses(wrong, "asks for 68608 registers for its agents; a multiprocessor has 65536", a, b)
