"""Random programs with structured control flow and early exits, with their expected results.

A program works on two numbers of 32 bits.  Each statement is a tuple; `text` writes it in Tile IR,
`value` says what it gives.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.support.tile_ir import entry

Statement: TypeAlias = tuple[Any, ...]

LAPS = 12
"""Iteration limit of a loop without an earlier exit."""


class Left(Exception):  # noqa: N818
    """A path that leaves its block early."""


class Broke(Left):
    """A `break` of the innermost loop."""


class Continued(Left):
    """A `continue` of the innermost loop."""


class Returned(Left):
    """A `return` from the kernel."""


def block(rng: random.Random, depth: int, loop: str, *, may_return: bool) -> list[Statement]:
    """Return random statements; `loop` is the enclosing kind of loop: `loop`, `for` or none."""
    statements: list[Statement] = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(("set", "set", "if", "if", "loop", "for"))
        if kind == "set" or depth == 0:
            statements.append(("set", rng.randint(0, 1), rng.choice("+-*"), rng.randint(-3, 7)))
        elif kind == "if":
            arms = [arm(rng, depth - 1, loop, may_return=may_return) for _ in range(2)]
            statements.append(("if", rng.randint(0, 1), rng.randint(2, 4), *arms))
        elif kind == "loop":
            body = block(rng, depth - 1, "loop", may_return=may_return)
            statements.append(("loop", body))
        else:
            statements.append(
                ("for", rng.randint(0, 4), block(rng, depth - 1, "for", may_return=False))
            )
    return statements


def arm(rng: random.Random, depth: int, loop: str, *, may_return: bool) -> list[Statement]:
    """Return random statements, possibly with an early exit."""
    statements = block(rng, depth, loop, may_return=may_return) if rng.random() < 0.7 else []
    ends = ["none", "none"]
    ends += ["continue"] * bool(loop) + ["break"] * 2 * (loop == "loop") + ["return"] * may_return
    end = rng.choice(ends)
    return statements if end == "none" else [*statements, (end,)]


def value(statements: list[Statement], state: list[int]) -> None:
    """Interpret statements on two integers; raise `Left` where a path exits early."""
    for statement in statements:
        match statement:
            case ("set", k, sign, n):
                other = state[1 - k] + n
                state[k] = _wrap(
                    {"+": state[k] + other, "-": state[k] - other, "*": state[k] * n}[sign]
                )
            case ("if", k, modulus, yes, no):
                value(yes if state[k] % modulus == 0 else no, state)
            case ("loop", body):
                _run_loop(body, state, LAPS)
            case ("for", laps, body):
                _run_loop(body, state, laps)
            case ("break",):
                raise Broke
            case ("continue",):
                raise Continued
            case _:
                raise Returned


def _run_loop(body: list[Statement], state: list[int], laps: int) -> None:
    for _ in range(laps):
        try:
            value(body, state)
        except Continued:
            continue
        except Broke:
            return


def _wrap(number: int) -> int:
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


STARTS = ((0, 1), (5, -2), (12, 30))
"""Initial pairs of integers."""

UNTOUCHED = [-7, -7]
"""Initial contents of memory."""


def wanted(statements: list[Statement], start: tuple[int, int]) -> list[int]:
    """Return the expected contents of memory."""
    state = list(start)
    try:
        value(statements, state)
    except Returned:
        return UNTOUCHED
    return state


def program(seed: int) -> tuple[str, list[Statement]]:
    """Return a kernel of a pointer and two integers, and its statements."""
    statements = block(random.Random(seed), 3, "", may_return=True)
    text = Text()
    lines, names = text.statements(statements, ("%a", "%b"), {"return": "return"})
    assert names is not None
    pointer, number = "tile<ptr<i32>>", "tile<i32>"
    body = [
        f"%one = constant <i32: 1> : {number}",
        *lines,
        f"%q = offset %p, %one : {pointer}, {number} -> {pointer}",
        f"%t0 = store_ptr_tko weak %p, {names[0]} : {pointer}, {number} -> token",
        f"%t1 = store_ptr_tko weak %q, {names[1]} : {pointer}, {number} -> token",
    ]
    return entry(f"%p: {pointer}, %a: {number}, %b: {number}", "\n".join(body)), statements


@dataclass
class Text:
    """Printer of a program as Tile IR."""

    count: int = 0

    def new(self) -> str:
        """Return a fresh name."""
        self.count += 1
        return f"%v{self.count}"

    def statements(
        self, statements: list[Statement], state: tuple[str, str], ends: dict[str, str]
    ) -> tuple[list[str], tuple[str, str] | None]:
        """Return lines and the names of the values after them, or None if the path ended."""
        lines: list[str] = []
        for statement in statements:
            if statement[0] in ("break", "continue", "return"):
                return [*lines, ends[statement[0]].format(*state)], None
            more, state = getattr(self, f"_{statement[0]}")(statement, state, ends)
            lines += more
        return lines, state

    def _constant(self, number: int) -> tuple[str, str]:
        name = self.new()
        return name, f"{name} = constant <i32: {number}> : tile<i32>"

    def _set(
        self, statement: Statement, state: tuple[str, str], _: dict[str, str]
    ) -> tuple[list[str], tuple[str, str]]:
        _, k, sign, n = statement
        number, line = self._constant(n)
        other, result = self.new(), self.new()
        operation = {"+": "addi", "-": "subi", "*": "muli"}[sign]
        right = number if sign == "*" else other
        lines = [
            line,
            f"{other} = addi {state[1 - k]}, {number} : tile<i32>",
            f"{result} = {operation} {state[k]}, {right} : tile<i32>",
        ]
        return lines, (result, state[1]) if k == 0 else (state[0], result)

    def _if(
        self, statement: Statement, state: tuple[str, str], ends: dict[str, str]
    ) -> tuple[list[str], tuple[str, str]]:
        _, k, modulus, *arms = statement
        divisor, line = self._constant(modulus)
        zero, zero_line = self._constant(0)
        rest, condition, result = self.new(), self.new(), self.new()
        lines = [
            line,
            zero_line,
            f"{rest} = remi {state[k]}, {divisor} signed : tile<i32>",
            f"{condition} = cmpi equal {rest}, {zero}, signed : tile<i32> -> tile<i1>",
            f"{result}:2 = if {condition} -> (tile<i32>, tile<i32>) {{",
        ]
        for number, inner in enumerate(arms):
            body, names = self.statements(inner, state, ends)
            lines += body
            if names is not None:
                lines.append(f"yield {names[0]}, {names[1]} : tile<i32>, tile<i32>")
            lines.append("} else {" if number == 0 else "}")
        return lines, (f"{result}#0", f"{result}#1")

    def _loop(
        self, statement: Statement, state: tuple[str, str], ends: dict[str, str]
    ) -> tuple[list[str], tuple[str, str]]:
        result, a, b, lap, following, condition = (self.new() for _ in range(6))
        zero, zero_line = self._constant(0)
        one, one_line = self._constant(1)
        last, last_line = self._constant(LAPS)
        go_on = f"continue {{}}, {{}}, {following} : tile<i32>, tile<i32>, tile<i32>"
        inner = {**ends, "break": "break {}, {} : tile<i32>, tile<i32>", "continue": go_on}
        body, names = self.statements(statement[1], (a, b), inner)
        carried = f"{a} = {state[0]}, {b} = {state[1]}, {lap} = {zero}"
        types = "tile<i32>, tile<i32>, tile<i32> -> tile<i32>, tile<i32>"
        lines = [
            zero_line,
            one_line,
            last_line,
            f"{result}:2 = loop iter_values({carried}) : {types} {{",
            f"{condition} = cmpi equal {lap}, {last}, signed : tile<i32> -> tile<i1>",
            f"if {condition} {{ break {a}, {b} : tile<i32>, tile<i32> }}",
            f"{following} = addi {lap}, {one} : tile<i32>",
            *body,
        ]
        if names is not None:
            lines.append(go_on.format(*names))
        return [*lines, "}"], (f"{result}#0", f"{result}#1")

    def _for(
        self, statement: Statement, state: tuple[str, str], ends: dict[str, str]
    ) -> tuple[list[str], tuple[str, str]]:
        result, a, b, lap = (self.new() for _ in range(4))
        zero, zero_line = self._constant(0)
        one, one_line = self._constant(1)
        last, last_line = self._constant(statement[1])
        go_on = "continue {}, {} : tile<i32>, tile<i32>"
        body, names = self.statements(statement[2], (a, b), {**ends, "continue": go_on})
        carried = f"{a} = {state[0]}, {b} = {state[1]}"
        lines = [
            zero_line,
            one_line,
            last_line,
            f"{result}:2 = for {lap} in ({zero} to {last}, step {one}) : tile<i32>"
            f" iter_values({carried}) -> (tile<i32>, tile<i32>) {{",
            *body,
        ]
        if names is not None:
            lines.append(go_on.format(*names))
        return [*lines, "}"], (f"{result}#0", f"{result}#1")
