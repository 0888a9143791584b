"""Bind kernel arguments: arrays to global memory, scalars to values.

A launch gives arrays and scalars; a kernel has more parameters than that. Each parameter is bound
by its type:

    %a: memref<?x64xf16>        an array of 64 columns, copied to global memory with an address
    %p: !nv_tileaa.ptr<f16, 1>  an array of f16, or a table of addresses: its address
    %n: i32                     an integer, wrapped to 32 bits; one of more bits is an error
    %s: memref<8xf32, smem>     scratch memory of the block: no argument
    %d: !nv_tileas.tma_desc     no argument: its recipe names the array that it describes

Arrays that overlap keep overlapping (`bind_arrays`). A mismatch is an `ArgumentError` that names
the argument, the parameter with its type, and what was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    MemRefType,
    StridedLayoutAttr,
    TensorType,
)
from xdsl.ir import Attribute, BlockArgument
from xdsl.utils.hints import isa

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType, AATiledViewType, PtrType
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import recipes_of
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType, MemTokenType, TiledViewType
from tileas_xdsl.interpreters.tile.execution.machine import Block
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.launch_descriptors import HostMaps, bound_descriptors
from tileas_xdsl.interpreters.tile.memory.argument_arrays import (
    AddressTable,
    BoundArray,
    BoundTable,
    Copier,
    bind_arrays,
)
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Memory
from tileas_xdsl.interpreters.tile.memory.views import View, contiguous, row_major
from tileas_xdsl.interpreters.tile.numerics.element_types import (
    ElementError,
    cast,
    dtype_of,
    float_format,
    is_array,
)
from tileas_xdsl.interpreters.tile.numerics.integers import width_of, wrap
from tileas_xdsl.interpreters.tile.semantics.tma.descriptors import Descriptor
from tileas_xdsl.interpreters.tile.synchronization.async_tokens import finished

TOKENS = (MemTokenType, AAMemTokenType, AsyncTokenType)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel that takes an argument."""

    name: str
    type: Attribute
    element: Attribute
    shape: tuple[int, ...] | None = None
    """The extents of an array, `DYNAMIC_INDEX` for any; None for a scalar."""
    fixes_extents: bool = True
    """Whether an array must have these extents; a tiled view only fixes those of its tiles."""

    @property
    def title(self) -> str:
        """The name of the parameter in messages."""
        return f"%{self.name}: {self.type}" if self.name else str(self.type)


def parameters_of(kernel: func.FuncOp) -> Sequence[Parameter]:
    """Return the parameters that take an argument, in order; raise a fault for unsupported ones."""
    return [
        _parameter(kernel, argument.name_hint or "", argument.type) for argument in _taking(kernel)
    ]


def _taking(kernel: func.FuncOp) -> Sequence[BlockArgument]:
    """Return the parameters that take an argument."""
    recipes = recipes_of(kernel)
    arguments = kernel.body.blocks[0].args
    return [a for a in arguments if a.index not in recipes and not _is_own(a.type)]


def _is_own(type_: Attribute) -> bool:
    """Return whether a block makes the value itself: scratch memory and tokens."""
    return isinstance(type_, TOKENS) or (
        not isinstance(type_, TensorType) and space_of(type_) not in (None, Space.GMEM)
    )


def _parameter(kernel: func.FuncOp, name: str, type_: Attribute) -> Parameter:
    element: Attribute = type_
    if isinstance(type_, PtrType):
        element = type_.pointee
    elif (inside := element_of(type_)) is not None:
        element = inside
    if not _has_argument(element):
        raise fault(kernel, f"takes {type_}, for which there is no argument")
    if isinstance(type_, PtrType):
        return Parameter(name, type_, element, (DYNAMIC_INDEX,), fixes_extents=False)
    shape = shape_of(type_)
    fixes = shape is None or not isinstance(type_, TiledViewType | AATiledViewType)
    return Parameter(name, type_, element, shape, fixes)


def _has_argument(element: Attribute) -> bool:
    """Return whether arrays can have such elements; addresses are unknown before a launch."""
    try:
        dtype_of(element)
    except ElementError:
        return False
    return not isinstance(element, PtrType)


@dataclass(frozen=True)
class Arguments:
    """The arguments of a launch, bound to the parameters of its kernel."""

    parameters: Sequence[Parameter]
    given: Sequence[Any]
    """A `BoundArray` or `BoundTable` for each array, a value for each scalar."""
    descriptors: Mapping[int, Descriptor]
    """Descriptors by the position of their parameter."""

    def values(self, kernel: func.FuncOp, block: Block) -> list[Any]:
        """Return the values of the kernel's parameters in a block."""
        pairs = iter(zip(self.parameters, self.given, strict=True))
        values: list[Any] = []
        for argument in kernel.body.blocks[0].args:
            if argument.index in self.descriptors:
                values.append(self.descriptors[argument.index])
            elif isinstance(argument.type, TOKENS):
                values.append(finished("an argument"))
            elif _is_own(argument.type):
                values.append(_scratch(kernel, block, argument))
            else:
                values.append(_value(*next(pairs)))
        return values

    @property
    def memories(self) -> Sequence[Memory]:
        """Return the memories of the arrays, each once."""
        return list(dict.fromkeys(array.memory for array in self._arrays()))

    def _arrays(self) -> Iterator[BoundArray]:
        for value in self.given:
            if isinstance(value, BoundTable):
                yield from value.items
                yield value.table
            elif isinstance(value, BoundArray):
                yield value

    def fill_tables(self) -> None:
        """Write the addresses of arrays to the tables that hold them."""
        for value in self.given:
            if isinstance(value, BoundTable):
                value.fill()

    def results(self) -> Sequence[Any]:
        """Return the arguments after the run; of an address table, its arrays."""
        return [_result(value) for value in self.given]


def _result(value: Any) -> Any:
    if isinstance(value, BoundTable):
        return [item.data for item in value.items]
    return value.data if isinstance(value, BoundArray) else value


def _scratch(kernel: func.FuncOp, block: Block, argument: Any) -> View:
    shape, element = shape_of(argument.type), element_of(argument.type)
    space = space_of(argument.type)
    if shape is None or element is None or space is None or DYNAMIC_INDEX in shape:
        raise fault(kernel, f"takes {argument.type}, whose extents are not known")
    name = f"%{argument.name_hint}" if argument.name_hint else "an argument"
    return block.allocate(argument, "kernel", name, shape, element, space)


def _value(parameter: Parameter, given: Any) -> Any:
    if isinstance(given, BoundTable):
        return given.table.address
    if not isinstance(given, BoundArray):
        return given
    if isinstance(parameter.type, PtrType):
        return given.address
    view = contiguous(given.memory, given.offset, given.shape, parameter.element)
    if isinstance(parameter.type, TensorType):
        return given.data
    if parameter.fixes_extents:
        return view
    assert parameter.shape is not None
    return replace(view, shape=_tile(parameter.shape, view.shape))


def _tile(shape: tuple[int, ...], extents: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([m if n == DYNAMIC_INDEX else n for n, m in zip(shape, extents, strict=True)])


def check(kernel: func.FuncOp, args: Sequence[Any]) -> Sequence[Any]:
    """Return arrays and scalars cast to their parameters' types; raises `ArgumentError`."""
    parameters = parameters_of(kernel)
    if len(args) != len(parameters):
        listed = ", ".join(parameter.title for parameter in parameters) or "none"
        raise ArgumentError(
            f"@{kernel.sym_name.data} takes {len(parameters)} arguments ({listed}), "
            f"but got {len(args)}"
        )
    return [
        _scalar(index, parameter, value)
        if parameter.shape is None
        else _array(index, parameter, value)
        for index, (parameter, value) in enumerate(zip(parameters, args, strict=True))
    ]


def bind(
    kernel: func.FuncOp,
    args: Sequence[Any],
    make: Copier = np.array,
    host_maps: HostMaps | None = None,
) -> Arguments:
    """Bind arguments, in the order of the parameters that take one; `ArgumentError` on mismatch.

    `make` makes a contiguous copy of an array; `host_maps` returns the tensor maps of windows.
    """
    parameters = parameters_of(kernel)
    checked = check(kernel, args)
    names = [
        f"%{parameter.name}" if parameter.name else f"argument {index}"
        for index, parameter in enumerate(parameters)
    ]
    arrays = [
        (name, array)
        for parameter, name, value in zip(parameters, names, checked, strict=True)
        for array in _arrays_of(parameter, value)
    ]
    bound = iter(bind_arrays(arrays, make))
    given = [
        _bound(parameter, name, value, bound, make)
        for parameter, name, value in zip(parameters, names, checked, strict=True)
    ]
    indexed = zip(_taking(kernel), given, strict=True)
    values = {argument.index: value for argument, value in indexed}
    return Arguments(parameters, given, bound_descriptors(kernel, values, host_maps))


def _arrays_of(parameter: Parameter, value: Any) -> Sequence[Any]:
    if isinstance(value, AddressTable):
        return value.arrays
    return [] if parameter.shape is None else [value]


def _bound(
    parameter: Parameter, name: str, value: Any, arrays: Iterator[BoundArray], make: Copier
) -> Any:
    """Return an argument with its arrays, the next ones, in memory."""
    if isinstance(value, AddressTable):
        items = [next(arrays) for _ in value.arrays]
        [table] = bind_arrays([(name, np.array(value.words))], make)
        return BoundTable(table, items)
    return value if parameter.shape is None else next(arrays)


def _scalar(number: int, parameter: Parameter, value: Any) -> Any:
    if is_array(value) and value.ndim:
        raise _misfit(number, parameter, f"an array of shape {value.shape}")
    if float_format(parameter.element) is not None:
        if np.asarray(value).dtype.kind in "OSUMmc":
            raise _misfit(number, parameter, repr(value))
        return cast(np.asarray(value), parameter.element)
    if isinstance(value, float) or not _is_whole(value):
        raise _misfit(number, parameter, f"the number {value}")
    width = width_of(parameter.element)
    assert width is not None
    if wrap(int(value), width) != value and not 0 <= int(value) < 1 << width:
        raise _misfit(number, parameter, f"{value}, which has more than {width} bits")
    return wrap(int(value), width)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer | np.bool_)


def _array(number: int, parameter: Parameter, value: Any) -> np.ndarray[Any, Any] | AddressTable:
    assert parameter.shape is not None
    if isinstance(value, AddressTable) and isinstance(parameter.type, PtrType):
        return value
    if not is_array(value) and not np.isscalar(value):
        raise _misfit(number, parameter, f"a {type(value).__name__}")
    if not is_array(value) or (value.ndim == 0 and parameter.shape):
        raise _misfit(number, parameter, "a scalar")
    wanted = dtype_of(parameter.element)
    if value.dtype != wanted:
        raise _misfit(number, parameter, f"an array of {value.dtype}, not {wanted}")
    if isinstance(parameter.type, PtrType):
        return value
    if value.ndim != len(parameter.shape):
        raise _misfit(number, parameter, f"an array of shape {value.shape}")
    fits = [n in (DYNAMIC_INDEX, m) for n, m in zip(parameter.shape, value.shape, strict=True)]
    if parameter.fixes_extents and not all(fits):
        raise _misfit(number, parameter, f"an array of shape {value.shape}")
    _check_row_major(number, parameter, value.shape)
    return value


def _check_row_major(number: int, parameter: Parameter, shape: tuple[int, ...]) -> None:
    """Raise unless a memref parameter is row-major: only such arrays can be arguments."""
    type_ = parameter.type
    layout = type_.layout if isa(type_, MemRefType[Attribute]) else None
    if not isinstance(layout, StridedLayoutAttr):
        return
    stated, strides = layout.get_strides(), row_major(shape, 1)
    if layout.get_offset() not in (0, None) or any(
        one not in (None, other) for one, other in zip(stated, strides, strict=True)
    ):
        raise _misfit(number, parameter, f"a row-major array of shape {shape}")


def _misfit(number: int, parameter: Parameter, what: str) -> ArgumentError:
    return ArgumentError(f"argument {number} is for {parameter.title}, but got {what}")
