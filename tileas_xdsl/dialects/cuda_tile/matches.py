"""Constraints between operands and results (equal shapes, equal types), in MLIR's wording."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, TileType, element_of


@dataclass(frozen=True)
class Match:
    """A relation between the types of an operation."""

    text: str
    """The message if it does not hold."""
    holds: Callable[[IRDLOperation], bool]


def types_of(op: IRDLOperation, name: str) -> list[Attribute]:
    """The types of the operands or results with this name."""
    values: SSAValue | Sequence[SSAValue] | None = getattr(op, name)
    if values is None:
        return []
    if isinstance(values, SSAValue):
        return [values.type]
    return [value.type for value in values]


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The extents of a tile; none of anything else."""
    return type_.get_shape() if isinstance(type_, TileType) else ()


def _agree(values: Iterable[Hashable]) -> bool:
    return len(set(values)) < 2


def _shown(name: str) -> str:
    """The name of the open dialect: a few are in camel case, and `from` is no field in Python."""
    return _CAMEL_CASE.get(name, name.rstrip("_"))


_CAMEL_CASE = {
    "init_values": "initValues",
    "lower_bound": "lowerBound",
    "result_values": "resultValues",
    "upper_bound": "upperBound",
}


def _all(names: Sequence[str], property_: str, key: Callable[[Attribute], Hashable]) -> Match:
    """All values with these names, those that are there, agree in one property."""
    text = f"all of {{{', '.join(map(_shown, names))}}} have {property_}"

    def holds(op: IRDLOperation) -> bool:
        return _agree(key(type_) for name in names for type_ in types_of(op, name))

    return Match(message("cuda_tile.failed_to_verify", predicate=text), holds)


def same_type(*names: str) -> Match:
    """`AllTypesMatch`."""
    return _all(names, "same type", lambda type_: type_)


def same_shape(*names: str) -> Match:
    """`AllShapesMatch`."""
    return _all(names, "same shape", shape_of)


def same_rank(*names: str) -> Match:
    """`AllRanksMatch`."""
    return _all(names, "same rank", lambda type_: len(shape_of(type_)))


def same_element(*names: str) -> Match:
    """`AllElementTypeMatch`."""
    return _all(names, "the same element type", element_of)


def same_types_one_by_one(first: str, second: str) -> Match:
    """`AllTypesMatch` of two ranges: value `i` of one has the type of value `i` of the other."""
    text = f"all of {{{_shown(first)}, {_shown(second)}}} have same type"

    def holds(op: IRDLOperation) -> bool:
        return types_of(op, first) == types_of(op, second)

    return Match(message("cuda_tile.failed_to_verify", predicate=text), holds)


def _all_types(op: IRDLOperation) -> list[Attribute]:
    return [value.type for value in (*op.operands, *op.results)]


SAME_SHAPES = Match(
    message("cuda_tile.requires.same_shape"), lambda op: _agree(map(shape_of, _all_types(op)))
)
"""`SameOperandsAndResultShape`."""

SAME_OPERAND_SHAPES = Match(
    message("cuda_tile.requires.same_shape_operands"),
    lambda op: _agree(shape_of(value.type) for value in op.operands),
)
"""`SameOperandsShape`."""

SAME_ELEMENTS = Match(
    message("cuda_tile.requires.same_element"), lambda op: _agree(map(element_of, _all_types(op)))
)
"""`SameOperandsAndResultElementType`."""


def _compares(op: IRDLOperation) -> bool:
    (result,), (lhs, *_) = types_of(op, "result"), types_of(op, "lhs")
    return result == TileType(shape_of(lhs), i1)


COMPARISON = Match(
    message("cuda_tile.failed_to_verify", predicate=message("cuda_tile.comparison.result")),
    _compares,
)
"""Compare each pair of elements; the result is an `i1` tile."""


def points_to(pointers: str, values: str, key: str) -> Match:
    """The tile `pointers` holds the addresses of the elements of the tile `values`."""

    def holds(op: IRDLOperation) -> bool:
        (addresses,), (data,) = types_of(op, pointers), types_of(op, values)
        pointer = element_of(addresses)
        if not isinstance(pointer, PtrType) or pointer.pointee != element_of(data):
            return False
        return shape_of(addresses) == shape_of(data)

    return Match(message("cuda_tile.failed_to_verify", predicate=message(key)), holds)


def same_shape_if_there(optional: str, other: str, key: str) -> Match:
    """The tile `optional`, if there is one, has the shape of the tile `other`."""

    def holds(op: IRDLOperation) -> bool:
        return _agree(map(shape_of, (*types_of(op, other), *types_of(op, optional))))

    return Match(message("cuda_tile.failed_to_verify", predicate=message(key)), holds)


def same_type_if_there(optional: str, other: str, key: str) -> Match:
    """The value `optional`, if there is one, has the type of the value `other`."""

    def holds(op: IRDLOperation) -> bool:
        return _agree((*types_of(op, other), *types_of(op, optional)))

    return Match(message("cuda_tile.failed_to_verify", predicate=message(key)), holds)
