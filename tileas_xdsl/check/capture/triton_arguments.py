"""Arguments of a Triton launch as those of its PTX kernel.

Tensors become pointers into their storage, `TensorDescriptor`s tensor maps with their shapes and
strides, tuples their elements; constants have no parameter.  Source: Triton,
`backends/nvidia/driver.py`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from tileas_xdsl.check.capture.host_memory import tensor_memory
from tileas_xdsl.interpreters.ptx import LaunchError, TensorMapArg
from tileas_xdsl.target.tma.tensor_map import TensorMap, tensor_map_element

_SWIZZLES = ("none", "32B", "64B", "128B")
"""By the number that Triton's metadata have, that of the driver's enum."""

_DTYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
"""What PyTorch calls the floats that tensor maps know by name."""


class TritonArguments:
    """The values of the parameters, and the memory of the tensors among them."""

    def __init__(self, descriptors: Sequence[Any] | None) -> None:
        """`descriptors` has what the compiler says of each tensor descriptor."""
        self._descriptors = list(descriptors or ())
        self._seen = 0
        self.values: list[Any] = []

    def add_all(self, values: Sequence[Any], types: Sequence[Any]) -> None:
        """Add arguments by the types of the signature."""
        for value, type_ in zip(values, types, strict=True):
            self._add(value, type_)

    def _add(self, value: Any, type_: Any) -> None:
        if isinstance(type_, tuple):
            self.add_all(tuple(value), cast("tuple[Any, ...]", type_))
        elif type_ == "constexpr":
            return
        elif str(type_).startswith("tensordesc"):
            self._add_descriptor(value, type_)
        elif str(type_).startswith("*"):
            self.values.append(_pointer(value))
        else:
            self.values.append(_scalar(value, str(type_)))

    def add_scratch(self, sizes: Sequence[int]) -> None:
        """Add memory of the launch, by sizes in bytes; null where there is none."""
        self.values += [np.zeros(size, np.uint8) if size else 0 for size in sizes]

    def _add_descriptor(self, value: Any, type_: str) -> None:
        if self._seen >= len(self._descriptors):
            raise LaunchError(
                f"{type_} is passed as pointers: the target has no tensor maps; check for sm_90a"
            )
        facts = self._descriptors[self._seen]
        self._seen += 1
        if facts.get("is_im2col"):
            raise LaunchError(f"{type_}: descriptors of im2col are not captured; use check.ptx")
        self.values.append(_tensor_map(value, facts))
        self.values += [int(extent) for extent in (*value.shape, *value.strides)]


def _pointer(value: Any) -> Any:
    """Return the storage of a tensor from its first element on; a number stays an address."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    base = getattr(value, "base", value)
    return tensor_memory(base if hasattr(base, "data_ptr") else value)


def _scalar(value: Any, type_: str) -> Any:
    if type_ == "bf16":
        return struct.unpack("<I", struct.pack("<f", value))[0] >> 16
    if type_.startswith("fp"):
        return float(value)
    return int(value)


def _tensor_map(value: Any, facts: Mapping[str, Any]) -> TensorMapArg:
    """Return the tensor map that Triton's launcher would encode."""
    tensor = value.base
    size: int = tensor.element_size()
    name = str(tensor.dtype).removeprefix("torch.")
    if facts.get("fp4_padded"):
        element: str | None = "b4x16_p64"
    elif getattr(value, "round_f32_to_tf32", False):
        element = "tf32"
    else:
        element = tensor_map_element(_DTYPES.get(name, name), 8 * size)
    array = tensor_memory(tensor)
    if element is None or isinstance(array, int):
        raise LaunchError(f"tensor maps have no elements {tensor.dtype}, or the tensor is empty")
    dims = [int(extent) for extent in value.shape]
    dims[-1] *= 2 if facts.get("fp4_padded") else 1
    made = TensorMap(
        element,
        0,
        tuple(reversed(dims)),
        tuple(int(stride) * size for stride in reversed(value.strides[:-1])),
        tuple(int(extent) for extent in reversed(facts["block_size"])),
        swizzle=_SWIZZLES[int(facts["swizzle"])],
        nan_fill=value.padding == "nan",
    )
    return TensorMapArg(made, array)
