"""What is known of arrays as part of a kernel's type: extents, strides, alignment, overlap.

Of an array with rows (a dimension of stride 1) strides of 8 bytes are told, for vectors of two
words; strides shorter than 16 bytes and the extents of such rows are constants: pairs, colours and
coordinates are few kinds, and vectors and quotients need to know them.  Without rows elements are
accessed one by one, whatever they are apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from tileas_xdsl.frontend.annotated_argument import (
    Argument,
    ArgumentOverflowError,
    ArgumentTypeError,
    ArgumentValueError,
)
from tileas_xdsl.frontend.array_arguments import ArrayFacts
from tileas_xdsl.frontend.signature import (
    ELEMENTS,
    ArrayParameter,
    Extent,
)

_DIVISOR = 16
"""The multiple, of elements or of bytes, that matters for the code."""

_MAX_RANK = 5
"""Rank up to which extents and strides are looked at: that of a tensor map."""


def check_alike(argument: Argument, first: ArrayFacts, other: ArrayFacts, annotation: Any) -> None:
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


def common_parameter(items: Sequence[ArrayParameter]) -> ArrayParameter:
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


def array_parameter(argument: Argument, facts: ArrayFacts, annotation: Any) -> ArrayParameter:
    """Return the parameter that an array is by its annotation; raises for extents out of range."""
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
        element_type_name(argument, facts.element),
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


def _told(argument: Argument, strides: Sequence[Extent], short: int) -> Sequence[int]:
    """Up to which number each extent is a constant: those of rows with a short stride are, too."""
    if not argument.is_dispatched:
        return [0] * len(strides)
    has_short_rows = any(1 < (stride.constant or 0) <= short for stride in strides)
    return [short if has_short_rows and stride.constant == 1 else 1 for stride in strides]


def _natural(facts: ArrayFacts) -> int:
    """The alignment of an address that is no multiple of 16: that of an element where it has it."""
    return facts.item_size if facts.address % facts.item_size == 0 else 1


def _known(
    argument: Argument,
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


def _static_axes(argument: Argument, annotation: Any, what: str, rank: int) -> Sequence[int]:
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


def _check_range(argument: Argument, facts: ArrayFacts, bits: int) -> None:
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


def element_name(name: str) -> str:
    """Return what cuTile calls an element type that numpy names."""
    return "bool_" if name == "bool" else name


def element_type_name(argument: Argument, name: str) -> str:
    """What `cuda.tile` calls an element type."""
    element = element_name(name)
    if element not in ELEMENTS.values():
        known = ", ".join(dict.fromkeys(ELEMENTS.values()))
        text = f"Unsupported array dtype: '{argument.name}' has elements of {element}"
        argument.fail(ArgumentTypeError, f"{text}; cuTile has {known}")
    return element
