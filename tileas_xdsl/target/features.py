"""Optional GPU features, and the targets for which the PTX ISA has them.

Instructions and atoms require features, checked as `Feature.TCGEN05 in target.features`.  The only
fact about a feature is its row of `FEATURES`; those of a target follow from its name.  Sources:
PTX ISA, target notes of the instructions, each of them confirmed by running ptxas 13.5 for every
target from sm_90 to sm_121a.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from tileas_xdsl.target.tiers import meets_any


class Feature(StrEnum):
    """A feature by the name that messages and the instruction table use."""

    WGMMA = "wgmma"
    TCGEN05 = "tcgen05"
    TCGEN05_I8 = "tcgen05_i8"
    """`tcgen05.mma` of 8-bit integers: of single chips, of no family, and not of sm_103a."""
    TCGEN05_LOAD_REDUCE = "tcgen05_load_reduce"
    """Loads of tensor memory that reduce: not of sm_100a."""
    TCGEN05_SCALED_INPUT = "tcgen05_scaled_input"
    WARP_BLOCK_SCALE = "warp_block_scale"
    """`mma.sync` with block scales."""
    SETMAXNREG = "setmaxnreg"
    TENSORMAP = "tensormap"
    """`tensormap.replace`."""
    TILE_GATHER = "tile_gather"
    """Rows by index: `.tile::gather4` into shared memory of a cluster, `.tile::scatter4`."""
    IM2COL_W = "im2col_w"
    """The modes `.im2col::w` and `.im2col::w::128`."""
    TMA_CTA_PAIR = "tma_cta_pair"
    """Copies with `.cta_group::2`."""
    TMA_SUBBYTE = "tma_subbyte"
    """Tensor maps of elements below one byte, padded in shared memory."""
    TMA_WIDE_SWIZZLE = "tma_wide_swizzle"
    """Tensor maps whose swizzle moves more than 16 bytes together."""
    NARROW_FLOATS = "narrow_floats"
    """Conversions to floats of 4, 6 and 8 bits other than e4m3 and e5m2."""
    STOCHASTIC_ROUNDING = "stochastic_rounding"
    """The rounding `.rs`: of single chips, of no family."""
    NARROW_MATRICES = "narrow_matrices"
    """`ldmatrix` and `stmatrix` of elements of 8 bits and less."""
    REDUX_F32 = "redux_f32"
    LAUNCH_CONTROL = "launch_control"
    """Blocks that take over others which have not started: `clusterlaunchcontrol`."""
    LAUNCH_MULTICAST = "launch_multicast"
    """The multicast of a cancelled launch to all CTAs of a cluster."""
    MULTIMEM_FP8 = "multimem_fp8"
    """`multimem` of floats of 8 bits: of single chips where it is not of a family."""
    WIDE_VECTORS = "wide_vectors"
    """Loads and stores of 32 bytes a thread."""


FEATURES: Mapping[Feature, Sequence[str]] = MappingProxyType(
    {
        Feature.WGMMA: ("sm_90a",),
        Feature.TCGEN05: ("sm_100f", "sm_110f"),
        Feature.TCGEN05_I8: ("sm_100a", "sm_110a"),
        Feature.TCGEN05_LOAD_REDUCE: ("sm_103f", "sm_110f"),
        Feature.TCGEN05_SCALED_INPUT: ("sm_100f",),
        Feature.WARP_BLOCK_SCALE: ("sm_120f",),
        Feature.SETMAXNREG: ("sm_90a", "sm_100f", "sm_110f", "sm_120f"),
        Feature.TENSORMAP: ("sm_90a", "sm_100f", "sm_110f", "sm_120f"),
        Feature.TILE_GATHER: ("sm_100f", "sm_110f"),
        Feature.IM2COL_W: ("sm_100f", "sm_110f"),
        Feature.TMA_CTA_PAIR: ("sm_100f", "sm_110f"),
        Feature.TMA_SUBBYTE: ("sm_100",),
        Feature.TMA_WIDE_SWIZZLE: ("sm_100",),
        Feature.NARROW_FLOATS: ("sm_100f", "sm_110f", "sm_120f"),
        Feature.STOCHASTIC_ROUNDING: ("sm_100a", "sm_103a"),
        Feature.NARROW_MATRICES: ("sm_100f", "sm_110f", "sm_120f"),
        Feature.REDUX_F32: ("sm_100f",),
        Feature.LAUNCH_CONTROL: ("sm_100",),
        Feature.LAUNCH_MULTICAST: ("sm_100f", "sm_110f", "sm_120f"),
        Feature.MULTIMEM_FP8: ("sm_100f", "sm_110f", "sm_120a", "sm_121a"),
        Feature.WIDE_VECTORS: ("sm_100",),
    }
)
"""The minimal targets, any of which suffices (`tiers.meets`); sm_120a gathers for one CTA."""


@cache
def features_of(target_name: str) -> frozenset[Feature]:
    """Return the features that a target has."""
    return frozenset(
        feature for feature, minima in FEATURES.items() if meets_any(target_name, minima)
    )
