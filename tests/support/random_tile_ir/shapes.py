"""What moves elements, reductions, scans and products."""

from __future__ import annotations

from math import prod

from tests.support.random_tile_ir.maker import INTEGERS, NUMBERS, WIDTHS, Maker
from tests.support.random_tile_ir.program import Node, Tile


def movement(m: Maker) -> Node:
    """Reshape, permute, broadcast, concatenate, take a slice or put one in."""
    rng = m.rng
    a = m.any(exact=False)
    shape = a.type.shape
    kind = rng.choice(("reshape", "permute", "broadcast", "cat", "extract", "insert"))
    if kind == "permute" and len(shape) > 1:
        order = rng.sample(range(len(shape)), len(shape))
        to = Tile(tuple(shape[n] for n in order), a.type.element)
        return m.add(f"@r = permute @0 {order} : @t0 -> @t", to, a)
    if kind == "broadcast":
        b = m.add("@r = reshape @0 : @t0 -> @t", Tile((*shape, 1), a.type.element), a)
        to = Tile((*shape, rng.choice((2, 4))), a.type.element)
        return m.add("@r = broadcast @0 : @t0 -> @t", to, b)
    axis = rng.randrange(len(shape))
    if kind == "cat" and a.type.count <= 512:
        to = Tile(tuple(2 * n if d == axis else n for d, n in enumerate(shape)), a.type.element)
        text = f"@r = cat @0, @1 dim = {axis} : @t0, @t1 -> @t"
        return m.add(text, to, a, m.value(a.type))
    if kind in ("extract", "insert") and shape[axis] > 1:
        part = Tile(tuple(n // 2 if d == axis else n for d, n in enumerate(shape)), a.type.element)
        place = ", ".join("@r_i" if d == axis else "%zero" for d in range(len(shape)))
        index = f"@r_i = constant <i32: {rng.randrange(2)}> : tile<i32>\n"
        if kind == "extract":
            return m.add(f"{index}@r = extract @0[{place}] : @t0 -> @t", part, a)
        text = f"{index}@r = insert @0, @1[{place}] : @t0, @t1"
        return m.add(text, a.type, m.value(part), a)
    flat = prod(shape)
    rows = rng.choice([n for n in (1, 2, 4, 8, 16) if flat % n == 0])
    return m.add("@r = reshape @0 : @t0 -> @t", Tile((rows, flat // rows), a.type.element), a)


BODIES: dict[str, tuple[str, str, str]] = {
    "addi": ("@r_s = addi %pre@q, %now@q : tile<@e>", "0", "i"),
    "maxi": ("@r_s = maxi %pre@q, %now@q signed : tile<@e>", "least", "i"),
    "xori": ("@r_s = xori %pre@q, %now@q : tile<@e>", "0", "i"),
    "last": (
        "@r_z = constant <@e: 0> : tile<@e>\n"
        "@r_c = cmpi equal %now@q, @r_z, signed : tile<@e> -> tile<i1>\n"
        "@r_s = select @r_c, %pre@q, %now@q : tile<i1>, tile<@e>",
        "0",
        "i",
    ),
    "maxf": ("@r_s = maxf %pre@q, %now@q : tile<@e>", "-6.0e4", "f"),
    "addf": ("@r_s = addf %pre@q, %now@q : tile<@e>", "0.0", "f"),
}
"""Bodies of reductions and scans: what combines `%pre@q`, all before, and `%now@q`; the identity
(`least`: the least integer), and which elements they take.

`last` is the last element that is not zero: it is associative and does not commute.
"""


def aggregate(m: Maker) -> Node:
    """Reductions and scans."""
    rng = m.rng
    name = rng.choice([*BODIES])
    body, identity, kind = BODIES[name]
    a = m.any(INTEGERS if kind == "i" else ("f32", "f64", "f16"))
    if name == "maxf":
        # Nothing is below the identity, not even a NaN.
        text = f"@r_l = constant <@e: {identity}> : @t\n@r = maxf @0, @r_l : @t"
        a = m.add(text, a.type, a)
    if name == "maxi":
        identity = str(-(1 << (WIDTHS[a.type.element] - 1)))
    element, axis = a.type.element, rng.randrange(len(a.type.shape))
    identities = f"identities=[{identity} : {element}]"
    inside = body.replace("@e", element)
    arguments = f"(%pre@q: tile<{element}>, %now@q: tile<{element}>)"
    if rng.random() < 0.5:
        reverse = rng.choice(("true", "false"))
        head, to = f"scan @0 dim={axis} reverse={reverse} {identities}", a.type
    else:
        shape = tuple(n for d, n in enumerate(a.type.shape) if d != axis)
        head, to = f"reduce @0 dim={axis} {identities}", Tile(shape, element)
    text = f"@r = {head} : @t0 -> @t\n  {arguments} {{\n{inside}\nyield @r_s : tile<{element}>\n}}"
    node = m.add(text.replace("@q", str(m.count + 1)), to, a, exact=name != "addf")
    if to.shape:
        return node
    return m.add("@r = reshape @0 : @t0 -> @t", Tile((1,), element), node)


PRODUCTS = (
    ("f16", "f32"),
    ("bf16", "f32"),
    ("f16", "f16"),
    ("i8", "i32"),
    ("f8E4M3FN", "f32"),
    ("tf32", "f32"),
    ("f64", "f64"),
)


def product(m: Maker) -> Node:
    """A product of matrices of every pair of types, whole instructions or less."""
    rng = m.rng
    factor, acc = rng.choice(PRODUCTS)
    rows, columns, inner = rng.choice((16, 64, 128)), rng.choice((8, 16, 64)), rng.choice((16, 32))
    a = _factor(m, (rows, inner), factor)
    b = _factor(m, (inner, columns), factor)
    c = m.value(Tile((rows, columns), acc))
    if factor == "i8":
        signs = " ".join(rng.choice(("signed", "unsigned")) for _ in range(2))
        return m.add(f"@r = mmai @0, @1, @2 {signs} : @t0, @t1, @t2", c.type, a, b, c)
    return m.add("@r = mmaf @0, @1, @2 : @t0, @t1, @t2", c.type, a, b, c, exact=False)


def _factor(m: Maker, shape: tuple[int, ...], element: str) -> Node:
    if element in NUMBERS and m.rng.random() < 0.4:
        return m.value(Tile(shape, element))
    return m.leaf(Tile(shape, element), special=False)


def largest(m: Maker) -> Node:
    """Where the largest element is: a reduction of pairs."""
    a = m.any(INTEGERS)
    element, axis = a.type.element, m.rng.randrange(len(a.type.shape))
    shape = tuple(n for d, n in enumerate(a.type.shape) if d != axis)
    index = f"tile<{''.join(f'{n}x' for n in a.type.shape)}i32>"
    kept = f"tile<{''.join(f'{n}x' for n in shape)}{element}>"
    least = -(1 << (WIDTHS[element] - 1))
    text = f"""@r_n = iota : tile<{a.type.shape[axis]}xi32>
@r_s = reshape @r_n : tile<{a.type.shape[axis]}xi32> -> {_along(a.type, axis, 1)}
@r_i = broadcast @r_s : {_along(a.type, axis, 1)} -> {index}
@r_v, @r = reduce @0, @r_i dim={axis} identities=[{least} : {element}, 0 : i32]
  : @t0, {index} -> {kept}, @t
  (%a@q: tile<{element}>, %b@q: tile<{element}>, %i@q: tile<i32>, %j@q: tile<i32>) {{
@r_c = cmpi less_than %a@q, %b@q, signed : tile<{element}> -> tile<i1>
@r_x = select @r_c, %b@q, %a@q : tile<i1>, tile<{element}>
@r_y = select @r_c, %j@q, %i@q : tile<i1>, tile<i32>
yield @r_x, @r_y : tile<{element}>, tile<i32>
}}"""
    to = Tile(shape, "i32")
    node = m.add(text.replace("@q", str(m.count + 1)), to, a)
    return node if shape else m.add("@r = reshape @0 : @t0 -> @t", Tile((1,), "i32"), node)


def _along(tile: Tile, axis: int, others: int) -> str:
    extents = (n if d == axis else others for d, n in enumerate(tile.shape))
    return f"tile<{''.join(f'{n}x' for n in extents)}i32>"


def recurrence(m: Maker) -> Node:
    """A linear recurrence: a scan of pairs that does not commute."""
    a = m.any(("i32", "i64"))
    b = m.value(a.type)
    element, axis = a.type.element, m.rng.randrange(len(a.type.shape))
    reverse = m.rng.choice(("true", "false"))
    one = f"tile<{element}>"
    text = f"""@r_v, @r = scan @0, @1 dim={axis} reverse={reverse}
  identities=[1 : {element}, 0 : {element}] : @t0, @t1 -> @t0, @t
  (%a@q: {one}, %b@q: {one}, %i@q: {one}, %j@q: {one}) {{
@r_x = muli %a@q, %b@q : {one}
@r_m = muli %i@q, %b@q : {one}
@r_y = addi @r_m, %j@q : {one}
yield @r_x, @r_y : {one}, {one}
}}"""
    return m.add(text.replace("@q", str(m.count + 1)), a.type, a, b)


def scaled_product(m: Maker) -> Node:
    """A product of blocks that share a scale: MXFP8, MXFP4, NVFP4."""
    rng = m.rng
    rows, columns, inner = 128, rng.choice((64, 128)), rng.choice((64, 128))
    element, scale, block = rng.choice(SCALED)
    a, b = (_packed(m, shape, element) for shape in ((rows, inner), (inner, columns)))
    scales = ((rows, inner // block), (inner // block, columns))
    p, q = (m.leaf(Tile(shape, scale), special=False) for shape in scales)
    c = m.value(Tile((rows, columns), "f32"))
    text = "@r = mmaf_scaled @0, @1, @2, @3, @4 : @t0, @t1, @t2, @t3, @t4"
    return m.add(text, c.type, a, b, c, p, q, exact=False)


SCALED = (
    ("f8E4M3FN", "f8E8M0FNU", 32),
    ("f8E5M2", "f8E8M0FNU", 32),
    ("f4E2M1FN", "f8E8M0FNU", 32),
    ("f4E2M1FN", "f8E4M3FN", 16),
)
"""Elements of operands, their scales, and how many elements share one."""


def _packed(m: Maker, shape: tuple[int, ...], element: str) -> Node:
    """An operand of an array; two elements of 4 bits are loaded as a byte."""
    if element != "f4E2M1FN":
        return m.leaf(Tile(shape, element), special=False)
    data, flat = m.leaf(Tile((prod(shape) // 2,), "i8")), f"tile<{prod(shape)}x{element}>"
    text = f"@r_u = unpack @0 : @t0 -> {flat}\n@r = reshape @r_u : {flat} -> @t"
    return m.add(text, Tile(shape, element), data)


def batched_product(m: Maker) -> Node:
    """A product of batches of matrices."""
    rng = m.rng
    factor, acc = rng.choice([pair for pair in PRODUCTS if pair[0] != "i8"])
    batch, rows, columns, inner = rng.choice((1, 2)), 64, rng.choice((8, 32)), 32
    a, b = _factor(m, (batch, rows, inner), factor), _factor(m, (batch, inner, columns), factor)
    c = m.value(Tile((batch, rows, columns), acc))
    return m.add("@r = mmaf @0, @1, @2 : @t0, @t1, @t2", c.type, a, b, c, exact=False)
