"""Tile programs over buffers in `tl` text, each with arguments and a numpy reference.

`KERNELS` has them by name; `python -m kernels.tl gemm activation=relu` prints the text of one.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernels.tl.attention import Attention
from kernels.tl.base import BlockProgram
from kernels.tl.elementwise import Add, Article, Copy, Histogram, Outer, Transpose
from kernels.tl.products import DequantGemm, Gemm
from kernels.tl.rows import ColumnSums, RmsNorm, Softmax

__all__ = [
    "KERNELS",
    "Add",
    "Article",
    "Attention",
    "BlockProgram",
    "ColumnSums",
    "Copy",
    "DequantGemm",
    "Gemm",
    "Histogram",
    "Outer",
    "RmsNorm",
    "Softmax",
    "Transpose",
]

KERNELS: Mapping[str, type[BlockProgram]] = {
    kind.name: kind
    for kind in (
        *(Article, Copy, Add, Transpose, Outer, Histogram),
        *(Softmax, RmsNorm, ColumnSums, Gemm, DequantGemm, Attention),
    )
}
"""The kernels by name."""
