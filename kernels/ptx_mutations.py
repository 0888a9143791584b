"""Small edits of compiled kernels: of the PTX text, or of how the host calls it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from kernels.mutations import Edit, EditError
from tileas_xdsl.backend.ptx.abi import KernelAbi

Call: TypeAlias = Callable[[KernelAbi], KernelAbi]
"""A change of how the host calls a kernel."""

EVERYWHERE = 0
"""For `times`: all matches."""


def changing(pattern: str, replacement: str, *, times: int = 1) -> Edit:
    """The first `times` matches of a pattern become `replacement`; so many must be there."""
    compiled = re.compile(pattern, re.MULTILINE)

    def edit(text: str) -> str:
        changed, found = compiled.subn(replacement, text, count=times)
        if found < max(times, 1):
            raise EditError(f"the text has {found} times {pattern!r}, not {max(times, 1)}")
        if changed == text:
            raise EditError(f"{pattern!r} becomes what it was")
        return changed

    return edit


def dropping(pattern: str, *, times: int = 1) -> Edit:
    """The first `times` lines that contain a match go away."""
    return changing(rf"^.*{pattern}.*\n", "", times=times)


def nothing(text: str) -> str:
    """The text as it is, where the call is wrong."""
    return text


def with_swizzle(position: int, swizzle: str) -> Call:
    """The tensor map at a position gets another swizzle mode."""

    def change(abi: KernelAbi) -> KernelAbi:
        maps = list(abi.tensor_maps)
        if maps[position].swizzle == swizzle:
            raise EditError(f"tensor map {position} has swizzle {swizzle!r} already")
        maps[position] = replace(maps[position], swizzle=swizzle)
        return replace(abi, tensor_maps=tuple(maps))

    return change


def with_less_shared_memory(missing: int) -> Call:
    """The launch asks for `missing` bytes less than the kernel uses."""
    return lambda abi: replace(abi, shared_bytes=abi.shared_bytes - missing)
