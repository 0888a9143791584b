"""Right decisions are accepted, and each way to make them wrong is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from support.decided_programs import (
    COPY,
    ZERO,
    I,
    J,
    article,
    copied,
    owners,
    product,
    rows,
    rules,
    with_fragment,
    with_loop,
)

from tileas_xdsl.inference.checking import Rule, check
from tileas_xdsl.inference.decisions import Conversion, Decisions
from tileas_xdsl.inference.program import Program
from tileas_xdsl.layout import parse_layout

Example = Callable[[], tuple[Program, Decisions]]
Mutation = Callable[[Decisions], Decisions]


@pytest.mark.parametrize("example", [article, rows, copied, product])
def test_right_decisions_are_accepted(example: Example) -> None:
    assert check(*example()) == ()


WHOLE = owners(64, (4, 16), I * 16 + J, ZERO)
SWAPPED = owners(64, (4, 16), I * -16 - J + 63, ZERO)
PAIRS = owners(32, (16, 8), I * 2 + J % 8 // 2 % 2, J // 4 * 2 + J % 2)
ONCE = owners(32, (16,), I, ZERO)

MUTANTS: dict[str, tuple[Example, Mutation, set[Rule]]] = {
    "a fragment without layout": (
        article,
        lambda d: replace(d, fragments={}),
        {Rule.DECIDED},
    ),
    "a loop without layout": (
        article,
        lambda d: replace(d, loops={0: d.loops[0]}),
        {Rule.DECIDED},
    ),
    "a layout of an array": (article, lambda d: with_fragment(d, A=WHOLE), {Rule.DECIDED}),
    "a layout of no loop": (
        rows,
        lambda d: replace(d, loops={**d.loops, 1: d.loops[0]}),
        {Rule.DECIDED},
    ),
    "another shape": (
        article,
        lambda d: with_fragment(d, f=owners(64, (16, 4), I, J)),
        {Rule.MAP},
    ),
    "another block": (
        article,
        lambda d: with_fragment(d, f=owners(128, (4, 16), I * 16 + J, ZERO)),
        {Rule.MAP},
    ),
    "a thread that is not there": (
        article,
        lambda d: with_fragment(d, f=owners(64, (4, 16), I * 16 + J + 1, ZERO)),
        {Rule.MAP},
    ),
    "a negative slot": (
        article,
        lambda d: with_fragment(d, f=owners(64, (4, 16), I * 16 + J, J - 1)),
        {Rule.MAP},
    ),
    "a slot that depends on the copy": (
        article,
        lambda d: with_fragment(d, f=owners(64, (4, 16), I * 16 + J, COPY)),
        {Rule.MAP},
    ),
    "two elements in one slot": (
        article,
        lambda d: with_fragment(d, f=owners(64, (4, 16), I * 16, ZERO)),
        {Rule.MAP},
    ),
    "two iterations in one step": (
        article,
        lambda d: with_loop(d, 1, owners=owners(64, (2, 2), I * 32, ZERO)),
        {Rule.MAP},
    ),
    "copies of two elements in one slot": (
        copied,
        lambda d: with_fragment(d, x=owners(32, (16,), COPY + I, ZERO, copies=2)),
        {Rule.MAP},
    ),
    "threads of a fragment swapped": (
        article,
        lambda d: with_fragment(d, f=SWAPPED),
        {Rule.READ, Rule.WRITE},
    ),
    "threads of the writing loop swapped": (
        article,
        lambda d: with_loop(d, 0, owners=SWAPPED),
        {Rule.WRITE},
    ),
    "threads of the reading loop swapped": (
        article,
        lambda d: with_loop(d, 1, owners=owners(64, (2, 2), I * 16 + J * 32, ZERO)),
        {Rule.READ},
    ),
    "a reading loop packed": (
        article,
        lambda d: with_loop(d, 1, owners=owners(64, (2, 2), I * 2 + J, ZERO)),
        {Rule.READ},
    ),
    "a copy that a writing loop leaves out": (
        copied,
        lambda d: with_loop(d, 0, owners=ONCE),
        {Rule.WRITE},
    ),
    "a copy that the fragment does not have": (
        copied,
        lambda d: with_fragment(d, x=ONCE),
        {Rule.WRITE},
    ),
    "a copy of a sum left out": (
        rows,
        lambda d: with_fragment(d, s=owners(32, (16,), I * 2, ZERO)),
        {Rule.READ},
    ),
    "stores of all copies": (
        copied,
        lambda d: with_loop(d, 0, runs_once=False),
        {Rule.COPIES},
    ),
    "a vector of steps that do not exist": (
        article,
        lambda d: with_loop(d, 0, vector=2),
        {Rule.VECTOR},
    ),
    "a vector too wide": (rows, lambda d: with_loop(d, 0, vector=8), {Rule.VECTOR}),
    "a vector of three": (rows, lambda d: with_loop(d, 0, vector=3), {Rule.VECTOR}),
    "neighbours that are not": (
        rows,
        lambda d: with_loop(with_loop(with_fragment(d, x=PAIRS), 0, owners=PAIRS), 2, owners=PAIRS),
        {Rule.VECTOR},
    ),
    "a sum where nothing of the row is": (
        rows,
        lambda d: with_fragment(d, s=owners(32, (16,), COPY * 16 + I, ZERO, copies=2)),
        {Rule.REDUCTION, Rule.READ},
    ),
    "an accumulator in rows": (
        product,
        lambda d: with_fragment(d, c=owners(128, (64, 64), I * 2 + J // 32, J % 32)),
        {Rule.PRODUCT},
    ),
    "an accumulator whose tiles are spread over warps": (
        product,
        lambda d: with_fragment(
            d,
            c=owners(
                128,
                (64, 64),
                I // 8 % 4 * 32 + I % 8 * 4 + J % 8 // 2,
                I // 32 * 16 + J // 8 * 2 + J % 2,
            ),
        ),
        {Rule.PRODUCT},
    ),
    "an operand of other warps": (
        product,
        lambda d: with_fragment(
            d,
            a=owners(
                128, (64, 16), I // 16 * -32 + 96 + I % 8 * 4 + J % 8 // 2, I % 16 // 8 * 16 + J
            ),
        ),
        {Rule.PRODUCT},
    ),
    "an operand in other lanes": (
        product,
        lambda d: with_fragment(d, a=owners(128, (64, 16), I * 2 + J // 8, J % 8)),
        {Rule.PRODUCT},
    ),
    "a shared layout with overlaps": (
        product,
        lambda d: replace(d, shared={"b": parse_layout("(16,64):(2,16)")}),
        {Rule.SHARED},
    ),
    "a shared layout of another size": (
        product,
        lambda d: replace(d, shared={"b": parse_layout("(16,32):(64,2)")}),
        {Rule.SHARED},
    ),
    "a shared layout between elements": (
        product,
        lambda d: replace(d, shared={"b": parse_layout("(16,64):(193,3)")}),
        {Rule.SHARED},
    ),
    "a shared layout before its buffer": (
        product,
        lambda d: replace(d, shared={"b": parse_layout("(16,64):(128,-2)")}),
        {Rule.SHARED},
    ),
    "a shared layout of a fragment": (
        product,
        lambda d: replace(d, shared={"a": parse_layout("(64,16):(32,2)")}),
        {Rule.SHARED},
    ),
    "a conversion for no operation": (
        article,
        lambda d: replace(d, conversions=(Conversion(7, "f", WHOLE, 1),)),
        {Rule.CONVERSION},
    ),
    "a conversion of what is not used": (
        rows,
        lambda d: replace(d, conversions=(Conversion(0, "s", d.fragments["s"], 1),)),
        {Rule.CONVERSION},
    ),
    "a conversion of an array": (
        article,
        lambda d: replace(d, conversions=(Conversion(0, "A", WHOLE, 1),)),
        {Rule.CONVERSION},
    ),
    "two conversions for one use": (
        article,
        lambda d: replace(d, conversions=(Conversion(0, "f", WHOLE, 1),) * 2),
        {Rule.CONVERSION},
    ),
    "a conversion at no cost": (
        article,
        lambda d: replace(d, conversions=(Conversion(0, "f", WHOLE, -1),)),
        {Rule.CONVERSION},
    ),
    "a conversion to another shape": (
        article,
        lambda d: replace(d, conversions=(Conversion(0, "f", ONCE, 1),)),
        {Rule.MAP},
    ),
    "a conversion to where the loop is not": (
        article,
        lambda d: replace(d, conversions=(Conversion(1, "f", SWAPPED, 1),)),
        {Rule.READ},
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_decision_is_found(name: str) -> None:
    example, mutate, expected = MUTANTS[name]
    asked, answered = example()
    assert rules(asked, mutate(answered)) == expected


def test_a_conversion_takes_a_fragment_to_where_a_loop_is() -> None:
    asked, answered = article()
    moved = with_loop(answered, 1, owners=owners(64, (2, 2), I * -32 - J * 16 + 63, ZERO))
    assert rules(asked, moved) == {Rule.READ}
    assert not rules(asked, replace(moved, conversions=(Conversion(1, "f", SWAPPED, 9),)))
