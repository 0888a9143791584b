"""Kernels that several tests of a file look at are compiled once."""

from functools import lru_cache
from typing import Any

from tileas_xdsl import compiler


@lru_cache(maxsize=32)
def compile(text: str, *arguments: Any, **options: Any) -> compiler.CompiledKernel:
    """As `tileas_xdsl.compile` for text; the same text with the same options is compiled once."""
    return compiler.compile(text, *arguments, **options)
