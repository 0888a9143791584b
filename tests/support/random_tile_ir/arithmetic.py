"""Arithmetic of floats and integers, functions, selections."""

from __future__ import annotations

from tests.support.random_tile_ir.maker import DIRECTIONS, FLOATS, INTEGERS, Maker
from tests.support.random_tile_ir.program import Node, Tile

INTEGER_OPERATIONS = (
    *("addi", "subi", "muli", "andi", "ori", "xori", "maxi", "mini", "shli", "shri"),
    *("divi", "remi", "mulhii", "absi", "negi"),
)


def float_arithmetic(m: Maker) -> Node:
    """Sums, products, quotients and roots in all rounding modes."""
    rng = m.rng
    a = m.any(FLOATS)
    element = a.type.element
    modes = DIRECTIONS if element in ("f32", "f64") else DIRECTIONS[:1]
    mode = f" rounding<{rng.choice(modes)}>"
    if element == "f32" and rng.random() < 0.3:
        mode += " flush_to_zero"
    op = rng.choice(("addf", "subf", "mulf", "divf", "fma", "sqrt"))
    if op == "sqrt":
        return m.add(f"@r = sqrt @0{mode} : @t", a.type, a)
    b = m.value(a.type)
    if op == "fma":
        return m.add(f"@r = fma @0, @1, @2{mode} : @t", a.type, a, b, m.value(a.type))
    return m.add(f"@r = {op} @0, @1{mode} : @t", a.type, a, b)


def float_choice(m: Maker) -> Node:
    """What needs no rounding."""
    rng = m.rng
    a = m.any(FLOATS, exact=False)
    op = rng.choice(("maxf", "minf", "negf", "absf", "ceil", "floor", "remf"))
    if op in ("ceil", "floor", "remf"):
        a = m.any(FLOATS)
    if op in ("maxf", "minf"):
        flags = rng.choice(("", " propagate_nan"))
        return m.add(f"@r = {op} @0, @1{flags} : @t", a.type, a, m.value(a.type))
    if op == "remf":
        return m.add("@r = remf @0, @1 : @t", a.type, a, m.value(a.type))
    return m.add(f"@r = {op} @0 : @t", a.type, a)


def function(m: Maker) -> Node:
    """Functions are only nearly the same on all levels; their arguments are bounded."""
    a = m.any(FLOATS[:3])
    names = ("exp", "exp2", "log", "log2", "sin", "cos", "tanh", "rsqrt", "sinh", "cosh", "tan")
    name = m.rng.choice(names)
    text = """@r_l = constant <@e: -1.0> : @t
@r_h = constant <@e: 1.25> : @t
@r_a = maxf @0, @r_l : @t
@r_b = minf @r_a, @r_h : @t
"""
    if name in ("log", "log2", "rsqrt"):
        text += f"@r_c = absf @r_b : @t\n@r_d = addf @r_c, @r_h : @t\n@r = {name} @r_d : @t"
    else:
        text += f"@r = {name} @r_b : @t"
    return m.add(text, a.type, a, exact=False)


def function_of_two(m: Maker) -> Node:
    """Powers and angles of positive numbers near one."""
    a = m.any(FLOATS[:3])
    name = m.rng.choice(("pow", "atan2"))
    text = f"""@r_l = constant <@e: 0.5> : @t
@r_h = constant <@e: 2.5> : @t
@r_a = maxf @0, @r_l : @t
@r_b = minf @r_a, @r_h : @t
@r_c = maxf @1, @r_l : @t
@r_d = minf @r_c, @r_h : @t
@r = {name} @r_b, @r_d : @t"""
    return m.add(text, a.type, a, m.value(a.type), exact=False)


def integer_arithmetic(m: Maker) -> Node:
    """Wrapping arithmetic, bits, shifts, divisions by what is not zero."""
    rng = m.rng
    a = m.any(INTEGERS)
    b = m.value(a.type)
    sign = rng.choice(("signed", "unsigned"))
    op = rng.choice(INTEGER_OPERATIONS)
    if op in ("absi", "negi"):
        return m.add(f"@r = {op} @0 : @t", a.type, a)
    if op in ("divi", "remi"):
        rounding = ""
        if op == "divi":
            rounding = rng.choice(("", " rounding<positive_inf>", " rounding<negative_inf>"))
            rounding = "" if sign == "unsigned" and "negative" in rounding else rounding
        text = f"""@r_m = constant <@e: 63> : @t
@r_o = constant <@e: 1> : @t
@r_a = andi @1, @r_m : @t
@r_b = ori @r_a, @r_o : @t
@r = {op} @0, @r_b {sign}{rounding} : @t"""
        return m.add(text, a.type, a, b)
    if op in ("shli", "shri"):
        tail = f" {sign}" if op == "shri" else ""
        text = f"""@r_m = constant <@e: {rng.choice((7, 15))}> : @t
@r_b = andi @1, @r_m : @t
@r = {op} @0, @r_b{tail} : @t"""
        return m.add(text, a.type, a, b)
    tail = f" {sign}" if op in ("maxi", "mini") else ""
    return m.add(f"@r = {op} @0, @1{tail} : @t", a.type, a, b)


def selection(m: Maker) -> Node:
    """One of two values by element."""
    a = m.any(exact=False)
    condition = m.value(Tile(a.type.shape, "i1"))
    b = m.value(a.type)
    text = "@r = select @0, @1, @2 : @t0, @t"
    return m.add(text, a.type, condition, a, b)
