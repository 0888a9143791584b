"""What a CTA computes, one item after another, where the last two waves are dealt out.

    0, 1, ...   the tile blocks of whole waves
    then        the first iterations of a tile block: a head, if the share ends inside of one
    then        whole tile blocks of the share
    the last    the last iterations of a tile block: a tail, if the share begins inside of one

A share is a range of the iterations that are dealt: `(ctas + rest) * depth` of them, of `rest` tile
blocks that fill no wave and of those of a whole wave.  It has a tile block's or more, so that no
more than two CTAs compute one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import reduce
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.builders.arith import add, constant, mul, select, sub

_Unsigned: TypeAlias = type[arith.AndIOp | arith.OrIOp | arith.DivUIOp | arith.MinUIOp]


@dataclass(frozen=True)
class Items:
    """The items of a CTA, as numbers of 32 bits."""

    count: SSAValue
    in_waves: SSAValue
    """The items of whole waves, which are the first ones."""
    head_item: SSAValue
    """The item that is a head; -1 where there is none."""
    first_tail: SSAValue
    """The item that is a tail; `count` where there is none."""
    head_block: SSAValue
    """The tile block of the head."""
    tail_block: SSAValue
    """The tile block of the tail."""
    distance: SSAValue
    """From the item of a whole tile block of the share to the number of the tile block."""
    head: SSAValue
    """Iterations of the head."""
    done: SSAValue
    """Iterations in front of the tail, which another CTA does."""

    @property
    def numbers(self) -> Sequence[SSAValue]:
        """All of them, in order."""
        return [getattr(self, one.name) for one in fields(self)]


def items_of_cta(
    build: Builder, cta: SSAValue, ctas: SSAValue, count: SSAValue, depth: SSAValue, cost: int
) -> Items:
    """Return the items of one of so many CTAs, of tile blocks of `depth` iterations each.

    Handing over takes as long as `cost` iterations.
    """
    waves, rest = divided(build, count, ctas)
    is_dealt = _is_dealt(build, waves, rest, ctas, depth, cost)
    then, other = Block(), Block()
    inside = Builder(InsertPoint.at_end(then))
    base = mul(inside, sub(inside, waves, constant(inside, 1, i32)), ctas)
    dealt = mul(inside, sub(inside, count, base), depth)
    begin, end = share_of(inside, cta, ctas, dealt)
    items = _items_of_share(inside, waves, base, divided(inside, begin, depth), end, depth)
    inside.insert(scf.YieldOp(*items.numbers))
    inside = Builder(InsertPoint.at_end(other))
    zero, none = (constant(inside, number, i32) for number in (0, -1))
    whole = add(inside, waves, as_number(inside, compared(inside, cta, rest, "ult")))
    inside.insert(scf.YieldOp(whole, whole, none, whole, *(zero,) * (len(items.numbers) - 4)))
    types = [i32] * len(items.numbers)
    made = build.insert(scf.IfOp(is_dealt, types, Region(then), Region(other)))
    return Items(*made.results)


def _items_of_share(
    build: Builder,
    waves: SSAValue,
    base: SSAValue,
    begin: tuple[SSAValue, SSAValue],
    end: SSAValue,
    depth: SSAValue,
) -> Items:
    """Return the items of a share behind `base` tile blocks, which begins in one of them.

    `begin` is that tile block and the iteration.
    """
    tail_block, done = begin
    head_block, head = divided(build, end, depth)
    zero, one, none = (constant(build, number, i32) for number in (0, 1, -1))
    has_head = compared(build, head, zero, "ne")
    has_tail = as_number(build, compared(build, done, zero, "ne"))
    first = add(build, tail_block, has_tail)
    in_waves = sub(build, waves, one)
    before = add(build, in_waves, as_number(build, has_head))
    first_tail = add(build, before, sub(build, head_block, first))
    return Items(
        add(build, first_tail, has_tail),
        in_waves,
        select(build, has_head, in_waves, none),
        first_tail,
        add(build, base, head_block),
        add(build, base, tail_block),
        sub(build, add(build, base, first), before),
        head,
        done,
    )


def _is_dealt(
    build: Builder, waves: SSAValue, rest: SSAValue, ctas: SSAValue, depth: SSAValue, cost: int
) -> SSAValue:
    """Return whether there is a whole wave, one that is not, and more is saved than it costs."""
    zero = constant(build, 0, i32)
    saved = mul(build, sub(build, ctas, rest), depth)
    conditions = [
        compared(build, waves, zero, "ne"),
        compared(build, rest, zero, "ne"),
        compared(build, saved, mul(build, ctas, constant(build, cost, i32)), "ugt"),
    ]
    return reduce(lambda a, b: unsigned(build, arith.AndIOp, a, b), conditions)


def share_of(
    build: Builder, cta: SSAValue, ctas: SSAValue, dealt: SSAValue
) -> tuple[SSAValue, SSAValue]:
    """Return where the share of a CTA begins and ends: the first ones have one iteration more."""
    share, odd = divided(build, dealt, ctas)
    begin = add(build, mul(build, cta, share), unsigned(build, arith.MinUIOp, cta, odd))
    more = as_number(build, compared(build, cta, odd, "ult"))
    return begin, add(build, add(build, begin, share), more)


def iterations_of(build: Builder, loop: scf.ForOp) -> SSAValue:
    """Return the iterations of a loop, in 32 bits."""
    length = sub(build, loop.ub, loop.lb)
    length = build.insert(arith.MaxSIOp(length, constant(build, 0, length.type))).result
    count = build.insert(arith.CeilDivUIOp(length, loop.step)).result
    return count if count.type == i32 else build.insert(arith.IndexCastOp(count, i32)).result


def counter_of(build: Builder, loop: scf.ForOp, number: SSAValue) -> SSAValue:
    """Return the value that a loop counts an iteration by."""
    if loop.lb.type != i32:
        number = build.insert(arith.IndexCastOp(number, loop.lb.type)).result
    return add(build, loop.lb, mul(build, number, loop.step))


def compared(build: Builder, a: SSAValue, b: SSAValue, how: str) -> SSAValue:
    """Return whether integers compare so: `eq`, `ult`, ..."""
    return build.insert(arith.CmpiOp(a, b, how)).result


def divided(build: Builder, number: SSAValue, by: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return quotient and remainder of unsigned numbers."""
    quotient = unsigned(build, arith.DivUIOp, number, by)
    return quotient, sub(build, number, mul(build, quotient, by))


def unsigned(build: Builder, kind: _Unsigned, a: SSAValue, b: SSAValue) -> SSAValue:
    """Return what an operation makes of two numbers."""
    return build.insert(kind(a, b)).result


def as_number(build: Builder, condition: SSAValue) -> SSAValue:
    """Return 1 where a condition holds, else 0."""
    return build.insert(arith.ExtUIOp(condition, i32)).result
