"""Pipelines in every form: ways to fill and read stages, phases, iterators, brackets."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.interpreters.tile.pipelined import (
    CONSUMERS,
    KEEP,
    PRODUCERS,
    TMA,
    consumer,
    matrices,
    pair,
    pipelined,
    producer,
)
from tests.support.simulating import agents, module_of, numbers, refuses, run
from tileas_xdsl.interpreters.tile.launch import Schedule, simulate

MANY = (Schedule(), Schedule("adversarial"), *[Schedule("random", s) for s in range(12)])


@pytest.mark.sample(34)
@pytest.mark.parametrize("consume", CONSUMERS)
@pytest.mark.parametrize("produce", PRODUCERS)
def test_every_form_of_a_producer_meets_every_form_of_a_consumer(
    produce: str, consume: str
) -> None:
    a, b = matrices()
    np.testing.assert_array_equal(run(pair(produce, consume), a, b, schedules=MANY[:3])[1], a)


@pytest.mark.parametrize(("stages", "rounds"), [(1, 4), (2, 1), (3, 2), (3, 10), (4, 9), (5, 5)])
@pytest.mark.parametrize("produce", ["TMA", "steps, async copies"])
def test_stages_and_laps(stages: int, rounds: int, produce: str) -> None:
    a, b = matrices(rounds)
    text = pair(produce, "steps", stages, rounds)
    np.testing.assert_array_equal(run(text, a, b, schedules=MANY)[1], a)


def test_one_agent_may_be_both_if_it_never_waits_for_itself() -> None:
    a, b = matrices()
    step = f"""{PRODUCERS["TMA"]}{CONSUMERS["steps"]}"""
    text = pipelined(f"""
  %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
  %pn, %in, %cn, %jn = scf.for %k = %zero to %rounds step %one
      iter_args(%p = %p0, %i = %i0, %c = %c0, %j = %j0) -> (!prod, !iter, !cons, !iter) {{
    {step}
    %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
    %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
    scf.yield %p1, %i1, %c1, %j1 : !prod, !iter, !cons, !iter
  }}""")
    np.testing.assert_array_equal(run(text, a, b)[1], a)


def test_one_iterator_may_serve_both_sides() -> None:
    a, b = matrices()
    step = (
        (PRODUCERS["a copy"] + CONSUMERS["in a body"]).replace("%j ", "%i ").replace("%j\n", "%i\n")
    )
    text = pipelined(f"""
  %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %pn, %cn, %in = scf.for %k = %zero to %rounds step %one
      iter_args(%p = %p0, %c = %c0, %i = %i0) -> (!prod, !cons, !iter) {{
    {step}
    %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
    scf.yield %p1, %c1, %i1 : !prod, !cons, !iter
  }}""")
    np.testing.assert_array_equal(run(text, a, b)[1], a)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("produce", ["TMA", "two async copies", "a value is yielded"])
def test_every_consumer_reads_every_stage(count: int, produce: str) -> None:
    a, _ = matrices()
    b = np.full((4 * 7 * count, 8), np.nan, np.float32)
    forms = ["steps", "in a body", "in the background"]
    bodies = [
        consumer(CONSUMERS[forms[n]].replace("consumer_idx = 0", f"consumer_idx = {n}"))
        .replace("%vb[%k,", "%vb[%at,")
        .replace(
            "-> (!cons, !iter) {",
            f"-> (!cons, !iter) {{\n%first = arith.constant {7 * n} : index\n"
            "%at = arith.addi %k, %first : index",
        )
        for n in range(count)
    ]
    text = pipelined(agents(producer(PRODUCERS[produce]), *bodies))
    np.testing.assert_array_equal(run(text, a, b)[1], np.concatenate([a] * count))


def test_steps_under_conditions() -> None:
    """Even tiles go through the pipeline by one form, odd ones by another."""
    a, b = matrices()

    def either(steps: tuple[str, str], token: str, result: str, odd: str) -> str:
        branches = [
            step.replace(f"%{result}1 ", f"%{result}9 ")
            .replace("%q", f"%q{n}")
            .replace("%d", f"%d{n}")
            for n, step in enumerate(steps)
        ]
        return f"""
    %odd{odd} = arith.andi %k, %one : index
    %is{odd} = arith.cmpi eq, %odd{odd}, %one : index
    %{result}1 = scf.if %is{odd} -> ({token}) {{
      {branches[0]}
      scf.yield %{result}9 : {token}
    }} else {{
      {branches[1]}
      scf.yield %{result}9 : {token}
    }}
"""

    produce = either((PRODUCERS["a copy"], PRODUCERS["steps, async copies"]), "!prod", "p", "p")
    produce = produce.replace("%desc", "%DESC").replace("%DESC", "%desc")
    consume = either((CONSUMERS["in a body"], CONSUMERS["steps"]), "!cons", "c", "c")
    np.testing.assert_array_equal(run(pair(produce, consume), a, b)[1], a)


def test_loops_that_end_by_a_condition() -> None:
    a, b = matrices()
    text = pipelined(
        agents(
            producer(PRODUCERS["TMA"]),
            f"""
  %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
  %cn, %jn, %kn = scf.while (%c = %c0, %j = %j0, %k = %zero)
      : (!cons, !iter, index) -> (!cons, !iter, index) {{
    %more = arith.cmpi slt, %k, %rounds : index
    scf.condition(%more) %c, %j, %k : !cons, !iter, index
  }} do {{
  ^bb0(%c: !cons, %j: !iter, %k: index):
    {CONSUMERS["steps"]}
    %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
    %k1 = arith.addi %k, %one : index
    scf.yield %c1, %j1, %k1 : !cons, !iter, index
  }}""",
        )
    )
    np.testing.assert_array_equal(run(text, a, b)[1], a)


NEXT = "%{0}1 = nv_tileas.async.pipeline.inc_iter %{0} : !iter -> !iter\n"
OUTER = ("va", "vb", "zero", "desc", "barrier", "stage")


def renamed(step: str, chained: str, n: int) -> str:
    """The `n`th copy of a step: its names are new, but for those that go from step to step."""

    def rename(found: re.Match[str]) -> str:
        name = found[1]
        if name[0] in chained and name[1:] in ("", "1"):
            return f"%{name[0]}{n + len(name) - 1}"
        return f"%{name}" if name in OUTER else f"%{name}_{n}".replace("k_", "k")

    return re.sub(r"%(\w+)", rename, step)


def test_steps_without_a_loop() -> None:
    a, b = matrices(3)
    produce, consume = "", ""
    for n in range(3):
        head = f"%k{n} = arith.constant {n} : index\n"
        produce += head + renamed(PRODUCERS["steps, TMA"] + NEXT.format("i"), "pi", n)
        consume += head + renamed(CONSUMERS["steps"] + NEXT.format("j"), "cj", n)
    produce = "%i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter\n" + produce
    consume = "%j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter\n" + consume
    text = pipelined(agents(produce, consume), 2, 3)
    np.testing.assert_array_equal(run(text, a, b)[1], a)


PUBLISHED = f"""
  %q1 = nv_tileas.async.pipeline.producer_acquire %p, %i : !prod, !iter -> !prod
  %q2 = nv_tileas.async.pipeline.producer_write %q1, %i : !prod, !iter -> !prod {{
  ^bb0(%stage: !tile):
    {TMA}
    {KEEP}
  }}
  %p1 = nv_tileas.async.pipeline.producer_commit %q2 : !prod -> !prod
  %done = nv_tileas.async.token_to_async %p1 : !prod -> !token
  nv_tileas.async.wait %done : !token
  %t = nv_tileas.async.wait %l : !token
"""


def test_a_pipeline_token_as_an_async_one() -> None:
    a, b = matrices()
    published = PUBLISHED.replace("  %t = nv_tileas.async.wait %l : !token\n", "")
    np.testing.assert_array_equal(run(pair(published, "steps"), a, b)[1], a)
    waited = CONSUMERS["steps"].replace(
        "%d2 =",
        """%full = nv_tileas.async.token_to_async %d1 : !cons -> !token
  nv_tileas.async.wait %full : !token
  %d2 =""",
    )
    np.testing.assert_array_equal(run(pair(published, waited), a, b)[1], a)


def waits_of(text: str, agent: str) -> list[tuple[str, int, int]]:
    """What an agent waits for, and when."""
    spans = simulate(module_of(text), matrices(1), trace=True).trace.spans
    return [(s.name, s.start, s.end) for s in spans if s.kind == "wait" and s.lane.name == agent]


@pytest.mark.parametrize("produce", ["TMA", "two async copies", "steps, TMA"])
def test_a_stage_is_there_when_all_of_it_has_landed(produce: str) -> None:
    """Also for whoever waits for what a bracket has published."""
    waited = (
        PRODUCERS[produce]
        + """
  %done = nv_tileas.async.token_to_async %p1 : !prod -> !token
  nv_tileas.async.wait %done : !token
"""
    )
    text = pair(waited, "steps", 2, 1)
    spans = simulate(module_of(text), matrices(1), trace=True).trace.spans
    landed = max(span.end for span in spans if span.kind == "copy")
    for agent in ("agent 0", "agent 1"):
        waits = waits_of(text, agent)
        assert any("stage 0 of %p0 to be filled" in w[0] and w[2] >= landed for w in waits), agent


def test_two_tiles_in_a_stage() -> None:
    rng = np.random.default_rng(9)
    a, b = numbers(rng, (28, 8), np.float32), numbers(rng, (28, 8), np.float32)
    two = {
        "!nv_tileas.async.pipeline.iterator<tensor<4x8xf32>, 2, smem>": (
            "!nv_tileas.async.pipeline.iterator<tuple<tensor<2x8xf32>, tensor<2x8xf32>>, 2, smem>"
        )
    }
    produce = """
  %p1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!half, !half]}
    : (!prod, !iter) -> !prod {
  ^bb0(%s0: !half, %s1: !nv_tileas.async.pipeline.iterator<!half>):
    %x = nv_tileas.tiled_load %va[%k, %zero] {atom = #ldg} : !view -> !tile
    %h0 = nv_tileas.extract_slice %x[0, 0][2, 8][1, 1] : !tile -> !half
    %h1 = nv_tileas.extract_slice %x[2, 0][2, 8][1, 1] : !tile -> !half
    %t0 = nv_tileas.async.copy %h0, %s0 {atom = #any} : !half, !half -> !token
    nv_tileas.async.pipeline.yield %s0, %h1 : !half, !half
  }
"""
    consume = """
  %c1 = nv_tileas.async.pipeline.consume_one %c, %j
    {consumer_idx = 0 : i32, consumer_types = [!half, !half]} : (!cons, !iter) -> !cons {
  ^bb0(%s0: !half, %s1: !half):
    %at = arith.muli %k, %four : index
    nv_tileas.store %s1, %b[%at, %zero] {atom = #stg} : !half, !m
    %then = arith.addi %at, %two : index
    nv_tileas.store %s0, %b[%then, %zero] {atom = #stg} : !half, !m
    nv_tileas.async.pipeline.yield %s0, %s1 : !half, !half
  }
"""
    text = pair(produce, consume)
    for old, new in two.items():
        text = text.replace(old, new)
    wanted = a.reshape(7, 2, 2, 8)[:, ::-1].reshape(28, 8)
    np.testing.assert_array_equal(run(text, a, b)[1], wanted)


def test_two_pipelines_in_a_row() -> None:
    """The agent in the middle reads a stage of one and fills one of the other."""
    a, b = matrices()
    second = """
  %buffer2 = nv_tileas.alloc_tensor : !buffer
  %slots2 = nv_tileas.view %buffer2 : !buffer -> !slots
  %p02, %c02 = nv_tileas.async.pipeline.create_pipeline %slots2
    {numStages = STAGES : i32, producerGroupId = 1 : i8, consumerGroupId = 2 : i8}
    : !slots -> !prod, !cons
"""
    middle = """
  %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
  %i0 = nv_tileas.async.pipeline.create_iterator %p02 : !prod -> !iter
  %cn, %jn, %pn, %in = scf.for %k = %zero to %rounds step %one
      iter_args(%c = %c0, %j = %j0, %p = %p02, %i = %i0) -> (!cons, !iter, !prod, !iter) {
    %d1 = nv_tileas.async.pipeline.consumer_wait %c, %j {consumer_idx = 0 : i32}
      : !cons, !iter -> !cons
    %d2, %from = nv_tileas.async.pipeline.consumer_read %d1, %j {consumer_idx = 0 : i32}
      : !cons, !iter -> !cons, !tile {
    ^bb0(%stage: !tile):
      nv_tileas.async.pipeline.yield %stage : !tile
    }
    %p1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!tile]}
      : (!prod, !iter) -> !prod {
    ^bb0(%stage: !tile):
      %y = arith.addf %from, %from : !tile
      nv_tileas.async.pipeline.yield %y : !tile
    }
    %c1 = nv_tileas.async.pipeline.consumer_release %d2 : !cons -> !cons
    %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
    %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
    scf.yield %c1, %j1, %p1, %i1 : !cons, !iter, !prod, !iter
  }
"""
    last = consumer(CONSUMERS["steps"]).replace("%c0", "%c02")
    text = pipelined(second + agents(producer(PRODUCERS["TMA"]), middle, last))
    text = text.replace("STAGES", "2")
    np.testing.assert_array_equal(run(text, a, b, schedules=MANY)[1], 2 * a)


def test_the_same_memory_serves_again_in_a_later_split() -> None:
    a, b = matrices()
    twice = agents(producer(PRODUCERS["TMA"]), consumer(CONSUMERS["steps"]))
    text = pipelined(f"scf.for %again = %zero to %two step %one {{\n{twice}\n}}")
    refuses(text, "uses a (producer|consumer) token of %p0 twice", a, b)
    renewed = re.sub(r"%([pc]0)\b", r"%\g<1>0", twice)
    inside = f"""
  scf.for %again = %zero to %two step %one {{
    %p00, %c00 = nv_tileas.async.pipeline.create_pipeline %slots
      {{numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}}
      : !slots -> !prod, !cons
    {renewed}
  }}
"""
    np.testing.assert_array_equal(run(pipelined(inside), a, b)[1], a)


def test_blocks_have_pipelines_of_their_own() -> None:
    a, b = matrices(12)
    text = pair("TMA", "steps", 2, 3)
    place = """%block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %first = arith.muli %block, %three : index
"""
    text = text.replace("  %va =", f"{place}  %va =", 1)
    for side in ("-> (!prod, !iter) {", "-> (!cons, !iter) {"):
        text = text.replace(side, f"{side}\n%at = arith.addi %k, %first : index")
    text = text.replace("[%k, %zero]", "[%at, %zero]")
    np.testing.assert_array_equal(run(text, a, b, grid=4)[1], a)
    np.testing.assert_array_equal(run(text, a, b, grid=4, resident=3)[1], a)
    np.testing.assert_array_equal(run(text, a, b, grid=4, cluster=(2, 1, 1))[1], a)
