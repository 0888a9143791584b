"""Loops and branches, in one another."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.random_tile_ir.arithmetic import (
    float_arithmetic,
    float_choice,
    integer_arithmetic,
    selection,
)
from tests.support.random_tile_ir.conversions import conversion
from tests.support.random_tile_ir.maker import Maker
from tests.support.random_tile_ir.program import Body, Node, Tile


def _body(m: Maker, type_: Tile, start: Node) -> Body:
    """A few operations that end in a value of a type, from one of it on."""
    inner = Maker(m.rng, [start], m.count, [*m.scopes, []], outer=[*m.nodes, *m.outer])
    known = len(inner.outer)
    plain = (float_arithmetic, integer_arithmetic, float_choice, conversion, selection)
    for _ in range(m.rng.randrange(1, 3)):
        nests = len(m.scopes) < DEEPEST and m.rng.random() < 0.2
        m.rng.choice(NESTED if nests else plain)(inner)
    mine = [n for n in inner.nodes if n.type == type_ and n.is_exact]
    last = mine[-1]
    if last is start or m.rng.random() < 0.5:
        op = {"f": "addf", "b": "addf", "i": "addi"}[type_.element[0]]
        last = inner.add(f"@r = {op} @0, @1 : @t", type_, last, start)
    m.count = inner.count
    m.nodes += inner.outer[known:]
    return Body(tuple(inner.nodes[1:]), last.id)


def loop(m: Maker) -> Node:
    """A counted loop that carries a tile."""
    a = m.any()
    carried = m.new()
    body = _body(m, a.type, Node(carried, "", a.type))
    laps = m.rng.randrange(1, 4)
    text = f"""@r_n = constant <i32: {laps}> : tile<i32>
@r_o = constant <i32: 1> : tile<i32>
@r = for @r_i in (%zero to @r_n, step @r_o) : tile<i32> iter_values(@c = @0) -> (@t) {{
@b0
continue @y0 : @t
}}"""
    return m.add(text, a.type, a, bodies=(body,), carried=carried)


def branch(m: Maker) -> Node:
    """A branch that depends on the block."""
    a = m.any()
    bodies = [_body(m, a.type, a) for _ in range(2)]
    text = f"""@r_n = constant <i32: {m.rng.randrange(2)}> : tile<i32>
@r_c = cmpi equal %x, @r_n, signed : tile<i32> -> tile<i1>
@r = if @r_c -> (@t) {{
@b0
yield @y0 : @t
}} else {{
@b1
yield @y1 : @t
}}"""
    return m.add(text, a.type, a, bodies=bodies)


def endless(m: Maker) -> Node:
    """A loop without an end that is left by a break, after early continues perhaps."""
    rng = m.rng
    a = m.any()
    carried = m.new()
    start = Node(carried, "", a.type)
    bodies = [_body(m, a.type, start) for _ in range(rng.randrange(1, 3))]
    early = ""
    if len(bodies) > 1:
        early = f"""@r_f = constant <i32: {rng.randrange(3)}> : tile<i32>
@r_g = cmpi equal @r_k, @r_f, signed : tile<i32> -> tile<i1>
if @r_g {{
@b1
continue @y1, @r_j : @t, tile<i32>
}}
"""
    last = rng.choice(("@y0", "@c"))
    text = f"""@r_n = constant <i32: {rng.randrange(1, 5)}> : tile<i32>
@r_o = constant <i32: 1> : tile<i32>
@r, @r_e = loop iter_values(@c = @0, @r_k = %zero) : @t, tile<i32> -> @t, tile<i32> {{
@r_j = addi @r_k, @r_o : tile<i32>
@r_d = cmpi greater_than_or_equal @r_j, @r_n, signed : tile<i32> -> tile<i1>
{early}@b0
if @r_d {{
break {last}, @r_j : @t, tile<i32>
}}
continue @y0, @r_j : @t, tile<i32>
}}"""
    return m.add(text, a.type, a, bodies=bodies, carried=carried)


def skipping(m: Maker) -> Node:
    """A counted loop that continues early in some iterations."""
    a = m.any()
    carried = m.new()
    bodies = [_body(m, a.type, Node(carried, "", a.type)) for _ in range(2)]
    text = f"""@r_n = constant <i32: {m.rng.randrange(2, 5)}> : tile<i32>
@r_o = constant <i32: 1> : tile<i32>
@r_s = constant <i32: {m.rng.randrange(3)}> : tile<i32>
@r = for @r_i in (%zero to @r_n, step @r_o) : tile<i32> iter_values(@c = @0) -> (@t) {{
@r_d = cmpi less_than_or_equal @r_i, @r_s, signed : tile<i32> -> tile<i1>
if @r_d {{
@b0
continue @y0 : @t
}}
@b1
continue @y1 : @t
}}"""
    return m.add(text, a.type, a, bodies=bodies, carried=carried)


DEEPEST = 2
"""How deep loops and branches are in one another."""
NESTED: tuple[Callable[[Maker], Node], ...] = (loop, branch, endless, skipping)
