"""How a compiled kernel is called: its parameters in order, tensor maps, threads, shared memory.

The array parameters of the tile kernel become a pointer, the sizes and strides that its type leaves
open, and hidden tensor maps at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
)
from xdsl.ir import Attribute

from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import Extents, extents_from
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tensor_map import PixelBox, TensorMap, tensor_map_element

Array: TypeAlias = NDArray[Any]

TENSOR_MAP = "tensor map"
"""How the names of parameters begin that are tensor maps; their number follows."""

ARENA = "tma arena"
"""The parameter that points to the arena for tensor maps built on the device."""

PARAMETERS, TENSOR_MAPS = "tileas.parameters", "tileas.tensor_maps"
"""Attributes of a kernel: what each parameter is, and the recipes of the tensor maps."""


@dataclass(frozen=True)
class TensorMapRecipe:
    """How the host makes a tensor map of an array argument."""

    argument: int
    box: tuple[int, ...]
    """Innermost first, elements."""
    element: str
    """As tensor maps call it."""
    bits: int
    swizzle: str
    nan_fill: bool
    is_window: bool = False
    """Whether it begins elsewhere than its array: only host code makes such a map."""
    pixels: PixelBox | None = None
    extents: Extents | None = None
    """Of the array behind a pointer; None where the argument is the array."""

    def described(self, args: Sequence[Any]) -> TensorMap:
        """The tensor map for the arguments of a launch, from address 0 on."""
        array = np.asarray(args[self.argument])
        if self.extents is None:
            return self.tensor_map(array)
        sizes, strides = self.extents.of_launch(args)
        return self._tensor_map(sizes, strides, 0)

    def tensor_map(self, array: Array, address: int = 0) -> TensorMap:
        """The tensor map of a row-major array at an address."""
        strides = [stride // array.dtype.itemsize for stride in array.strides]
        return self._tensor_map(array.shape, strides, address)

    def _tensor_map(self, sizes: Sequence[int], strides: Sequence[int], address: int) -> TensorMap:
        """Sizes and strides count elements."""
        return TensorMap(
            self.element,
            address,
            tuple(reversed(sizes)),
            tuple(stride * self.bits // 8 for stride in reversed(strides[:-1])),
            self.box,
            swizzle=self.swizzle,
            nan_fill=self.nan_fill,
            pixels=self.pixels,
        )


@dataclass(frozen=True)
class BoundTensorMap:
    """A tensor map that a launch passes, and the argument whose memory it describes."""

    argument: int
    tensor_map: TensorMap


@dataclass(frozen=True)
class KernelAbi:
    """What a launch must know of a compiled kernel."""

    name: str
    threads: int
    cluster: tuple[int, int, int]
    shared_bytes: int
    parameters: tuple[str, ...]
    tensor_maps: tuple[TensorMapRecipe, ...]
    device_maps: int
    """How many tensor maps each block makes, in 128 bytes of the arena each."""
    shared_map: str
    """The shared-memory allocations, as text."""

    @staticmethod
    def of(kernel: func.FuncOp) -> KernelAbi:
        """The interface of a lowered kernel."""
        found = kernel.attributes
        threads = _numbers(found["nvvm.reqntid"])
        cluster = _numbers(found["nvvm.cluster_dim"]) if "nvvm.cluster_dim" in found else (1, 1, 1)
        x, y, z = cluster
        return KernelAbi(
            kernel.sym_name.data,
            threads[0],
            (x, y, z),
            _number(found["tileas.smem_bytes"]),
            tuple(_words(found[PARAMETERS])),
            tuple(_recipe(entry) for entry in _entries(found[TENSOR_MAPS])),
            _number(found["tileas.device_maps"]) if "tileas.device_maps" in found else 0,
            _word(found["tileas.smem_map"]),
        )

    def bind(self, args: Sequence[Any]) -> list[Any]:
        """The values of the parameters: arrays, integers, scalars and bound tensor maps."""
        return [self.value(name, args) for name in self.parameters]

    def value(self, name: str, args: Sequence[Any]) -> Any:
        """The value of one parameter."""
        match words := name.split():
            case ["ptr" | "scalar", position]:
                return args[int(position)]
            case ["size", position, axis]:
                return int(args[int(position)].shape[int(axis)])
            case ["stride", position, axis]:
                array = cast("Array", args[int(position)])
                return int(array.strides[int(axis)]) // array.dtype.itemsize
            case ["tma", "arena"]:
                return None
            case _:
                recipe = self.tensor_maps[int(words[-1])]
                if recipe.is_window:
                    raise TargetError(
                        f"tensor map {words[-1]} describes a part of argument {recipe.argument}: "
                        "only host code makes it, compile with host code"
                    )
                return BoundTensorMap(recipe.argument, recipe.described(args))


def _recipe(entry: Mapping[str, Attribute]) -> TensorMapRecipe:
    type_ = entry["element"]
    bits = bits_of(type_)
    element = tensor_map_element(element_name(type_), bits)
    if element is None:
        raise TargetError(f"tensor maps have no elements {type_}")
    nan_fill = entry["nan_fill"]
    return TensorMapRecipe(
        _number(entry["argument"]),
        tuple(_numbers(entry["box"])),
        element,
        bits,
        _word(entry["swizzle"]),
        isinstance(nan_fill, IntegerAttr) and bool(nan_fill.value.data),
        "window" in entry,
        _pixels(entry),
        extents_from(entry),
    )


def _pixels(entry: Mapping[str, Attribute]) -> PixelBox | None:
    if "pixel_lower" not in entry:
        return None
    lower, upper = (tuple(_numbers(entry[f"pixel_{corner}"])) for corner in ("lower", "upper"))
    return PixelBox(lower, upper)


def _numbers(attribute: Attribute) -> Sequence[int]:
    assert isinstance(attribute, DenseArrayBase)
    return [int(n) for n in attribute.get_values()]


def _number(attribute: Attribute) -> int:
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


def _word(attribute: Attribute) -> str:
    assert isinstance(attribute, StringAttr)
    return attribute.data


def _words(attribute: Attribute) -> Sequence[str]:
    return [_word(item) for item in _items(attribute)]


def _entries(attribute: Attribute) -> Sequence[Mapping[str, Attribute]]:
    return [cast("DictionaryAttr", item).data for item in _items(attribute)]


def _items(attribute: Attribute) -> Sequence[Attribute]:
    assert isinstance(attribute, ArrayAttr)
    return cast("ArrayAttr[Attribute]", attribute).data
