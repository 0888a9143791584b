"""Arguments of a kernel one by one, tuples taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.frontend.signature import Leaf, Parameter, TupleParameter


def leaf_values(
    parameters: Sequence[Parameter], values: Sequence[Any]
) -> Sequence[tuple[Leaf, Any]]:
    """Return the parameters with their values, tuples replaced by their items.

    Raises `ArgumentError` where there are more or fewer values.
    """
    if len(values) != len(parameters):
        names = ", ".join(parameter.name for parameter in parameters)
        raise ArgumentError(f"{len(values)} arguments; the kernel's parameters are {names}")
    found: list[tuple[Leaf, Any]] = []
    for parameter, value in zip(parameters, values, strict=True):
        if not isinstance(parameter, TupleParameter):
            found.append((parameter, value))
            continue
        if type(value) is not tuple:
            raise ArgumentError(f"'{parameter.name}' is a tuple, not {value!r}")
        found.extend(leaf_values(parameter.items, cast("tuple[Any, ...]", value)))
    return found
