"""The parameters of a launch as the driver copies them: one block of memory, filled by one call.

    .param .u64 a, .param .u32 n, .param .u32 s, .param .align 64 .b8 map[128]

    | address of a | 4096 | 1 | padding | 128 bytes |
      each launch    once               by address

What a kernel's launches change are addresses and numbers; extents and strides are constants of a
plan, and tensor maps are looked up by the address of their array.  The call that fills the block is
written for the plan, so that constants stand in it:

    lambda v0, v1: pack(block, 0, v0, 4096, 1, maps0.get(v0) or encode0(v0))

The driver gives the offset of each parameter: maps are aligned in the constant bank, where 0x210
bytes precede the block on sm_90.

Source: CUDA driver API, CU_LAUNCH_PARAM_BUFFER_POINTER, cuFuncGetParamInfo.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.kernel_abi import (
    ARENA,
    TENSOR_MAP,
    TILE_BLOCKS,
    TRANSFER,
    KernelAbi,
    TensorMapRecipe,
)

MAX_ENCODED = 256
"""Maximal number of cached tensor maps of a parameter."""

_FORMATS: Mapping[str, str] = {
    "f16": "e",
    "f32": "f",
    "f64": "d",
    **{f"{kind}8": "b" for kind in "usb"},
    **{f"{kind}16": "h" for kind in "usb"},
    **{f"{kind}32": "i" for kind in "usb"},
    **{f"{kind}64": "q" for kind in "usb"},
}
"""How `struct` packs a number of a PTX type."""

_ADDRESS = "Q"
_BYTES = re.compile(r"b8\[(\d+)\]")

_POINTER, _SIZE, _END = 1, 2, 0
"""`CU_LAUNCH_PARAM_BUFFER_POINTER`, `CU_LAUNCH_PARAM_BUFFER_SIZE`, `CU_LAUNCH_PARAM_END`."""


@dataclass(frozen=True, slots=True)
class Changing:
    """A value that each launch gives, and its index among those."""

    index: int
    kind: Literal["address", "table", "number"]
    """The address of an array, of a table of arrays (given as its rows), or a number."""


FlatValue: TypeAlias = "Changing | int"
"""An argument of the lowered function: one that a launch gives, or an extent or stride."""


class ParameterBlock:
    """The block of a plan.  `fill` writes it for the values that a launch gives, in their order."""

    def __init__(
        self,
        abi: KernelAbi,
        types: Sequence[str],
        offsets: Sequence[int],
        flat: Sequence[FlatValue],
        encode: Callable[[TensorMapRecipe, int], bytes],
    ) -> None:
        """Lay out the parameters of a kernel, which have these types in PTX, at `offsets`.

        `encode` returns the bytes of a tensor map for the address of its array.
        """
        self.arena = [0]
        """The address of the memory that CTAs have of their own."""
        self.transfer = [0]
        """The address of the memory through which CTAs transfer tiles."""
        self.tile_blocks = [1, 1, 1]
        """The extents of the grid of a persistent kernel."""
        self._recipes, self._flat, self._encode = abi.tensor_maps, flat, encode
        self._names: dict[str, Any] = {
            "arena": self.arena,
            "transfer": self.transfer,
            "tile_blocks": self.tile_blocks,
        }
        self.numbers: list[tuple[int, int, str]] = []
        """Of the addresses and numbers that a launch gives: offset, index, format of `struct`."""
        self.maps: list[tuple[int, int, dict[int, bytes]]] = []
        """Of the tensor maps: offset, index of the array, encoded maps by its address."""
        text, items = "<", list[str]()
        for name, kind, offset in zip(abi.parameters, types, offsets, strict=True):
            packed = self._format(name, kind)
            text += f"{offset - struct.calcsize(text)}x{packed}"
            items.append(self._item(name, offset, packed))
        packer = struct.Struct(text)
        self._memory = ctypes.create_string_buffer(max(packer.size, 1))
        self._size = ctypes.c_size_t(packer.size)
        block, size = ctypes.addressof(self._memory), ctypes.addressof(self._size)
        self._extra = (ctypes.c_void_p * 5)(_POINTER, block, _SIZE, size, _END)
        self.address = ctypes.addressof(self._extra)
        """What the driver is given as `extra`."""
        self.fill = self._filler(packer, items)

    @property
    def content(self) -> bytes:
        """The bytes of the parameters as the last launch left them."""
        return self._memory.raw[: self._size.value]

    def _filler(self, packer: struct.Struct, items: Sequence[str]) -> Callable[..., None]:
        """Return the function that packs the values."""
        count = sum(isinstance(value, Changing) for value in self._flat)
        values = ", ".join(f"v{index}" for index in range(count))
        names = self._names | {"pack": packer.pack_into, "block": self._memory}
        code = f"lambda {values}: pack({', '.join(['block', '0', *items])})"
        return eval(code, names)  # of names and numbers of ours alone

    def _format(self, name: str, kind: str) -> str:
        """Return how `struct` packs a parameter."""
        if found := _BYTES.fullmatch(kind):
            return f"{found[1]}s"
        if name.startswith(TILE_BLOCKS):
            return _FORMATS[kind]
        value = self._value(name)
        is_number = isinstance(value, int) or (value is not None and value.kind == "number")
        return _FORMATS[kind] if is_number else _ADDRESS

    def _value(self, name: str) -> FlatValue | None:
        """Return the argument that a parameter passes; None for what is hidden."""
        kind, position, *_ = [*name.split(), ""]
        return self._flat[int(position)] if kind in ("ptr", "scalar") else None

    def _item(self, name: str, offset: int, packed: str) -> str:
        """Return the expression of a parameter."""
        if name == ARENA:
            return "arena[0]"
        if name == TRANSFER:
            return "transfer[0]"
        if name.startswith(TILE_BLOCKS):
            return f"tile_blocks[{name.split()[-1]}]"
        if not name.startswith(TENSOR_MAP):
            value = self._value(name)
            if not isinstance(value, Changing):
                return f"{value:d}"
            self.numbers.append((offset, value.index, packed))
            return f"v{value.index}"
        number = int(name.split()[-1])
        recipe, maps = self._recipes[number], dict[int, bytes]()
        array = self._flat[recipe.argument]
        assert isinstance(array, Changing)
        self.maps.append((offset, array.index, maps))
        self._names[f"maps{number}"] = maps
        self._names[f"encode{number}"] = partial(self._encoded, recipe, maps)
        return f"maps{number}.get(v{array.index}) or encode{number}(v{array.index})"

    def _encoded(self, recipe: TensorMapRecipe, maps: dict[int, bytes], address: int) -> bytes:
        """Return the map for an address that is not in the cache."""
        if len(maps) >= MAX_ENCODED:
            maps.clear()
        found = maps[address] = self._encode(recipe, address)
        return found
