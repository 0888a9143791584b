"""What any library's array is: address, shape, strides and element type, without copying it.

Read by the interface that it has: torch's methods (no protocol has bf16 and gradients), numpy's
and CUDA's array interfaces, DLPack.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.frontend.dlpack import packed, read_dlpack


@dataclass(frozen=True, slots=True)
class ArrayFacts:
    """An array argument, wherever its memory is."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements."""
    element: str
    """As numpy or ml_dtypes call it."""
    item_size: int


class ArrayReadError(ValueError):
    """An array whose elements or strides no kernel takes."""


def array_facts(value: Any) -> ArrayFacts | None:
    """Return what an array is; None for what is none, `ArrayReadError` for one that cannot be
    used."""
    if hasattr(value, "data_ptr") and hasattr(value, "stride"):
        return _of_torch(value)
    for name in ("__array_interface__", "__cuda_array_interface__"):
        if hasattr(value, name):
            return _of_interface(value, getattr(value, name))
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value)
    return None


def _of_torch(tensor: Any) -> ArrayFacts:
    element = str(tensor.dtype).removeprefix("torch.")
    size = int(tensor.element_size())
    return ArrayFacts(tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()), element, size)


def _of_interface(value: Any, found: Mapping[str, Any]) -> ArrayFacts:
    shape, element = tuple(found["shape"]), _element(value, found["typestr"])
    size = int(found["typestr"][2:].partition("[")[0])  # of times a unit follows: <M8[s]
    address = int(found["data"][0] or 0)
    steps = found.get("strides")
    if steps is None:
        return ArrayFacts(address, shape, packed(shape), element, size)
    if any(step % size for step in steps):
        raise ArrayReadError(f"strides of {tuple(steps)} bytes are no whole elements")
    return ArrayFacts(address, shape, tuple(step // size for step in steps), element, size)


_KINDS: Mapping[str, str] = {"b": "bool", "i": "int", "u": "uint", "f": "float", "V": "bfloat"}


_SWAPPED = "<" if sys.byteorder == "big" else ">"
"""How the type of an array begins whose bytes are in the order of other machines."""


def _element(value: Any, typestr: str) -> str:
    """The element type: the array knows more of it than a protocol, which has bytes for bf16."""
    if typestr[0] == _SWAPPED:
        text = f"elements of '{typestr}' have their bytes in the order of another machine"
        raise ArrayReadError(f"{text}; copy them: x.astype(x.dtype.newbyteorder('='))")
    named = getattr(getattr(value, "dtype", None), "name", None)
    if isinstance(named, str):
        return named
    kind = _KINDS.get(typestr[1], typestr)
    return kind if kind == "bool" else f"{kind}{8 * int(typestr[2:])}"


def _of_dlpack(value: Any) -> ArrayFacts:
    try:
        found = read_dlpack(value)
    except BufferError as error:
        raise ArrayReadError(f"DLPack: {error}") from error
    digits = "".join(c for c in found.element.partition("_")[0] if c.isdigit())
    size = int(digits or 8) // 8
    return ArrayFacts(found.address, found.shape, found.strides, found.element, size)
