"""How elements of tiles are held in numpy arrays, and what their bits are.

| element | array of |
|---|---|
| `i1` | `bool` |
| `i4` | `int8`, from -8 to 7 |
| other integers | signed integers of that width, whatever reads them |
| floats | the type of numpy or `ml_dtypes` |
| `tf32` | `float32` whose low 13 bits are 0 |
| `f8E5M3FNU` | `uint8`, its bits |
| pointers | `uint64`: the address in bits, as elements of 4 bits share bytes |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute

from tileas_xdsl.dialects.cuda_tile.types.scalars import ELEMENTS, bit_width, name_of_scalar
from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, TileType, element_of

Array: TypeAlias = NDArray[Any]

_DTYPES: Mapping[str, type[Any]] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i4": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "tf32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "f8E5M3FNU": np.uint8,
}


def dtype_of(element: Attribute) -> np.dtype[Any]:
    """The type of the array that holds such elements."""
    if isinstance(element, PtrType):
        return np.dtype(np.uint64)
    return np.dtype(_DTYPES[name_of_scalar(element)])


def element_of_dtype(dtype: np.dtype[Any]) -> Attribute:
    """The elements that an array of this type holds; unsigned integers are bits."""
    signed = np.dtype(f"i{dtype.itemsize}") if dtype.kind == "u" else dtype
    return ELEMENTS[next(name for name, own in _DTYPES.items() if np.dtype(own) == signed)]


def word_of(type_: Attribute) -> str:
    """`f32`: the name of the elements of a tile."""
    return name_of_scalar(element_of(type_))


def width_of(type_: Attribute) -> int:
    """Bits of an element as a number: 1 of i1, 19 of tf32."""
    return bit_width(element_of(type_))


def stored_bits(element: Attribute) -> int:
    """Bits of an element in memory: 8 of i1, 32 of tf32."""
    return {"i1": 8, "tf32": 32}.get(name_of_scalar(element)) or bit_width(element)


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The extents of a tile."""
    assert isinstance(type_, TileType)
    return type_.get_shape()


def bits_of(values: Array) -> Array:
    """The bits of elements, one unsigned integer each; 4 bits are in a byte of their own."""
    values = np.ascontiguousarray(values)
    bits = values.view(f"u{values.dtype.itemsize}").reshape(values.shape)
    return bits & np.uint8(0xF) if _is_nibble(values.dtype) else bits


def from_bits(bits: Array, element: Attribute) -> Array:
    """The elements that have these bits."""
    dtype = dtype_of(element)
    bits = np.ascontiguousarray(bits).astype(f"u{dtype.itemsize}")
    if name_of_scalar(element) == "i4":
        return ((bits.view(np.int8) & 0xF) ^ 8) - 8
    if dtype == np.bool_:
        return bits != 0
    return bits.view(dtype).reshape(bits.shape)


def _is_nibble(dtype: np.dtype[Any]) -> bool:
    return dtype == np.dtype(ml_dtypes.float4_e2m1fn)
