"""Host code of a kernel in this process: an object is loaded, and its functions are called.

llvmlite's loader links objects in memory; no linker is needed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.backend.host import HostCodeError, compile_object, llvmlite_module
from tileas_xdsl.target.tensor_map import ELEMENTS, INTERLEAVES, L2_PROMOTIONS, SWIZZLES, TensorMap
from tileas_xdsl.target.tensor_map_bytes import SIZE, encode
from tileas_xdsl.target.tensor_map_rules import problems
from tileas_xdsl.transforms.host_tma.callbacks import (
    ENCODER_HOOK,
    FUNC_CALLBACK_WORDS,
    FUNC_CALLBACKS,
    HOOK_WORDS,
    HOOKS,
    ON_ARGUMENTS_CHANGE,
)
from tileas_xdsl.transforms.host_tma.encoder import INVALID_VALUE

_ALIGNMENT = 64
"""Of a tensor map, which the driver insists on."""

_DEVICE_WORD, _HOST_WORD = 4, 5
"""Words of a kernel's table: how many maps it has."""

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
"""The driver's `cuTensorMapEncodeTiled`."""


_HEADERS = {b"\x7fELF": 20, b"\xcf\xfa\xed\xfe": 16}
"""By how an object begins, the bytes that say what it is and for which machine."""

_COFF_HEADER = 2


def _machine(data: bytes) -> bytes:
    """What an object is and for which machine; the loader believes whatever it is given."""
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
        """Whether there is a function or global of this name."""
        return bool(self._engine.get_global_value_address(symbol))

    def address(self, symbol: str) -> int:
        """The address of a function or global; `HostCodeError` if the object has none."""
        if not self.has(symbol):
            raise HostCodeError(f"host code has no symbol '{symbol}'")
        return int(self._engine.get_global_value_address(symbol))

    def function(self, symbol: str, result: Any, *arguments: Any) -> Any:
        """A function, by the types of `ctypes`."""
        return ctypes.CFUNCTYPE(result, *arguments)(self.address(symbol))

    def words(self, symbol: str, count: int) -> ctypes.Array[ctypes.c_uint64]:
        """A global array of words, in place."""
        return (ctypes.c_uint64 * count).from_address(self.address(symbol))


class HostCode:
    """The host code of the one kernel of an object, or of the one of several that is named."""

    def __init__(self, data: bytes, kernel: str = "") -> None:
        self.object = LoadedObject(data)
        # With several kernels, symbols end with their names.
        self._suffix = "" if self.object.has(FUNC_CALLBACKS) else f"_{kernel}"
        table = self.object.words(FUNC_CALLBACKS + self._suffix, FUNC_CALLBACK_WORDS)
        self.maps = table[_DEVICE_WORD] + table[_HOST_WORD]
        """How many tensor maps the kernel takes."""

    def set_encoder(self, address: int) -> None:
        """Encode by a function like the driver's `cuTensorMapEncodeTiled`; 0 for the object's."""
        self.object.words(HOOKS, HOOK_WORDS)[ENCODER_HOOK] = address

    def encode(self, words: Sequence[int]) -> Sequence[bytes]:
        """The tensor maps for the words of a launch: addresses, extents, strides and scalars.

        Raises `HostCodeError` with the rule that one breaks.
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
        """The rule that a map breaks: asked of an encoder that knows them as sentences."""
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
    """A scalar argument as the bits of a word."""
    scalar = np.asarray(value)
    if scalar.dtype.kind in "iub":
        return int(scalar)
    return int.from_bytes(scalar.tobytes(), "little")


def tensor_map_of(arguments: Sequence[Any]) -> TensorMap:
    """The tensor map that an encoder is asked for."""
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


def encode_into(*arguments: Any) -> int:
    """An encoder like the driver's, of this project's tables: for `ENCODER_TYPE`."""
    wanted = tensor_map_of(arguments)
    if next(problems(wanted), None) is not None:
        return INVALID_VALUE
    ctypes.memmove(arguments[0], encode(wanted), SIZE)
    return 0
