"""Kernel launches through the driver with as little work as possible for each.

The functions are called by `ctypes` with prepared memory: a `CUlaunchConfig` and an array of
pointers to the parameters.  Source: CUDA driver API, cuLaunchKernelEx, CUlaunchConfig,
CUlaunchAttribute.
"""

from __future__ import annotations

import ctypes
import struct
from contextlib import suppress
from functools import cache
from typing import Any, Protocol

from tileas_xdsl.runtime.gpu.driver import DriverError, MissingDriverError, installed_driver

CONFIG = struct.Struct("<7I4xQQI4x")
"""Blocks and threads along x, y, z, dynamic shared bytes, stream, attributes and their number."""

_ATTRIBUTE = struct.Struct("<I4xi60x")
_PROGRAMMATIC_STREAM_SERIALIZATION = 6

_LIBRARIES = ("libcuda.so.1", "nvcuda.dll")


class LaunchError(DriverError, RuntimeError):
    """A launch that the driver refused, as cuTile reports it."""


class LaunchFunction(Protocol):
    """`cuLaunchKernelEx` on addresses; returns the driver's status.

    `parameters` is an array of pointers, or 0 where `extra` has one block of all parameters, which
    the driver copies in less time.
    """

    def __call__(self, config: int, function: int, parameters: int, extra: int, /) -> int:
        """Launch."""
        ...


@cache
def launch_function() -> LaunchFunction:
    """Return `cuLaunchKernelEx`; raises `MissingDriverError` without a driver.

    The call keeps the interpreter's lock, as cuTile's launcher does: releasing it and taking it
    again is a tenth of a launch.
    """
    if (library := _driver()) is None:
        raise MissingDriverError("there is no GPU to be used: the driver (libcuda) was not found")
    return typed(library.cuLaunchKernelEx)


@cache
def capturing_address() -> int:
    """Return the address of `cuStreamIsCapturing`, 0 without a driver."""
    library = _driver()
    function = None if library is None else library.cuStreamIsCapturing
    return 0 if function is None else ctypes.cast(function, ctypes.c_void_p).value or 0


def _driver() -> ctypes.PyDLL | None:
    """Return the library of the driver, if there is one."""
    for name in _LIBRARIES:
        with suppress(OSError):
            return ctypes.PyDLL(name)
    return None


def typed(function: Any) -> LaunchFunction:
    """Return a C function with the types of `cuLaunchKernelEx`."""
    function.argtypes = [ctypes.c_void_p] * 4
    function.restype = ctypes.c_int
    return function


def function_address(function: Any) -> int | None:
    """Return the address of a function of C, None for one of Python."""
    if not hasattr(function, "argtypes"):
        return None
    return ctypes.cast(function, ctypes.c_void_p).value


def failure(status: int) -> LaunchError:
    """Return the exception for a status of a launch."""
    driver = installed_driver()
    sentence = driver.sentence("cuLaunchKernelEx", driver.api.CUresult(status))
    return LaunchError(f"Failed to launch cuTile kernel: {sentence}")


def programmatic_attribute() -> Any:
    """Return memory with the attribute of a programmatic dependent launch."""
    data = _ATTRIBUTE.pack(_PROGRAMMATIC_STREAM_SERIALIZATION, 1)
    return ctypes.create_string_buffer(data, len(data))
