"""The operations of a function: the part of the reader that has to be fast.

An operation is a head (opcode, types of the results, flags, attributes) and operands.  Bytes that
were a head before are the same head again, so that most heads are looked up and not read: as many
bytes as the last head with the same opcode had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from xdsl.dialects.builtin import LocationAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.core import SSAValues

from tileas_xdsl.dialects.interned import bool_array, int_array
from tileas_xdsl.frontend.bytecode.limits import MAX_NESTING
from tileas_xdsl.frontend.bytecode.operations import SEGMENT_SIZES, Arity
from tileas_xdsl.frontend.bytecode.reading.assembly import (
    NO_VALUES,
    append_block,
    append_operation,
    append_region,
)
from tileas_xdsl.frontend.bytecode.reading.cursor import Cursor
from tileas_xdsl.frontend.bytecode.reading.plans import Plan

_COUNT_FOLLOWS = -1
_LENGTHS = 6
"""Lengths that are looked up for one opcode, and forms of operands; most have one or two."""


class Pattern(NamedTuple):
    """Operands with numbers among them, as they were met: each took one byte."""

    length: int
    counts: int | tuple[int, ...]
    counts_of: Callable[[bytes], int | tuple[int, ...]]
    """What stands where the numbers stood; one of them is no tuple."""
    operands_of: Callable[[bytes], tuple[int, ...]]
    """What stands where the operands stood, of which there were two or more."""
    properties: dict[str, Attribute]


class Head(NamedTuple):
    """What stands before the operands of an operation."""

    definition: type[Operation]
    result_types: tuple[Attribute, ...]
    properties: dict[str, Attribute]
    operands: int
    """Number of values that follow; -1 if the bytes contain the number."""
    regions: int
    counted: Counted


class Counted(NamedTuple):
    """What else there is to know of operands among which numbers stand."""

    plan: Plan
    flags: int
    patterns: list[Pattern]
    """How the operands stood so far."""


class BlockHead(NamedTuple):
    """What stands before the operations of a block."""

    types: list[Attribute]
    operations: int


class Heads:
    """The heads that a file has had so far."""

    def __init__(self, plans: dict[int, Plan | None], types: Sequence[Attribute]) -> None:
        """`plans` gives the decoding plan of every opcode."""
        self.known: dict[bytes, Head] = {}
        self.lengths: list[list[int]] = [[] for _ in range(256)]
        """By the first byte of a head, the lengths that such heads have had."""
        self._plans = plans
        self._types = types
        self._blocks: dict[bytes, BlockHead] = {}
        self._block_lengths: list[int] = []

    def read(self, cursor: Cursor) -> Head:
        """Read a head, and know it from now on."""
        start = cursor.position
        opcode = cursor.varint("an opcode")
        plan = self._plans[opcode]
        if plan is None:
            raise cursor.error(f"this version has no operation with the opcode {opcode:#x}", start)
        result_types = self._result_types(cursor, plan)
        flags = self._flags(cursor, plan)
        properties = dict(plan.defaults)
        for attribute in plan.attributes:
            if attribute.mask and not flags & attribute.mask:
                continue
            decode = attribute.decode
            properties[attribute.name] = (
                UnitAttr() if decode is None else decode(cursor, result_types)
            )
        if plan.segments is not None and not plan.counts_segments:
            sizes = [_size(segment.arity, flags & segment.mask) for segment in plan.segments]
            properties[SEGMENT_SIZES] = int_array(tuple(sizes))
        operands = _operand_count(cursor, plan, flags)
        regions = plan.encoding.regions
        counted = Counted(plan, flags, [])
        head = Head(plan.definition, result_types, properties, operands, regions, counted)
        piece = cursor.data[start : cursor.position]
        self.known[piece] = head
        lengths = self.lengths[piece[0]]
        if len(piece) not in lengths and len(lengths) < _LENGTHS:
            lengths.append(len(piece))
        return head

    def _result_types(self, cursor: Cursor, plan: Plan) -> tuple[Attribute, ...]:
        number = plan.encoding.results
        if number is None:
            number = cursor.count("results")
        return tuple(self.type(cursor, "the type of a result") for _ in range(number))

    def _flags(self, cursor: Cursor, plan: Plan) -> int:
        if not plan.has_flags:
            return 0
        start = cursor.position
        flags = cursor.varint("flags")
        if flags & ~plan.all_flags:
            name = plan.encoding.name
            raise cursor.error(f"'{name}' has no flags {flags & ~plan.all_flags:#x}", start)
        return flags

    def block(self, cursor: Cursor) -> BlockHead:
        """The types of the arguments of a block, and how many operations it has."""
        start = cursor.position
        for length in self._block_lengths:
            found = self._blocks.get(cursor.data[start : start + length])
            if found is not None and found.operations <= cursor.end - start - length:
                cursor.position = start + length
                return found
        number = cursor.count("arguments of a block")
        types = [self.type(cursor, "the type of an argument") for _ in range(number)]
        found = BlockHead(types, cursor.count("operations of a block"))
        piece = cursor.data[start : cursor.position]
        self._blocks[piece] = found
        if len(piece) not in self._block_lengths and len(self._block_lengths) < _LENGTHS:
            self._block_lengths.append(len(piece))
        return found

    def type(self, cursor: Cursor, what: str) -> Attribute:
        """The type whose number comes next."""
        return self._types[cursor.index(len(self._types), what, "types")]


def _operand_count(cursor: Cursor, plan: Plan, flags: int) -> int:
    if plan.counts_segments:
        return _COUNT_FOLLOWS
    if plan.counts_operands:
        return cursor.count("operands")
    return plan.operand_count + (flags & plan.operand_flags).bit_count()


def _pattern(piece: bytes, places: list[int], properties: dict[str, Attribute]) -> Pattern:
    """Decoded state to resume from: `places` are the byte offsets of numbers."""
    counts_of: Callable[[bytes], int | tuple[int, ...]] = itemgetter(*places)
    others = (place for place in range(len(piece)) if place not in places)
    operands_of: Callable[[bytes], tuple[int, ...]] = itemgetter(*others)
    return Pattern(len(piece), counts_of(piece), counts_of, operands_of, properties.copy())


def _size(arity: Arity, present: int) -> int:
    return 1 if arity is Arity.ONE else int(present > 0)


class Body:
    """Reads one function."""

    def __init__(
        self,
        heads: Heads,
        cursor: Cursor,
        arguments: Sequence[SSAValue],
        locations: Iterator[LocationAttr],
    ) -> None:
        """`cursor` is over a copy of the bytes of the function, all of them."""
        self._heads = heads
        self._cursor = cursor
        self._values = list(arguments)
        self._locations = locations
        self._depth = 0

    def read(self, block: Block) -> None:
        """Read all there is into `block`."""
        self._operations(block, _COUNT_FOLLOWS)
        self._cursor.finished("the function")

    def _operations(self, block: Block, number: int) -> None:
        """Read so many operations, or all if the number is negative."""
        cursor, values = self._cursor, self._values
        data, end, position = cursor.data, cursor.end, cursor.position
        known, lengths = self._heads.known, self._heads.lengths
        next_location = self._locations.__next__
        value_of = values.__getitem__
        piece = b""
        try:
            while number and position < end:
                number -= 1
                for length in lengths[data[position]]:
                    head = known.get(data[position : position + length])
                    if head is not None and position + length <= end:
                        position += length
                        break
                else:
                    cursor.position = position
                    head = self._heads.read(cursor)
                    position = cursor.position
                definition, types, properties, count, regions, counted = head
                if count < 0:
                    cursor.position = position
                    operands, properties = self._counted_operands(counted, properties, position)
                    position = cursor.position
                else:
                    properties = properties.copy()
                    piece = data[position : position + count]
                    if piece.isascii() and position + count <= end:
                        operands = SSAValues(map(value_of, piece)) if count else NO_VALUES
                        position += count
                    else:
                        cursor.position = position
                        operands = SSAValues(self._operands(count))
                        position = cursor.position
                op = append_operation(
                    block, definition, operands, types, properties, next_location()
                )
                if regions:
                    cursor.position = position
                    self._regions(op, regions)
                    position = cursor.position
                values += op.results
        except IndexError:
            raise self._no_value(max(piece), position) from None
        except StopIteration:
            raise cursor.error("there are no debug data for this operation", position) from None
        cursor.position = position
        if number > 0:
            raise cursor.error(f"the data ends {number} operations before the end of a block")

    def _no_value(self, value: int, at: int) -> Exception:
        there_are = f"{len(self._values)} that are known here"
        return self._cursor.error(f"an operand is value {value} of {there_are}", at)

    def _counted_operands(
        self, counted: Counted, properties: dict[str, Attribute], start: int
    ) -> tuple[SSAValues[SSAValue], dict[str, Attribute]]:
        """Operands where the numbers for each name are read, and the properties with them."""
        cursor = self._cursor
        for pattern in counted.patterns:
            piece = cursor.data[start : start + pattern.length]
            if not piece.isascii() or len(piece) < pattern.length:
                continue
            if pattern.counts_of(piece) != pattern.counts:
                continue
            numbers = pattern.operands_of(piece)
            try:
                operands = SSAValues(map(self._values.__getitem__, numbers))
            except IndexError:
                raise self._no_value(max(numbers), start) from None
            cursor.position = start + pattern.length
            return operands, pattern.properties.copy()
        return self._read_segments(counted, properties.copy(), start)

    def _read_segments(
        self, counted: Counted, properties: dict[str, Attribute], start: int
    ) -> tuple[SSAValues[SSAValue], dict[str, Attribute]]:
        """The same, one by one."""
        operands: list[SSAValue] = []
        plan = counted.plan
        sizes: list[int] = []
        places: list[int] = []
        for segment in plan.segments or ():
            if segment.arity is Arity.MANY:
                places.append(self._cursor.position - start)
                sizes.append(self._cursor.count(f"operands '{segment.name}'"))
            else:
                sizes.append(_size(segment.arity, counted.flags & segment.mask))
            operands += self._operands(sizes[-1])
            if plan.all_false and segment.name == "index":
                properties[plan.all_false] = bool_array((False,) * sizes[-1])
        properties[SEGMENT_SIZES] = int_array(tuple(sizes))
        piece = self._cursor.data[start : self._cursor.position]
        if piece.isascii() and len(operands) > 1 and len(counted.patterns) < _LENGTHS:
            counted.patterns.append(_pattern(piece, places, properties))
        return SSAValues(operands), properties

    def _operands(self, number: int) -> Iterator[SSAValue]:
        cursor, values = self._cursor, self._values
        for _ in range(number):
            start = cursor.position
            value = cursor.varint("an operand")
            if value >= len(values):
                raise self._no_value(value, start)
            yield values[value]

    def _regions(self, op: Operation, expected: int) -> None:
        cursor = self._cursor
        start = cursor.position
        number = cursor.varint("the number of regions")
        if number != expected:
            raise cursor.error(f"'{op.name}' has {expected} regions, not {number}", start)
        if self._depth >= MAX_NESTING:
            raise cursor.error(f"more than {MAX_NESTING} regions inside one another", start)
        self._depth += 1
        for _ in range(number):
            region = append_region(op)
            for _ in range(cursor.count("blocks")):
                self._block(region, op.location)
        self._depth -= 1

    def _block(self, region: Region, location: LocationAttr) -> None:
        cursor, values = self._cursor, self._values
        outside = len(values)
        types, number = self._heads.block(cursor)
        block = append_block(region, types, location)
        values += block.args
        if number:
            self._operations(block, number)
        del values[outside:]
