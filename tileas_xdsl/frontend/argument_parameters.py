"""Kernel parameters from the arguments of a launch.

By the rules of cuTile's dispatcher, where equal parameters are one compilation, the following is
part of them.  Of an array of up to five dimensions: strides of 1, extents of 1, extents that are
multiples of 16, strides of 16 bytes; of any array: element type, rank, whether its address is a
multiple of 16 bytes and whether its elements are distinct.  Annotations (`ct.ArrayAnnotation` and
others) add extents and strides as constants, and the width of indices.

Beyond those rules, short strides are told of arrays with rows (`array_parameters`).

A kernel that is compiled ahead, for examples of its arguments, has the smaller powers of two that
divide extents, strides and addresses too, and no extents of 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from importlib import import_module
from typing import Any, cast

import numpy as np

from tileas_xdsl.diagnostics.report import Location, Severity, diagnostic
from tileas_xdsl.frontend.annotated_argument import (
    Argument,
    ArgumentOverflowError,
    ArgumentTypeError,
)
from tileas_xdsl.frontend.array_arguments import ArrayFacts, ArrayReadError, array_facts
from tileas_xdsl.frontend.array_parameters import (
    array_parameter,
    check_alike,
    common_parameter,
    element_name,
    element_type_name,
)
from tileas_xdsl.frontend.signature import (
    ArrayParameter,
    ConstantParameter,
    ListParameter,
    Parameter,
    ScalarParameter,
    TupleParameter,
)


def infer_parameters(
    names: Sequence[str],
    annotations: Sequence[Any],
    arguments: Sequence[Any],
    location: Location,
    *,
    is_dispatched: bool,
) -> tuple[Parameter, ...]:
    """Return the parameters of a kernel at `location` for these arguments.

    With `is_dispatched` the rules are those of cuTile's dispatcher.  Raises `ArgumentTypeError`,
    `ArgumentValueError` and `ArgumentOverflowError`, with cuTile's messages, which are also
    Python's exceptions of these names.
    """
    if len(names) != len(arguments):
        wanted = f"{len(names)} argument{'s' * (len(names) != 1)}"
        given = f"{len(arguments)} {'was' if len(arguments) == 1 else 'were'} given"
        message = f"Kernel expects {wanted} but {given}: {', '.join(names)}"
        raise ArgumentTypeError(diagnostic(Severity.ERROR, message, location))
    rows = enumerate(zip(names, annotations, arguments, strict=True))
    return tuple(
        _parameter(
            Argument(name, f"kernel argument #{index}", annotation, location, is_dispatched),
            value,
        )
        for index, (name, annotation, value) in rows
    )


def _parameter(argument: Argument, value: Any) -> Parameter:
    if type(value) is tuple:
        return _tuple(argument, cast("tuple[Any, ...]", value))
    if not hasattr(argument.annotation, "constant"):
        text = "Received a non-tuple argument for a parameter annotated as a tuple"
        argument.fail(ArgumentTypeError, f"{text}: '{argument.name}'")
    if argument.annotation.constant:
        return ConstantParameter(argument.name, _constant(argument, value))
    if isinstance(value, list):
        return _list(argument, cast("list[Any]", value))
    return _number(argument, value) or _array(argument, value)


def _tuple(argument: Argument, values: tuple[Any, ...]) -> TupleParameter:
    annotations = _item_annotations(argument.annotation, len(values))
    if len(annotations) != len(values):
        text = f"Received a tuple of length {len(values)} for a parameter annotated as a tuple"
        argument.fail(ArgumentTypeError, f"{text} of length {len(annotations)}: '{argument.name}'")
    items = [
        _parameter(argument.item(index, annotation), value)
        for index, (annotation, value) in enumerate(zip(annotations, values, strict=True))
    ]
    return TupleParameter(argument.name, tuple(items))


def _item_annotations(annotation: Any, count: int) -> Sequence[Any]:
    """Return the annotations of items: `tuple[T, U]` has them, `tuple[T, ...]` and others one."""
    if hasattr(annotation, "items"):
        return annotation.items
    return [getattr(annotation, "each", annotation)] * count


def _constant(argument: Argument, value: Any) -> Any:
    found = constant_value(value)
    if found is None and value is not None:
        kind = type(value).__name__
        argument.reject(f"Could not interpret object of type '{kind}' as a constant.")
    return found


def constant_value(value: Any) -> Any:
    """Return an argument as the constant that it is: numbers of numpy are Python's, element types
    of other libraries those of `cuda.tile`; None for what is no constant."""
    if isinstance(value, np.generic):
        return cast("Any", value).item()
    if isinstance(value, bool | int | float | str | Enum):
        return value
    return _native_dtype(value)


def _native_dtype(value: Any) -> Any:
    """Return the element type of `cuda.tile` that an object of torch, numpy or its own names."""
    kind = cast("type[object]", type(value))
    if kind.__name__ == "DType" and kind.__module__.startswith("cuda.tile"):
        return value
    if kind.__module__ == "torch" and kind.__name__ == "dtype":
        name = str(value).removeprefix("torch.")
    elif _is_numpy_type(value):
        name = str(cast("Any", np).dtype(value))
    else:
        return None
    return getattr(import_module("cuda.tile._datatype"), element_name(name), None)


def _is_numpy_type(value: object) -> bool:
    library = cast("Any", np)
    is_class = isinstance(value, type) and issubclass(value, library.generic)
    return is_class or isinstance(value, library.dtype)


def _number(argument: Argument, value: Any) -> ScalarParameter | None:
    """The parameter for a number; integers have 32 bits unless `ct.ScalarInt64` gives them 64."""
    if isinstance(value, bool | np.bool_):
        return ScalarParameter(argument.name, "bool_")
    if isinstance(value, np.generic) and not isinstance(value, int | float):
        name = str(cast("Any", value).dtype.name)
        return ScalarParameter(argument.name, element_type_name(argument, name))
    if isinstance(value, float):
        return ScalarParameter(argument.name, "float32")
    if not isinstance(value, int):
        return None
    annotated = argument.annotation.scalar
    bits = 64 if annotated is not None and annotated.dtype.name == "int64" else 32
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        text = f"Python int too large to convert to C {'long' if bits == 64 else 'int'}"
        hint = "" if bits == 64 else "; the annotation ct.ScalarInt64 gives it 64 bits"
        argument.fail(ArgumentOverflowError, f"{text}: '{argument.name}' is {value}{hint}")
    return ScalarParameter(argument.name, f"int{bits}")


_PYTHON_CONSTANTS = (str, Enum, type(None))


def _array(argument: Argument, value: Any) -> ArrayParameter:
    facts = _facts(argument, value)
    if facts is None:
        kind = type(value).__name__
        if isinstance(value, tuple):
            text = f"'{kind}' is a subclass of 'tuple'. Only plain tuples are accepted."
        elif isinstance(value, _PYTHON_CONSTANTS) or _native_dtype(value) is not None:
            text = f"Objects of type '{kind}' are only accepted for parameters annotated as"
            text = f"{text} Constant."
        else:
            text = f"Objects of type '{kind}' are not supported."
        argument.reject(text)
    return array_parameter(argument, facts, argument.annotation.array)


def _facts(argument: Argument, value: Any) -> ArrayFacts | None:
    try:
        return array_facts(value)
    except ArrayReadError as error:
        argument.fail(ArgumentTypeError, f"'{argument.name}': {error}")


def _list(argument: Argument, values: list[Any]) -> ListParameter:
    if not values:
        argument.fail(ArgumentTypeError, "Empty lists are not supported as kernel arguments")
    annotation = getattr(argument.annotation.list, "element", None)
    found: list[ArrayFacts] = []
    for value in values:
        facts = _facts(argument, value)
        if facts is None:
            text = f"Expected list items to be arrays, got {type(value).__name__}"
            argument.fail(ArgumentTypeError, text)
        found.append(facts)
    first = found[0]
    for facts in found[1:]:
        check_alike(argument, first, facts, annotation)
    items = [array_parameter(argument, facts, annotation) for facts in found]
    return ListParameter(argument.name, common_parameter(items))
