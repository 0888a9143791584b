"""What a block knows of itself, what it prints, and what a program promises or asserts.

`assume` makes a broken promise undefined behavior, which ends the run. `div_by<16, every 4 along
0>` promises of a tile of i32 that elements 0, 4, 8, ... are multiples of 16 and the others count up
from them: 32, 33, 34, 35, 48, ... holds. Of pointers, divisor and steps are in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tileas_xdsl.dialects.cuda_tile.enums import Signedness
from tileas_xdsl.dialects.cuda_tile.memory.unit_strides import is_unit_stride
from tileas_xdsl.dialects.cuda_tile.structure import control
from tileas_xdsl.dialects.cuda_tile.tiles import misc, shapes
from tileas_xdsl.dialects.cuda_tile.types.predicates import BoundedAttr, DivByAttr, SameElementsAttr
from tileas_xdsl.dialects.cuda_tile.types.scalars import is_integer
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of
from tileas_xdsl.interpreters.cuda_tile.block import Block
from tileas_xdsl.interpreters.cuda_tile.faults import Undefined
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import (
    Array,
    stored_bits,
    width_of,
)
from tileas_xdsl.interpreters.cuda_tile.numerics.integers import read
from tileas_xdsl.interpreters.cuda_tile.semantics.memory import TOKEN, pointee_of
from tileas_xdsl.interpreters.cuda_tile.semantics.registry import Stateful
from tileas_xdsl.interpreters.cuda_tile.semantics.views import Tensor
from tileas_xdsl.target.printf import (
    Conversion,
    FormatError,
    assertion_text,
    formatted,
    parse_format,
)


def _index(block: Block, _op: shapes.GetTileBlockIdOp) -> Sequence[Any]:
    return [np.asarray(number, np.int32) for number in block.index]


def _grid(block: Block, _op: shapes.GetNumTileBlocksOp) -> Sequence[Any]:
    return [np.asarray(number, np.int32) for number in block.grid]


def _asserted(block: Block, op: control.AssertOp) -> Sequence[Any]:
    """An assertion that does not hold ends the run."""
    condition = np.asarray(block.value(op.condition))
    if not condition.all():
        index = [int(n) for n in np.unravel_index(int(np.argmin(condition)), condition.shape)]
        where = f" at {index} of the tile" if index else ""
        block.printed.append(assertion_text(op.message.data))
        raise Undefined(f"does not hold{where} in block {block.index}: {op.message.data}")
    return ()


def _printed(block: Block, op: misc.PrintTkoOp) -> Sequence[Any]:
    """The text at once, tiles with all their elements."""
    try:
        parts = parse_format(op.format_string.data)
    except FormatError as error:
        raise Undefined(str(error)) from error
    formats = [part for part in parts if isinstance(part, Conversion)]
    values = [
        _passed(conversion, block.value(value), value.type)
        for conversion, value in zip(formats, op.args, strict=True)
    ]
    wide = zip(formats, op.args, strict=True)
    by_width = iter([c.of_bits(_bits(value.type)) for c, value in wide])
    parts = [next(by_width) if isinstance(part, Conversion) else part for part in parts]
    block.printed.append(formatted(parts, values))
    return (TOKEN,)


def _bits(type_: Any) -> int:
    element = element_of(type_)
    return width_of(type_) if is_integer(element) else 64


def _passed(conversion: Conversion, values: Array, type_: Any) -> Array:
    """Integers by the sign that the format reads, floats as float64."""
    if conversion.is_float or not is_integer(element_of(type_)):
        return values.astype(np.float64)
    width = width_of(type_)
    signed = conversion.is_signed and width > 1
    return read(values, width, Signedness.SIGNED if signed else Signedness.UNSIGNED)


def _assumed(block: Block, op: misc.AssumeOp) -> Sequence[Any]:
    """The value itself; a broken promise makes the behavior undefined, if anyone can tell."""
    value, predicate = block.value(op.value), op.predicate
    if is_unit_stride(op.result):
        return (value,)
    match predicate:
        case DivByAttr():
            holds = _is_divisible(op, value, predicate)
        case SameElementsAttr():
            holds = _has_groups(np.asarray(value), [n.data for n in predicate.values])
        case BoundedAttr():
            holds = _is_bounded(op, value, predicate)
        case _:
            raise Undefined(f"promises '{predicate.name}', which has no meaning here")
    if not holds:
        raise Undefined(f"promises '{predicate.name}', which does not hold")
    return (value,)


def _is_divisible(op: misc.AssumeOp, value: Any, predicate: DivByAttr) -> bool:
    """The first of each group is divisible, and the others count up from it, addresses in bytes."""
    divisor = predicate.divisor.data
    if isinstance(value, Tensor):
        return value.address % (8 * divisor) == 0
    element = element_of(op.value.type)
    if is_integer(element):
        numbers, step = read(value, width_of(op.value.type), Signedness.SIGNED), 1
    else:
        numbers, step = value, stored_bits(pointee_of(op.value.type))
        divisor *= 8
    every, along = predicate.group or (1, 0)
    if numbers.ndim == 0 or every <= 1:
        return bool(np.all(numbers % divisor == 0))
    numbers = np.moveaxis(numbers, along, 0).astype(object)
    positions = np.arange(len(numbers))
    firsts = numbers[positions // every * every]
    counted = (positions % every).reshape(-1, *(1,) * (numbers.ndim - 1)) * step
    return bool(np.all(firsts % divisor == 0) and np.all(numbers == firsts + counted))


def _has_groups(values: Array, sizes: Sequence[int]) -> bool:
    """All elements of a group are the same: each is equal to the first of its own."""
    groups = [max(size, 1) for size in sizes]
    extents = zip(values.shape, groups, strict=True)
    firsts = [[n // group * group for n in range(extent)] for extent, group in extents]
    return bool(np.all(values == values[np.ix_(*firsts)]))


def _is_bounded(op: misc.AssumeOp, value: Array, predicate: BoundedAttr) -> bool:
    """Both bounds are included; integers are signed."""
    numbers = read(value, width_of(op.value.type), Signedness.SIGNED)
    low, high = predicate.bounds
    above = low is None or bool(np.all(numbers >= low))
    return above and (high is None or bool(np.all(numbers <= high)))


BLOCK_FACTS: Mapping[type[Any], Stateful] = {
    shapes.GetTileBlockIdOp: _index,
    shapes.GetNumTileBlocksOp: _grid,
    control.AssertOp: _asserted,
    misc.PrintTkoOp: _printed,
    misc.AssumeOp: _assumed,
}
