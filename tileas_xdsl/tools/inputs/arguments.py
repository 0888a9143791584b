"""`--arg SPEC`: arrays from files and formulas, scalars, and how they fit a kernel.

A SPEC is one of

* `@file.npy`: an array of a file; the kernel may write it, the file stays as it is;
* `ELEMENT:EXTENTS:FILL[:NUMBER]`, for example `f16:128x64:random`: a new array;
* `ELEMENT:VALUE`, for example `i32:128`, `f32:0.5`, `i1:true`: a scalar.

The extents of an array of rank 0 are empty (`f32::ones`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    IndexType,
    IntegerType,
)
from xdsl.ir import Attribute

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.suggest import did_you_mean
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.element_names import canonical_name, element_name
from tileas_xdsl.interpreters.tile.arguments import Parameter
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, cast, float_format
from tileas_xdsl.layout.memory.elements import element_hint
from tileas_xdsl.tools.inputs.array_files import ArrayFileError, read_array

Value: TypeAlias = "Array | int | float"
"""An array, a scalar float as an array of rank 0, or an integer."""

MAX_ELEMENTS = 1 << 28
"""A longer array is a typing error or more than a simulation can walk through."""


INDEX_WIDTH = 64


class SpecError(ValueError):
    """The text of an argument is wrong; the message is one sentence for the user."""


class BindingError(Exception):
    """Arguments that do not fit the kernel; the message is one sentence for the user."""


_FLOATS = (
    Float16Type(),
    BFloat16Type(),
    Float32Type(),
    FloatTF32Type(),
    Float64Type(),
    Float8E4M3FNType(),
    Float8E5M2Type(),
    Float8E8M0FNUType(),
    Float6E2M3FNType(),
    Float6E3M2FNType(),
    Float4E2M1FNType(),
)
_INTEGERS = tuple(IntegerType(width) for width in (1, 4, 8, 16, 32, 64))

ELEMENTS: Mapping[str, Attribute] = {
    element_name(type_): type_ for type_ in (*_FLOATS, *_INTEGERS, IndexType())
}
"""Element types by their canonical names; MLIR's names and the aliases of layouts lead here."""


@dataclass(frozen=True)
class FileSpec:
    """`@file.npy`."""

    path: str


@dataclass(frozen=True)
class ArraySpec:
    """A new array; without a `number` of its own it is the argument's position."""

    element: Attribute
    shape: tuple[int, ...]
    fill: str
    number: int | None = None


@dataclass(frozen=True)
class ScalarSpec:
    """A scalar."""

    element: Attribute
    value: Value


@dataclass(frozen=True)
class Spec:
    """An argument as the user wrote it, and what it means."""

    text: str
    meaning: FileSpec | ArraySpec | ScalarSpec


# Text to meaning.


def parse_spec(text: str) -> Spec:
    """Parse a SPEC; raises `SpecError`."""
    return Spec(text, _meaning(text))


def _meaning(text: str) -> FileSpec | ArraySpec | ScalarSpec:
    if text.startswith("@"):
        return _file(text[1:])
    name, *rest = text.split(":")
    match rest:
        case [value]:
            return _scalar(_element(name), value)
        case [extents, fill]:
            return _array(_element(name), extents, fill, None)
        case [extents, fill, number]:
            return _array(_element(name), extents, fill, number)
        case _:
            forms = "@file.npy, ELEMENT:EXTENTS:FILL[:NUMBER] or ELEMENT:VALUE"
            raise SpecError(f"'{text}' is no argument: that is {forms}")


def _file(path: str) -> FileSpec:
    if not path:
        raise SpecError("the name of the file is empty")
    return FileSpec(path)


def _element(name: str) -> Attribute:
    found = ELEMENTS.get(canonical_name(name.lower()))
    if found is None:
        raise SpecError(f"unknown element type '{name}'; {element_hint(name, ELEMENTS)}")
    return found


_EXTENTS = re.compile(r"(\d{1,12}(x\d{1,12})*)?", re.ASCII)
_NATURAL = re.compile(r"\d{1,30}", re.ASCII)
_INTEGER = re.compile(r"[+-]?(\d{1,30}|0x[0-9a-f]{1,30})", re.ASCII | re.IGNORECASE)
_TRUTHS: Mapping[str, bool] = {"true": True, "false": False, "1": True, "0": False, "-1": True}


def _array(element: Attribute, extents: str, fill: str, number: str | None) -> ArraySpec:
    if not _EXTENTS.fullmatch(extents):
        raise SpecError(f"'{extents}' are no extents: that is 128x64")
    shape = tuple(int(extent) for extent in extents.split("x") if extent)
    if prod(shape) > MAX_ELEMENTS:
        raise SpecError(f"an array of {extents} elements is larger than {MAX_ELEMENTS}")
    _check_fill(element, fill)
    if number is None:
        return ArraySpec(element, shape, fill)
    if fill not in _RANDOM:
        raise SpecError(f"'{fill}' takes no number, only {' and '.join(_RANDOM)} do")
    if not _NATURAL.fullmatch(number):
        raise SpecError(f"'{number}' is no number for '{fill}': that is 0, 1, 2, ...")
    return ArraySpec(element, shape, fill, int(number))


def _check_fill(element: Attribute, fill: str) -> None:
    if fill not in FILLS:
        hint = did_you_mean(fill, FILLS) or f"known: {', '.join(FILLS)}"
        raise SpecError(f"unknown fill '{fill}'; {hint}")
    if fill == "normal" and float_format(element) is None:
        raise SpecError(f"'normal' fills floats, {element} are integers")
    if isinstance(element, Float8E8M0FNUType) and fill not in ("ones", "random"):
        raise SpecError(f"'{fill}' does not fit {element}: it holds nothing but powers of two")


def _scalar(element: Attribute, text: str) -> ScalarSpec:
    if re.fullmatch(r"[1-9]\d*(x[1-9]\d*)+", text):
        raise SpecError(
            f"an array has a fill: {element}:{text}:random, normal, iota, zeros or ones"
        )
    if float_format(element) is not None:
        return ScalarSpec(element, _float(element, text))
    width = _width(element)
    if width == 1:
        return ScalarSpec(element, _boolean(text))
    return ScalarSpec(element, _integer(element, text, width or INDEX_WIDTH))


def _width(element: Attribute) -> int | None:
    """The bits of an integer; None for other elements."""
    return element.bitwidth if isinstance(element, IntegerType) else None


def _float(element: Attribute, text: str) -> Array:
    try:
        value = float(text.replace("_", "?"))
    except ValueError:
        raise SpecError(
            f"'{text}' is no value of {element}: that is 0.5, 1e-3, inf or nan"
        ) from None
    return cast(np.array(value), element)


def _boolean(text: str) -> bool:
    value = _TRUTHS.get(text.lower())
    if value is None:
        raise SpecError(f"'{text}' is no value of i1: that is true or false")
    return value


def _integer(element: Attribute, text: str, width: int) -> int:
    """The signed value: the upper half of the unsigned ones wraps."""
    if not _INTEGER.fullmatch(text):
        raise SpecError(f"'{text}' is no value of {element}: that is an integer")
    value = int(text, 16 if "x" in text.lower() else 10)
    low, high = -(1 << (width - 1)), (1 << width) - 1
    if not low <= value <= high:
        raise SpecError(f"{text} is no value of {element}: they go from {low} to {high}")
    return value - (1 << width) if value >= 1 << (width - 1) else value


# Meaning to values.


def _random(element: Attribute, size: int, rng: np.random.Generator) -> Array:
    """Floats in [-1, 1), all integers of the width, indices below 2^31, powers of two near 1."""
    match element:
        case IndexType():
            return rng.integers(0, 1 << 31, size)
        case IntegerType():
            half = 1 << (element.bitwidth - 1)
            return rng.integers(-half, half - 1, size, endpoint=True)
        case Float8E8M0FNUType():
            return np.exp2(rng.integers(-4, 4, size, endpoint=True).astype(np.float32))
        case Float64Type():
            return rng.uniform(-1, 1, size)
        case _:
            return rng.random(size, np.float32) * np.float32(2) - np.float32(1)


def _normal(element: Attribute, size: int, rng: np.random.Generator) -> Array:
    if isinstance(element, Float64Type):
        return rng.standard_normal(size)
    return rng.standard_normal(size, np.float32)


def _iota(element: Attribute, size: int, rng: np.random.Generator) -> Array:
    del rng
    return np.arange(size) if float_format(element) is None else np.arange(size, dtype=np.float64)


Fill: TypeAlias = Callable[[Attribute, int, np.random.Generator], Array]

FILLS: Mapping[str, Fill] = {
    "random": _random,
    "normal": _normal,
    "zeros": lambda element, size, rng: np.zeros(size, np.int8),
    "ones": lambda element, size, rng: np.ones(size, np.int8),
    "iota": _iota,
}
"""What new arrays are filled with, row by row, before they are rounded to their element type."""

_RANDOM = ("random", "normal")
"""Fills that take a number: the same number gives the same array."""


def make_array(spec: ArraySpec, position: int) -> Array:
    """The array that `spec` describes, its elements rounded or wrapped to their type."""
    rng = np.random.default_rng(position if spec.number is None else spec.number)
    values = FILLS[spec.fill](spec.element, prod(spec.shape), rng)
    return cast(values, spec.element).reshape(spec.shape)


# Values and parameters.


def bind_arguments(specs: Sequence[Spec], parameters: Sequence[Parameter]) -> Sequence[Value]:
    """One value for each parameter; raises `BindingError` where they do not fit."""
    if len(specs) != len(parameters):
        taken = ", ".join(parameter.title for parameter in parameters)
        listed = f" ({taken})" if taken else ""
        raise BindingError(
            f"the kernel takes {_counted(len(parameters))}{listed}, but {len(specs)} "
            f"{'is' if len(specs) == 1 else 'are'} given"
        )
    return [_bind(n, *pair) for n, pair in enumerate(zip(specs, parameters, strict=True))]


def _counted(count: int) -> str:
    return f"{count} argument{'' if count == 1 else 's'}"


def _bind(position: int, spec: Spec, parameter: Parameter) -> Value:
    where = f"argument {position}, '{spec.text}'"
    wanted = f"the kernel takes {parameter.title}"
    is_scalar = parameter.shape is None
    if is_scalar != isinstance(spec.meaning, ScalarSpec):
        given = "an array" if is_scalar else "a scalar"
        raise BindingError(f"{where}, is {given}, but {wanted}")
    match spec.meaning:
        case ScalarSpec():
            _check_element(where, wanted, spec.meaning.element, parameter.element)
            return spec.meaning.value
        case ArraySpec():
            _check_element(where, wanted, spec.meaning.element, parameter.element)
            _check_extents(where, wanted, spec.meaning.shape, parameter)
            return make_array(spec.meaning, position)
        case FileSpec():
            array = _read(position, spec.meaning, parameter)
            _check_extents(where, wanted, array.shape, parameter)
            return array


def _read(position: int, spec: FileSpec, parameter: Parameter) -> Array:
    try:
        return read_array(spec.path, parameter.element)
    except ArrayFileError as error:
        raise BindingError(f"argument {position} ({parameter.title}): {error}") from error


def _check_element(where: str, wanted: str, given: Attribute, element: Attribute) -> None:
    """Integers have no sign of their own here: `si32` takes what `i32` takes."""
    if given == element or (_width(given) is not None and _width(given) == _width(element)):
        return
    raise BindingError(f"{where}, has elements of {given}, but {wanted}")


def _check_extents(where: str, wanted: str, shape: Sequence[int], parameter: Parameter) -> None:
    """A pointer takes arrays of any shape, a tiled view any of its rank."""
    extents = parameter.shape or ()
    if isinstance(parameter.type, PtrType):
        return
    given = "x".join(map(str, shape)) or "no extents"
    if len(shape) != len(extents):
        raise BindingError(f"{where}, has rank {len(shape)} ({given}), but {wanted}")
    fits = [fixed in (DYNAMIC_INDEX, n) for n, fixed in zip(shape, extents, strict=True)]
    if parameter.fixes_extents and not all(fits):
        raise BindingError(f"{where}, is {given}, but {wanted}")
