"""Random programs of Tile IR: operations of every family on tiles of every element type."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

from tests.support.random_tile_ir.program import Access, Body, Node, Output, Program, Tile

FLOATS = ("f32", "f16", "bf16", "f64")
INTEGERS = ("i32", "i8", "i16", "i64")
NUMBERS = (*FLOATS, *INTEGERS)
WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
WIDTHS |= {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
SHAPES = ((32,), (128,), (8, 16), (16, 16), (4, 64), (2, 4, 16), (64, 8), (2, 2, 4, 8), (1, 32))
DIRECTIONS = ("nearest_even", "zero", "negative_inf", "positive_inf")
INTEGER_OPERATIONS = (
    *("addi", "subi", "muli", "andi", "ori", "xori", "maxi", "mini", "shli", "shri"),
    *("divi", "remi", "mulhii", "absi", "negi"),
)


@dataclass
class Maker:
    """A program while it is made."""

    rng: random.Random
    nodes: list[Node] = field(default_factory=list[Node])
    count: int = 0
    scopes: list[list[Node]] = field(default_factory=list[list[Node]])
    outer: list[Node] = field(default_factory=list[Node])
    """Nodes whose values a body may use beside its own."""

    def new(self) -> int:
        """A number that no node has."""
        self.count += 1
        return self.count

    def add(
        self,
        text: str,
        type_: Tile,
        *operands: Node,
        bodies: Sequence[Body] = (),
        carried: int | None = None,
        exact: bool = True,
    ) -> Node:
        """Append an operation; what is made of inexact values is inexact."""
        is_exact = exact and all(operand.is_exact for operand in operands)
        ids = tuple(operand.id for operand in operands)
        node = Node(self.new(), text, type_, ids, tuple(bodies), carried, is_exact=is_exact)
        self.nodes.append(node)
        return node

    def leaf(self, type_: Tile, *, special: bool | None = None) -> Node:
        """Load an array."""
        rng = self.rng
        kinds = ["pointers", "masked", "partition", "partition"]
        if len(type_.shape) > 1:
            kinds += ["strided", "gather"]
        kind = rng.choice(kinds) if type_.element != "i1" else "pointers"
        is_float = type_.element[0] != "i"
        paddings = ("zero", "neg_zero", "nan", "neg_inf", "pos_inf") if is_float else ("zero",)
        paddings = paddings if type_.element in FLOATS else ("zero",)
        axis = rng.randrange(len(type_.shape)) if kind in ("gather", "strided") else 0
        access = Access(
            kind,
            ragged=rng.choice((0, 0, 1, 3)),
            padding=rng.choice(paddings),
            axis=axis,
            step=rng.choice((1, 2, 3, type_.shape[axis])),
            special=rng.random() < 0.3 if special is None else special,
        )
        node = Node(self.new(), "", type_, access=access)
        # Loads stand outside of loops and branches.
        self.outer.append(node) if self.scopes else self.nodes.append(node)
        return node

    def constant(self, type_: Tile) -> Node:
        """A tile whose elements are all the same."""
        value = self.rng.choice((-3, -1, 0, 1, 2, 7))
        text = {"i1": str(value & 1)}.get(
            type_.element, f"{value}" if type_.element[0] == "i" else f"{value}.5"
        )
        return self.add(f"@r = constant <@e: {text}> : @t", type_)

    def value(self, type_: Tile, *, exact: bool = True) -> Node:
        """A value of a type: one that there is, a constant, or a new load."""
        known = [n for n in (*self.nodes, *self.outer) if n.type == type_]
        known = [n for n in known if n.is_exact or not exact]
        if known and self.rng.random() < 0.75:
            return self.rng.choice(known[-4:])
        if type_.element == "i1":
            return compared(self, type_.shape)
        if self.rng.random() < 0.2 or not type_.shape:
            return self.constant(type_)
        return self.leaf(type_)

    def any(self, elements: Sequence[str] = NUMBERS, *, exact: bool = True) -> Node:
        """A value of some type of these elements."""
        known = [n for n in (*self.nodes, *self.outer) if n.type.element in elements]
        known = [n for n in known if (n.is_exact or not exact) and n.type.shape]
        if known and self.rng.random() < 0.8:
            return self.rng.choice(known[-5:])
        return self.leaf(Tile(self.rng.choice(SHAPES), self.rng.choice(elements)))


def compared(m: Maker, shape: tuple[int, ...]) -> Node:
    """A tile of i1."""
    rng = m.rng
    relation = rng.choice(("equal", "not_equal", "less_than", "less_than_or_equal", "greater_than"))
    element = rng.choice(("i32", "f32", "f16", "i8"))
    a, b = (m.value(Tile(shape, element)) for _ in range(2))
    if element[0] == "i":
        sign = rng.choice(("signed", "unsigned"))
        text = f"@r = cmpi {relation} @0, @1, {sign} : @t0 -> @t"
    else:
        text = f"@r = cmpf {relation} {rng.choice(('ordered', 'unordered'))} @0, @1 : @t0 -> @t"
    return m.add(text, Tile(shape, "i1"), a, b)


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
        return DIRECTIONS[:1]
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


def through_storage(m: Maker) -> Node:
    """A float of 8 bits or tf32, and back."""
    a = m.any(FLOATS[:3])
    small = m.rng.choice(("f8E4M3FN", "f8E5M2", "tf32"))
    if small == "tf32" and a.type.element != "f32":
        small = "f8E5M2"
    mode = f" rounding<{m.rng.choice(('nearest_even', 'zero'))}>" if small == "tf32" else ""
    b = m.add(f"@r = ftof @0{mode} : @t0 -> @t", Tile(a.type.shape, small), a)
    return m.add("@r = ftof @0 : @t0 -> @t", a.type, b)


def selection(m: Maker) -> Node:
    """One of two values by element."""
    a = m.any(exact=False)
    condition = m.value(Tile(a.type.shape, "i1"))
    b = m.value(a.type)
    text = "@r = select @0, @1, @2 : @t0, @t"
    return m.add(text, a.type, condition, a, b)


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


def _body(m: Maker, type_: Tile, start: Node) -> Body:
    """A few operations that end in a value of a type, from one of it on."""
    inner = Maker(m.rng, [start], m.count, outer=[*m.nodes, *m.outer])
    inner.scopes.append([])
    known = len(inner.outer)
    for _ in range(m.rng.randrange(1, 3)):
        m.rng.choice((float_arithmetic, integer_arithmetic, float_choice, conversion, selection))(
            inner
        )
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


FAMILIES: Sequence[tuple[Callable[[Maker], Node], int]] = (
    (float_arithmetic, 4),
    (float_choice, 3),
    (function, 1),
    (integer_arithmetic, 4),
    (conversion, 5),
    (through_storage, 1),
    (selection, 2),
    (movement, 4),
    (aggregate, 3),
    (product, 2),
    (loop, 1),
    (branch, 1),
)
"""What makes an operation, and how often it does."""


def random_program(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    m = Maker(rng)
    families = [make for make, weight in FAMILIES for _ in range(weight)]
    for _ in range(rng.randrange(2, 7)):
        rng.choice(families)(m)
        if m.nodes[-1].type.count > 2048 * 4:
            break
    used = {n for node in m.nodes for n in node.operands}
    ends = [n for n in m.nodes if n.id not in used and n.access is None][-2:]
    outputs = tuple(_output(rng, node) for node in ends or m.nodes[-1:])
    return Program(seed, tuple(m.nodes), outputs, rng.choice((1, 2, 3)))


def _output(rng: random.Random, node: Node) -> Output:
    element, shape = node.type.element, node.type.shape
    kinds = ["pointers", "pointers"]
    if shape and element != "i1":
        kinds += ["view", "view"]
    if element in ("i32", "i64"):
        kinds.append("atomic")
    return Output(node.id, rng.choice(kinds), rng.choice((0, 0, 1, 3)))
