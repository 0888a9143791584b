"""Regions of buffers, `tl.region(buffer[offsets], access, extents...)`, and loops over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.tl.base import element_of, shape_of
from tileas_xdsl.dialects.tl.enums import Space
from tileas_xdsl.dialects.tl.loops import ParallelOp, SerialOp
from tileas_xdsl.frontend.tilelang.memory.memory_spaces import space_of
from tileas_xdsl.frontend.tilelang.scalars.linear import constant_of
from tileas_xdsl.frontend.tilelang.scope import Scope
from tileas_xdsl.frontend.tilelang.traced.graph import Node


@dataclass(frozen=True)
class BufferRegion:
    """A box of a buffer."""

    buffer: Node
    value: SSAValue
    offsets: Sequence[Node]
    extents: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it is all of its buffer."""
        return shape_of(self.value.type) == self.extents and self.starts_at_zero

    @property
    def starts_at_zero(self) -> bool:
        """Whether its first element is that of the buffer."""
        return all(offset.constant == 0 for offset in self.offsets)

    @property
    def space(self) -> Space | None:
        """Where the buffer lives."""
        return space_of(self.value.type)

    @property
    def element(self) -> object:
        """The element type."""
        return element_of(self.value.type)

    @property
    def box(self) -> tuple[int, ...]:
        """The extents of the loop over it: those that are not 1."""
        return tuple(n for n in self.extents if n != 1)

    def places(self, scope: Scope, variables: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The indices of an element, for the variables of a loop over `box`."""
        given = iter(variables)
        return [
            _plus(scope, offset, None if n == 1 else next(given))
            for offset, n in zip(self.offsets, self.extents, strict=True)
        ]


def _plus(scope: Scope, offset: Node, variable: SSAValue | None) -> SSAValue:
    if variable is None:
        return scope.index(offset)
    if offset.constant == 0:
        return variable
    return scope.insert(arith.AddiOp(scope.index(offset), variable)).result


def region_of(scope: Scope, node: Node) -> BufferRegion:
    """The region that an argument of a tile operation is."""
    if node.kind != "tirx.Call" or node.child("op").data != "tl.region":
        raise scope.refusal(f"an operand that is a '{node.kind}'", "is no region of a buffer")
    access, _, *sizes = node.children("args")
    extents: list[int] = []
    for size in sizes:
        if (extent := constant_of(size, scope.bound)) is None:
            raise scope.refusal("a region of dynamic extents", "has no counterpart in tl")
        extents.append(extent)
    buffer = access.child("buffer")
    return BufferRegion(buffer, scope.buffer(buffer), access.children("indices"), tuple(extents))


def for_each(
    scope: Scope,
    extents: Sequence[int],
    body: Callable[[Sequence[SSAValue]], None],
    *,
    of_thread: bool = False,
) -> None:
    """A loop over a box: of the block, or serial where each thread has all of it."""
    if of_thread or scope.is_iteration:
        _serial_nest(scope, list(extents), [], body)
        return
    box = tuple(extents) or (1,)
    block = Block(arg_types=[IndexType()] * len(box))
    with scope.within(block, is_iteration=True):
        body(block.args[: len(extents)])
    scope.insert(ParallelOp(box, block))


def _serial_nest(
    scope: Scope,
    extents: list[int],
    variables: list[SSAValue],
    body: Callable[[Sequence[SSAValue]], None],
) -> None:
    if not extents:
        body(variables)
        return
    lower, upper = scope.index_constant(0), scope.index_constant(extents[0])
    block = Block(arg_types=[IndexType()])
    with scope.within(block):
        _serial_nest(scope, extents[1:], [*variables, block.args[0]], body)
    scope.insert(SerialOp(lower, upper, block))
