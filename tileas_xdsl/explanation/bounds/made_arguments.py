"""Arguments for a kernel without a launch: random arrays that fit its signature or its types.

They are large enough that the tiles of the first block lie inside of them, and that loops over an
extent run often.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX

from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.frontend.signature import (
    ArrayParameter,
    ConstantParameter,
    Extent,
    Leaf,
    Parameter,
    TupleParameter,
)
from tileas_xdsl.interpreters.tile.launch import find_kernel
from tileas_xdsl.interpreters.tile.numerics.element_types import dtype_of
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.runtime.arguments import view_arguments

EXTENTS = (1 << 16, 1 << 10, 1 << 7, 1 << 5)
"""Extents of arrays of one to four dimensions that a signature leaves open."""

INDICES = 64
"""Integers of arrays are below this, as they may be indices."""

PATTERN = 1 << 16
"""Random elements that are repeated through an array."""


class UnknownArgumentError(Exception):
    """A parameter whose value a signature does not tell."""


def made_arguments(compiled: CompiledKernel) -> Sequence[Any]:
    """Return arguments for a kernel, by its signature or else by the types of its parameters.

    Raises `UnknownArgumentError` for numbers that only a launch knows.
    """
    generator = np.random.default_rng(0)
    if compiled.parameters is None:
        return _made_for_types(compiled, generator)
    return [_made(parameter, generator) for parameter in compiled.parameters]


def _made_for_types(compiled: CompiledKernel, generator: np.random.Generator) -> Sequence[Any]:
    """Return arrays that have one extent wherever it is open: extents of a product must agree."""
    known = view_arguments.parameters_of(find_kernel(compiled.source, compiled.name))
    scalars = [one for one in known if one.shape is None]
    if scalars:
        raise UnknownArgumentError(f"{_SAY}: nothing tells {scalars[0].title}")
    shapes = [one.shape or () for one in known]
    usual = _usual(max(map(len, shapes), default=0))
    extents = [[usual if e == DYNAMIC_INDEX else e for e in shape] for shape in shapes]
    return [
        _array(dtype_of(one.element), shape, generator)
        for one, shape in zip(known, extents, strict=True)
    ]


_SAY = "say --grid and --arg for each argument"


def _made(parameter: Parameter, generator: np.random.Generator) -> Any:
    if isinstance(parameter, TupleParameter):
        return tuple(_made(item, generator) for item in parameter.items)
    return _leaf(parameter, generator)


def _leaf(parameter: Leaf, generator: np.random.Generator) -> Any:
    if isinstance(parameter, ConstantParameter):
        return parameter.value
    if not isinstance(parameter, ArrayParameter):
        raise UnknownArgumentError(f"{_SAY}: nothing tells '{parameter.name}'")
    usual = _usual(len(parameter.shape))
    shape = [_extent(extent, usual) for extent in parameter.shape]
    return _array(_dtype(parameter.element), shape, generator)


def _usual(rank: int) -> int:
    return EXTENTS[min(rank, len(EXTENTS)) - 1] if rank else 1


def _array(kind: np.dtype[Any], shape: Sequence[int], generator: np.random.Generator) -> Any:
    if kind.kind in "iub":
        limit = min(INDICES, 2 if kind.kind == "b" else np.iinfo(kind).max)
        some = generator.integers(0, limit, min(PATTERN, prod(shape))).astype(kind)
    else:
        some = generator.uniform(-1, 1, min(PATTERN, prod(shape))).astype(kind)
    return np.resize(some, shape)


def _dtype(element: str) -> np.dtype[Any]:
    """The type of numpy for an element as `cuda.tile` calls it; tf32 is kept as f32."""
    name = "float32" if element == "tfloat32" else element.removesuffix("_")
    return np.dtype(getattr(ml_dtypes, name, name))


def _extent(extent: Extent, usual: int) -> int:
    if extent.constant is not None:
        return extent.constant
    return align_up(usual, extent.divisor)
