"""The state of the conversion: value mapping and insertion point."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, TypeAlias, TypeVar

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import UNKNOWN_LOC, IndexType, LocationAttr, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.dialects.interned import integer_attr
from tileas_xdsl.dialects.nv_tileaa.base import shape_of, tile_of
from tileas_xdsl.dialects.nv_tileaa.compute import shapes
from tileas_xdsl.dialects.nv_tileaa.compute.bodies import YieldOp
from tileas_xdsl.dialects.xdsl_ops import cast_op, constant_op
from tileas_xdsl.transforms.cudatile_to_tileaa.types import converted_type

OpT = TypeVar("OpT", bound=Operation)
INDEX = IndexType()

Rule: TypeAlias = "Callable[[Converter, Any], Sequence[SSAValue | None]]"
"""Inserts the replacement of an operation; returns the new results, None for one without uses."""

Body: TypeAlias = Callable[..., SSAValue]
"""What scalars give."""


@dataclass
class Converter:
    """Converts one operation after another."""

    rules: Mapping[type[Operation], Rule]
    target: str
    """Hints are those for this target."""
    builder: Builder
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    location: LocationAttr = UNKNOWN_LOC

    def get(self, value: SSAValue) -> SSAValue:
        """The value that a value was converted to."""
        return self.values[value]

    def get_all(self, values: Iterable[SSAValue]) -> list[SSAValue]:
        """The values that values were converted to."""
        return [self.values[value] for value in values]

    def get_optional(self, value: SSAValue | None) -> SSAValue | None:
        """The value that an optional value was converted to."""
        return None if value is None else self.values[value]

    def insert(self, op: OpT) -> OpT:
        """Put an operation where the conversion is, at the location of what is converted."""
        op.location = self.location
        self.builder.insert(op)
        return op

    @contextmanager
    def at_end(self, block: Block) -> Generator[None]:
        """Put operations at the end of a block."""
        outer, self.builder = self.builder, Builder(InsertPoint.at_end(block))
        try:
            yield
        finally:
            self.builder = outer

    def convert(self, op: Operation) -> None:
        """Convert one operation; raises `OpError` for one that has no equivalent."""
        self.location = op.location
        if (rule := self.rules.get(type(op))) is None:
            raise self.refuse(op)
        self.bind(op.results, rule(self, op))

    def refuse(self, op: Operation) -> OpError:
        """The error for an operation that has no equivalent."""
        return op_error(op, message("convert_cudatile_to_tileaa.failed"))

    def bind(self, results: Sequence[SSAValue], values: Sequence[SSAValue | None]) -> None:
        """Map results to their replacements, which get their names.

        A token behind an access is not there if it has no use.
        """
        wanted = results[: len(values)]
        assert not any(any(result.uses) for result in results[len(values) :])
        for result, value in zip(wanted, values, strict=True):
            if value is None:
                continue
            if value.name_hint is None:
                value.name_hint = result.name_hint
            self.values[result] = value

    def index(self, number: int) -> SSAValue:
        """A constant index."""
        return self.insert(constant_op(integer_attr(number, INDEX))).result

    def as_index(self, value: SSAValue) -> SSAValue:
        """An integer as an index; it is signed."""
        return self.insert(cast_op(arith.IndexCastOp, value, INDEX)).result

    def flag(self, value: bool) -> SSAValue:
        """A constant `i1`."""
        return self.insert(constant_op(integer_attr(int(value), i1))).result

    def by_element(self, element: Attribute, operands: Sequence[SSAValue], body: Body) -> SSAValue:
        """What `body` makes of scalars, or of the elements of tiles at each place."""
        shape = shape_of(operands[0].type)
        if not shape:
            return body(*operands)
        block = Block(arg_types=[INDEX] * len(shape))
        with self.at_end(block):
            scalars = [self.taken(operand, block.args) for operand in operands]
            self.insert(YieldOp(body(*scalars)))
        return self.insert(shapes.GenerateOp(tile_of(element, shape), block)).result

    def taken(self, tile: SSAValue, coordinates: Sequence[SSAValue]) -> SSAValue:
        """The element of a tile at a place."""
        type_: Any = tile.type
        return self.insert(tensor.ExtractOp(tile, coordinates, type_.element_type)).result

    def splat(self, scalar: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A scalar in a whole tile, or the scalar itself."""
        return self.insert(shapes.SplatOp(scalar, shape)).result if shape else scalar

    def type(self, value: SSAValue) -> Any:
        """The type that a value is converted to."""
        return converted_type(value.type)
