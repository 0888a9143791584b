"""Values of many iterations at once: an array has an element for each, a scalar is of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.interpreters.tile.numerics.element_types import Array, dtype_of, is_array
from tileas_xdsl.interpreters.tile.numerics.integers import Value

Numbers = NDArray[np.int64]


def varies(value: Value) -> bool:
    """Whether a value is an array with an element for each iteration."""
    return is_array(value) and value.ndim > 0


class Lanes:
    """Some iterations of a loop, and what they have computed.

    Arrays broadcast to `shape`; `numbers` are those of the iterations, row-major, in the box of the
    whole loop.
    """

    def __init__(
        self, shape: tuple[int, ...], numbers: Numbers, outer: Callable[[SSAValue], Value]
    ) -> None:
        self.shape = shape
        self.numbers = numbers
        self._outer = outer
        self._values: dict[SSAValue, Value] = {}

    @property
    def count(self) -> int:
        """How many iterations there are."""
        return len(self.numbers)

    def get(self, value: SSAValue) -> Value:
        """The value that a name has now, in these iterations."""
        if value not in self._values:
            self._values[value] = self._outer(value)
        return self._values[value]

    def all_of(self, values: Sequence[SSAValue]) -> list[Value]:
        """The values that names have now."""
        return [self.get(value) for value in values]

    def set(self, names: Sequence[SSAValue], values: Sequence[Value]) -> None:
        """Give names their values."""
        self._values.update(zip(names, values, strict=True))

    def flat(self, value: Value, type_: Attribute | None = None) -> Array:
        """`(count,)`: the value of each iteration; of a scalar, as an element of `type_`."""
        array = np.asarray(value) if type_ is None else np.asarray(value, dtype_of(type_))
        return np.broadcast_to(array, self.shape).reshape(-1)

    def folded(self, values: Array) -> Array:
        """The values of all iterations in the shape that arrays broadcast to."""
        return values.reshape(self.shape)

    def select(self, chosen: Numbers) -> Lanes:
        """The iterations at these positions; what they compute the others do not see."""

        def projected(name: SSAValue) -> Value:
            value = self.get(name)
            return self.flat(value)[chosen] if varies(value) else value

        return Lanes((len(chosen),), self.numbers[chosen], projected)


def all_lanes(extents: tuple[int, ...], outer: Callable[[SSAValue], Value]) -> Lanes:
    """All iterations of a box."""
    return Lanes(extents, np.arange(np.prod(extents), dtype=np.int64), outer)


def variables_of(extents: tuple[int, ...]) -> Sequence[Numbers]:
    """The variables of a box, one array each, that broadcast to it."""
    return np.ix_(*[np.arange(extent, dtype=np.int64) for extent in extents])
