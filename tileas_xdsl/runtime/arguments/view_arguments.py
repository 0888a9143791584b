"""Arguments of thread-level kernels: arrays for pointers and for `cute` views.

A view's type has its elements and its static extents and strides, which an array must match; a
kernel that declares the layouts of its parameters itself is trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute

from tileas_xdsl.backend.ptx.abi import PARAMETERS
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.dialects.ptx.structure.entries import EntryOp
from tileas_xdsl.interpreters.tile import arguments as tiles
from tileas_xdsl.interpreters.tile.arguments import Parameter
from tileas_xdsl.interpreters.tile.numerics.element_types import dtype_of
from tileas_xdsl.layout import Layout
from tileas_xdsl.layout.expr.expression import Expression, divisor_of
from tileas_xdsl.layout.int_tuple import flat
from tileas_xdsl.target.kernel_abi import Array


def parameters_of(kernel: func.FuncOp) -> Sequence[Parameter]:
    """Return the parameters of a kernel on tiles, or on views, from their types.

    Raises `OpError` for views whose layout is nested or swizzled: no array has their extents.
    """
    arguments = kernel.body.blocks[0].args
    is_tiles = not any(isinstance(argument.type, MemRefType) for argument in arguments)
    if is_tiles or PARAMETERS in kernel.attributes:
        return tiles.parameters_of(kernel)
    return [_parameter(kernel, argument.name_hint or "", argument.type) for argument in arguments]


def _parameter(kernel: func.FuncOp, name: str, type_: Attribute) -> Parameter:
    if isinstance(type_, PtrType):
        shape = (DYNAMIC_INDEX,)
        return Parameter(name, type_, type_.element_type, shape, fixes_extents=False)
    if not isinstance(type_, MemRefType):
        return Parameter(name, type_, type_)
    layout: Any = type_.layout
    if not isinstance(layout, Layout) or layout.depth > 1:
        raise op_error(kernel, f"takes {type_}, whose extents no array has", prefix=False)
    extents = [e if isinstance(e, int) else DYNAMIC_INDEX for e in flat(layout.shape)]
    return Parameter(name, type_, type_.element_type, tuple(extents))


def check_views(kernel: func.FuncOp | EntryOp, args: Sequence[Any]) -> None:
    """Raise `ArgumentError` for arguments that the types of a kernel do not allow."""
    if PARAMETERS in kernel.attributes or isinstance(kernel, EntryOp):
        return
    parameters = kernel.body.blocks[0].args
    if len(args) != len(parameters):
        raise ArgumentError(
            f"@{kernel.sym_name.data} takes {len(parameters)} arguments, but got {len(args)}"
        )
    for index, (parameter, value) in enumerate(zip(parameters, args, strict=True)):
        name = parameter.name_hint or f"argument {index}"
        for fault in _faults(parameter.type, value):
            raise ArgumentError(f"'{name}' {fault}")


def _faults(type_: Attribute, value: Any) -> Iterator[str]:
    """Return why a value does not fit a parameter, as the end of a sentence."""
    takes_array = isinstance(type_, MemRefType | PtrType)
    is_array = isinstance(value, np.ndarray) and bool(cast("Array", value).ndim)
    if takes_array is not is_array:
        given = "an array" if is_array else f"{value!r}"
        yield f"is {type_}, but got {given}"
        return
    if not isinstance(type_, MemRefType | PtrType):
        return
    array = cast("Array", value)
    if array.dtype != dtype_of(type_.element_type):
        yield f"has elements {type_.element_type}, but got {array.dtype}"
    if not array.flags.c_contiguous:
        yield "is an array with gaps: the kernel takes rows that lie one after another"
    if isinstance(type_, MemRefType):
        yield from _misfits(type_.layout, array)


def _misfits(layout: Any, array: Array) -> Iterator[str]:
    """Return how an array differs from a layout; a nested one only has its size checked."""
    if not isinstance(layout, Layout) or layout.depth > 1:
        if array.size < layout.cosize():
            yield f"spans {layout.cosize()} elements, but got {array.size}"
        return
    if layout.rank != array.ndim:
        yield f"has {layout.rank} modes, {layout}, but got an array of {array.ndim}"
        return
    strides = [stride // array.dtype.itemsize for stride in array.strides]
    for what, wanted, given in (
        ("extent", flat(layout.shape), array.shape),
        ("stride", flat(layout.stride), strides),
    ):
        for axis, (want, have) in enumerate(zip(wanted, given, strict=True)):
            if not _fits(want, have):
                yield f"has {what} {want} along {axis}, but got {have}"


def _fits(wanted: Any, given: int) -> bool:
    if isinstance(wanted, Expression):
        return given % divisor_of(wanted) == 0
    return bool(wanted == given)
