"""Conversions before and after they are materialized: the same tiles, in every way of running."""

from __future__ import annotations

import re

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tests.support.encodings import ELEMENTS, chain, linear, lowered, random_array, random_encoding
from tests.support.ir import parse
from tests.support.plain_kernels import kernel
from tests.support.simulating import SCHEDULES
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.transforms.layouts.tileas_materialize_convert_layout import (
    TileasMaterializeConvertLayout,
)
from tileas_xdsl.transforms.materialize_convert_layout.plans import sorted_plans


def materialized(text: str, cap: int = 16, *, as_bytes: bool = False) -> ModuleOp:
    module = parse(text)
    TileasMaterializeConvertLayout(cap, as_bytes).apply(Context(), module)
    module.verify()
    again = str(module)
    TileasMaterializeConvertLayout(cap, as_bytes).apply(Context(), module)
    assert str(module) == again
    return module


SHAPES = ((64,), (16, 32), (8, 8, 16), (32, 32), (4, 128))


@pytest.mark.sample(6)
@pytest.mark.parametrize("as_bytes", [False, True], ids=["elements", "bytes"])
@pytest.mark.parametrize("seed", range(16))
def test_the_same_tiles_come_out(seed: int, as_bytes: bool) -> None:
    """In the tile interpreter under every schedule, and in the emulator; no check fires."""
    rng = np.random.default_rng([41, seed])
    element = [*ELEMENTS][seed % len(ELEMENTS)]
    shape = SHAPES[seed % len(SHAPES)]
    warps = int(rng.choice([1, 2, 4, 4, 8]))
    layouts = [
        linear(random_encoding(rng, shape, 32 * warps, replicas=rng.random() < 0.3))
        for _ in range(3)
    ]
    text = chain(shape, element, layouts, warps)
    numbers = random_array(rng, shape, element)
    outputs = np.zeros_like(numbers)
    module = materialized(text, as_bytes=as_bytes)
    before = simulate(parse(text), (numbers, outputs), grid=(1, 1, 1)).arrays[-1]
    for schedule in SCHEDULES:
        after = simulate(module, (numbers, outputs), grid=(1, 1, 1), schedule=schedule)
        assert np.asarray(after.arrays[-1]).tobytes() == np.asarray(before).tobytes()
    emulated = lowered(module).emulate(numbers, outputs, grid=(1, 1, 1), order="random")
    assert [str(finding) for finding in emulated.findings] == []
    assert emulated.arrays[-1].tobytes() == np.asarray(before).tobytes()


KINDS = {
    "identity": ('"(32,8):(1@thread,1@value)"', '"(32,(2,4)):(1@thread,(1@value,2@value))"'),
    "permutation": ('"(32,8):(1@thread,1@value)"', '"(32,(2,4)):(1@thread,(4@value,1@value))"'),
    "shuffle": (
        '"((2,16),(2,4)):((1@value,2@thread),(1@thread,2@value))"',
        '"((2,16),(2,4)):((1@thread,2@thread),(1@value,2@value))"',
    ),
    "shared": ('"(32,8):(1@thread,1@value)"', '"(32,(2,4)):(4@thread,(1@value,1@thread))"'),
}


BYTES = ("i8", "f8E4M3FN")
"""Elements of which lanes exchange so few words that it costs less than shared memory."""


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    ("kind", "element"),
    [
        (kind, element)
        for kind in KINDS
        for element in (*BYTES, "i32", "f32", "f16", "bf16", "i64")
        if kind != "shuffle" or element in BYTES
    ],
)
def test_plans_of_each_kind(kind: str, element: str) -> None:
    """The operations that each kind of plan becomes, and what they compute."""
    encodings = [f"#nv_tileas.linear<{layout}>" for layout in KINDS[kind]]
    text = chain((32, 8), element, encodings, 4)
    module = materialized(text)
    printed = str(module)
    conversion = next(op for op in module.walk() if "atom_plan" in op.attributes)
    expected = "nv_tileas.shuffle" if kind == "shuffle" else "nv_tileas.convert_layout"
    assert conversion.name == expected
    assert ("nv_tileas.copy" in printed) == (kind == "shared")
    assert ("tag = 1 : i32" in printed) == (kind == "shared")
    numbers = random_array(np.random.default_rng(4), (32, 8), element)
    made = lowered(module)
    found = made.emulate(numbers, np.zeros_like(numbers), grid=(1, 1, 1), order="random")
    assert [str(finding) for finding in found.findings] == []
    twice = numbers if element == "i8" else (numbers + numbers).astype(numbers.dtype)
    assert found.arrays[-1].tobytes() == twice.tobytes()
    body = made.ptx.split("ld.global", 1)[1]
    assert ("st.shared" in body) == (kind == "shared")
    assert ("shfl.sync.idx" in body) == (kind == "shuffle")


def test_plans_are_in_the_order_of_their_efficiency() -> None:
    text = chain((32, 8), "f16", [f"#nv_tileas.linear<{x}>" for x in KINDS["shuffle"]], 4)
    conversion = next(op for op in parse(text).walk() if op.name.endswith("convert_layout"))
    plans = sorted_plans(conversion.operands[0].type, conversion.results[0].type, 128)
    assert [plan.efficiency for plan in plans] == sorted(
        (plan.efficiency for plan in plans), reverse=True
    )
    assert {plan.tag for plan in plans} == {0, 1}
    assert len({str(plan.smem) for plan in plans if plan.tag}) == sum(p.tag for p in plans) > 1


def test_a_buffer_in_a_loop_is_not_overwritten_before_it_is_read() -> None:
    """In each iteration threads synchronise before they overwrite what others have read."""
    lanes, warps = (f"#nv_tileas.linear<{layout}>" for layout in KINDS["shared"])
    view, first, second = (
        "!nv_tileas.tiled_view<32x8xf32, gmem>",
        f"tensor<32x8xf32, {lanes}>",
        f"tensor<32x8xf32, {warps}>",
    )
    body = f"""%from = nv_tileas.view %a : memref<32x8xf32> -> {view}
  %to = nv_tileas.view %b : memref<32x8xf32> -> {view}
  %four = arith.constant 4 : index
  %t = nv_tileas.tiled_load %from[%zero, %zero] {{atom = #ldg}} : {view} -> {first}
  %nothing = arith.constant dense<0.0> : {second}
  %last, %sum = scf.for %i = %zero to %four step %one
      iter_args(%u = %t, %s = %nothing) -> ({first}, {second}) {{
    %v = nv_tileas.convert_layout %u : {first} -> {second}
    %n = arith.addf %s, %v : {second}
    %w = arith.addf %u, %u : {first}
    scf.yield %w, %n : {first}, {second}
  }}
  nv_tileas.tiled_store %sum, %to[%zero, %zero] {{atom = #stg}} : {second}, {view}
"""
    module = materialized(kernel("%a: memref<32x8xf32>, %b: memref<32x8xf32>", body))
    assert str(module).count("nv_tileas.alloc_tensor") == 1
    numbers = np.random.default_rng(6).integers(-99, 99, (32, 8)).astype(np.float32)
    for order in ("eager", "random"):
        found = lowered(module).emulate(
            numbers, np.zeros_like(numbers), grid=(1, 1, 1), order=order
        )
        assert [str(finding) for finding in found.findings] == []
        assert found.arrays[-1].tobytes() == (15 * numbers).tobytes()
    tiles = simulate(module, (numbers, np.zeros_like(numbers)), grid=(1, 1, 1))
    assert np.asarray(tiles.arrays[-1]).tobytes() == (15 * numbers).tobytes()


def test_conversions_in_agents_count_the_threads_of_the_agent() -> None:
    """An encoding for 64 threads fits the kernel, but not an agent of one warp."""
    wide = '#nv_tileas.linear<"(32,(4,2)):(1@thread,(1@value,32@thread))">'
    lanes = f"#nv_tileas.linear<{KINDS['identity'][0]}>"
    text = chain((32, 8), "f16", [lanes, wide], 2)
    assert "tag = 1" in str(materialized(text))
    body = re.search(r"  %from = .*\n(.*\n)*?  func.return", text)
    assert body
    inside = body.group(0).removesuffix("  func.return")
    switch = (
        "nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, "
        "max_regs = array<i32: 0, 0>, isolated = false} "
        f"agent 0 {{\n}}, agent 1 {{\n{inside}}}\n  func.return"
    )
    with pytest.raises(DiagnosticError, match="failed to query target spec for convert_layout"):
        materialized(text.replace(body.group(0), switch))


def test_a_module_that_is_refused_stays_as_it_was() -> None:
    """The first conversion has a plan, the last one has none."""
    encodings = [f"#nv_tileas.linear<{layout}>" for layout in KINDS["shared"]]
    far = '#nv_tileas.linear<"(32,8):(64@thread,1@value)">'
    module = parse(chain((32, 8), "f16", [*encodings, far], 4))
    before = str(module)
    with pytest.raises(DiagnosticError) as caught:
        TileasMaterializeConvertLayout().apply(Context(), module)
    assert caught.value.diagnostics[0].location is not None
    assert str(module) == before
