"""A program while it is made, and the values that its operations take."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.support.random_tile_ir.program import Access, Body, Node, Tile

FLOATS = ("f32", "f16", "bf16", "f64")
INTEGERS = ("i32", "i8", "i16", "i64")
NUMBERS = (*FLOATS, *INTEGERS)
WIDTHS = {
    "i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64,
    "f16": 16, "bf16": 16, "f32": 32, "f64": 64,
}  # fmt: skip
SHAPES = ((32,), (128,), (8, 16), (16, 16), (4, 64), (2, 4, 16), (64, 8), (2, 2, 4, 8), (1, 32))
DIRECTIONS = ("nearest_even", "zero", "negative_inf", "positive_inf")


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
        others = [d for d in range(len(type_.shape)) if d != axis] if kind == "partition" else []
        access = Access(
            kind,
            ragged=rng.choice((0, 0, 1, 3)),
            padding=rng.choice(paddings),
            axis=axis,
            step=rng.choice((1, 2, 3, type_.shape[axis])),
            special=rng.random() < 0.3 if special is None else special,
            second=rng.choice((-1, *others)),
            is_static=rng.random() < 0.4,
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
