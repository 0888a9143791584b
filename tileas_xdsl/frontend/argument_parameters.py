"""Kernel parameters from the arguments of a launch.

By the rules of cuTile's dispatcher, where equal parameters are one compilation, the following is
part of them.  Of an array of up to five dimensions: strides of 1, extents of 1, extents that are
multiples of 16, strides of 16 bytes; of any array: element type, rank, whether its address is a
multiple of 16 bytes and whether its elements are distinct.  Annotations (`ct.ArrayAnnotation` and
others) add extents and strides as constants, and the width of indices.

Beyond those rules, of an array with rows (a dimension of stride 1) strides of 8 bytes are told, for
vectors of two words; strides shorter than 16 bytes and the extents of such rows are constants:
pairs, colours and coordinates are few kinds, and vectors and quotients need to know them.  Without
rows elements are accessed one by one, whatever they are apart.

A kernel that is compiled ahead, for examples of its arguments, has the smaller powers of two that
divide extents, strides and addresses too, and no extents of 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from importlib import import_module
from itertools import pairwise
from math import gcd
from typing import Any, NoReturn, TypeAlias, cast

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Location, Severity, diagnostic
from tileas_xdsl.frontend.array_arguments import ArrayFacts, ArrayReadError, array_facts
from tileas_xdsl.frontend.signature import (
    ELEMENTS,
    ArrayParameter,
    ConstantParameter,
    Extent,
    ListParameter,
    Parameter,
    ScalarParameter,
    TupleParameter,
)

_DIVISOR = 16
"""The multiple, of elements or of bytes, that matters for the code."""

_MAX_RANK = 5
"""Rank up to which extents and strides are looked at: that of a tensor map."""


class ArgumentTypeError(DiagnosticError, TypeError):
    """An argument of a type that the kernel does not take."""


class ArgumentValueError(DiagnosticError, ValueError):
    """An argument that contradicts an annotation or another argument."""


class ArgumentOverflowError(DiagnosticError, OverflowError):
    """A number that does not fit the width which the kernel computes it in."""


Faults: TypeAlias = type[ArgumentTypeError] | type[ArgumentValueError] | type[ArgumentOverflowError]


@dataclass(frozen=True)
class _Argument:
    """An argument, where it is in those of the launch, and the annotation of its parameter."""

    name: str
    title: str
    """As cuTile names it: `item #1 of kernel argument #0`."""
    annotation: Any
    location: Location
    is_dispatched: bool
    """Whether the rules are those of cuTile's dispatcher."""

    def divisor(self, number: int, most: int, least: int | None = None) -> int:
        """Return what is known to divide a number, at most `most`, a power of two.

        The dispatcher asks for all of it, or for `least` at the least.
        """
        found = gcd(number, most)
        return found if not self.is_dispatched or found >= (least or most) else 1

    def fail(self, error: Faults, message: str) -> NoReturn:
        raise error(diagnostic(Severity.ERROR, message, self.location))

    def reject(self, message: str) -> NoReturn:
        """Raise for an argument of a wrong type."""
        self.fail(ArgumentTypeError, f"Invalid {self.title}: {message} (parameter '{self.name}')")

    def item(self, index: int, annotation: Any) -> _Argument:
        title = f"item #{index} of {self.title}"
        name = f"{self.name}[{index}]"
        return replace(self, name=name, title=title, annotation=annotation)


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
            _Argument(name, f"kernel argument #{index}", annotation, location, is_dispatched),
            value,
        )
        for index, (name, annotation, value) in rows
    )


def _parameter(argument: _Argument, value: Any) -> Parameter:
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


def _tuple(argument: _Argument, values: tuple[Any, ...]) -> TupleParameter:
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


def _constant(argument: _Argument, value: Any) -> Any:
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
    return getattr(import_module("cuda.tile._datatype"), _element_name(name), None)


def _is_numpy_type(value: object) -> bool:
    library = cast("Any", np)
    is_class = isinstance(value, type) and issubclass(value, library.generic)
    return is_class or isinstance(value, library.dtype)


def _number(argument: _Argument, value: Any) -> ScalarParameter | None:
    """The parameter for a number; integers have 32 bits unless `ct.ScalarInt64` gives them 64."""
    if isinstance(value, bool | np.bool_):
        return ScalarParameter(argument.name, "bool_")
    if isinstance(value, np.generic) and not isinstance(value, int | float):
        name = str(cast("Any", value).dtype.name)
        return ScalarParameter(argument.name, _element(argument, name))
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


def _array(argument: _Argument, value: Any) -> ArrayParameter:
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
    return _array_parameter(argument, facts, argument.annotation.array)


def _facts(argument: _Argument, value: Any) -> ArrayFacts | None:
    try:
        return array_facts(value)
    except ArrayReadError as error:
        argument.fail(ArgumentTypeError, f"'{argument.name}': {error}")


def _list(argument: _Argument, values: list[Any]) -> ListParameter:
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
        _check_alike(argument, first, facts, annotation)
    items = [_array_parameter(argument, facts, annotation) for facts in found]
    return ListParameter(argument.name, _common(items))


def _check_alike(
    argument: _Argument, first: ArrayFacts, other: ArrayFacts, annotation: Any
) -> None:
    """Raise unless two items of a list can be of one type."""
    if other.element != first.element:
        argument.fail(ArgumentTypeError, "Arrays in list vary in data type")
    if len(other.shape) != len(first.shape):
        argument.fail(ArgumentTypeError, "Arrays in list vary in rank")
    rank = len(first.shape)
    for what, one, two in (
        ("shape", first.shape, other.shape),
        ("stride", first.strides, other.strides),
    ):
        for axis in _static_axes(argument, annotation, what, rank):
            if one[axis] != two[axis]:
                text = f"Arrays in list vary in static {what} at axis {axis}"
                argument.fail(ArgumentValueError, f"{text} ({one[axis]} vs {two[axis]})")


def _common(items: Sequence[ArrayParameter]) -> ArrayParameter:
    """Return what is true of all items."""
    first = items[0]
    return ArrayParameter(
        first.name,
        first.element,
        tuple(_both(extents) for extents in zip(*(item.shape for item in items), strict=True)),
        tuple(_both(strides) for strides in zip(*(item.strides for item in items), strict=True)),
        min(item.alignment for item in items),
        first.index_bits,
        any(item.may_overlap for item in items),
    )


def _both(extents: Sequence[Extent]) -> Extent:
    """Return what is known of a number that may be any of these."""
    if all(extent == extents[0] for extent in extents):
        return extents[0]
    divides = all(extent.factor % _divisor(extents) == 0 for extent in extents)
    return Extent(None, _divisor(extents) if divides else 1)


def _divisor(extents: Sequence[Extent]) -> int:
    return min((extent.divisor for extent in extents if extent.constant is None), default=1)


def _array_parameter(argument: _Argument, facts: ArrayFacts, annotation: Any) -> ArrayParameter:
    bits = 64 if annotation is not None and annotation.index_dtype.name == "int64" else 32
    _check_range(argument, facts, bits)
    rank = len(facts.shape)
    step = max(_DIVISOR // facts.item_size, 1)
    is_seen = rank <= _MAX_RANK
    fixed = set(_static_axes(argument, annotation, "shape", rank))
    fixed_steps = set(_static_axes(argument, annotation, "stride", rank))
    has_rows = _has_rows(facts, fixed_steps)
    short = max(step - 1, 1) if argument.is_dispatched and has_rows else 1
    steps, parts = [step * is_seen] * rank, 2 if has_rows else 1
    strides = tuple(_known(argument, facts.strides, fixed_steps, steps, [short] * rank, parts))
    # Rows of whole 16 bytes are as good for TMA as those of 16 elements, which cuTile asks for.
    divisors = [
        step if stride.constant == 1 and extent % _DIVISOR else _DIVISOR
        for extent, stride in zip(facts.shape, strides, strict=True)
    ]
    most = [divisor * is_seen for divisor in divisors]
    return ArrayParameter(
        argument.name,
        _element(argument, facts.element),
        tuple(_known(argument, facts.shape, fixed, most, _told(argument, strides, short))),
        strides,
        max(argument.divisor(facts.address, _DIVISOR), _natural(facts)),
        bits,
        not _is_disjoint(facts),
    )


def _has_rows(facts: ArrayFacts, fixed: set[int]) -> bool:
    """Whether elements are known to follow one another, so that a vector may hold some of them."""
    extents = enumerate(zip(facts.shape, facts.strides, strict=True))
    known = (pair for axis, pair in extents if not fixed or axis in fixed)
    return any(stride == 1 and extent > 1 for extent, stride in known)


def _told(argument: _Argument, strides: Sequence[Extent], short: int) -> Sequence[int]:
    """Up to which number each extent is a constant: those of rows with a short stride are, too."""
    if not argument.is_dispatched:
        return [0] * len(strides)
    has_short_rows = any(1 < (stride.constant or 0) <= short for stride in strides)
    return [short if has_short_rows and stride.constant == 1 else 1 for stride in strides]


def _natural(facts: ArrayFacts) -> int:
    """The alignment of an address that is no multiple of 16: that of an element where it has it."""
    return facts.item_size if facts.address % facts.item_size == 0 else 1


def _known(
    argument: _Argument,
    numbers: Sequence[int],
    fixed: set[int],
    divisors: Sequence[int],
    told: Sequence[int],
    parts: int = 1,
) -> Iterator[Extent]:
    """What becomes part of the type: `fixed` dimensions alone are constants where there are any,
    else numbers from 1 up to those `told`.

    Each is a multiple of its divisor, of one of so many `parts` of it, or of 1; where that is 0,
    nothing else is looked at.
    """
    for axis, (number, most, told_to) in enumerate(zip(numbers, divisors, told, strict=True)):
        if axis in fixed or (not fixed and most and 1 <= number <= told_to):
            yield Extent(number)
        else:
            least = max(most // parts, 1)
            yield Extent(None, argument.divisor(number, most, least) if most else 1)


def _static_axes(argument: _Argument, annotation: Any, what: str, rank: int) -> Sequence[int]:
    """Return the dimensions whose extent or stride an annotation makes a constant."""
    field = f"static_{what}_dims"
    found: list[int] = []
    for axis in getattr(annotation, field, ()):
        normal = axis + rank if axis < 0 else axis
        if not 0 <= normal < rank:
            text = f"{field} contains axis {normal} but array rank is {rank}"
            argument.fail(ArgumentValueError, f"{text}: '{argument.name}'")
        if normal in found:
            text = f"{field} contains duplicate axis {axis}: '{argument.name}'"
            argument.fail(ArgumentValueError, text)
        found.append(normal)
    return found


def _check_range(argument: _Argument, facts: ArrayFacts, bits: int) -> None:
    """Raise for extents and strides that do not fit the indices of the kernel."""
    if bits == 64:
        return
    for what, numbers in (("shape", facts.shape), ("stride", facts.strides)):
        for number in numbers:
            if not -(1 << 31) <= number < 1 << 31:
                hint = "the annotation ct.IndexedWithInt64 gives it indices of 64 bits"
                text = f"{what} is too big: '{argument.name}' has {number}; {hint}"
                argument.fail(ArgumentOverflowError, text)


def _is_disjoint(facts: ArrayFacts) -> bool:
    """Whether distinct indices name distinct elements, as each stride steps over the one below."""
    pairs = sorted(zip(facts.strides, facts.shape, strict=True))
    if pairs and pairs[0][0] <= 0:
        return False
    return all(step >= below * extent for (below, extent), (step, _) in pairwise(pairs))


def _element_name(name: str) -> str:
    return "bool_" if name == "bool" else name


def _element(argument: _Argument, name: str) -> str:
    """What `cuda.tile` calls an element type."""
    element = _element_name(name)
    if element not in ELEMENTS.values():
        known = ", ".join(dict.fromkeys(ELEMENTS.values()))
        text = f"Unsupported array dtype: '{argument.name}' has elements of {element}"
        argument.fail(ArgumentTypeError, f"{text}; cuTile has {known}")
    return element
