"""Producer-consumer pipeline kernels, composed of produce and consume steps of every form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.support.simulating import agents, kernel, numbers

TYPES = {
    "m": "memref<?x?xf32>",
    "view": "!nv_tileas.tiled_view<4x8xf32, gmem>",
    "tile": "tensor<4x8xf32>",
    "half": "tensor<2x8xf32>",
    "buffer": "tensor<STAGESx4x8xf32, #nv_tileas<space smem>>",
    "slots": "!nv_tileas.tiled_view<STAGESx4x8xf32, smem>",
    "all": "!nv_tileas.tiled_view<ALLxf32, smem>",
    "part": "!nv_tileas.tiled_view<4x8xf32, smem>",
    "iter": "!nv_tileas.async.pipeline.iterator<tensor<4x8xf32>, STAGES, smem>",
}
ARGS = "%a: !m, %b: !m"
CREATE = """
  %buffer{n} = nv_tileas.alloc_tensor : !buffer
  %slots{n} = nv_tileas.view %buffer{n} : !buffer -> !slots
  %p0{n}, %c0{n} = nv_tileas.async.pipeline.create_pipeline %slots{n}
    {{numStages = STAGES : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}}
    : !slots -> !prod, !cons
"""
SETUP = f"""
  %va = nv_tileas.view %a : !m -> !view
  %vb = nv_tileas.view %b : !m -> !view
  %desc = nv_tileas.make_tiled_tma_desc %a box[%eight, %four]
    {{atom = #nv_tileas<atom tma_load_2d>}}
    : !m -> !desc
  %barrier = nv_tileas.create_none : !mem
  %rounds = arith.constant ROUNDS : index
  {CREATE.format(n="")}
"""
LOAD = "%x = nv_tileas.tiled_load %va[%k, %zero] {atom = #ldg} : !view -> !tile\n"
TMA = """%l = nv_tileas.async.tiled_tma_load %desc, %stage[%k, %zero] barrier %barrier
      {atom = #nv_tileas<atom tma_load_2d>} : !desc, !tile, index, index, !mem -> !token
"""
KEEP = "nv_tileas.async.pipeline.yield %stage : !tile\n"
COPY = f"""{LOAD}
    nv_tileas.copy %x, %stage {{atom = #any}} : !tile, !tile
"""
MIXED = f"""{LOAD}
    %h0 = nv_tileas.extract_slice %x[0, 0][2, 8][1, 1] : !tile -> !half
    %h1 = nv_tileas.extract_slice %x[2, 0][2, 8][1, 1] : !tile -> !half
    %s0 = nv_tileas.extract_slice %stage[0, 0][2, 8][1, 1] : !tile -> !half
    %s1 = nv_tileas.extract_slice %stage[2, 0][2, 8][1, 1] : !tile -> !half
    %t0 = nv_tileas.async.copy %h0, %s0 {{atom = #any}} : !half, !half -> !token
    MORE
"""
BOTH_ASYNC = MIXED.replace(
    "MORE", "%t1 = nv_tileas.async.copy %h1, %s1 {atom = #any} : !half, !half -> !token"
)
THEN_PLAIN = MIXED.replace("MORE", "nv_tileas.copy %h1, %s1 {atom = #any} : !half, !half")
LANDED = THEN_PLAIN + "nv_tileas.async.wait %t0 : !token\n"

PRODUCE = """
  %p1 = nv_tileas.async.pipeline.produce_one %p, %i {{producer_types = [!tile]{more}}}
    : (!prod, !iter) -> !prod {{
  ^bb0(%stage: !tile):
    {body}
  }}
"""
WRITE = """
  %q1 = nv_tileas.async.pipeline.producer_acquire %p, %i {more} : !prod, !iter -> !prod
  %q2 = nv_tileas.async.pipeline.producer_write %q1, %i : !prod, !iter -> !prod {{
  ^bb0(%stage: !tile):
    {body}
  }}
  %p1 = nv_tileas.async.pipeline.producer_commit %q2 : !prod -> !prod
"""
LATER = """
  %q1, %filled = nv_tileas.async.pipeline.produce_one_async %p, %i {{producer_types = [!tile]}}
    : (!prod, !iter) -> (!prod, !token) {{
  ^bb0(%stage: !tile):
    {body}
  }}
  {wait}
  %p1 = nv_tileas.async.pipeline.producer_commit %q1 : !prod -> !prod
"""
PRODUCERS: Mapping[str, str] = {
    "a value is yielded": PRODUCE.format(
        more="", body=f"{LOAD}nv_tileas.async.pipeline.yield %x : !tile"
    ),
    "a copy": PRODUCE.format(more="", body=COPY + KEEP),
    "TMA": PRODUCE.format(more="", body=TMA + KEEP),
    "TMA with its bytes": PRODUCE.format(more=", tx_count = 128 : i32", body=TMA + KEEP),
    "two async copies": PRODUCE.format(more="", body=BOTH_ASYNC + KEEP),
    "an async copy and a plain one": PRODUCE.format(more="", body=THEN_PLAIN + KEEP),
    "an async copy that is waited for": PRODUCE.format(more="", body=LANDED + KEEP),
    "two async copies, one waited for": PRODUCE.format(
        more="", body=BOTH_ASYNC + "nv_tileas.async.wait %t1 : !token\n" + KEEP
    ),
    "results": f"""
  %p1, %y, %number = nv_tileas.async.pipeline.produce_one %p, %i {{producer_types = [!tile]}}
    : (!prod, !iter) -> (!prod, !tile, index) {{
  ^bb0(%stage: !tile):
    {COPY}
    nv_tileas.async.pipeline.yield %x, %k : !tile, index
  }}
  %same = arith.cmpi eq, %number, %k : index
  cf.assert %same, "a body gives what it yields"
""",
    "steps, a value": WRITE.format(
        more="", body=f"{LOAD}nv_tileas.async.pipeline.yield %x : !tile"
    ),
    "steps, TMA": WRITE.format(more="", body=TMA + KEEP),
    "steps, TMA with its bytes": WRITE.format(more="{tx_count = 128 : i32}", body=TMA + KEEP),
    "steps, async copies": WRITE.format(more="", body=BOTH_ASYNC + KEEP),
    "steps, no body": f"""
  %p2 = nv_tileas.async.pipeline.producer_acquire %p, %i : !prod, !iter -> !prod
  {LOAD}
  %n = arith.constant STAGES : index
  %slot = arith.remui %k, %n : index
  %e = nv_tileas.expand_dims %x {{axis = 0 : i32}} : !tile -> tensor<1x4x8xf32>
  %one_slot = nv_tileas.view %slots[%slot, %zero, %zero]
    : !slots -> !nv_tileas.tiled_view<1x4x8xf32, smem>
  nv_tileas.tiled_store %e, %one_slot[%zero, %zero, %zero] {{atom = #any}}
    : tensor<1x4x8xf32>, !nv_tileas.tiled_view<1x4x8xf32, smem>
  %p3 = nv_tileas.async.pipeline.producer_write %p2, %i : !prod, !iter -> !prod
  %p1 = nv_tileas.async.pipeline.producer_commit %p3 : !prod -> !prod
""",
    "in the background": LATER.format(body=TMA + KEEP, wait=""),
    "in the background, waited for": LATER.format(
        body=TMA + KEEP, wait="nv_tileas.async.wait %filled : !token"
    ),
    "in the background, copies": LATER.format(
        body=BOTH_ASYNC + KEEP, wait="nv_tileas.async.wait %filled : !token"
    ),
}

OUT = "nv_tileas.tiled_store {of}, %vb[%k, %zero] {{atom = #stg}} : !tile, !view\n"
CONSUME = """
  %c1{results} = nv_tileas.async.pipeline.consume_one %c, %j
    {{consumer_idx = 0 : i32, consumer_types = [!tile]}} : (!cons, !iter) -> {types} {{
  ^bb0(%stage: !tile):
    {body}
  }}
"""
CONSUMERS: Mapping[str, str] = {
    "in a body": CONSUME.format(results="", types="!cons", body=OUT.format(of="%stage") + KEEP),
    "results": CONSUME.format(
        results=", %y, %number",
        types="(!cons, !tile, index)",
        body="nv_tileas.async.pipeline.yield %stage, %k : !tile, index",
    )
    + OUT.format(of="%y").replace("%k", "%number"),
    "steps": f"""
  %d1 = nv_tileas.async.pipeline.consumer_wait %c, %j {{consumer_idx = 0 : i32}}
    : !cons, !iter -> !cons
  %d2 = nv_tileas.async.pipeline.consumer_read %d1, %j {{consumer_idx = 0 : i32}}
    : !cons, !iter -> !cons {{
  ^bb0(%stage: !tile):
    {OUT.format(of="%stage")}
    {KEEP}
  }}
  %c1 = nv_tileas.async.pipeline.consumer_release %d2 : !cons -> !cons
""",
    "steps, a value": f"""
  %d1 = nv_tileas.async.pipeline.consumer_wait %c, %j {{consumer_idx = 0 : i32}}
    : !cons, !iter -> !cons
  %d2, %y = nv_tileas.async.pipeline.consumer_read %d1, %j {{consumer_idx = 0 : i32}}
    : !cons, !iter -> !cons, !tile {{
  ^bb0(%stage: !tile):
    %value = arith.addf %stage, %nothing : !tile
    nv_tileas.async.pipeline.yield %value : !tile
  }}
  %c1 = nv_tileas.async.pipeline.consumer_release %d2 : !cons -> !cons
  {OUT.format(of="%y")}
""",
    "steps, no body": f"""
  %d1 = nv_tileas.async.pipeline.consumer_wait %c, %j {{consumer_idx = 0 : i32}}
    : !cons, !iter -> !cons
  %d2 = nv_tileas.async.pipeline.consumer_read %d1, %j {{consumer_idx = 0 : i32}}
    : !cons, !iter -> !cons
  %n = arith.constant STAGES : index
  %slot = arith.remui %k, %n : index
  %one_slot = nv_tileas.view %slots[%slot, %zero, %zero]
    : !slots -> !nv_tileas.tiled_view<1x4x8xf32, smem>
  %e = nv_tileas.tiled_load %one_slot[%zero, %zero, %zero] {{atom = #any}}
    : !nv_tileas.tiled_view<1x4x8xf32, smem> -> tensor<1x4x8xf32>
  %y = nv_tileas.view %e : tensor<1x4x8xf32> -> !tile
  %c1 = nv_tileas.async.pipeline.consumer_release %d2 : !cons -> !cons
  {OUT.format(of="%y")}
""",
    "in the background": f"""
  %d1, %used, %y = nv_tileas.async.pipeline.consume_one_async %c, %j
    {{consumer_idx = 0 : i32, consumer_types = [!tile]}}
    : (!cons, !iter) -> (!cons, !token, !tile) {{
  ^bb0(%stage: !tile):
    nv_tileas.async.pipeline.yield %stage : !tile
  }}
  nv_tileas.async.wait %used : !token
  {OUT.format(of="%y")}
  %c1 = nv_tileas.async.pipeline.consumer_release %d1 : !cons -> !cons
""",
    "in the background, TMA": f"""
  %d1, %used = nv_tileas.async.pipeline.consume_one_async %c, %j
    {{consumer_idx = 0 : i32, consumer_types = [!tile]}} : (!cons, !iter) -> (!cons, !token) {{
  ^bb0(%stage: !tile):
    %s = nv_tileas.async.tiled_tma_store %to, %stage[%k, %zero]
      {{atom = #nv_tileas<atom tma_store_2d>}} : !desc, !tile, index, index -> !token
    {KEEP}
  }}
  nv_tileas.async.wait %used : !token
  %c1 = nv_tileas.async.pipeline.consumer_release %d1 : !cons -> !cons
""",
    "spelled out in a bracket": f"""
  %c1 = nv_tileas.async.pipeline.consume_one %c, %j
    {{consumer_idx = 0 : i32, consumer_types = [!tile]}} : (!cons, !iter) -> !cons {{
  ^bb0(%stage: !tile):
    %d1 = nv_tileas.async.pipeline.consumer_wait %c, %j {{consumer_idx = 0 : i32}}
      : !cons, !iter -> !cons
    %y = arith.addf %stage, %nothing : !tile
    %d2 = nv_tileas.async.pipeline.consumer_release %d1 : !cons -> !cons
    {OUT.format(of="%y")}
    {KEEP}
  }}
""",
}


def producer(step: str) -> str:
    """Return a loop that repeats a producer step."""
    return f"""
  %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %pn, %in = scf.for %k = %zero to %rounds step %one iter_args(%p = %p0, %i = %i0)
      -> (!prod, !iter) {{
    {step}
    %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
    scf.yield %p1, %i1 : !prod, !iter
  }}
"""


def consumer(step: str) -> str:
    """Return a loop that repeats a consumer step."""
    return f"""
  %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
  %cn, %jn = scf.for %k = %zero to %rounds step %one iter_args(%c = %c0, %j = %j0)
      -> (!cons, !iter) {{
    {step}
    %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
    scf.yield %c1, %j1 : !cons, !iter
  }}
"""


def pipelined(body: str, stages: int = 2, rounds: int = 7) -> str:
    """Return a kernel with a pipeline around a body."""
    begin = f"""{SETUP}
  %nothing = arith.constant dense<0.0> : !tile
  %flat = nv_tileas.reinterpret %slots : !slots -> !all
  %slot0 = nv_tileas.view %flat : !all -> !part
  %last = nv_tileas.view %flat {{offset = LAST}} : !all -> !part
  %to = nv_tileas.make_tiled_tma_desc %b box[%eight, %four]
    {{atom = #nv_tileas<atom tma_store_2d>}} : !m -> !desc
"""
    text = kernel(ARGS, begin + body, types=TYPES)
    for name, number in (
        ("STAGES", stages),
        ("ROUNDS", rounds),
        ("ALL", 32 * stages),
        ("LAST", 32 * stages - 32),
    ):
        text = text.replace(name, str(number))
    return text


def pair(produce: str, consume: str, stages: int = 2, rounds: int = 7) -> str:
    """Return producer and consumer agents; steps are given by name or as text."""
    first = producer(PRODUCERS.get(produce, produce))
    second = consumer(CONSUMERS.get(consume, consume))
    return pipelined(agents(first, second), stages, rounds)


def matrices(rounds: int = 7) -> tuple[Any, Any]:
    """Return two matrices of `rounds` vertically stacked tiles."""
    rng = np.random.default_rng(rounds)
    return tuple(numbers(rng, (4 * rounds, 8), np.float32) for _ in range(2))
