"""Execution of a kernel's host code: an object file is loaded into this process and called.

llvmlite's loader links objects in memory; no linker is needed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.backend.host import HostCodeError, compile_object, llvmlite_module
from tileas_xdsl.target.tma.tensor_map import (
    ELEMENTS,
    INTERLEAVES,
    L2_PROMOTIONS,
    SWIZZLES,
    TensorMap,
)
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE
from tileas_xdsl.target.tma.tensor_map_rules import problems
from tileas_xdsl.transforms.host_tma.callbacks import (
    ENCODER_HOOK,
    FUNC_CALLBACK_WORDS,
    FUNC_CALLBACKS,
    HOOK_WORDS,
    HOOKS,
    ON_ARGUMENTS_CHANGE,
)

_ALIGNMENT = 64
"""Alignment of a tensor map, which the driver requires."""

_DEVICE_WORD, _HOST_WORD = 4, 5
"""Indices in a kernel's table of the numbers of device and host tensor maps."""

ENCODER_TYPE = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_void_p,
    *[ctypes.POINTER(ctypes.c_uint64)] * 2,
    *[ctypes.POINTER(ctypes.c_uint32)] * 2,
    *[ctypes.c_int] * 4,
)
"""The C type of the driver's `cuTensorMapEncodeTiled`."""


_HEADERS = {b"\x7fELF": 20, b"\xcf\xfa\xed\xfe": 16}
"""By magic number of an object format, the header bytes that identify type and machine."""

_COFF_HEADER = 2


def _machine(data: bytes) -> bytes:
    """Return an object's format, type and machine, which the loader itself does not check."""
    return data[: _HEADERS.get(data[:4], _COFF_HEADER)]


class LoadedObject:
    """A relocatable object in memory."""

    def __init__(self, data: bytes) -> None:
        binding: Any = llvmlite_module("binding")
        if _machine(data) != _machine(compile_object(ModuleOp([]))):
            raise HostCodeError("host code is no object of this machine")
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        machine = binding.Target.from_default_triple().create_target_machine()
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
        self._engine.add_object_file(binding.ObjectFileRef.from_data(data))
        self._engine.finalize_object()

    def has(self, symbol: str) -> bool:
        """Return whether there is a function or global of this name."""
        return bool(self._engine.get_global_value_address(symbol))

    def address(self, symbol: str) -> int:
        """Return the address of a function or global; `HostCodeError` if the object has none."""
        if not self.has(symbol):
            raise HostCodeError(f"host code has no symbol '{symbol}'")
        return int(self._engine.get_global_value_address(symbol))

    def function(self, symbol: str, result: Any, *arguments: Any) -> Any:
        """Return a function with a signature in `ctypes`."""
        return ctypes.CFUNCTYPE(result, *arguments)(self.address(symbol))

    def words(self, symbol: str, count: int) -> ctypes.Array[ctypes.c_uint64]:
        """Return a global array of 64-bit words, in place."""
        return (ctypes.c_uint64 * count).from_address(self.address(symbol))


class HostCode:
    """The host code of a kernel of an object: the only one, or the one that is named."""

    def __init__(self, data: bytes, kernel: str = "") -> None:
        self.object = LoadedObject(data)
        # With several kernels, symbols end with their names.
        self._suffix = "" if self.object.has(FUNC_CALLBACKS) else f"_{kernel}"
        table = self.object.words(FUNC_CALLBACKS + self._suffix, FUNC_CALLBACK_WORDS)
        self.maps = table[_DEVICE_WORD] + table[_HOST_WORD]
        """Number of tensor maps that the kernel takes."""

    def set_encoder(self, address: int) -> None:
        """Set the encoder, a function like `cuTensorMapEncodeTiled`; 0 for the built-in one."""
        self.object.words(HOOKS, HOOK_WORDS)[ENCODER_HOOK] = address

    def encode(self, words: Sequence[int]) -> Sequence[bytes]:
        """Encode the tensor maps for a launch's words: addresses, extents, strides and scalars.

        Raises `HostCodeError` with the rule that a map violates.
        """
        failed, found = self._call(words)
        if failed:
            raise HostCodeError(f"tensor map {failed - 1}: {self._rule(words, failed - 1)}")
        return found

    def _call(self, words: Sequence[int]) -> tuple[int, Sequence[bytes]]:
        parameters = [ctypes.c_void_p] * 3 + [ctypes.c_uint64] * len(words)
        symbol = ON_ARGUMENTS_CHANGE + self._suffix
        function = self.object.function(symbol, ctypes.c_int, *parameters)
        memory = (ctypes.c_uint8 * (self.maps * SIZE + _ALIGNMENT))()
        start = -ctypes.addressof(memory) % _ALIGNMENT
        address = ctypes.addressof(memory) + start
        failed = function(None, address, None, *(word & (1 << 64) - 1 for word in words))
        data = bytes(memory)[start:]
        return failed, [data[n * SIZE : (n + 1) * SIZE] for n in range(self.maps)]

    def _rule(self, words: Sequence[int], number: int) -> str:
        """Return the rule that a map violates, from the encoder that has error messages."""
        seen: list[TensorMap] = []

        def note(*arguments: Any) -> int:
            seen.append(tensor_map_of(arguments))
            return 0

        encoder = ENCODER_TYPE(note)
        self.set_encoder(ctypes.cast(encoder, ctypes.c_void_p).value or 0)
        try:
            self._call(words)
        finally:
            self.set_encoder(0)
        return next(problems(seen[number]), "is illegal")


def scalar_word(value: Any) -> int:
    """Return a scalar argument as the bits of a word."""
    scalar = np.asarray(value)
    if scalar.dtype.kind in "iub":
        return int(scalar)
    return int.from_bytes(scalar.tobytes(), "little")


def tensor_map_of(arguments: Sequence[Any]) -> TensorMap:
    """Return the tensor map of an encoder call's arguments."""
    _, element, rank, address, dims, strides, box, steps, interleave, swizzle, l2, fill = arguments
    return TensorMap(
        _name({e.name: e.driver for e in ELEMENTS.values()}, element),
        address or 0,
        tuple(dims[:rank]),
        tuple(strides[: rank - 1]),
        tuple(box[:rank]),
        tuple(steps[:rank]),
        _name(INTERLEAVES, interleave),
        _name({name: mode.driver for name, mode in SWIZZLES.items()}, swizzle),
        _name(L2_PROMOTIONS, l2),
        bool(fill),
    )


def _name(codes: Any, code: int) -> str:
    return next(name for name, value in codes.items() if value == code)
