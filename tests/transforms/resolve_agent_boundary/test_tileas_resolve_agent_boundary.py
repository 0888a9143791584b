"""`tileas-resolve-agent-boundary`: programs split among agents keep their results.

Programs that can run before the pass must leave the same bits after it; of random ones, which only
run after it, numpy says what is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.seeds import seeds
from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.utils.arg_spec import ArgSpec

from kernels import Gemm
from tests.support.ir import parse
from tests.support.simulating import SCHEDULES, numbers
from tests.transforms.resolve_agent_boundary.split_programs import (
    COLUMNS,
    ROWS,
    TILES,
    Array,
    SplitProgram,
    kernel,
    load,
    store,
    switch,
    tiles,
)
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.transforms.pipelining.tileas_resolve_agent_boundary import (
    TileasResolveAgentBoundary,
)
from tileas_xdsl.transforms.resolve_agent_boundary.crossings import crossings
from tileas_xdsl.transforms.resolve_agent_boundary.transfer_code import HANDOFF


def resolved(text: str, **options: int) -> ModuleOp:
    """The program after the pass, which has closed every boundary and has nothing more to do."""
    module = parse(text)
    TileasResolveAgentBoundary(**options).apply(Context(), module)
    verify_module(module)
    once = str(module)
    assert "open_boundary" not in once
    TileasResolveAgentBoundary(**options).apply(Context(), module)
    assert str(module) == once
    return module


def results(module: ModuleOp, array: Array, rounds: int) -> Array:
    """What a program leaves in `%c`, the same under every schedule."""
    out = np.full_like(array, -7.0)
    found = [simulate(module, (array, out, rounds), schedule=s).arrays[1] for s in SCHEDULES]
    for other in found[1:]:
        assert np.asarray(other).tobytes() == np.asarray(found[0]).tobytes()
    return np.asarray(found[0])


def array_of(seed: int) -> Array:
    return numbers(np.random.default_rng(seed), (TILES * ROWS, COLUMNS), np.float32)


def handoffs(module: ModuleOp) -> list[dict[str, Any]]:
    """The records that buffer assignment finds."""
    found = [op.attributes[HANDOFF] for op in module.walk() if HANDOFF in op.attributes]
    return [dict(record.data) for record in found if isinstance(record, DictionaryAttr)]


# programs that run before the pass too


BEFORE = {
    "one agent": load("x", "%one") + switch(store("x", "%two"), "", is_open=False),
    "two agents, one computes": load("x", "%one")
    + switch(
        store("x", "%two"),
        "%y = arith.mulf %x, %x : !tile\n" + store("y", "%three"),
        is_open=False,
    ),
    "two tiles": load("x", "%one")
    + load("y", "%two")
    + switch(
        "%s = arith.subf %x, %y : !tile\n" + store("s", "%one"),
        "%s = arith.mulf %x, %y : !tile\n" + store("s", "%two"),
        is_open=False,
    ),
    "used in a loop": load("x", "%one")
    + switch(
        "scf.for %i = %zero to %n step %one {\n"
        + load("y", "%i")
        + "%s = arith.addf %x, %y : !tile\n"
        + store("s", "%i")
        + "}",
        store("x", "%four"),
        is_open=False,
    ),
    "the switch in a loop": "scf.for %i = %zero to %n step %one {\n"
    + load("x", "%i")
    + "%y = arith.addf %x, %x : !tile\n"
    + "%j = arith.addi %i, %four : index\n"
    + switch(store("y", "%i"), store("x", "%j"), is_open=False)
    + "}\n",
    "a switch in a switch": load("x", "%one")
    + switch(
        "%y = arith.addf %x, %x : !tile\n"
        + switch(
            "%s = arith.mulf %x, %y : !tile\n" + store("s", "%zero"),
            store("y", "%one"),
            is_open=False,
            group=2,
        ),
        store("x", "%two"),
        is_open=False,
        group=2,
    ),
    "in flight": "%t = nv_tileas.async.tiled_load %va[%one, %zero] {atom = #ldg} "
    ": !view -> !nv_tileas.token<!tile>\n"
    + switch(
        "%x = nv_tileas.async.wait %t : !nv_tileas.token<!tile> -> !tile\n" + store("x", "%one"),
        "%x = nv_tileas.async.wait %t : !nv_tileas.token<!tile> -> !tile\n"
        "%y = arith.addf %x, %x : !tile\n" + store("y", "%two"),
        is_open=False,
    ),
    "a constant and a splat": "%k = arith.constant dense<2.5> : !tile\n"
    "%f = arith.constant 0.5 : f32\n%h = tensor.splat %f : !tile\n"
    + switch(
        "%y = arith.addf %h, %k : !tile\n" + store("y", "%one"), store("h", "%two"), is_open=False
    ),
    "storage that one agent fills": "%m = nv_tileas.alloc_tensor : !tile\n"
    + switch(
        load("x", "%one") + f"%y = nv_tileas.insert_slice %x into %m[0, 0][{ROWS}, {COLUMNS}][1, 1]"
        " : !tile into !tile\n" + store("y", "%one"),
        "",
        is_open=False,
    ),
    "a loop that carries the tile": load("x", "%one")
    + switch(
        "%r = scf.for %i = %zero to %n step %one iter_args(%s = %x) -> (!tile) {\n"
        + load("y", "%i")
        + "%t = arith.addf %s, %y : !tile\nscf.yield %t : !tile\n}\n"
        + store("r", "%one"),
        "",
        is_open=False,
    ),
}


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", BEFORE)
@pytest.mark.parametrize("rounds", [0, 3])
def test_a_program_computes_what_it_did(name: str, rounds: int) -> None:
    text, array = kernel(BEFORE[name]), array_of(3)
    before = results(parse(text), array, rounds)
    after = results(resolved(text), array, rounds)
    assert after.tobytes() == before.tobytes()
    assert rounds == 0 or not (before == -7.0).all()


TO_THREADS = [ArgSpec("convert-tileas-to-cute-nvgpu", {})]

LOWERED = (
    "one agent",
    "two agents, one computes",
    "two tiles",
    "used in a loop",
    "the switch in a loop",
    "in flight",
    "a loop that carries the tile",
)


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", LOWERED)
def test_the_result_is_lowered_to_threads(name: str) -> None:
    attributes = "attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>}"
    text, array = kernel(BEFORE[name], attributes), array_of(4)
    before = results(parse(text), array, 3)
    with pytest.raises(OpError, match="in registers of other threads"):
        compile(text, passes=TO_THREADS)
    made = compile(str(resolved(text)))
    out = np.full_like(array, -7.0)
    found = made.emulate(array, out, 3, grid=(1, 1, 1), order="random")
    assert [str(finding) for finding in found.findings] == []
    assert np.asarray(found.arrays[1]).tobytes() == before.tobytes()


# random programs


@pytest.mark.sample(10)
@pytest.mark.parametrize("seed", seeds(30, 60))
def test_random_programs_split_among_agents(seed: int) -> None:
    program, array, rounds = SplitProgram(seed), array_of(seed), seed % 6
    module = resolved(program.text, loop_stages=1 + seed % 3)
    found, wanted = results(module, array, rounds), program.expected(array, rounds)
    assert found.tobytes() == wanted.tobytes()


def test_random_programs_cross_boundaries() -> None:
    made = [len(handoffs(resolved(SplitProgram(seed).text))) for seed in range(12)]
    assert sum(made) > 24


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(12))
def test_random_programs_are_lowered_to_threads(seed: int) -> None:
    program, array = SplitProgram(seed), array_of(seed)
    spec = f"nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = {2 * program.agents}>"
    text = program.text.replace("%n: index) ", f"%n: index) attributes {{{spec}}}")
    made = compile(str(resolved(text, loop_stages=1 + seed % 2)))
    found = made.emulate(array, np.full_like(array, -7.0), 5, grid=(1, 1, 1), order="random")
    assert [str(finding) for finding in found.findings] == []
    assert np.asarray(found.arrays[1]).tobytes() == program.expected(array, 5).tobytes()


def stored_by_others(text: str) -> str:
    """A GEMM of two consumers, whose sums two more agents store."""
    head, rest = text.split("  }, agent 1 {\n")
    bodies, end = rest.split("\n  }\n  func.return")
    products: list[str] = []
    stores: list[str] = []
    for number, body in enumerate(bodies.split("  }, agent 2 {\n")):
        cut = body.index("    %top =")
        products.append(body[:cut].replace("%acc =", f"%acc{number} ="))
        stores.append(body[cut:].replace("%acc,", f"%acc{number},"))
    head = head.replace("agent_switch {", "agent_switch {nv_tileas.open_boundary, ")
    head = head.replace("<i32: 40, 232, 232>", "<i32: 0, 0, 0, 0, 0>")
    head = head.replace("num_warps = 12", "num_warps = 20")
    agents = [f"  }}, agent {k + 1} {{\n{body}" for k, body in enumerate([*products, *stores])]
    return f"{head}{''.join(agents)}\n  }}\n  func.return{end}"


def test_sums_of_a_gemm_are_stored_by_other_agents() -> None:
    plain = Gemm(bm=128, bn=64, bk=64).text()
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((128, 192), (192, 128)))
    arguments, grid = (a, b, np.zeros((128, 128), np.float32)), (2, 1, 1)
    wanted = simulate(parse(plain), arguments, grid=grid).arrays[2]
    module = resolved(stored_by_others(plain))
    assert len(handoffs(module)) == 2
    found = simulate(module, arguments, grid=grid, schedule=SCHEDULES[1]).arrays[2]
    assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes()
    emulated = compile(str(module)).emulate(*arguments, grid=grid, order="random")
    assert [str(finding) for finding in emulated.findings] == []
    np.testing.assert_allclose(emulated.arrays[2], found, rtol=1e-4, atol=1e-4)


# what the pass leaves


def test_records_say_who_gives_and_takes() -> None:
    text = kernel(
        load("y", "%one") + switch(load("x", "%one"), store("x", "%two") + store("y", "%one"))
    )
    records = handoffs(resolved(text))
    assert [str(record["barrier"]) for record in records] == ['"block"', '"pipe"']
    assert [str(record["to"]) for record in records] == ["array<i32: 1>", "array<i32: 1>"]
    assert [record["id"].value.data for record in records] == [0, 1]
    assert [record["from"].value.data for record in records] == [-1, 0]


def test_every_operation_is_located_and_every_handoff_has_a_buffer() -> None:
    for seed in range(10):
        module = resolved(SplitProgram(seed).text)
        for op in module.walk():
            assert location_of(op) is not None
            if HANDOFF in op.attributes:
                assert isinstance(op, AllocTensorOp)


@pytest.mark.parametrize(("stages", "expected_stages"), [((0, 2), 3), ((1, 1), 1), ((2, 0), 1)])
def test_a_schedule_says_how_many_tiles_are_on_their_way(
    stages: tuple[int, int], expected_stages: int
) -> None:
    give = "scf.for %i = %zero to %n step %one {\n" + load("x", "%i") + "}"
    take = "scf.for %i = %zero to %n step %one {\n" + store("x", "%i") + "}"
    give = give.replace("{atom", f"{{stage = {stages[0]} : i32, atom")
    take = take.replace("{atom", f"{{stage = {stages[1]} : i32, atom")
    module = resolved(kernel(switch(give, take)), loop_stages=7)
    (pipeline,) = [op for op in module.walk() if isinstance(op, CreatePipelineOp)]
    assert pipeline.stages == expected_stages


@pytest.mark.parametrize("group", [1, 2, 3])
def test_a_pipeline_has_as_many_consumers_as_a_group_has_agents(group: int) -> None:
    bodies = [load("x", "%one"), *[store("x", index) for index in ("%one", "%two", "%three")]]
    module = resolved(kernel(switch(*bodies, group=group)))
    pipelines = [op for op in module.walk() if isinstance(op, CreatePipelineOp)]
    assert len(pipelines) == -(-3 // group)
    out = tiles(results(module, array := array_of(9), 1))
    assert all((out[k] == tiles(array)[1]).all() for k in (1, 2, 3))


def test_an_open_boundary_does_not_run() -> None:
    text = kernel(switch(load("x", "%one"), store("x", "%two")))
    array = array_of(1)
    with pytest.raises(SimulationError, match="has an open boundary"):
        simulate(parse(text), (array, array.copy(), 1))
    with pytest.raises(OpError, match="has an open boundary"):
        compile(text, passes=TO_THREADS)


def test_a_failure_leaves_a_valid_module() -> None:
    inner = "scf.if %p {\n" + load("x", "%one") + "}"
    body = "%p = arith.cmpi eq, %n, %one : index\n" + load("y", "%one")
    module = parse(kernel(body + switch(inner, store("x", "%two") + store("y", "%one"))))
    with pytest.raises(OpError, match=r"inside 'scf\.if'"):
        TileasResolveAgentBoundary().apply(Context(), module)
    verify_module(module)


def test_stages_are_at_least_one() -> None:
    with pytest.raises(OpError, match="loop-stages is at least 1, not 0"):
        TileasResolveAgentBoundary(loop_stages=0).apply(Context(), parse(kernel("")))


def test_modules_without_agents_are_left_alone() -> None:
    text = kernel(load("x", "%one") + store("x", "%two"))
    assert str(resolved(text)) == str(parse(text))


def test_nests_of_loops_in_step() -> None:
    def nest(agent: str, body: str) -> str:
        return (
            f"scf.for %i{agent} = %zero to %n step %one {{\n"
            f"%e{agent} = arith.addi %i{agent}, %two : index\n"
            f"scf.for %j{agent} = %i{agent} to %e{agent} step %one {{\n{body}}}\n}}\n"
        )

    give = nest("a", load("x", "%ja") + "%at = arith.addi %ia, %ja : index\n")
    take = nest("b", "%y = arith.addf %x, %x : !tile\n" + store("y", "%at"))
    module = resolved(kernel(switch(give, take)))
    assert len([op for op in module.walk() if isinstance(op, scf.ForOp)]) == 4
    array = array_of(5)
    out = np.full_like(array, -7.0)
    for i in range(3):
        for j in range(i, i + 2):
            tiles(out)[i + j] = tiles(array)[j] + tiles(array)[j]
    assert results(module, array, 3).tobytes() == out.tobytes()


def test_nothing_crosses_afterwards_but_what_may() -> None:
    for seed in range(10):
        module = resolved(SplitProgram(seed).text)
        (split,) = [op for op in module.walk() if isinstance(op, AgentSwitchOp)]
        assert all(crossing.definer is None for crossing in crossings(split))
        assert isinstance(split.num_agents_per_group, IntegerAttr)


def test_long_chains_of_scalars_are_computed_again_once() -> None:
    chain = "%s0 = arith.addi %n, %zero : index\n"
    chain += "".join(f"%s{k + 1} = arith.addi %s{k}, %s{k} : index\n" for k in range(400))
    ends = "%t = arith.remui %s400, %eight : index\n"
    module = resolved(kernel(switch(chain + ends, load("x", "%t") + store("x", "%t"))))
    assert len([op for op in module.walk() if op.name == "arith.addi"]) == 802
