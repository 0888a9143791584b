"""What is TileLang: Python files and values, recognised without the package."""

from __future__ import annotations

import re
from pathlib import Path

from tileas_xdsl.frontend.kernel_files import split_reference

_IMPORT = re.compile(r"^\s*(import|from)\s+tilelang\b", re.MULTILINE)

_KERNELS = (("tilelang", "JITImpl"), ("tilelang", "AutoTuneImpl"), ("tvm", "PrimFunc"))
"""Packages and names of the classes of kernels."""


def imports_tilelang(reference: str) -> bool:
    """Whether the file of `FILE.py:NAME` imports the package."""
    found = split_reference(reference)
    if found is None or not Path(found[0]).is_file():
        return False
    return _IMPORT.search(Path(found[0]).read_text("utf-8", "replace")) is not None


def is_tilelang(value: object) -> bool:
    """Whether a value is a PrimFunc, or what `tilelang.jit` makes."""
    classes = [(t.__module__.split(".")[0], t.__name__) for t in type(value).__mro__]
    return any(known in _KERNELS for known in classes)
