"""The CUDA driver API, through the package `cuda-bindings`, with errors as exceptions.

Source: CUDA Driver API.  The package keeps tensor maps in its own memory, which the driver wants
aligned to 64 bytes; so its encoder is called by address, on memory of this module.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from tileas_xdsl.target.tma.tensor_map import (
    ELEMENTS,
    INTERLEAVES,
    L2_PROMOTIONS,
    SWIZZLES,
    TensorMap,
)
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE, encode

INSTALL = "pip install 'tileas-xdsl[gpu]'"
ALIGNMENT = 64
"""Alignment of a tensor map in bytes."""

_ENCODER = "cuTensorMapEncodeTiled"
_ENCODER_VERSION = 12000
_ENCODER_TYPE = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    *[ctypes.c_int] * 2,
    *[ctypes.c_void_p] * 5,
    *[ctypes.c_int] * 4,
)

HINTS: Mapping[str, str] = {
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": "this driver is older than the PTX: update it, or "
    "install ptxas (pip install 'tileas-xdsl[ptxas]'), whose code needs no translation",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "the code is for another GPU: compile for this one",
    "CUDA_ERROR_INVALID_PTX": "the driver refuses the PTX; its log says where",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "a block needs more registers or shared memory than "
    "there are",
    "CUDA_ERROR_ILLEGAL_ADDRESS": "a thread touched memory that is no array; the emulator says "
    "which instruction (tileas simulate --level ptx)",
    "CUDA_ERROR_LAUNCH_FAILED": "the kernel ended with an error; the emulator says more "
    "(tileas simulate --level ptx)",
    "CUDA_ERROR_OUT_OF_MEMORY": "the arrays need more memory than the GPU has free",
}
"""By error name, an explanation in the context of this package."""


class DriverError(Exception):
    """A driver call that failed."""


class MissingDriverError(DriverError):
    """No GPU can be used from here; the message names what is missing."""


class Driver:
    """Driver functions by name; `api` is the module `cuda.bindings.driver`."""

    def __init__(self, api: Any) -> None:
        self.api = api
        self._encoder: Any = None
        self("cuInit", 0)

    def __call__(self, name: str, *arguments: Any) -> Any:
        """Call a function; return nothing, one value, or several; raises `DriverError`."""
        status, *found = getattr(self.api, name)(*arguments)
        if int(status):
            raise DriverError(self.sentence(name, status))
        return found[0] if len(found) == 1 else tuple(found) or None

    def sentence(self, name: str, status: Any) -> str:
        """Return an error message: the call, the driver's text, and the hint for it."""
        word = self._text("cuGetErrorName", status)
        hint = HINTS.get(word)
        return f"{name}: {self._text('cuGetErrorString', status)} ({word})" + (
            f"; {hint}" if hint else ""
        )

    def _text(self, name: str, status: Any) -> str:
        failed, text = getattr(self.api, name)(status)
        return f"error {int(status)}" if int(failed) or text is None else text.decode()

    def encode(self, found: TensorMap) -> TensorMapMemory:
        """Encode a tensor map with the driver, im2col maps with this package's encoder."""
        if found.pixels is not None:
            return TensorMapMemory(encode(found))
        if self._encoder is None:
            address, _ = self("cuGetProcAddress", _ENCODER.encode(), _ENCODER_VERSION, 0)
            self._encoder = _ENCODER_TYPE(int(address))
        memory = TensorMapMemory()
        status = self._encoder(memory.address, *_encoder_arguments(found))
        if status:
            raise DriverError(self.sentence(_ENCODER, self.api.CUresult(status)))
        return memory


class AlignedMemory:
    """Memory aligned to `ALIGNMENT`, as kernel parameters may require."""

    def __init__(self, data: bytes, size: int) -> None:
        self._memory = ctypes.create_string_buffer(size + ALIGNMENT)
        start = ctypes.addressof(self._memory)
        self.address = start + -start % ALIGNMENT
        ctypes.memmove(self.address, data, len(data))


class TensorMapMemory(AlignedMemory):
    """The 128 bytes of a tensor map, aligned for the driver."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__(data, SIZE)

    @property
    def data(self) -> bytes:
        """The bytes."""
        return ctypes.string_at(self.address, SIZE)


def _encoder_arguments(found: TensorMap) -> tuple[Any, ...]:
    """Return the arguments of the driver's encoder after the pointer to the map."""
    rank = found.rank
    words = ctypes.c_uint64 * rank
    numbers = ctypes.c_uint32 * rank
    return (
        ELEMENTS[found.element].driver,
        rank,
        found.address,
        words(*found.dims),
        words(*found.strides),
        numbers(*found.box),
        numbers(*found.element_strides),
        INTERLEAVES[found.interleave],
        SWIZZLES[found.swizzle].driver,
        L2_PROMOTIONS[found.l2_promotion],
        int(found.nan_fill),
    )


@cache
def installed_driver() -> Driver:
    """Return the driver of this machine; `MissingDriverError` names what is missing."""
    try:
        api = import_module("cuda.bindings.driver")
    except ImportError:
        text = f"launching needs the package cuda-bindings; install it with: {INSTALL}"
        raise MissingDriverError(text) from None
    try:
        return Driver(api)
    except DriverError as error:
        raise MissingDriverError(f"there is no GPU to be used: {error}") from None
    except RuntimeError as error:
        text = "there is no GPU to be used: the driver (libcuda) was not found"
        raise MissingDriverError(text) from error
