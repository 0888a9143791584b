"""Warp instructions: shuffles, votes, matches, reductions, election, and active masks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from hardware.cases.case import Case
from hardware.cases.elementwise import Row, rows_case
from hardware.cases.inputs import COUNT, inputs_of, rng_of

SEGMENTS = (0, 24, 16, 28, 31, 5)
"""Segment masks of `shfl`: whole warps, aligned segments, and masks that are no segment."""

SOME = "0x0F0F3C01"
"""Mask of the lanes that execute an instruction of a subset of the warp."""


def warp_cases() -> Iterator[Case]:
    """Yield one kernel per kind of instruction."""
    rng = rng_of("warps")
    values = inputs_of("b32", "shfl")
    lanes = rng.integers(0, 40, COUNT).astype(np.uint32)
    yield rows_case("shuffles", "with a distance a lane", list(_shuffles()), [values, lanes])
    few = rng.integers(0, 4, COUNT).astype(np.uint32)
    few[:32], few[32:64] = 3, 0
    yield rows_case("votes and matches", "of all lanes", list(_votes()), [few])
    wide = few.astype(np.uint64) << np.uint64(33)
    rows = [Row("match.any.sync.b64 {x}, {a}, -1;", 32),
            Row("match.all.sync.b64 {x}|{q}, {a}, -1;".replace("{q}", "%xp"), 32)]  # fmt: skip
    yield rows_case("votes and matches", "of 64 bits", rows, [wide])
    yield rows_case("warp reductions", "of all and of some lanes", list(_reductions()), [values])


def _shuffles() -> Iterator[Row]:
    for mode, segment in product(("up", "down", "bfly", "idx"), SEGMENTS):
        for clamp in (0, 31, 11):
            control = segment << 8 | clamp
            text = f"shfl.sync.{mode}.b32 {{x}}|%xp, {{a}}, {{b}}, {control}, -1;"
            yield Row(text, 32)
            yield Row(text.replace("{x}|%xp", "%s|{x}"), 1)


def _votes() -> Iterator[Row]:
    test = "setp.ne.u32 %xp, {a}, 0; "
    yield Row("vote.sync.ballot.b32 {x}, %xp, -1;".join((test, "")), 32)
    for mode in ("all", "any", "uni"):
        for negated in ("", "!"):
            yield Row(f"{test}vote.sync.{mode}.pred %xp, {negated}%xp, -1;", 1)
    yield Row("match.any.sync.b32 {x}, {a}, -1;", 32)
    yield Row("match.all.sync.b32 {x}|%xp, {a}, -1;", 32)
    yield Row("match.all.sync.b32 %s|{x}, {a}, -1;", 1)
    yield Row("elect.sync {x}|%xp, -1;", 32)
    yield Row("elect.sync %s|{x}, -1;", 1)
    yield Row("activemask.b32 {x};", 32)


def _reductions() -> Iterator[Row]:
    forms = [f"{name}.{type_}" for name, type_ in product(("add", "min", "max"), ("u32", "s32"))]
    for number, form in enumerate([*forms, "and.b32", "or.b32", "xor.b32"]):
        yield Row(f"redux.sync.{form} {{x}}, {{a}}, -1;", 32)
        yield Row(_by_some(number, f"redux.sync.{form} {{x}}, {{a}}, {SOME};"), 32)
    yield Row(_by_some(20, f"shfl.sync.bfly.b32 {{x}}, {{a}}, 0, 31, {SOME};"), 32)
    yield Row(_by_some(21, f"match.any.sync.b32 {{x}}, {{a}}, {SOME};"), 32)
    yield Row(_by_some(22, f"elect.sync {{x}}|%xp, {SOME};"), 32)
    yield Row(_by_some(23, "activemask.b32 {x};"), 32)


def _by_some(number: int, text: str) -> str:
    """Return code by which the lanes of `SOME` execute an instruction; other lanes get 7."""
    return (
        f"mov.b32 {{x}}, 7; mov.u32 %s, %laneid; shr.b32 %s, {SOME}, %s; and.b32 %s, %s, 1;"
        f"setp.eq.u32 %xp, %s, 0; @%xp bra S{number}; {text} S{number}: bar.warp.sync -1;"
    )
