"""`tileas-resolve-agent-boundary`: programs split among agents compute what they did as one.

Random programs are written as one sequence of tile operations with a loop in the middle; every
operation goes to some agent, so that values cross in all directions.  numpy says what is right.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp

from tests.support.ir import parse
from tests.support.simulating import COMMON, CONSTANTS, SCHEDULES, numbers
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.diagnostics.verify import verify_module
from tileas_xdsl.dialects.nv_tileas.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.create_pipeline import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.slices import AllocTensorOp
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.transforms.resolve_agent_boundary.crossings import crossings
from tileas_xdsl.transforms.resolve_agent_boundary.handoffs import HANDOFF
from tileas_xdsl.transforms.tileas_resolve_agent_boundary import TileasResolveAgentBoundary

Array = Any

TILES, ROWS, COLUMNS = 8, 4, 8
HEAD = f"""{COMMON}
!tile = tensor<{ROWS}x{COLUMNS}xf32>
!view = !nv_tileas.tiled_view<{ROWS}x{COLUMNS}xf32, gmem>
!array = memref<{TILES * ROWS}x{COLUMNS}xf32>
"""


def kernel(body: str, attributes: str = "") -> str:
    """A kernel that loads tiles of `%va`, stores tiles to `%vc`, and knows a number of rounds."""
    return f"""{HEAD}
func.func @k(%a: !array, %c: !array, %n: index) {attributes} {{
{CONSTANTS}
  %va = nv_tileas.view %a : !array -> !view
  %vc = nv_tileas.view %c : !array -> !view
{body}
  func.return
}}
"""


def switch(*bodies: str, group: int = 1, is_open: bool = True, more: str = "") -> str:
    """A split into agents, whose boundary is open."""
    mark = "nv_tileas.open_boundary, " if is_open else ""
    registers = ", ".join("0" for _ in bodies)
    listed = "}, {".join(f"\n{body}\n" for body in bodies)
    return (
        f"nv_tileas.async.pipeline.agent_switch {{{mark}num_agents_per_group = {group} : i32, "
        f"max_regs = array<i32: {registers}>, isolated = false{more}}} {{{listed}}}\n"
    )


def load(name: str, index: str) -> str:
    return (
        f"  %{name} = nv_tileas.tiled_load %va[{index}, %zero] {{atom = #ldg}} : !view -> !tile\n"
    )


def store(name: str, index: str) -> str:
    return f"  nv_tileas.tiled_store %{name}, %vc[{index}, %zero] {{atom = #stg}} : !tile, !view\n"


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


def tiles(array: Array) -> Array:
    return array.reshape(TILES, ROWS, COLUMNS)


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


@pytest.mark.parametrize("name", BEFORE)
@pytest.mark.parametrize("rounds", [0, 3])
def test_a_program_computes_what_it_did(name: str, rounds: int) -> None:
    text, array = kernel(BEFORE[name]), array_of(3)
    before = results(parse(text), array, rounds)
    after = results(resolved(text), array, rounds)
    assert after.tobytes() == before.tobytes()
    assert rounds == 0 or not (before == -7.0).all()


@pytest.mark.parametrize(
    "name", ["one agent", "two agents, one computes", "two tiles", "in flight"]
)
def test_the_result_is_lowered_to_threads(name: str) -> None:
    attributes = "attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>}"
    text, array = kernel(BEFORE[name], attributes), array_of(4)
    before = results(parse(text), array, 1)
    with pytest.raises(OpError, match="in registers of other threads|is not lowered|no token"):
        _ = compile(text).ptx
    made = compile(str(resolved(text)))
    out = np.full_like(array, -7.0)
    found = made.emulate(array, out, 1, grid=(1, 1, 1), order="random")
    assert [str(finding) for finding in found.findings] == []
    assert np.asarray(found.arrays[1]).tobytes() == before.tobytes()


def test_a_pipeline_of_copies_is_refused_by_the_lowering() -> None:
    text = kernel(switch(load("x", "%one"), store("x", "%two")))
    with pytest.raises(OpError, match="fills a stage otherwise than by TMA") as caught:
        _ = compile(str(resolved(text))).ptx
    assert caught.value.diagnostics[0].location is not None


# random programs


@dataclass
class Agents:
    """The code of each agent, and what numpy says of the values."""

    count: int
    rng: random.Random
    before: list[str] = field(default_factory=list[str])
    loop: list[str] = field(default_factory=list[str])
    behind: list[str] = field(default_factory=list[str])
    carried: list[list[str]] = field(default_factory=list[list[str]])

    def __post_init__(self) -> None:
        for part in (self.before, self.loop, self.behind):
            part += [""] * self.count
        self.carried += [[] for _ in range(self.count)]

    def body(self, agent: int) -> str:
        """The code of an agent: a loop in the middle if it has anything to do in it."""
        loop = ""
        if self.loop[agent] or self.carried[agent]:
            names = self.carried[agent]
            given = ", ".join(f"%{name}_in = %{name}_0" for name in names)
            types = ", ".join("!tile" for _ in names)
            head = f" iter_args({given}) -> ({types})" if names else ""
            results = ", ".join(f"%{name}" for name in names)
            ends = ", ".join(f"%{name}_out" for name in names)
            loop = f"{results + ' = ' if names else ''}scf.for %i{agent} = %zero to %n step %one{head} {{\n"
            loop += self.loop[agent]
            loop += f"scf.yield {ends} : {types}\n" if names else ""
            loop += "}\n"
        return self.before[agent] + loop + self.behind[agent]


def random_program(seed: int) -> tuple[str, list[tuple[str, Any]]]:
    """A program split among agents, and its steps as they are to be computed."""
    rng = random.Random(seed)
    agents = Agents(rng.randint(2, 4), rng)
    steps: list[tuple[str, Any]] = []
    known = {"before": [], "loop": [], "behind": []}  # type: dict[str, list[str]]
    counter = 0

    def someone() -> int:
        return rng.randrange(agents.count)

    def add(part: str) -> None:
        nonlocal counter
        counter += 1
        name, agent = f"v{counter}", someone()
        codes: list[str] = getattr(agents, part)
        if not known[part] or rng.random() < 0.3:
            index = f"%i{agent}" if part == "loop" else "%two"
            codes[agent] += load(name, index)
            steps.append((part, (name, "load", ())))
        else:
            seen = known["before"] + known[part] if part != "before" else known[part]
            seen = seen + (known["carried"] if part == "behind" else [])
            one, other = rng.choice(seen), rng.choice(seen)
            op = rng.choice(["addf", "mulf", "subf"])
            codes[agent] += f"%{name} = arith.{op} %{one}, %{other} : !tile\n"
            steps.append((part, (name, op, (one, other))))
        known[part].append(name)

    for _ in range(rng.randint(1, 3)):
        add("before")
    known["carried"] = []
    for _ in range(rng.randint(1, 5)):
        add("loop")
    for k in range(rng.randint(0, 2)):
        agent, what, first = someone(), rng.choice(known["loop"]), rng.choice(known["before"])
        name = f"s{k}"
        agents.before[agent] += f"%{name}_0 = arith.addf %{first}, %{first} : !tile\n"
        agents.loop[agent] += f"%{name}_out = arith.addf %{name}_in, %{what} : !tile\n"
        agents.carried[agent].append(name)
        known["carried"].append(name)
        steps.append(("carried", (name, what, first)))
    shown = someone()
    what = rng.choice(known["loop"] + [f"{name}_in" for name in known["carried"]])
    agents.loop[shown] += store(what, f"%i{shown}")
    steps.append(("shown", what))
    for _ in range(rng.randint(1, 3)):
        add("behind")
    agents.behind[(last := someone())] += store(known["behind"][-1], "%seven")
    steps.append(("last", known["behind"][-1]))
    del last
    bodies = [agents.body(k) for k in range(agents.count)]
    text = "%seven = arith.constant 7 : index\n" + switch(*bodies, group=rng.randint(1, 3))
    return kernel(text), steps


OPERATIONS = {"addf": np.add, "mulf": np.multiply, "subf": np.subtract}


def expected(steps: Sequence[tuple[str, Any]], array: Array, rounds: int) -> Array:
    """What a program stores, computed step by step."""
    out = np.full_like(array, -7.0)
    values: dict[str, Array] = {}

    def compute(part: str, index: int) -> None:
        for where, step in steps:
            if where == part:
                name, op, operands = step
                values[name] = (
                    tiles(array)[index]
                    if op == "load"
                    else OPERATIONS[op](*[values[v] for v in operands])
                )

    compute("before", 2)
    sums = [step for where, step in steps if where == "carried"]
    for name, _, first in sums:
        values[name] = values[first] + values[first]
    for i in range(rounds):
        compute("loop", i)
        for name, what, _ in sums:
            values[f"{name}_in"] = values[name]
            values[name] = values[name] + values[what]
        tiles(out)[i] = values[next(step for where, step in steps if where == "shown")]
    compute("behind", 2)
    tiles(out)[7] = values[next(step for where, step in steps if where == "last")]
    return out


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_split_among_agents(seed: int) -> None:
    text, steps = random_program(seed)
    array = np.round(array_of(seed), 1).astype(np.float32)
    rounds = seed % 6
    module = resolved(text, loop_stages=1 + seed % 3)
    with np.errstate(all="ignore"):
        assert results(module, array, rounds).tobytes() == expected(steps, array, rounds).tobytes()


def test_random_programs_cross_boundaries() -> None:
    made = [len(handoffs(resolved(random_program(seed)[0]))) for seed in range(60)]
    assert sum(made) > 120


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
        module = resolved(random_program(seed)[0])
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
        _ = compile(text).ptx


def test_a_failure_leaves_a_valid_module() -> None:
    inner = "scf.if %p {\n" + load("x", "%one") + "}"
    body = "%p = arith.cmpi eq, %n, %one : index\n" + load("y", "%one")
    module = parse(kernel(body + switch(inner, store("x", "%two") + store("y", "%one"))))
    with pytest.raises(OpError, match="inside 'scf.if'"):
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
        module = resolved(random_program(seed)[0])
        (split,) = [op for op in module.walk() if isinstance(op, AgentSwitchOp)]
        assert all(crossing.home is None for crossing in crossings(split))
        assert isinstance(split.num_agents_per_group, IntegerAttr)
