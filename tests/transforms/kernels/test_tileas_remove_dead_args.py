"""`tileas-remove-dead-args`: kernels give the same before and after, and carry less."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from support.seeds import seeds
from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

from kernels import KERNELS, make
from tests.support.ir import parse
from tests.support.simulating import kernel, numbers
from tileas_xdsl.analysis.values.loop_carried_values import carried_in
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.interpreters.tile.launch import Schedule, simulate
from tileas_xdsl.transforms.kernels.tileas_remove_dead_args import TileasRemoveDeadArgs
from tileas_xdsl.transforms.memory.tileas_remove_buffer_alias import TileasRemoveBufferAlias


def check(text: str, *runs: tuple[Any, ...], schedules: Sequence[Any] = (None,)) -> ModuleOp:
    """The module after the pass: valid, as it is after a second time, and of the same results."""
    before, after = parse(text), parse(text)
    TileasRemoveDeadArgs().apply(Context(), after)
    verify_module(after)
    printed = str(after)
    TileasRemoveDeadArgs().apply(Context(), after)
    assert str(after) == printed
    for args in runs:
        for schedule in schedules:
            one = simulate(before, args, schedule=schedule).arrays
            other = simulate(after, args, schedule=schedule).arrays
            for x, y in zip(one, other, strict=True):
                assert np.asarray(x).tobytes() == np.asarray(y).tobytes()
    return after


def carried_count(module: ModuleOp) -> int:
    return len(list(carried_in(module)))


@dataclass
class _Writer:
    """Random loops and branches over i32; most of what they carry is never stored."""

    rng: random.Random
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def put(self, line: str) -> None:
        self.lines.append(line)

    def some(self, known: Sequence[str], count: int) -> list[str]:
        return [self.rng.choice(known) for _ in range(count)]

    def body(self, known: Sequence[str], depth: int) -> list[str]:
        known = list(known)
        for _ in range(self.rng.randint(1, 4)):
            step: Callable[[list[str], int], list[str]] = self.rng.choice(
                [self.add, self.add, self.store, self.loop, self.endless, self.branch]
                if depth > 0
                else [self.add, self.store]
            )
            known += step(known, depth - 1)
        return known

    def add(self, known: list[str], _: int) -> list[str]:
        name = self.name()
        a, b = self.some(known, 2)
        self.put(f"{name} = arith.addi {a}, {b} : !t")
        return [name]

    def store(self, known: list[str], _: int) -> list[str]:
        if self.rng.random() < 0.6:
            return []
        (value,) = self.some(known, 1)
        self.put(f"nv_tileas.store {value}, %out[%zero] {{atom = #stg}} : !t, !m")
        old, new, both = self.name(), self.name(), self.name()
        self.put(f"{old} = nv_tileas.load %out[%one] {{atom = #ldg}} : !m -> !t")
        self.put(f"{new} = arith.muli {old}, %factor : !t")
        self.put(f"{both} = arith.addi {new}, {value} : !t")
        self.put(f"nv_tileas.store {both}, %out[%one] {{atom = #stg}} : !t, !m")
        return []

    def loop(self, known: list[str], depth: int) -> list[str]:
        width = self.rng.randint(1, 4)
        results, arguments = ([self.name() for _ in range(width)] for _ in range(2))
        inits = ", ".join(
            f"{a} = {v}" for a, v in zip(arguments, self.some(known, width), strict=True)
        )
        types = ", ".join(["!t"] * width)
        trips, i = self.rng.choice(("%zero", "%one", "%three")), self.name()
        head = f"scf.for {i} = %zero to {trips} step %one iter_args({inits}) -> ({types})"
        self.put(f"{', '.join(results)} = {head} {{")
        inside = self.body([*known, *arguments], depth)
        yielded = [self.rng.choice(self.rng.choice((inside, arguments))) for _ in range(width)]
        self.put(f"scf.yield {', '.join(yielded)} : {types}\n}}")
        return results

    def endless(self, known: list[str], depth: int) -> list[str]:
        width = self.rng.randint(1, 3)
        before, after, results = ([self.name() for _ in range(width)] for _ in range(3))
        i, j, k, more, next_ = (self.name() for _ in range(5))
        inits = ", ".join(
            f"{a} = {v}" for a, v in zip(before, self.some(known, width), strict=True)
        )
        types = ", ".join(["!t"] * width)
        self.put(
            f"{k}, {', '.join(results)} = scf.while ({i} = %zero, {inits}) : (index, {types})"
            f" -> (index, {types}) {{"
        )
        inside = self.body([*known, *before], depth - 1)
        self.put(f"{more} = arith.cmpi ult, {i}, {self.rng.choice(('%zero', '%two'))} : index")
        handed = [self.rng.choice(self.rng.choice((inside, before))) for _ in range(width)]
        self.put(f"scf.condition({more}) {i}, {', '.join(handed)} : index, {types}\n}} do {{")
        arguments = ", ".join(f"{a}: !t" for a in after)
        self.put(f"^bb0({j}: index, {arguments}):")
        inside = self.body([*known, *after], depth - 1)
        self.put(f"{next_} = arith.addi {j}, %one : index")
        yielded = [self.rng.choice(self.rng.choice((inside, after))) for _ in range(width)]
        self.put(f"scf.yield {next_}, {', '.join(yielded)} : index, {types}\n}}")
        return results

    def branch(self, known: list[str], depth: int) -> list[str]:
        width = self.rng.randint(1, 3)
        results = [self.name() for _ in range(width)]
        types = ", ".join(["!t"] * width)
        joined = ", ".join(results)
        if self.rng.random() < 0.5:
            self.put(f"{joined} = scf.if %p -> ({types}) {{")
            arms = ("} else {", "}")
        else:
            self.put(f"{joined} = scf.index_switch %n -> {types}\ncase 0 {{")
            arms = ("}\ncase 2 {", "}\ndefault {", "}")
        for end in arms:
            inside = self.body(known, depth)
            self.put(f"scf.yield {', '.join(self.some(inside, width))} : {types}\n{end}")
        return results


_BEGIN = """
  %factor = arith.constant dense<5> : !t
  %x = tensor.splat %first : !t
  %y = tensor.splat %second : !t
"""


def random_program(seed: int) -> str:
    writer = _Writer(random.Random(seed))
    known = writer.body(["%x", "%y"], 3)
    body = "\n".join((_BEGIN, *writer.lines))
    final = f"nv_tileas.store {writer.rng.choice(known)}, %out[%two] {{atom = #stg}} : !t, !m"
    parameters = "%out: !m, %first: i32, %second: i32, %p: i1, %n: index"
    return kernel(
        parameters, f"{body}\n{final}", types={"m": "memref<64xi32>", "t": "tensor<1xi32>"}
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("part", seeds(3, 6))
def test_random_kernels(part: int) -> None:
    """Loops and branches in one another: what is stored stays the same, and less is carried."""
    rng = np.random.default_rng(part)
    out = numbers(rng, 64, np.int32)
    dropped = 0
    for seed in range(12 * part, 12 * part + 12):
        text = random_program(seed)
        runs = [(out, 7, -3, bool(rng.integers(2)), n) for n in (0, 2, 5)]
        dropped += carried_count(parse(text)) - carried_count(check(text, *runs))
    assert dropped > 20


PIPELINED = """
  %ring = nv_tileas.alloc_tensor : tensor<2x128xf32, #nv_tileas<space smem>>
  %slots = nv_tileas.view %ring : tensor<2x128xf32, #nv_tileas<space smem>> -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {
    numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}
    : !slots -> !prod, !cons
  nv_tileas.async.pipeline.agent_switch {
    num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false} agent 0 {
    %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
    %r:3 = scf.for %k = %zero to %n step %one
        iter_args(%p = %p0, %i = %i0, %idle = %i0) -> (!prod, !iter, !iter) {
      %x = nv_tileas.load %a[%k, %zero] {atom = #ldg} : !m -> !t
      %p1, %unused = nv_tileas.async.pipeline.produce_one %p, %i {
          producer_types = [!t]} : (!prod, !iter) -> (!prod, !t) {
      ^bb0(%s: !t):
        nv_tileas.copy %x, %s {atom = #any} : !t, !t
        nv_tileas.async.pipeline.yield %x : !t
      }
      %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
      %idle1 = nv_tileas.async.pipeline.inc_iter %idle : !iter -> !iter
      scf.yield %p1, %i1, %idle1 : !prod, !iter, !iter
    }
  }, agent 1 {
    %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
    %r:4 = scf.for %k = %zero to %n step %one
        iter_args(%c = %c0, %j = %j0, %sum = %nothing, %last = %nothing)
        -> (!cons, !iter, !t, !t) {
      %c1, %read, %twice = nv_tileas.async.pipeline.consume_one %c, %j {
          consumer_idx = 0 : i32, consumer_types = [!t]} : (!cons, !iter) -> (!cons, !t, !t) {
      ^bb0(%s: !t):
        %d = arith.addf %s, %s : !t
        nv_tileas.async.pipeline.yield %s, %d : !t, !t
      }
      %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
      %more = arith.addf %sum, %read : !t
      scf.yield %c1, %j1, %more, %twice : !cons, !iter, !t, !t
    }
    nv_tileas.store %r#2, %b[%zero, %zero] {atom = #stg} : !t, !m
  }
"""


def test_agents_hand_over_less_and_compute_the_same() -> None:
    """A payload nobody uses, an iterator nobody reads, a sum nobody stores."""
    rng = np.random.default_rng(3)
    a, b = numbers(rng, (8, 128), np.float32), numbers(rng, (1, 128), np.float32)
    tile = "tensor<1x128xf32>"
    text = kernel(
        "%a: !m, %b: !m, %n: index",
        f"  %nothing = arith.constant dense<0.0> : !t\n{PIPELINED}",
        types={
            "m": "memref<?x128xf32>",
            "t": tile,
            "slots": "!nv_tileas.tiled_view<2x128xf32, smem>",
            "iter": f"!nv_tileas.async.pipeline.iterator<{tile}, 2, smem>",
        },
    )
    schedules = (Schedule(), Schedule("adversarial"), Schedule("random", 4))
    after = check(text, (a, b, 5), (a, b, 0), schedules=schedules)
    loops = [op for op in after.walk() if isinstance(op, scf.ForOp)]
    assert [len(loop.iter_args) for loop in loops] == [2, 3]
    payloads = [len(op.results) for op in after.walk() if op.name.endswith(("ce_one", "me_one"))]
    assert payloads == [1, 2]


def test_locations_and_names_of_what_stays() -> None:
    module = parse("""
      func.func @f(%x: f32, %n: index) -> f32 {
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %r, %kept = scf.for %i = %zero to %n step %one iter_args(%u = %x, %v = %x) -> (f32, f32) {
          %0 = arith.addf %v, %v : f32
          scf.yield %u, %0 : f32, f32
        }
        func.return %kept : f32
      }
    """)
    place = next(op.location for op in module.walk() if isinstance(op, scf.ForOp))
    TileasRemoveDeadArgs().apply(Context(), module)
    loop = next(op for op in module.walk() if isinstance(op, scf.ForOp))
    assert loop.location == place
    assert [result.name_hint for result in loop.results] == ["kept"]


@pytest.mark.parametrize("name", KERNELS)
def test_the_kernels_have_nothing_to_remove(name: str) -> None:
    """Neither dead values nor aliases: both passes leave them as they are."""
    module = parse(make(name).text())
    before = str(module)
    for module_pass in (TileasRemoveDeadArgs(), TileasRemoveBufferAlias()):
        module_pass.apply(Context(), module)
    assert str(module) == before
