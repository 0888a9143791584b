"""Kernels of `tl` lowered buffer by buffer, also those that are compiled by way of tiles."""

from __future__ import annotations

from tileas_xdsl import compiler
from tileas_xdsl.compiler import CompiledKernel


def compile_kernel(text: str, target: str = "sm_90a") -> CompiledKernel:
    """Return the kernel as the pipeline `tl-to-ptx` makes it."""
    return compiler.compile(text, target=target, passes="tl-to-ptx")
