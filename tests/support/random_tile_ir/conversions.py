"""From one element type to another: numbers, bits and bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from tests.support.random_tile_ir.maker import DIRECTIONS, FLOATS, NUMBERS, WIDTHS, Maker
from tests.support.random_tile_ir.program import Node, Tile


def conversion(m: Maker) -> Node:
    """Every pair of element types; floats are bounded before they become integers."""
    rng = m.rng
    a = m.any((*NUMBERS, "i1") if rng.random() < 0.2 else NUMBERS)
    source = a.type.element
    result = rng.choice([e for e in (*NUMBERS, "i1") if e != source])
    to = Tile(a.type.shape, result)
    sign = rng.choice(("signed", "unsigned"))
    is_bits = source != "i1" and result != "i1" and WIDTHS[source] == WIDTHS[result]
    if is_bits and rng.random() < 0.5:
        return _same_bits(m, a, to)
    if source[0] == "i" and result[0] == "i":
        if WIDTHS[source] == WIDTHS[result]:
            return a
        if WIDTHS[source] < WIDTHS[result]:
            return m.add(f"@r = exti @0 {sign} : @t0 -> @t", to, a)
        return m.add("@r = trunci @0 : @t0 -> @t", to, a)
    if source[0] == "i":
        return m.add(f"@r = itof @0 {sign} : @t0 -> @t", to, a)
    if result[0] == "i":
        return _to_integer(m, a, to, sign)
    modes = _float_modes(source, result)
    return m.add(f"@r = ftof @0 rounding<{rng.choice(modes)}> : @t0 -> @t", to, a)


def _same_bits(m: Maker, a: Node, to: Tile) -> Node:
    """The bits of numbers: those of a NaN are not specified, and `maxf` leaves NaN out."""
    if a.type.element[0] == "i":
        return m.add("@r = bitcast @0 : @t0 -> @t", to, a)
    text = f"""@r_l = constant <{a.type.element}: -3.0> : @t0
@r_a = maxf @0, @r_l : @t0
@r = bitcast @r_a : @t0 -> @t"""
    return m.add(text, to, a)


def _float_modes(source: str, result: str) -> Sequence[str]:
    """The roundings that `ftof` has for a pair."""
    if (source, result) == ("f64", "f32"):
        return DIRECTIONS
    wide = {"f64": 3, "f32": 2, "f16": 1, "bf16": 1}
    if wide[source] < wide[result]:
        return (*DIRECTIONS, "nearest_away")
    return DIRECTIONS[:2]


def _to_integer(m: Maker, a: Node, to: Tile, sign: str) -> Node:
    if to.element == "i1":
        return m.add("@r = ftoi @0 unsigned : @t0 -> @t", to, a)
    low = "0.0" if sign == "unsigned" else "-100.0"
    element = f"<{a.type.element}: "
    text = f"""@r_l = constant {element}{low}> : @t0
@r_h = constant {element}120.0> : @t0
@r_a = maxf @0, @r_l : @t0
@r_b = minf @r_a, @r_h : @t0
@r = ftoi @r_b {sign} : @t0 -> @t"""
    return m.add(text, to, a)


SMALL: Mapping[str, Sequence[str]] = {
    "f8E4M3FN": ("nearest_even",),
    "f8E5M2": ("nearest_even",),
    "f4E2M1FN": ("nearest_even",),
    "f8E8M0FNU": ("zero", "positive_inf"),
    "tf32": ("nearest_even", "zero", "nearest_away"),
}
"""Floats to store numbers in, and how they are rounded to."""


def through_storage(m: Maker) -> Node:
    """A float of 8 bits or less or tf32, and back, in all roundings; scales have no sign."""
    rng = m.rng
    a = m.any(FLOATS)
    small = rng.choice([*SMALL])
    is_half_byte = small == "f4E2M1FN" and prod(a.type.shape) % 2
    if is_half_byte or (small == "tf32" and a.type.element != "f32"):
        small = "f8E5M2"
    mode, given = rng.choice(SMALL[small]), "@0"
    text = ""
    if small == "f8E8M0FNU":
        text, given = "@r_a = absf @0 : @t0\n", "@r_a"
    text += f"@r = ftof {given} rounding<{mode}> : @t0 -> @t"
    b = m.add(text, Tile(a.type.shape, small), a)
    wider = [e for e in FLOATS if small != "f8E8M0FNU" or e in ("bf16", "f32", "f64")]
    to = Tile(a.type.shape, rng.choice(wider))
    back = rng.choice((*DIRECTIONS[:1], *DIRECTIONS, "nearest_away"))
    narrows = small == "tf32" and to.element in ("f16", "bf16")
    if narrows or (small == "f8E8M0FNU" and to.element != "f64"):
        # The least scale is below the normal numbers of f32.
        back = rng.choice(DIRECTIONS[:2])
    return m.add(f"@r = ftof @0 rounding<{back}> : @t0 -> @t", to, b)


def from_storage(m: Maker) -> Node:
    """Floats of 8 bits of an array, as wider ones."""
    rng = m.rng
    small = rng.choice(("f8E4M3FN", "f8E5M2", "f8E8M0FNU"))
    a = m.leaf(Tile(m.any(exact=False).type.shape, small))
    to = Tile(a.type.shape, rng.choice(("f32", "bf16", "f64")))
    return m.add("@r = ftof @0 : @t0 -> @t", to, a)


def bytes_of(m: Maker) -> Node:
    """The bytes of numbers, as other numbers."""
    rng = m.rng
    a = m.any([e for e in NUMBERS if e != "i8"])
    count = a.type.count
    text = ""
    given = "@0"
    if a.type.element in FLOATS:
        # The bits of a NaN are not specified.
        text = "@r_l = constant <@e0: -3.0> : @t0\n@r_a = maxf @0, @r_l : @t0\n"
        text, given = text.replace("@e0", a.type.element), "@r_a"
    flat = f"tile<{count}x{a.type.element}>"
    to = Tile((count * WIDTHS[a.type.element] // 8,), "i8")
    text += f"@r_f = reshape {given} : @t0 -> {flat}\n@r = pack @r_f : {flat} -> @t"
    packed = m.add(text, to, a)
    if rng.random() < 0.3:
        return packed
    element = rng.choice([e for e in NUMBERS if e != "i8"])
    if to.count * 8 % WIDTHS[element]:
        return packed
    result = Tile((to.count * 8 // WIDTHS[element],), element)
    return m.add("@r = unpack @0 : @t0 -> @t", result, packed)


def saturating(m: Maker) -> Node:
    """Any float as an integer, clamped to its range."""
    a = m.any(FLOATS)
    to = Tile(a.type.shape, m.rng.choice(("i8", "i16", "i32", "i64")))
    sign = m.rng.choice(("signed", "unsigned"))
    return m.add(f"@r = ftoi @0 {sign} saturating : @t0 -> @t", to, a)
