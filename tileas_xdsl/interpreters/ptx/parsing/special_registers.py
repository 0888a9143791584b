"""The special registers and their widths.  Source: PTX ISA 10, special registers."""

from __future__ import annotations

from collections.abc import Mapping

_AXES = "xyz"

_VECTORS = (
    "%tid",
    "%ntid",
    "%ctaid",
    "%nctaid",
    "%clusterid",
    "%nclusterid",
    "%cluster_ctaid",
    "%cluster_nctaid",
)

_SCALARS = (
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%aggr_smem_size",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
    "%clock",
    "%clock_hi",
    "%globaltimer_lo",
    "%globaltimer_hi",
)

CLOCKS: frozenset[str] = frozenset(
    {"%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi"}
)
"""Special registers that change during execution."""

SPECIAL_REGISTERS: Mapping[str, int] = {
    **{f"{name}.{axis}": 32 for name in _VECTORS for axis in _AXES},
    **dict.fromkeys(_SCALARS, 32),
    "%gridid": 64,
    "%clock64": 64,
    "%globaltimer": 64,
    "%is_explicit_cluster": 1,
    "WARP_SZ": 32,
}
"""Width in bits by name."""
