"""Parameters of cuTile kernels as the command line gives and shows them: arrays are whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, Float32Type, IntegerType, MemRefType
from xdsl.ir import Attribute

from tileas_xdsl.dialects.nv_tileas.element_names import canonical_name
from tileas_xdsl.frontend import signature as cutile
from tileas_xdsl.frontend.signature import (
    ArrayParameter,
    ConstantParameter,
    ListParameter,
    ScalarParameter,
    TupleParameter,
    leaves,
)
from tileas_xdsl.interpreters.tile.arguments import Parameter
from tileas_xdsl.tools.inputs.arguments import ELEMENTS, BindingError, Spec, bind_arguments

_NAMES: Mapping[str, str] = {name: ours for ours, name in cutile.ELEMENTS.items()}
"""Our names by those of `cuda.tile`."""


def shown(parameter: cutile.Leaf) -> Parameter:
    """A parameter with the type that `--arg` has to fit."""
    match parameter:
        case ListParameter(name=name):
            raise BindingError(f"'{name}' is a list of arrays, which is launched from Python alone")
        case ArrayParameter(name=name, element=word, shape=shape):
            element = element_of(word)
            extents = [DYNAMIC_INDEX if n.constant is None else n.constant for n in shape]
            return Parameter(name, MemRefType(element, extents), element, tuple(extents))
        case ScalarParameter(name=name, element=word):
            return Parameter(name, element_of(word), element_of(word))
        case ConstantParameter(name=name, value=value):
            type_ = Float32Type() if isinstance(value, float) else IntegerType(32)
            return Parameter(name, type_, type_)


def element_of(word: str) -> Attribute:
    """The element type that `cuda.tile` calls so; integers have no sign of their own."""
    name = _NAMES[word]
    is_unsigned = name[0] == "u" and name[1:].isdigit()
    return ELEMENTS[canonical_name(f"i{name[1:]}" if is_unsigned else name)]


def bound(parameters: Sequence[cutile.Parameter], specs: Sequence[Spec]) -> Sequence[Any]:
    """Return a value for each parameter: constants are known, the others follow `specs` in order.

    Raises `BindingError` where they do not fit.
    """
    given = [p for p in leaves(parameters) if not isinstance(p, ConstantParameter)]
    values = iter(bind_arguments(specs, [shown(parameter) for parameter in given]))
    return [_value(parameter, values) for parameter in parameters]


def _value(parameter: cutile.Parameter, values: Iterator[Any]) -> Any:
    """The value of a parameter: constants are known, others the next of `values`."""
    if isinstance(parameter, TupleParameter):
        return tuple(_value(item, values) for item in parameter.items)
    if isinstance(parameter, ConstantParameter):
        return parameter.value
    return _plain(next(values))


def _plain(value: Any) -> Any:
    """A scalar as a number, an array as it is."""
    return value if isinstance(value, int | float) or value.ndim else value[()]
