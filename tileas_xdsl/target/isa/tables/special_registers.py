"""Special registers and their types.

Source: PTX ISA 10, special registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_DIMENSIONS = (
    "tid",
    "ntid",
    "ctaid",
    "nctaid",
    "clusterid",
    "nclusterid",
    "cluster_ctaid",
    "cluster_nctaid",
)
_WORDS = (
    "laneid",
    "warpid",
    "nwarpid",
    "smid",
    "nsmid",
    "cluster_ctarank",
    "cluster_nctarank",
    "lanemask_eq",
    "lanemask_le",
    "lanemask_lt",
    "lanemask_ge",
    "lanemask_gt",
    "clock",
    "clock_hi",
    "globaltimer_lo",
    "globaltimer_hi",
    "total_smem_size",
    "aggr_smem_size",
    "dynamic_smem_size",
    "reserved_smem_offset_begin",
    "reserved_smem_offset_end",
    "reserved_smem_offset_cap",
)

SPECIAL_REGISTERS: Mapping[str, str] = MappingProxyType(
    {
        **{f"{name}.{axis}": "u32" for name in _DIMENSIONS for axis in "xyz"},
        **dict.fromkeys(_WORDS, "u32"),
        **dict.fromkeys(("clock64", "globaltimer", "gridid"), "u64"),
        "is_explicit_cluster": "pred",
    }
)
"""The type that `mov` reads each of them with."""
