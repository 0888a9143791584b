"""Kernels in hand-written `nv_tileas` text, each with arguments and a numpy reference.

`KERNELS` has them by name; `make("gemm", element="bf16", stages=4)` is one with parameters, and
`python -m kernels gemm element=bf16` prints its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from kernels.bulk_copy import BulkCopy
from kernels.combine import Combine
from kernels.copy import Copy
from kernels.gemm import Gemm
from kernels.kernel import Deviation, Grid, Kernel, Reference, Sizes
from kernels.permute import Permute
from kernels.scaled_gemm import GemmMxf4, GemmMxf8, GemmNvf4, ScaledGemm
from kernels.softmax import Softmax
from kernels.unroll import Unroll
from kernels.vector_add import VectorAdd
from kernels.windows import Windows

__all__ = [
    "KERNELS",
    "BulkCopy",
    "Combine",
    "Copy",
    "Deviation",
    "Gemm",
    "GemmMxf4",
    "GemmMxf8",
    "GemmNvf4",
    "Grid",
    "Kernel",
    "Permute",
    "Reference",
    "ScaledGemm",
    "Sizes",
    "Softmax",
    "Unroll",
    "VectorAdd",
    "Windows",
    "make",
    "parameters_of",
]

KERNELS: Mapping[str, type[Kernel]] = {
    kind.name: kind
    for kind in (
        *(VectorAdd, Copy, BulkCopy, Windows, Permute, Unroll, Combine, Softmax, Gemm),
        *(GemmMxf8, GemmMxf4, GemmNvf4),
    )
}
"""The kernels by name."""


def make(name: str, **parameters: Any) -> Kernel:
    """The kernel of this name; raises `KeyError` for others, `TypeError` for wrong parameters."""
    return KERNELS[name](**parameters)


def parameters_of(kind: type[Kernel]) -> Mapping[str, str | int]:
    """The parameters of a kernel and their defaults."""
    defaults: Any = kind()
    return {field.name: getattr(defaults, field.name) for field in fields(defaults)}
