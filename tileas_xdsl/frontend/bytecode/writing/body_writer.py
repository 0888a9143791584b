"""Writing the operations of a function: the inverse of `bodies`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, Block, BlockOps, Operation, OpResult, Region, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cuda_tile.tiles.conversions import FToFOp
from tileas_xdsl.frontend.bytecode.layout import V13_4, Version
from tileas_xdsl.frontend.bytecode.operations import (
    BY_NAME,
    SEGMENT_SIZES,
    TOKEN_SINCE,
    Arity,
    Encoding,
    Kind,
)
from tileas_xdsl.frontend.bytecode.operations import Attribute as EncodedAttribute
from tileas_xdsl.frontend.bytecode.reading.plans import flag_masks, is_default
from tileas_xdsl.frontend.bytecode.writing.attribute_writer import AttributeWriter
from tileas_xdsl.frontend.bytecode.writing.debug_table import DebugTable
from tileas_xdsl.frontend.bytecode.writing.output import Output
from tileas_xdsl.frontend.bytecode.writing.type_table import TypeTable
from tileas_xdsl.frontend.bytecode.writing.unwritable import UnwritableError


class BodyWriter:
    """Writes the operations of one function."""

    def __init__(
        self,
        version: Version,
        types: TypeTable,
        attributes: AttributeWriter,
        debug: DebugTable,
    ) -> None:
        self._version = version
        self._types = types
        self._attributes = attributes
        self._debug = debug
        self._values: dict[SSAValue, int] = {}

    def write(self, block: Block) -> Output:
        """The body of a function; raises `OpError` at an operation that cannot be written."""
        output = Output()
        self._define(block.args)
        self._operations(output, block.ops)
        return output

    def _define(self, values: Sequence[SSAValue]) -> None:
        for value in values:
            self._values[value] = len(self._values)

    def _operations(self, output: Output, ops: BlockOps) -> None:
        for op in ops:
            self._debug.add(op.location)
            try:
                self._operation(output, op)
            except UnwritableError as error:
                raise op_error(op, f"cannot be written as bytecode: {error}") from error
            self._define(self._results(op))

    def _results(self, op: Operation) -> Sequence[OpResult]:
        """The results that this version has."""
        since = TOKEN_SINCE.get(op.name, self._version)
        if since <= self._version:
            return op.results
        if any(result.first_use is not None for result in op.results):
            raise UnwritableError(f"its token is used, which needs version {since}")
        return ()

    def _operation(self, output: Output, op: Operation) -> None:
        encoding = BY_NAME.get(op.name)
        if encoding is None:
            raise UnwritableError("it has no opcode")
        if self._version < encoding.since:
            raise UnwritableError(f"it needs version {encoding.since}, not {self._version}")
        check_rounding(op, self._version)
        attributes = _attributes(op, encoding)
        sizes = _segment_sizes(op, encoding)
        output.varint(encoding.opcode)
        self._result_types(output, op, encoding)
        self._flags(output, encoding, attributes, sizes)
        for attribute in encoding.attributes:
            self._attribute(output, attribute, attributes.get(attribute.name))
        self._operands(output, op, encoding, sizes)
        if encoding.regions:
            self._regions(output, op, encoding)

    def _result_types(self, output: Output, op: Operation, encoding: Encoding) -> None:
        numbers = [self._types.number(result.type) for result in self._results(op)]
        if encoding.results is None:
            output.varints(numbers)
            return
        if len(numbers) != encoding.results:
            raise UnwritableError(f"it has {len(numbers)} results instead of {encoding.results}")
        for number in numbers:
            output.varint(number)

    def _flags(
        self,
        output: Output,
        encoding: Encoding,
        attributes: dict[str, Attribute],
        sizes: dict[str, int],
    ) -> None:
        masks = flag_masks(encoding, self._version)
        for operand in encoding.operands:
            if operand.arity is Arity.OPTIONAL and sizes.get(operand.name):
                self._check_since(operand.name, operand.since)
        if masks:
            given = (m for name, m in masks.items() if name in attributes or sizes.get(name))
            output.varint(sum(given))

    def _attribute(
        self, output: Output, attribute: EncodedAttribute, value: Attribute | None
    ) -> None:
        if self._version < attribute.since:
            if value is not None and not is_default(attribute, value):
                self._check_since(attribute.name, attribute.since)
            return
        if value is None:
            if not attribute.optional:
                raise UnwritableError(f"it has no attribute '{attribute.name}'")
            return
        if attribute.kind is not Kind.UNIT:
            self._attributes.write(output, attribute.kind, value)

    def _check_since(self, name: str, since: Version) -> None:
        if self._version < since:
            raise UnwritableError(f"'{name}' needs version {since}, not {self._version}")

    def _operands(
        self, output: Output, op: Operation, encoding: Encoding, sizes: dict[str, int]
    ) -> None:
        if not encoding.segments:
            if encoding.counts_operands:
                output.varint(len(op.operands))
            self._values_of(output, op.operands)
            return
        first = 0
        for operand in encoding.operands:
            size = sizes[operand.name]
            if operand.arity is Arity.MANY:
                output.varint(size)
            self._values_of(output, op.operands[first : first + size])
            first += size

    def _values_of(self, output: Output, values: Sequence[SSAValue]) -> None:
        for value in values:
            number = self._values.get(value)
            if number is None:
                raise UnwritableError("an operand is not defined before it")
            output.varint(number)

    def _regions(self, output: Output, op: Operation, encoding: Encoding) -> None:
        if len(op.regions) != encoding.regions:
            raise UnwritableError(f"it has {len(op.regions)} regions, not {encoding.regions}")
        output.varint(len(op.regions))
        for region in op.regions:
            self._region(output, region)

    def _region(self, output: Output, region: Region) -> None:
        output.varint(len(region.blocks))
        for block in region.blocks:
            outside = len(self._values)
            output.varints([self._types.number(argument.type) for argument in block.args])
            self._define(block.args)
            output.varint(len(block.ops))
            self._operations(output, block.ops)
            for _ in range(len(self._values) - outside):
                self._values.popitem()


def check_rounding(op: Operation, version: Version) -> None:
    """Raise `UnwritableError` for a rounding between floats that a version does not have."""
    if version < V13_4 and isinstance(op, FToFOp) and not op.rounds_as_in_13_3:
        raise UnwritableError(f"its rounding needs version {V13_4}, not {version}")


def _attributes(op: Operation, encoding: Encoding) -> dict[str, Attribute]:
    """Properties and attributes together; refuses those that would be lost."""
    attributes = {**op.attributes, **op.properties}
    attributes.pop(SEGMENT_SIZES, None)
    known = {attribute.name for attribute in encoding.attributes}
    for name in attributes:
        if name not in known:
            raise UnwritableError(f"there is no place for its attribute '{name}'")
    return attributes


def _segment_sizes(op: Operation, encoding: Encoding) -> dict[str, int]:
    """Operand count by name; empty if the operation has no operand segments."""
    if not encoding.segments:
        return {}
    value = op.properties.get(SEGMENT_SIZES, op.attributes.get(SEGMENT_SIZES))
    if not isinstance(value, DenseArrayBase):
        raise UnwritableError(f"it has no '{SEGMENT_SIZES}'")
    sizes = cast(Sequence[int], value.get_values())
    names = [operand.name for operand in encoding.operands]
    if len(sizes) != len(names) or sum(sizes) != len(op.operands):
        raise UnwritableError(f"its '{SEGMENT_SIZES}' are wrong")
    return dict(zip(names, sizes, strict=True))
