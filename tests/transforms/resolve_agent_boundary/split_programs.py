"""Programs of tiles split among agents, and random ones with what numpy says of them.

A random program is a sequence of tile operations with a loop in the middle; every operation goes to
some agent, so that values cross in all directions.
"""

from __future__ import annotations

import random
from typing import Any, TypeAlias

import numpy as np

from tests.support.simulating import COMMON, CONSTANTS

Array: TypeAlias = Any

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


def tiles(array: Array) -> Array:
    """An array as the tiles that kernels load and store."""
    return array.reshape(TILES, ROWS, COLUMNS)


OPERATIONS = {"addf": np.add, "mulf": np.multiply, "subf": np.subtract}

BEFORE, LOOP, BEHIND = range(3)
"""The parts of a program."""

INDEX = "%two"
"""What is loaded outside of the loop."""


class SplitProgram:
    """A random program, split among two to four agents."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.agents = self.rng.randint(2, 4)
        self.code = [[""] * self.agents for _ in range(3)]
        self.carried: list[list[str]] = [[] for _ in range(self.agents)]
        self.known: list[list[str]] = [[], [], []]
        self.steps: list[list[tuple[str, str, tuple[str, ...]]]] = [[], [], []]
        self.sums: dict[str, tuple[str, str]] = {}
        """By the name of a carried sum: what it begins with twice, what each round adds."""
        self._write()
        bodies = [self._body(agent) for agent in range(self.agents)]
        seven = "%seven = arith.constant 7 : index\n"
        self.text = kernel(seven + switch(*bodies, group=self.rng.randint(1, 3)))

    def _write(self) -> None:
        rng = self.rng
        self._operations(BEFORE, rng.randint(1, 3), [])
        self._operations(LOOP, rng.randint(1, 5), self.known[BEFORE])
        for k in range(rng.randint(0, 2)):
            self._sum(f"s{k}")
        agent = self._someone()
        self.shown = rng.choice([*self.known[LOOP], *[f"{name}_in" for name in self.sums]])
        self.code[LOOP][agent] += store(self.shown, f"%i{agent}")
        self._operations(BEHIND, rng.randint(1, 3), [*self.known[BEFORE], *self.sums])
        self.code[BEHIND][self._someone()] += store(self.known[BEHIND][-1], "%seven")

    def _someone(self) -> int:
        return self.rng.randrange(self.agents)

    def _operations(self, part: int, count: int, seen: list[str]) -> None:
        """Loads, and operations on what is known, each by some agent."""
        for k in range(count):
            name, agent = f"v{part}_{k}", self._someone()
            if not self.known[part] or self.rng.random() < 0.3:
                self.code[part][agent] += load(name, f"%i{agent}" if part == LOOP else INDEX)
                self.steps[part].append((name, "load", ()))
            else:
                one, other = self.rng.choices([*seen, *self.known[part]], k=2)
                op = self.rng.choice(list(OPERATIONS))
                self.code[part][agent] += f"%{name} = arith.{op} %{one}, %{other} : !tile\n"
                self.steps[part].append((name, op, (one, other)))
            self.known[part].append(name)

    def _sum(self, name: str) -> None:
        """A sum that the loop of some agent carries."""
        agent = self._someone()
        first, what = self.rng.choice(self.known[BEFORE]), self.rng.choice(self.known[LOOP])
        self.code[BEFORE][agent] += f"%{name}_0 = arith.addf %{first}, %{first} : !tile\n"
        self.code[LOOP][agent] += f"%{name}_out = arith.addf %{name}_in, %{what} : !tile\n"
        self.carried[agent].append(name)
        self.sums[name] = (first, what)

    def _body(self, agent: int) -> str:
        """The code of an agent, with a loop if it has anything to do in one."""
        before, loop, behind = (part[agent] for part in self.code)
        return before + (self._loop(agent, loop) if loop else "") + behind

    def _loop(self, agent: int, code: str) -> str:
        head, names = f"scf.for %i{agent} = %zero to %n step %one", self.carried[agent]
        if not names:
            return f"{head} {{\n{code}}}\n"
        types = ", ".join("!tile" for _ in names)
        given = ", ".join(f"%{name}_in = %{name}_0" for name in names)
        left = ", ".join(f"%{name}" for name in names)
        ends = ", ".join(f"%{name}_out" for name in names)
        head = f"{left} = {head} iter_args({given}) -> ({types})"
        return f"{head} {{\n{code}scf.yield {ends} : {types}\n}}\n"

    def expected(self, array: Array, rounds: int) -> Array:
        """What the program stores, computed in one sequence."""
        out: Array = np.full_like(array, -7.0)
        values: dict[str, Array] = {}
        self._compute(BEFORE, tiles(array)[2], values)
        for name, (first, _) in self.sums.items():
            values[name] = values[first] + values[first]
        for i in range(rounds):
            self._compute(LOOP, tiles(array)[i], values)
            for name, (_, what) in self.sums.items():
                values[f"{name}_in"] = values[name]
                values[name] = values[name] + values[what]
            tiles(out)[i] = values[self.shown]
        self._compute(BEHIND, tiles(array)[2], values)
        tiles(out)[7] = values[self.known[BEHIND][-1]]
        return out

    def _compute(self, part: int, loaded: Array, values: dict[str, Array]) -> None:
        for name, op, operands in self.steps[part]:
            inputs = [values[operand] for operand in operands]
            values[name] = OPERATIONS[op](*inputs) if inputs else loaded
