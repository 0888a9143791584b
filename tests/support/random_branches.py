"""Random kernels of Tile IR that are all branches, loops, and exits from them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tests.support.tile_ir import entry

PREDICATES = (
    *("equal", "not_equal", "less_than", "less_than_or_equal"),
    *("greater_than", "greater_than_or_equal"),
)
SMALLEST, LARGEST = -(2**31), 2**31 - 1
SLOTS = 8
"""Elements of the array that kernels write."""

START = """
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %true = constant <i1: 1> : tile<i1>
    %false = constant <i1: 0> : tile<i1>
"""


@dataclass(frozen=True)
class _Scope:
    """What a block sees, and how it may be left."""

    numbers: tuple[str, ...]
    truths: tuple[str, ...]
    exits: tuple[str, ...]
    counter: str = ""
    depth: int = 0


@dataclass
class _Writer:
    rng: random.Random
    is_positive: bool
    """Whether no bound of a loop is negative."""
    names: int = 0
    lines: list[str] = field(default_factory=list[str])

    def make(self, text: str) -> str:
        self.names += 1
        self.lines.append(f"%v{self.names} = {text}")
        return f"%v{self.names}"

    def block(self, scope: _Scope, length: int) -> _Scope:
        """Write operations; what they define is visible in the scope returned."""
        for _ in range(length):
            scope = self._operation(scope)
        return scope

    def _operation(self, scope: _Scope) -> _Scope:
        match self.rng.randrange(9):
            case 0 | 1:
                kind = self.rng.choice(("addi", "muli", "subi"))
                made = self.make(f"{kind} {', '.join(self._numbers(scope, 2))} : tile<i32>")
                return _with(scope, numbers=(made,))
            case 2 | 3:
                return _with(scope, truths=(self.boolean(scope),))
            case 4:
                self.store(scope)
                return scope
            case _ if scope.depth > 2:
                return scope
            case 5 | 6:
                return _with(scope, numbers=self._branch(scope))
            case _:
                return _with(scope, numbers=(self._loop(scope),))

    def _numbers(self, scope: _Scope, count: int) -> list[str]:
        return [self.rng.choice(scope.numbers) for _ in range(count)]

    def boolean(self, scope: _Scope) -> str:
        if self.rng.random() < 0.2:
            return self.make(f"xori {self.rng.choice(scope.truths)}, %true : tile<i1>")
        first, second = self._numbers(scope, 2)
        if scope.counter and self.rng.random() < 0.7:
            first, second = scope.counter, self.rng.choice(("%a", "%b", second))
        if self.rng.random() < 0.3:
            first, second = second, first
        sign = self.rng.choice(("signed", "signed", "unsigned"))
        predicate = self.rng.choice(PREDICATES)
        return self.make(f"cmpi {predicate} {first}, {second}, {sign} : tile<i32> -> tile<i1>")

    def store(self, scope: _Scope) -> None:
        slot = self.make(f"constant <i32: {self.rng.randrange(SLOTS)}> : tile<i32>")
        place = self.make(f"offset %o, {slot} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>")
        (value,) = self._numbers(scope, 1)
        self.names += 1
        old = f"%v{self.names}"
        loaded = f"load_ptr_tko weak {place} : tile<ptr<i32>> -> tile<i32>, token"
        self.lines.append(f"{old}, {old}_t = {loaded}")
        mixed = self.make(f"muli {old}, %three : tile<i32>")
        found = self.make(f"addi {mixed}, {value} : tile<i32>")
        self.make(f"store_ptr_tko weak {place}, {found} : tile<ptr<i32>>, tile<i32> -> token")

    def _branch(self, scope: _Scope) -> tuple[str, ...]:
        count = self.rng.randrange(3)
        types = ", ".join(["tile<i32>"] * count)
        is_new = bool(scope.counter) and self.rng.random() < 0.7
        condition = self.boolean(scope) if is_new else self.rng.choice(scope.truths)
        self.names += 1
        results = tuple(f"%v{self.names}_{n}" for n in range(count))
        head = f"{', '.join(results)} = " if count else ""
        arrow = f"-> ({types}) " if count else ""
        self.lines.append(f"{head}if {condition} {arrow}{{")
        self._side(scope, count)
        if count or self.rng.random() < 0.5:
            self.lines.append("} else {")
            self._side(scope, count)
        self.lines.append("}")
        return results

    def _side(self, scope: _Scope, count: int) -> None:
        inner = self.block(_with(scope, depth=1), self.rng.randrange(4))
        if scope.exits and self.rng.random() < 0.2:
            way = self.rng.choice(scope.exits)
            given = "" if way == "return" else f" {self._numbers(inner, 1)[0]} : tile<i32>"
            self.lines.append(way + given)
        elif count:
            types = ", ".join(["tile<i32>"] * count)
            self.lines.append(f"yield {', '.join(self._numbers(inner, count))} : {types}")

    def _loop(self, scope: _Scope) -> str:
        """Loops go round a few times: a `loop` ends with a `break`."""
        self.names += 1
        result, index, carried = (f"%{kind}{self.names}" for kind in ("r", "i", "c"))
        (start,) = self._numbers(scope, 1)
        if self.rng.random() < 0.7:
            step = self.rng.choice(("%one", "%one", "%step"))
            unsigned = "unsigned " if self.is_positive and self.rng.random() < 0.5 else ""
            self.lines.append(
                f"{result} = for {unsigned}{index} in (%low to %high, step {step}) : tile<i32> "
                f"iter_values({carried} = {start}) -> (tile<i32>) {{"
            )
            inner = _Scope(
                (*scope.numbers, index, carried),
                scope.truths,
                ("continue",),
                index,
                scope.depth + 1,
            )
            end = "continue"
        else:
            self.lines.append(
                f"{result} = loop iter_values({carried} = {start}) : tile<i32> -> tile<i32> {{"
            )
            exits = ("break", *(way for way in scope.exits if way == "return"))
            inner = _Scope((*scope.numbers, carried), scope.truths, exits, "", scope.depth + 1)
            end = "break"
        inner = self.block(inner, self.rng.randrange(2, 7))
        self.lines.append(f"{end} {self._numbers(inner, 1)[0]} : tile<i32>")
        self.lines.append("}")
        return result


def _with(
    scope: _Scope, numbers: Sequence[str] = (), truths: Sequence[str] = (), depth: int = 0
) -> _Scope:
    return _Scope(
        (*scope.numbers, *numbers),
        (*scope.truths, *truths),
        scope.exits,
        scope.counter,
        scope.depth + depth,
    )


def random_branches(seed: int) -> tuple[str, list[int | NDArray[np.int32]]]:
    """A kernel and its arguments."""
    rng = random.Random(seed)
    base = rng.choice((0, 0, 0, -4, SMALLEST, LARGEST - 8))
    writer = _Writer(rng, is_positive=base >= 0)
    given = ("%a", "%b", "%low", "%high")
    scope = _Scope((*given, "%zero", "%one", "%three"), ("%true", "%false", "%p"), ("return",))
    scope = _with(scope, truths=(writer.boolean(scope), writer.boolean(scope)))
    scope = writer.block(scope, rng.randrange(4, 10))
    writer.store(scope)
    parameters = ", ".join(f"{name}: tile<i32>" for name in (*given, "%step"))
    text = entry(
        f"{parameters}, %p: tile<i1>, %o: tile<ptr<i32>>", START + "\n    ".join(writer.lines)
    )
    numbers = [base + rng.randrange(9) for _ in range(2)]
    low = base + rng.randrange(6)
    bounds = [low, max(base, low + rng.randrange(-1, 4)), rng.randrange(1, 3)]
    return text, [*numbers, *bounds, rng.randrange(2), np.arange(SLOTS, dtype=np.int32)]
