"""Arguments of a launch: arrays in global memory, scalars, and tensor maps."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.interpreters.ptx.errors import LaunchError
from tileas_xdsl.interpreters.ptx.memory.global_memory import Buffer
from tileas_xdsl.interpreters.ptx.numerics.float_formats import FORMATS, encode_value
from tileas_xdsl.interpreters.ptx.parsing.syntax import Kernel, Parameter
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tensor_map import TensorMap
from tileas_xdsl.target.tensor_map_bytes import SIZE


@dataclass(frozen=True)
class TensorMapArg:
    """A tensor map over an array: an argument, or an array of its own.

    The address in `tensor_map` counts bytes from the begin of the array.
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


class ArrayMemory(Protocol):
    """The memory that arrays are allocated in, with its encoder of tensor maps."""

    def add(self, name: str, data: NDArray[Any]) -> Buffer:
        """Allocate a buffer that holds `data` (bytes)."""
        ...

    def encode(self, tensor_map: TensorMap) -> bytes:
        """Return the 128 bytes of a tensor map."""
        ...


@dataclass
class Arguments:
    """The bytes of all parameters; by argument, the buffer and the array, None for scalars."""

    parameters: dict[str, bytes] = field(default_factory=dict[str, bytes])
    buffers: list[Buffer | None] = field(default_factory=list[Buffer | None])
    arrays: list[NDArray[Any] | None] = field(default_factory=list[NDArray[Any] | None])
    _known: dict[int, Buffer] = field(default_factory=dict[int, Buffer])

    def results(self) -> list[NDArray[Any] | None]:
        """Return the contents of the arrays after the run; None for scalars."""
        found: list[NDArray[Any] | None] = []
        for buffer, array in zip(self.buffers, self.arrays, strict=True):
            if buffer is None or array is None:
                found.append(None)
                continue
            data = buffer.data[: array.nbytes].copy()
            found.append(data.view(array.dtype).reshape(array.shape))
        return found


def bind(kernel: Kernel, values: Sequence[Any], memory: ArrayMemory) -> Arguments:
    """Allocate arrays and encode parameters; raise `LaunchError` for arguments that do not fit."""
    if len(values) != len(kernel.parameters):
        raise LaunchError(
            f"kernel '{kernel.name}' takes {len(kernel.parameters)} arguments, not {len(values)}"
        )
    found = Arguments()
    for number, (parameter, value) in enumerate(zip(kernel.parameters, values, strict=True)):
        _bind_one(found, parameter, value, number, memory)
    return found


def _bind_one(
    found: Arguments, parameter: Parameter, value: Any, number: int, memory: ArrayMemory
) -> None:
    what = f"argument {number} ('{parameter.name}')"
    buffer: Buffer | None = None
    array: NDArray[Any] | None = None
    number_like = isinstance(value, np.generic) or getattr(value, "ndim", 0) == 0
    if isinstance(value, TensorMapArg):
        array = value.array
        buffer = _buffer(found, array, what, memory)
        data = _map_bytes(value, buffer, what, memory)
    elif isinstance(value, LateArg):
        bases = [_buffer(found, given, what, memory).base for given in value.arrays]
        data = value.make(bases)
    elif isinstance(value, bytes | bytearray):
        data = bytes(value)
    elif not number_like:
        array = _array(value, what)
        if parameter.size != 8:
            raise LaunchError(f"{what} is an array; the parameter takes {parameter.size} bytes")
        buffer = _buffer(found, array, what, memory)
        data = struct.pack("<Q", buffer.base)
    else:
        data = scalar_bytes(parameter, value, what)
    if len(data) != parameter.size:
        raise LaunchError(f"{what} has {len(data)} bytes; the parameter takes {parameter.size}")
    found.parameters[parameter.name] = data
    found.buffers.append(buffer)
    found.arrays.append(array)


def _array(value: Any, what: str) -> NDArray[Any]:
    if value.__class__ is not np.ndarray:
        raise LaunchError(f"{what} is {value!r}, neither an array nor a number")
    return value


def _buffer(found: Arguments, array: NDArray[Any], what: str, memory: ArrayMemory) -> Buffer:
    """Return the buffer of an array; an array given twice has one buffer."""
    known = found._known.get(id(array))  # pyright: ignore[reportPrivateUsage]
    if known is None:
        if array.dtype.hasobject:
            raise LaunchError(f"{what} is an array of objects")
        cells = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8).copy()
        known = memory.add(f"the array of {what}", cells)
        found._known[id(array)] = known  # pyright: ignore[reportPrivateUsage]
    return known


def _map_bytes(value: TensorMapArg, buffer: Buffer, what: str, memory: ArrayMemory) -> bytes:
    address = buffer.base + value.tensor_map.address
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
