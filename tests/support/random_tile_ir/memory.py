"""Memory that is updated, looked up or local, and products whose operands are streamed."""

from __future__ import annotations

from dataclasses import replace

from tests.support.random_tile_ir.maker import FLOATS, INTEGERS, NUMBERS, Maker
from tests.support.random_tile_ir.program import Access, Node, Tile

WHOLE_MODES = ("add", "and", "or", "xor", "max", "min", "umax", "umin")
"""Atomic operations on integers of 32 and 64 bits whose order does not matter."""


def lookup(m: Maker) -> Node:
    """Elements at computed positions, under a computed mask."""
    shape = m.any(exact=False).type.shape
    to = Tile(shape, m.rng.choice(NUMBERS))
    index = m.value(Tile(shape, "i32"))
    operands = index, m.value(Tile(shape, "i1")), m.value(to)
    access = Access("lookup", special=m.rng.random() < 0.3)
    return _accessed(m, to, access, *operands)


def atomic(m: Maker) -> Node:
    """What was in memory before an atomic update."""
    rng = m.rng
    a = m.any(("i32", "i64", "f32", "f64"))
    modes = ("addf",) if a.type.element[0] == "f" else (*WHOLE_MODES, "xchg")
    access = Access("atomic", rng.choice((0, 0, 3)), mode=rng.choice(modes))
    return _accessed(m, a.type, access, a)


def exchange(m: Maker) -> Node:
    """What was in memory before it was exchanged, where it was what is compared with."""
    a = m.any(("i32", "i64", "f32", "f64"))
    access = Access("exchange", m.rng.choice((0, 0, 3)))
    return _accessed(m, a.type, access, m.constant(a.type), a)


def streamed(m: Maker) -> Node:
    """A product that loads its operands in a loop, as matrices are multiplied."""
    rng = m.rng
    to = Tile((rng.choice((64, 128)), rng.choice((16, 64))), "f32")
    access = Access(
        "streamed",
        ragged=rng.choice((0, 0, 5)),
        step=rng.randrange(1, 5),
        is_static=rng.random() < 0.7,
        mode=rng.choice(("f16", "bf16", "f16", "f8E4M3FN", "tf32")),
    )
    node = _accessed(m, to, access, m.value(to))
    m.nodes[-1] = replace(node, is_exact=False)
    return m.nodes[-1]


def chained(m: Maker) -> Node:
    """Loads and stores of one array through two arguments, in the order of their tokens."""
    rng = m.rng
    a = m.any((*FLOATS, *INTEGERS), exact=False)
    access = Access("chained", step=rng.randrange(1, 4), mode=rng.choice(("", "", "loop")))
    return _accessed(m, a.type, access, a)


def walked(m: Maker) -> Node:
    """A loop that loads a tile in each iteration."""
    a = m.any((*FLOATS, *INTEGERS))
    return _accessed(m, a.type, Access("walked", step=m.rng.randrange(1, 5)), a)


def _accessed(m: Maker, type_: Tile, access: Access, *operands: Node) -> Node:
    ids = tuple(operand.id for operand in operands)
    is_exact = all(operand.is_exact for operand in operands)
    node = Node(m.new(), "", type_, ids, access=access, is_exact=is_exact)
    m.nodes.append(node)
    return node


def local(m: Maker) -> Node:
    """A tile that is stored in memory of the block, and loaded from the last element on."""
    a = m.any((*FLOATS, "i32", "i8", "i64"), exact=False)
    pointers, flat, whole = "tile<@nxptr<@e>>", "tile<@nxi32>", "tile<@nx@e>"
    text = f"""@r_a = alloca num_elem = @n, alignment = 16 : tile<ptr<@e>>
@r_i = iota : {flat}
@r_b = reshape @r_a : tile<ptr<@e>> -> tile<1xptr<@e>>
@r_s = broadcast @r_b : tile<1xptr<@e>> -> {pointers}
@r_p = offset @r_s, @r_i : {pointers}, {flat} -> {pointers}
@r_f = reshape @0 : @t0 -> {whole}
@r_x = store_ptr_tko weak @r_p, @r_f : {pointers}, {whole} -> token
@r_k = constant <i32: @m> : {flat}
@r_j = xori @r_i, @r_k : {flat}
@r_q = offset @r_s, @r_j : {pointers}, {flat} -> {pointers}
@r_l, @r_y = load_ptr_tko weak @r_q token = @r_x : {pointers} -> {whole}, token
@r = reshape @r_l : {whole} -> @t"""
    return m.add(text, a.type, a)
