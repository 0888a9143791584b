"""Arguments of a launch one by one: a tuple is its items, a list of arrays its arrays.

kernel(pair, arrays, n)   with ((a, b), [c, d], 7)
-> items a, b, c, d, 7;   regrouped for the leaves of the signature: a, b, [c, d], 7
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.frontend.leaf_values import leaf_values
from tileas_xdsl.frontend.signature import ArrayParameter, Leaf, ListParameter, Parameter
from tileas_xdsl.runtime.arguments.cutile_arguments import flattened


@dataclass(frozen=True)
class LaunchItems:
    """The arguments of one launch."""

    leaves: Sequence[Leaf] | None
    """Parameters of cuTile, with those of tuples in their place; None for other kernels."""
    lengths: tuple[int | None, ...]
    """For each, the number of arrays of a list; None if it is one value."""
    values: Sequence[Any]
    names: Sequence[str]

    @staticmethod
    def of(parameters: Sequence[Parameter], args: Sequence[Any]) -> LaunchItems:
        """Take arguments apart; raises `ArgumentError` where there are more or fewer."""
        pairs = leaf_values(parameters, args)
        lengths = tuple(_length(parameter, value) for parameter, value in pairs)
        values: list[Any] = []
        names: list[str] = []
        for (parameter, value), length in zip(pairs, lengths, strict=True):
            values += [value] if length is None else value
            name = parameter.name
            names += [name] if length is None else [f"{name}[{k}]" for k in range(length)]
        return LaunchItems([parameter for parameter, _ in pairs], lengths, values, names)

    @staticmethod
    def plain(names: Sequence[str], args: Sequence[Any]) -> LaunchItems:
        """Take the arguments of another kernel, which are those of its function."""
        more = [f"argument {number}" for number in range(len(names), len(args))]
        return LaunchItems(None, (None,) * len(args), args, [*names, *more])

    def alignments(self, default: int) -> Sequence[int]:
        """Return for each item the alignment in bytes that the code assumes for its address."""
        if self.leaves is None:
            return [default] * len(self.values)
        found: list[int] = []
        for parameter, length in zip(self.leaves, self.lengths, strict=True):
            array = parameter.item if isinstance(parameter, ListParameter) else parameter
            known = array.alignment if isinstance(array, ArrayParameter) else default
            found += [known] * (1 if length is None else length)
        return found

    def flattened(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the arguments of the lowered function for these values of the items."""
        if self.leaves is None:
            return values
        left = iter(values)
        regrouped = [
            next(left) if length is None else [next(left) for _ in range(length)]
            for length in self.lengths
        ]
        return flattened(self.leaves, regrouped)


def _length(parameter: Leaf, value: Any) -> int | None:
    if not isinstance(parameter, ListParameter) or not isinstance(value, list):
        return None
    return len(cast("list[Any]", value))
