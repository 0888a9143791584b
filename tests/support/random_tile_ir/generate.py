"""Random programs of Tile IR: operations of every family on tiles of every element type."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.support.random_tile_ir.arithmetic import (
    float_arithmetic,
    float_choice,
    function,
    function_of_two,
    integer_arithmetic,
    selection,
)
from tests.support.random_tile_ir.control import branch, endless, loop, skipping
from tests.support.random_tile_ir.conversions import (
    bytes_of,
    conversion,
    from_storage,
    saturating,
    through_storage,
)
from tests.support.random_tile_ir.maker import Maker
from tests.support.random_tile_ir.memory import (
    WHOLE_MODES,
    atomic,
    chained,
    exchange,
    local,
    lookup,
    streamed,
    walked,
)
from tests.support.random_tile_ir.program import Node, Output, Program
from tests.support.random_tile_ir.shapes import (
    aggregate,
    batched_product,
    largest,
    movement,
    product,
    recurrence,
    scaled_product,
)

FAMILIES: Sequence[tuple[Callable[[Maker], Node], int]] = (
    (float_arithmetic, 8),
    (float_choice, 5),
    (function, 2),
    (function_of_two, 1),
    (integer_arithmetic, 8),
    (conversion, 10),
    (saturating, 2),
    (through_storage, 4),
    (from_storage, 2),
    (bytes_of, 3),
    (selection, 4),
    (movement, 8),
    (aggregate, 5),
    (largest, 1),
    (recurrence, 1),
    (product, 3),
    (batched_product, 1),
    (scaled_product, 1),
    (streamed, 2),
    (lookup, 2),
    (atomic, 2),
    (exchange, 2),
    (local, 1),
    (chained, 3),
    (walked, 5),
    (loop, 2),
    (branch, 2),
    (endless, 2),
    (skipping, 1),
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
    ends = [n for n in m.nodes if n.id not in used and (n.access is None or n.operands)][-2:]
    outputs = tuple(_output(rng, node) for node in ends or m.nodes[-1:])
    blocks = rng.choice((1, 2, 3))
    steps = random.Random(seed)
    stored = tuple(_strided(steps, one, m.nodes, blocks) for one in outputs)
    return Program(seed, tuple(m.nodes), stored, blocks)


def _strided(rng: random.Random, output: Output, nodes: Sequence[Node], blocks: int) -> Output:
    """An output whose tiles overlap or leave gaps; those of several blocks do not overlap."""
    if output.kind != "view" or rng.random() < 0.6:
        return output
    extent = next(node.type.shape[0] for node in nodes if node.id == output.node)
    step = rng.choice((1, 3) if blocks == 1 else (extent, extent + 1, extent + 3))
    return replace(output, kind="strided_view", step=step)


def _output(rng: random.Random, node: Node) -> Output:
    element, shape = node.type.element, node.type.shape
    kinds = ["pointers", "pointers"]
    if shape:
        kinds.append("scattered")
    if shape and element != "i1":
        kinds += ["view", "view"]
    if len(shape) > 1 and element != "i1":
        kinds.append("scatter_view")
    mode = "addf" if element[0] in "fb" else rng.choice(WHOLE_MODES)
    if element in ("i32", "i64"):
        kinds.append("atomic")
    if shape and element in ("i32", "i64", "f32"):
        kinds.append("reduce")
    return Output(node.id, rng.choice(kinds), rng.choice((0, 0, 1, 3)), mode)
