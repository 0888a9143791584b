"""Random tile types: shapes, elements, and register and shared-memory layouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log2, prod
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

Choose: TypeAlias = Callable[[Sequence[Any]], Any]
"""A function that picks one of several alternatives; the first is the simplest."""

SHAPES: Sequence[tuple[int, ...]] = ((16, 8), (16, 16), (8, 16), (32,))
ELEMENTS = ("f32", "i32", "f16", "bf16", "i8")
DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "i32": np.int32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
}
THREAD_BITS = 7
"""Thread bits of an agent of four warps."""

SMEM = "#nv_tileas<space smem>"


@dataclass(frozen=True)
class TileType:
    """A tile type: in registers, in shared memory, or without layout if `encoding` is empty."""

    shape: tuple[int, ...]
    element: str
    encoding: str = ""
    in_memory: bool = False
    """Whether the encoding is a shared-memory one."""

    def __str__(self) -> str:
        return f"tensor<{self.extents}{self.element}{', ' * bool(self.encoding)}{self.encoding}>"

    @property
    def extents(self) -> str:
        """Return the extents as text, like `16x8x`."""
        return "".join(f"{n}x" for n in self.shape)

    @property
    def plain(self) -> TileType:
        """Return the type without encoding."""
        return replace(self, encoding="", in_memory=False)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.size * np.dtype(DTYPES[self.element]).itemsize

    @property
    def is_float(self) -> bool:
        return self.element[0] in "fb"

    @property
    def can_be_boxed(self) -> bool:
        """Return whether TMA supports the tile: rows of a multiple of 16 bytes."""
        return len(self.shape) == 2 and self.bytes // self.shape[0] % 16 == 0

    def view(self, space: str) -> str:
        """Return a tiled view of such tiles."""
        return f"!nv_tileas.tiled_view<{self.extents}{self.element}, {space}>"

    def with_shape(self, *shape: int) -> TileType:
        return replace(self, shape=shape)

    def with_element(self, element: str) -> TileType:
        return replace(self, element=element)


def register_encoding(shape: tuple[int, ...], choose: Choose) -> str:
    """Return a register layout for four warps; surplus threads hold replicas."""
    family = choose(["blocked", "linear", *(["dot_operand"] if shape == (16, 16) else [])])
    if family == "dot_operand":
        return f'#nv_tileas.dot_operand<"{choose(_DOT_OPERANDS)}">'
    places = _blocked(shape, choose) if family == "blocked" else _linear(shape, choose)
    return f'#nv_tileas.{family}<"{_layout(shape, places)}">'


_DOT_OPERANDS = (
    "((8,2),(2,4,2),4):((4@thread,2@value),(1@value,1@thread,4@value),32@thread)",
    "((2,4,2),(8,2),4):((1@value,1@thread,2@value),(4@thread,4@value),32@thread)",
)
"""Operands A and B of mma.m16n8k16 (B twice), replicated in each warp.

Source: PTX ISA, fragments of mma.
"""

Place: TypeAlias = tuple[str, int]
"""An axis, and the power of two that a coordinate bit contributes along it."""


def _blocked(shape: tuple[int, ...], choose: Choose) -> list[Place]:
    """Return a blocked layout: a run of elements per thread, then threads, then the rest."""
    dimensions: Sequence[int] = choose([range(len(shape))[::-1], range(len(shape))])
    bits = [(k, bit) for k in dimensions for bit in _bits(shape[k])]
    vector = choose([0, 1, 2])
    places = {bit: ("value", k) for k, bit in enumerate(bits[:vector])}
    rest = bits[vector:]
    places |= {bit: ("thread", k) for k, bit in enumerate(rest[:THREAD_BITS])}
    places |= {bit: ("value", vector + k) for k, bit in enumerate(rest[THREAD_BITS:])}
    return [places[bit] for bit in sorted(places)]


def _bits(extent: int) -> range:
    return range(int(log2(extent)))


def _linear(shape: tuple[int, ...], choose: Choose) -> list[Place]:
    """Return a linear layout with every bit at a random position."""
    count = sum(int(log2(n)) for n in shape)
    free: list[Place] = [("thread", k) for k in range(THREAD_BITS)]
    values = 0
    places: list[Place] = []
    for _ in range(count):
        place = choose([*free, ("value", values)])
        if place[0] == "value":
            values += 1
        else:
            free.remove(place)
        places.append(place)
    return places


def _layout(shape: tuple[int, ...], places: list[Place]) -> str:
    """Return CuTe text; a last mode counts replicas along otherwise unused thread bits."""
    rest = iter(places)
    modes = [[next(rest) for _ in _bits(n)] for n in shape]
    used = {k for axis, k in places if axis == "thread"}
    copies = [("thread", k) for k in range(THREAD_BITS) if k not in used]
    texts = [_mode(mode) for mode in [*modes, *([copies] if copies else [])]]
    return f"({','.join(t[0] for t in texts)}):({','.join(t[1] for t in texts)})"


def _mode(places: list[Place]) -> tuple[str, str]:
    """Return shape and stride of a mode, with adjacent bits merged."""
    digits: list[tuple[int, Place]] = []
    for axis, k in places:
        if digits and (axis, k) == (digits[-1][1][0], digits[-1][1][1] + digits[-1][0]):
            digits[-1] = (digits[-1][0] + 1, digits[-1][1])
        else:
            digits.append((1, (axis, k)))
    shapes = ",".join(str(2**count) for count, _ in digits)
    strides = ",".join(f"{2**k}@{axis}" for _, (axis, k) in digits)
    return (shapes, strides) if len(digits) == 1 else (f"({shapes})", f"({strides})")


def shared_encoding(shape: tuple[int, ...], choose: Choose) -> str:
    """Return a shared-memory layout: arbitrary, row-major, column-major, padded or swizzled."""
    if len(shape) == 1:
        return choose([SMEM, f"#nv_tileas.shared<({shape[0]}),(1)>"])
    rows, columns = shape
    extents = f"({rows},{columns})"
    return choose(
        [
            SMEM,
            f"#nv_tileas.shared<{extents},({columns},1)>",
            f"#nv_tileas.shared<{extents},(1,{rows})>",
            f"#nv_tileas.shared<{extents},({columns + 8},1)>",
            f"#nv_tileas.shared<{extents},({columns},1),swizzle<1,4,3>>",
            f"#nv_tileas.shared<{extents},({columns},1),swizzle<2,4,3>>",
        ]
    )


def random_elements(rng: np.random.Generator, shape: tuple[int, ...], element: str) -> Any:
    """Return non-zero elements; floats are small multiples of 1/4."""
    dtype = DTYPES[element]
    if element[0] == "i":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype) | 1
    return ((2 * rng.integers(-32, 32, shape) + 1) / 4).astype(dtype)
