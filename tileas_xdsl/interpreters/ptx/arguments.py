"""Arguments of a launch: arrays in global memory, scalars, and tensor maps."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.errors import LaunchError
from tileas_xdsl.interpreters.ptx.memory.global_memory import Buffer
from tileas_xdsl.interpreters.ptx.numerics.float_formats import FORMATS, encode_value
from tileas_xdsl.interpreters.ptx.parsing.syntax import Kernel, Parameter
from tileas_xdsl.layout.intervals import connected
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.kernel_abi import TensorMapRecipe
from tileas_xdsl.target.tma.array_tables import table_bytes, table_size
from tileas_xdsl.target.tma.tensor_map import TensorMap
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE

ALIGNMENT = 16
"""Arrays begin as many bytes past a multiple of this as on the host: vector accesses of views
that are not aligned fault, as they do on a GPU."""


@dataclass(frozen=True)
class TensorMapArg:
    """A tensor map over an array: an argument, or an array of its own.

    The address in `tensor_map` counts bytes from the beginning of the array.
    """

    tensor_map: TensorMap
    array: NDArray[Any]


@dataclass(frozen=True)
class LateArg:
    """Bytes that depend on the addresses of arrays: made when those are allocated.

    `make` is told the addresses of `arrays`, which are arguments too or arrays of its own.
    """

    arrays: Sequence[NDArray[Any]]
    make: Callable[[Sequence[int]], bytes]


@dataclass(frozen=True)
class AddressTableArg:
    """A pointer to rows of 64-bit words, the first of each the address of an array."""

    arrays: Sequence[NDArray[Any]]
    words: NDArray[np.int64]
    recipes: Sequence[TensorMapRecipe] = ()
    """Of tensor maps of each array, which follow the rows."""


class ArrayMemory(Protocol):
    """The memory that arrays are allocated in, with its encoder of tensor maps."""

    def add(self, name: str, data: NDArray[Any]) -> Buffer:
        """Allocate a buffer that holds `data` (bytes)."""
        ...

    def encode(self, tensor_map: TensorMap) -> bytes:
        """Return the 128 bytes of a tensor map."""
        ...


@dataclass(frozen=True)
class ArrayAllocation:
    """Where an array is in a buffer, which holds the arrays that overlap it too."""

    buffer: Buffer
    offset: int
    array: NDArray[Any]

    @property
    def address(self) -> int:
        """The address of the first byte."""
        return self.buffer.base + self.offset

    def contents(self) -> NDArray[Any]:
        """Return a copy of the elements as they are now."""
        data = self.buffer.data[self.offset :][: self.array.nbytes].copy()
        return data.view(self.array.dtype).reshape(self.array.shape)


@dataclass
class Arguments:
    """The bytes of all parameters; by argument, its array, its list of arrays, None for scalars."""

    parameters: dict[str, bytes] = field(default_factory=dict[str, bytes])
    allocations: list[ArrayAllocation | Sequence[ArrayAllocation] | None] = field(
        default_factory=list["ArrayAllocation | Sequence[ArrayAllocation] | None"]
    )
    _known: dict[int, ArrayAllocation] = field(default_factory=dict[int, ArrayAllocation])

    def results(self) -> list[Any]:
        """Return the contents of the arrays after the run; None for scalars."""
        return [_contents(allocation) for allocation in self.allocations]


def _contents(allocation: ArrayAllocation | Sequence[ArrayAllocation] | None) -> Any:
    if isinstance(allocation, Sequence):
        return [one.contents() for one in allocation]
    return None if allocation is None else allocation.contents()


def bind(
    kernel: Kernel, values: Sequence[Any], memory: ArrayMemory, names: Sequence[str] = ()
) -> Arguments:
    """Allocate arrays and encode parameters; raise `LaunchError` for arguments that do not fit.

    Arrays that overlap in memory, as one that is given twice, share a buffer.  `names` say what
    messages call the arguments; they may end early, and be empty.
    """
    if len(values) != len(kernel.parameters):
        listed = ", ".join(f".{one.type.name} {one.name}" for one in kernel.parameters)
        text = f"kernel '{kernel.name}' takes {len(kernel.parameters)} arguments, not {len(values)}"
        raise LaunchError(f"{text}: {listed}" if listed else text)
    found = Arguments()
    pairs = list(zip(kernel.parameters, values, strict=True))
    titles = [
        (number < len(names) and names[number]) or f"argument {number} ('{parameter.name}')"
        for number, (parameter, _) in enumerate(pairs)
    ]
    named = [
        (title, array)
        for title, (_, value) in zip(titles, pairs, strict=True)
        for array in _arrays_of(value)
    ]
    _allocate(found, named, memory)
    for title, (parameter, value) in zip(titles, pairs, strict=True):
        _bind_one(found, parameter, value, title, memory)
    return found


def _arrays_of(value: Any) -> Sequence[NDArray[Any]]:
    """Return the arrays that an argument needs in memory."""
    if isinstance(value, TensorMapArg):
        return [value.array]
    if isinstance(value, LateArg | AddressTableArg):
        return value.arrays
    is_array = value.__class__ is np.ndarray and value.ndim > 0
    return [value] if is_array else []


def _allocate(
    found: Arguments, named: Sequence[tuple[str, NDArray[Any]]], memory: ArrayMemory
) -> None:
    """Allocate the arrays, those of a group of overlapping ones together."""
    known = found._known  # pyright: ignore[reportPrivateUsage]
    distinct = {id(array): (what, array) for what, array in reversed(named)}
    unique = list(reversed(distinct.values()))
    packed = [np.ascontiguousarray(array) for _, array in unique]
    for what, array in unique:
        if array.dtype.hasobject:
            raise LaunchError(f"{what} is an array of objects")
    spans = [_span(array) for array in packed]
    for group in connected(spans):
        low, high = min(spans[p][0] for p in group), max(spans[p][1] for p in group)
        low -= low % ALIGNMENT
        cells = np.zeros(high - low, np.uint8)
        for p in group:
            begin = spans[p][0] - low
            cells[begin : begin + packed[p].nbytes] = np.frombuffer(packed[p].tobytes(), np.uint8)
        buffer = memory.add(f"the array of {unique[group[0]][0]}", cells)
        for p in group:
            known[id(unique[p][1])] = ArrayAllocation(buffer, spans[p][0] - low, unique[p][1])


def _span(array: NDArray[Any]) -> tuple[int, int]:
    begin: int = array.__array_interface__["data"][0]
    return begin, begin + array.nbytes


def _bind_one(
    found: Arguments, parameter: Parameter, value: Any, what: str, memory: ArrayMemory
) -> None:
    allocation: ArrayAllocation | Sequence[ArrayAllocation] | None = None
    known = found._known  # pyright: ignore[reportPrivateUsage]
    number_like = isinstance(value, np.generic) or getattr(value, "ndim", 0) == 0
    if isinstance(value, TensorMapArg):
        allocation = known[id(value.array)]
        data = _map_bytes(value, allocation.address, what, memory)
    elif isinstance(value, AddressTableArg):
        allocation = [known[id(array)] for array in value.arrays]
        data = struct.pack("<Q", _table(value, allocation, what, memory))
    elif isinstance(value, LateArg):
        allocation = [known[id(array)] for array in value.arrays]
        data = value.make([one.address for one in allocation])
    elif isinstance(value, bytes | bytearray):
        data = bytes(value)
    elif not number_like:
        array = _array(value, what)
        if parameter.size != 8:
            raise LaunchError(f"{what} is an array; the parameter takes {parameter.size} bytes")
        allocation = known[id(array)]
        data = struct.pack("<Q", allocation.address)
    else:
        data = scalar_bytes(parameter, value, what)
    if len(data) != parameter.size:
        raise LaunchError(f"{what} has {len(data)} bytes; the parameter takes {parameter.size}")
    found.parameters[parameter.name] = data
    found.allocations.append(allocation)


def _array(value: Any, what: str) -> NDArray[Any]:
    if value.__class__ is not np.ndarray:
        raise LaunchError(f"{what} is {value!r}, neither an array nor a number")
    return value


def _table(
    value: AddressTableArg, allocations: Sequence[ArrayAllocation], what: str, memory: ArrayMemory
) -> int:
    """Write a table of addresses to memory; return its own."""
    words = value.words.copy()
    words[:, 0] = [allocation.address for allocation in allocations]
    size = table_size(words, len(value.recipes))
    found = memory.add(f"the addresses of {what}", np.zeros(size, np.uint8))
    found.data[:size] = table_bytes(words, value.recipes, found.base, memory.encode)
    return found.base


def _map_bytes(value: TensorMapArg, base: int, what: str, memory: ArrayMemory) -> bytes:
    address = base + value.tensor_map.address
    try:
        return memory.encode(replace(value.tensor_map, address=address))
    except TargetError as error:
        raise LaunchError(f"{what}: {error}") from None


def scalar_bytes(parameter: Parameter, value: Any, what: str) -> bytes:
    """Encode a scalar as its parameter; `what` names it in `LaunchError`."""
    type_ = parameter.type
    if parameter.is_array:
        hint = f" (a tensor map is {SIZE} bytes)" if parameter.size == SIZE else ""
        raise LaunchError(f"{what} needs {parameter.size} bytes{hint}, not {value!r}")
    if hasattr(value, "item"):
        value = value.item()
    if type_.kind == "float" or isinstance(value, float):
        name = (
            type_.name
            if type_.name in FORMATS
            else {16: "f16", 32: "f32", 64: "f64"}.get(type_.bits, "")
        )
        if not name or not isinstance(value, int | float):
            raise LaunchError(f"{what} is {value!r}; the parameter is .{type_.name}")
        return encode_value(float(value), name).to_bytes(type_.size, "little")
    if not isinstance(value, int):
        raise LaunchError(f"{what} is {value!r}; the parameter is .{type_.name}")
    low, high = -(1 << (type_.bits - 1)), (1 << type_.bits) - 1
    if not low <= value <= high:
        raise LaunchError(f"{what} is {value}; .{type_.name} holds {low}..{high}")
    return (value & high).to_bytes(type_.size, "little")
