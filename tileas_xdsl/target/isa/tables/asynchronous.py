"""Keywords of asynchronous copies, barriers and fences.

Source: PTX ISA 9.7.9.25 (copies), 9.7.13 (barriers and fences), checked against ptxas 13.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

COPY_SIZES: Mapping[str, tuple[int, ...]] = MappingProxyType({"ca": (4, 8, 16), "cg": (16,)})
"""Bytes of `cp.async` by cache operator."""

BULK_WAYS: Mapping[tuple[str, str], bool] = MappingProxyType(
    {
        ("shared::cluster", "global"): True,
        ("shared::cta", "global"): True,
        ("shared::cluster", "shared::cta"): True,
        ("global", "shared::cta"): False,
    }
)
"""By destination and source: whether a barrier learns of the bytes (else a group does)."""


TENSOR_TARGETS = ("shared::cluster", "shared::cta")
"""Where boxes of tensors go; the latter from PTX 8.6."""

TENSOR_LOADS = ("tile", "tile::gather4", "im2col")
TENSOR_STORES = ("tile", "tile::scatter4", "im2col_no_offs")
TENSOR_PREFETCHES = ("tile", "tile::gather4")
BLACKWELL_MODES = ("tile::gather4", "tile::scatter4")
TENSOR_REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")

_SIGNED = ("u32", "s32", "u64", "s64")
_HALVES = ("f16", "bf16")
BULK_REDUCTIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "global": {
            "add": ("u32", "s32", "u64", "f32", "f64", *_HALVES),
            "min": (*_SIGNED, *_HALVES),
            "max": (*_SIGNED, *_HALVES),
            "inc": ("u32",),
            "dec": ("u32",),
            "and": ("b32", "b64"),
            "or": ("b32", "b64"),
            "xor": ("b32", "b64"),
        },
        "shared::cluster": {
            "add": ("u32", "s32", "u64"),
            "min": ("u32", "s32"),
            "max": ("u32", "s32"),
            "inc": ("u32",),
            "dec": ("u32",),
            "and": ("b32",),
            "or": ("b32",),
            "xor": ("b32",),
        },
    }
)
"""By destination and operation: the types."""

BARRIER_SPACES = ("shared::cta", "shared::cluster")
ARRIVE_SEMANTICS = ("", "release", "relaxed")
WAIT_SEMANTICS = ("", "acquire", "relaxed")
BARRIER_SCOPES = ("cta", "cluster")
MAX_TRANSACTION = 2**20 - 1
"""Bytes that a phase can wait for."""
MAX_ARRIVALS = 2**20 - 1

FENCES = ("acq_rel", "sc")
FENCE_SCOPES = ("cta", "cluster", "gpu", "sys")
PROXIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "async": ("", "global", "shared::cta", "shared::cluster"),
        "alias": ("",),
    }
)
"""By proxy: the spaces that a fence names."""

CLUSTER_ARRIVALS = ("", "release", "relaxed")
CLUSTER_WAITS = ("", "acquire")

NAMED_BARRIERS = 16
"""Barriers of a block."""

TENSORMAP_FIELDS: Mapping[str, bool] = MappingProxyType(
    {
        "global_address": False,
        "rank": False,
        "box_dim": True,
        "global_dim": True,
        "global_stride": True,
        "element_stride": True,
        "elemtype": False,
        "interleave_layout": False,
        "swizzle_mode": False,
        "fill_mode": False,
    }
)
"""Whether a field has an ordinal."""

LITERAL_FIELDS = ("elemtype", "interleave_layout", "swizzle_mode", "fill_mode")
"""Fields whose new value is a literal."""
