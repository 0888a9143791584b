"""Arguments of a launch as those of the lowered function: what varies, and what a key fixes.

An array is an address, its extents and its strides in elements; a list of arrays the address of a
table of such rows, and its length; a constant is nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from tileas_xdsl.frontend.array_arguments import array_facts
from tileas_xdsl.frontend.leaf_values import leaf_values
from tileas_xdsl.frontend.signature import (
    ArrayParameter,
    ConstantParameter,
    Leaf,
    ListParameter,
    Parameter,
)
from tileas_xdsl.runtime.cutile.gpu.parameter_block import Changing, FlatValue


def flat_arguments(parameters: Sequence[Parameter] | None, args: Sequence[Any]) -> Sequence[Any]:
    """Return the arguments of the lowered function: those of a launch, unless it is of cuTile."""
    return args if parameters is None else flat_values(parameters, args)


def flat_values(parameters: Sequence[Parameter], args: Sequence[Any]) -> Sequence[FlatValue]:
    """Return the arguments of the lowered function, one or more for each that is no constant."""
    indices = count()
    found: list[FlatValue] = []
    for parameter, value in leaf_values(parameters, args):
        if not isinstance(parameter, ConstantParameter):
            found += _flat(next(indices), parameter, value)
    return found


def _flat(index: int, parameter: Leaf, value: Any) -> Iterator[FlatValue]:
    match parameter:
        case ListParameter():
            yield Changing(index, "table")
            yield len(value)
        case ArrayParameter():
            facts = array_facts(value)
            assert facts is not None
            yield Changing(index, "address")
            yield from facts.shape
            yield from facts.strides
        case _:
            yield Changing(index, "number")
