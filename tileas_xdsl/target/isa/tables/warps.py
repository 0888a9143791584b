"""Keywords of warp-level instructions.

Source: PTX ISA 9.7.9.6 (shfl), 9.7.13 (vote, match, redux, activemask), 9.7.19 (setmaxnreg).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SHUFFLES = ("idx", "up", "down", "bfly")
VOTES = ("all", "any", "uni", "ballot")
MATCHES = ("any", "all")

REDUCTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "add": ("u32", "s32"),
        "min": ("u32", "s32", "f32"),
        "max": ("u32", "s32", "f32"),
        "and": ("b32",),
        "or": ("b32",),
        "xor": ("b32",),
    }
)
"""Types of `redux.sync` by operation; f32 is Blackwell's."""

REGISTER_STEP, MIN_REGISTERS, MAX_REGISTERS = 8, 24, 256
"""Counts of registers of a thread that `setmaxnreg` takes (PTX ISA 9.7.19.5)."""

BLOCK_REDUCTIONS = ("and", "or", "popc")
"""Operations of `bar.red`."""
