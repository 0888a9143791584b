"""State of the conversion: the tile that each buffer holds now, scalars, tokens of arrays.

A buffer of the block is a variable whose values are tiles: each operation that writes it as a whole
gives it another value, as promotion of memory to registers does for scalars.

    tl.copy %A[%y, %k] to %a           ->   %0 = nv_tileaa.tiled_load %view[%i, %n]
    tl.gemm %a, %b, %c                 ->   %2 = nv_tileaa.dot %0, %1, %acc
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, TypeAlias, TypeVar

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of, tile_of
from tileas_xdsl.dialects.nv_tileaa.compute import shapes
from tileas_xdsl.dialects.nv_tileaa.compute.bodies import YieldOp
from tileas_xdsl.layout.integers import is_power_of_two
from tileas_xdsl.transforms.tl_to_tiles.scalars.index_forms import IndexForms
from tileas_xdsl.transforms.tl_to_tiles.scalars.known_scalars import known_scalar

OpT = TypeVar("OpT", bound=Operation)

INDEX = IndexType()

Variable: TypeAlias = "SSAValue | tuple[SSAValue, tuple[int, ...]]"
"""What has a value that operations change: a buffer, an array (its token), a private element."""

Handler: TypeAlias = "Callable[[Raising, Any], None]"


class NotTilesError(Exception):
    """An operation that is not about whole tiles."""

    def __init__(self, op: Operation, reason: str) -> None:
        super().__init__(f"'{name_of(op)}' {reason}")
        self.op, self.reason = op, reason


@dataclass
class Raising:
    """The state of converting one kernel."""

    builder: Builder
    handlers: Mapping[type[Operation], Handler]
    source: Operation
    """The operation that is converted now."""
    scalars: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """What scalars of the program became."""
    held: dict[Variable, SSAValue] = field(default_factory=dict[Any, SSAValue])
    """The tile or token that each variable has now."""
    arrays: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Arrays in global memory."""
    indices: IndexForms = field(default_factory=IndexForms)

    def insert(self, op: OpT) -> OpT:
        """Insert an operation, located at what is converted."""
        op.location = self.source.location
        return self.builder.insert(op)

    @contextmanager
    def within(self, block: Block) -> Generator[None]:
        """Insert at the end of a block."""
        outer, self.builder = self.builder, Builder(InsertPoint.at_end(block))
        try:
            yield
        finally:
            self.builder = outer

    def run(self, block: Block) -> None:
        """Convert the operations of a block but for its terminator."""
        for op in block.ops:
            if not op.name.endswith("yield"):
                self.lower(op)

    def lower(self, op: Operation) -> None:
        """Convert an operation of the block."""
        outer, self.source = self.source, op
        handler = self.handlers.get(type(op))
        if handler is None:
            raise NotTilesError(op, "has no counterpart on tiles")
        handler(self, op)
        self.source = outer

    def refuse(self, reason: str) -> NotTilesError:
        """Return the error for the operation that is converted."""
        return NotTilesError(self.source, reason)

    def constant(self, value: int, type_: IntegerType | IndexType = INDEX) -> SSAValue:
        """Return a constant integer."""
        return self.insert(arith.ConstantOp(IntegerAttr(value, type_))).result

    def zero(self, element: Attribute) -> SSAValue:
        """Return the zero of an element type."""
        kind: Any = element
        is_float = isinstance(element, AnyFloat)
        attribute = FloatAttr(0.0, kind) if is_float else IntegerAttr(0, kind)
        return self.insert(arith.ConstantOp(attribute)).result

    def scalar(self, value: SSAValue) -> SSAValue:
        """Return what a scalar became."""
        if value not in self.scalars:
            raise self.refuse("takes a scalar that is no value of the block")
        return self.scalars[value]

    def i32(self, index: SSAValue) -> SSAValue:
        """Return an index in 32 bits, as coordinates of tiles are."""
        if index.type == i32:
            return index
        known = constant_integer(index)
        if known is not None:
            return self.constant(known, i32)
        return self.insert(arith.IndexCastOp(index, i32)).result

    def tile(self, variable: Variable) -> SSAValue:
        """Return the tile that a variable has now."""
        if variable not in self.held:
            raise self.refuse("reads a buffer before it is written as a whole")
        return self.held[variable]

    def splat(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a tile of one scalar: a constant where that is known."""
        check_extents(self, shape)
        known = known_scalar(value)
        if known is None:
            return self.insert(shapes.SplatOp(value, shape)).result
        return self.constant_tile(known, value.type, shape)

    def constant_tile(self, value: float, element: Attribute, shape: Sequence[int]) -> SSAValue:
        """Return a tile of one number."""
        type_: Any = TensorType(element, shape)
        number: Any = int(value) if isinstance(element, IntegerType) else float(value)
        attribute = DenseIntOrFPElementsAttr.from_list(type_, [number])
        return self.insert(arith.ConstantOp(attribute)).result

    def reshaped(self, tile: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a tile of the same elements in another shape."""
        if isinstance(tile.owner, shapes.ViewOp):
            tile = tile.owner.source
        if shape_of(tile.type) == tuple(shape):
            return tile
        return self.insert(shapes.ViewOp(tile, TensorType(element_of(tile.type), shape))).result

    def permuted(self, tile: SSAValue, order: Sequence[int]) -> SSAValue:
        """Return a tile whose dimension `i` is dimension `order[i]` of another."""
        if list(order) == sorted(order):
            return tile
        return self.insert(shapes.PermuteOp(tile, order)).result

    def broadcast(self, tile: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a tile repeated along dimensions of extent one."""
        if shape_of(tile.type) == tuple(shape):
            return tile
        return self.insert(shapes.BroadcastOp(tile, shape)).result

    def by_element(
        self,
        element: Attribute,
        operands: Sequence[SSAValue],
        body: Callable[[Sequence[SSAValue]], SSAValue],
    ) -> SSAValue:
        """Return what `body` makes of scalars, or of the elements of tiles of one shape."""
        shape = shape_of(operands[0].type)
        if not shape:
            return body(operands)
        block = Block(arg_types=[INDEX] * len(shape))
        with self.within(block):
            taken = [
                self.insert(tensor.ExtractOp(v, block.args, element_of(v.type))).result
                for v in operands
            ]
            self.insert(YieldOp(body(taken)))
        return self.insert(shapes.GenerateOp(tile_of(element, shape), block)).result


def check_extents(state: Raising, shape: Sequence[int]) -> None:
    """Tiles have extents that are powers of two."""
    if not all(is_power_of_two(extent) for extent in shape):
        extents = "x".join(map(str, shape))
        raise state.refuse(f"has {extents} elements, and extents of tiles are powers of two")
