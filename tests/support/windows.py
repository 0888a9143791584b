"""Kernels that copy through sub-view descriptors: a tile of 8 x 32 per block."""

from __future__ import annotations

from textwrap import dedent

from kernels.windows import window_text
from tileas_xdsl.compiler import CompiledKernel, compile

ARGUMENTS = "%a: !matrix, %b: !matrix"


def window_kernel(
    body: str, of_a: str = "%wa", of_b: str = "%b", arguments: str = ARGUMENTS
) -> str:
    """Return a kernel that copies tile (`%row_a`, 0) of `of_a` to tile (`%row_b`, 0) of `of_b`.

    `body` makes what they are called, where `!window` is a tile of a view and `%rows` is 8.
    """
    return window_text(dedent(body), of_a, of_b, arguments=arguments)


BY_BLOCK = """
%row_a = arith.addi %block, %zero : index
%row_b = arith.addi %block, %zero : index
"""
"""Each block copies the tile of its index."""


def compiled_with_host_code(text: str, target: str = "sm_90a") -> CompiledKernel:
    """Return the kernel and its host code."""
    return compile(text, target, host_code=True)
