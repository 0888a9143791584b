"""A smaller program of which the same is true."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.support.random_tile_ir.program import Access, Body, Node, Program, Tile, every

PLAIN = Access("pointers")


def shrunk(program: Program, still: Callable[[Program], bool], tries: int = 150) -> Program:
    """Take away operations and halve extents as long as `still` holds."""
    program = live(program)
    while tries > 0:
        for smaller in _smaller(program):
            if smaller.size >= program.size:
                continue
            tries -= 1
            if still(smaller):
                program = smaller
                break
            if tries <= 0:
                return program
        else:
            return program
    return program


def live(program: Program) -> Program:
    """A program without nodes that no output needs."""
    return replace(program, nodes=_live(program.nodes, {out.node for out in program.outputs}))


def _live(nodes: tuple[Node, ...], needed: set[int]) -> tuple[Node, ...]:
    kept: list[Node] = []
    for node in reversed(nodes):
        if node.id not in needed:
            continue
        bodies = tuple(Body(_live(b.nodes, needed | {b.result}), b.result) for b in node.bodies)
        for body in bodies:
            needed.add(body.result)
            needed |= {n for inner in every(body.nodes) for n in inner.operands}
            needed |= {b.result for inner in every(body.nodes) for b in inner.bodies}
        needed |= set(node.operands)
        kept.append(replace(node, bodies=bodies))
    return tuple(reversed(kept))


def _smaller(program: Program) -> Iterator[Program]:
    """Programs with one thing less."""
    if len(program.outputs) > 1:
        for gone in program.outputs:
            yield live(replace(program, outputs=tuple(o for o in program.outputs if o is not gone)))
    if program.blocks > 1:
        yield replace(program, blocks=1)
    yield from _without_operations(program)
    for node in reversed(list(program.every())):
        if node.access is None and node.type.shape:
            leaf = Node(node.id, "", node.type, access=PLAIN)
            yield live(_with(program, node.id, leaf))
        elif node.access is not None and node.access != PLAIN:
            yield live(_with(program, node.id, replace(node, access=PLAIN, operands=())))
    yield from _halved(program)


def _without_operations(program: Program) -> Iterator[Program]:
    """Programs that use an operand or a body of an operation instead of it."""
    types = {node.id: node.type for node in program.every()}
    for node in reversed(list(program.every())):
        for operand in node.operands:
            if types.get(operand) == node.type:
                yield live(_replaced(program, node.id, operand))
        for body in node.bodies:
            yield live(_inlined(program, node, body))


def _mapped(nodes: tuple[Node, ...], change: Callable[[Node], Node]) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in nodes:
        bodies = tuple(Body(_mapped(b.nodes, change), b.result) for b in node.bodies)
        found.append(change(replace(node, bodies=bodies)))
    return tuple(found)


def _with(program: Program, node: int, other: Node) -> Program:
    """A program with another node; one of a body goes to the front if it is a leaf now."""
    inner = all(node != each.id for each in program.nodes)
    if inner and other.access is not None:
        nodes = _removed(program.nodes, node)
        return replace(program, nodes=(other, *nodes))
    return replace(program, nodes=_mapped(program.nodes, lambda n: other if n.id == node else n))


def _removed(nodes: tuple[Node, ...], node: int) -> tuple[Node, ...]:
    kept = (n for n in nodes if n.id != node)
    return tuple(
        replace(n, bodies=tuple(Body(_removed(b.nodes, node), b.result) for b in n.bodies))
        for n in kept
    )


def _replaced(program: Program, node: int, other: int) -> Program:
    """A program in which the uses of a node are those of another one."""

    def use(number: int) -> int:
        return other if number == node else number

    def change(each: Node) -> Node:
        bodies = tuple(Body(b.nodes, use(b.result)) for b in each.bodies)
        return replace(each, operands=tuple(map(use, each.operands)), bodies=bodies)

    outputs = tuple(replace(out, node=use(out.node)) for out in program.outputs)
    return replace(program, nodes=_mapped(program.nodes, change), outputs=outputs)


def _inlined(program: Program, node: Node, body: Body) -> Program:
    """A program with one body of an operation instead of the operation."""
    nodes: list[Node] = []
    for each in program.nodes:
        nodes += [*body.nodes, each] if each.id == node.id else [each]
    moved = _replaced(replace(program, nodes=tuple(nodes)), node.id, body.result)
    if node.carried is not None:
        moved = _replaced(moved, node.carried, node.operands[0])
    return moved


def _halved(program: Program) -> Iterator[Program]:
    """Programs in which all extents of one size are half as large."""
    extents = {n for node in program.every() for n in node.type.shape if n > 1}
    for extent in sorted(extents, reverse=True):

        def change(node: Node, extent: int = extent) -> Node:
            shape = tuple(n // 2 if n == extent else n for n in node.type.shape)
            return replace(node, type=Tile(shape, node.type.element))

        yield replace(program, nodes=_mapped(program.nodes, change))
