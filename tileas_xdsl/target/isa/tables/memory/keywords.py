"""Spaces, orders, scopes and cache operators of accesses to memory.

Source: PTX ISA 9.7.9, data movement; 9.7.13, atomics; 8.5 and 8.6, scopes and operations; checked
against ptxas 13.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SPACES = ("generic", "global", "shared", "shared::cta", "shared::cluster", "local")
LOAD_SPACES = (*SPACES, "const")
"""Spaces that a load reads."""

SCOPES = ("cta", "cluster", "gpu", "sys")
"""Scopes of the memory consistency model."""

LOAD_SEMANTICS = ("", "weak", "volatile", "relaxed", "acquire")
STORE_SEMANTICS = ("", "weak", "volatile", "relaxed", "release")
ATOMIC_SEMANTICS = ("", "relaxed", "acquire", "release", "acq_rel")
REDUCTION_SEMANTICS = ("", "relaxed", "release")
SCOPED = ("relaxed", "acquire", "release", "acq_rel")
"""Semantics that need a scope."""

LOAD_CACHES = ("", "ca", "cg", "cs", "lu", "cv")
STORE_CACHES = ("", "wb", "cg", "cs", "wt")
EVICTIONS = ("", "evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate")
PREFETCHES = ("", "64B", "128B", "256B")
POLICIES = ("evict_last", "evict_normal", "evict_first", "evict_unchanged")
"""What `createpolicy` treats accesses as."""

ACCESS_TYPES = (*(f"{letter}{bits}" for letter in "bus" for bits in (8, 16, 32, 64)), "f32", "f64")
VECTOR_WIDTHS = (1, 2, 4)
VECTOR_BITS = 128
"""One access moves this much at most."""

_ARITHMETIC = ("u32", "s32", "u64")
_HALVES = ("f16", "bf16", "f16x2", "bf16x2")

ATOMICS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "add": (*_ARITHMETIC, "f32", "f64", *_HALVES),
        "min": ("u32", "s32", "u64", "s64", *_HALVES),
        "max": ("u32", "s32", "u64", "s64", *_HALVES),
        "and": ("b32", "b64"),
        "or": ("b32", "b64"),
        "xor": ("b32", "b64"),
        "inc": ("u32",),
        "dec": ("u32",),
        "exch": ("b32", "b64"),
        "cas": ("b16", "b32", "b64"),
    }
)
"""Types by operation; what only changes memory has no exch and no cas."""

ATOMIC_SPACES = ("generic", "global", "shared", "shared::cta", "shared::cluster")

ATOMIC_VECTORS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "f32": (2, 4),
        "f16": (2, 4, 8),
        "bf16": (2, 4, 8),
        "f16x2": (2, 4),
        "bf16x2": (2, 4),
    }
)
"""Lengths of vectors in global memory."""


MATRIX_LOADS: Mapping[tuple[str, str], tuple[int, ...]] = MappingProxyType(
    {("m8n8", "b16"): (1, 2, 4)}
)
"""Numbers of matrices by shape and type, on every target."""

MATRIX_LOADS_BLACKWELL: Mapping[tuple[str, str], tuple[int, ...]] = MappingProxyType(
    {("m16n16", "b8"): (1, 2)}
)
"""Those of `ldmatrix` that came with PTX 8.6, always transposed."""

MATRIX_STORES_BLACKWELL: Mapping[tuple[str, str], tuple[int, ...]] = MappingProxyType(
    {("m16n8", "b8"): (1, 2, 4)}
)
"""Those of `stmatrix`, likewise."""
