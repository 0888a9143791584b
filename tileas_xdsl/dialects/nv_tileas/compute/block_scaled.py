"""Verification of block-scaled matrix products: the supported combinations, in ordered phases.

The order of the phases is fixed: it decides which error a product with two faults reports.
Source of kinds and scale formats: PTX ISA 9.7.16, tcgen05.mma, block scaling.
"""

from __future__ import annotations

from collections.abc import Mapping

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.nv_tileas.element_names import FP4, NARROW_FLOATS, element_name
from tileas_xdsl.dialects.nv_tileas.spaces import Tile


class BlockScaleError(ValueError):
    """The combination of types and scales is not supported; the message gives the reason."""


@dataclass(frozen=True)
class BlockScaledConfiguration:
    """A block-scaled instruction: K of one instruction, elements of K that share a scale."""

    atom_k: int
    vector_size: int
    kind: str
    """The `.kind` of tcgen05.mma."""
    scale_vector: str
    """The `.scale_vec` of tcgen05.mma."""
    elements: tuple[str, ...]
    scales: tuple[str, ...]
    cta_groups: tuple[int, ...] = (1, 2)
    """How many CTAs may work together."""

    @property
    def packed(self) -> int:
        """`(atom_K << 32) | vecSize`."""
        return self.atom_k << 32 | self.vector_size


BLOCK_SCALED: Mapping[tuple[int, int], BlockScaledConfiguration] = {
    (row.atom_k, row.vector_size): row
    for row in (
        BlockScaledConfiguration(32, 32, "mxf8f6f4", "1X", NARROW_FLOATS, ("f8e8m0",)),
        BlockScaledConfiguration(64, 16, "mxf4nvf4", "4X", (FP4,), ("f8e4m3", "f8e8m0")),
        BlockScaledConfiguration(64, 32, "mxf4", "2X", (FP4,), ("f8e8m0",), cta_groups=(1,)),
    )
}
"""Every configuration by (atom_K, vecSize).  That (64, 32) has no form for two CTAs is a limit of
the published compiler, not of the hardware."""


@dataclass(frozen=True)
class BlockScaledTypes:
    """The tiles of a block-scaled product; a scale may be missing."""

    a: Tile
    b: Tile
    c: Tile
    sfa: Tile | None = None
    sfb: Tile | None = None

    @property
    def is_fp4(self) -> bool:
        """Whether an operand has 4-bit elements."""
        return FP4 in (element_name(self.a.element_type), element_name(self.b.element_type))


def block_scaled_configuration(
    types: BlockScaledTypes, *, cta_group: int = 1, atom_k: int | None = None
) -> BlockScaledConfiguration:
    """The configuration of a product A (MxK), B (KxN) with scales sfa (MxK/v), sfb (K/vxN).

    `atom_k` is the K of the instruction where its atom fixes it; else 4-bit elements on both sides
    mean 64, others 32.  Raises `BlockScaleError` with the text of the first phase that fails.
    """
    _check_scales_present(types)
    _check_scale_types(types)
    if element_name(types.c.element_type) != "f32":
        raise BlockScaleError(message("nv_tileas.block_scaled_mma.accumulator_f32"))
    vector_size = _vector_size(types)
    return _look_up(types, atom_k or _natural_k(types), vector_size, cta_group)


def _check_scales_present(types: BlockScaledTypes) -> None:
    if types.is_fp4 and (types.sfa is None or types.sfb is None):
        raise BlockScaleError(message("nv_tileas.block_scaled_mma.fp4_scales"))


def _check_scale_types(types: BlockScaledTypes) -> None:
    elements = [None if s is None else s.element_type for s in (types.sfa, types.sfb)]
    if elements[0] != elements[1]:
        raise BlockScaleError(message("nv_tileas.block_scaled_mma.scale_types"))


def _vector_size(types: BlockScaledTypes) -> int:
    """The elements of K that share a scale; 0 where K is no multiple of the scales."""
    if types.sfa is None or types.sfb is None:
        return 0
    of_a, of_b = _extent(types.sfa, -1), _extent(types.sfb, -2)
    if of_a != of_b:
        raise BlockScaleError(
            message("nv_tileas.block_scaled_mma.vector_sizes", of_a=of_a, of_b=of_b)
        )
    k = _extent(types.a, -1)
    return k // of_a if of_a > 0 and k % of_a == 0 else 0


def _extent(tile: Tile, dimension: int) -> int:
    shape = tile.get_shape()
    return shape[dimension] if len(shape) >= 2 else 0


def _natural_k(types: BlockScaledTypes) -> int:
    elements = {element_name(types.a.element_type), element_name(types.b.element_type)}
    return 64 if elements == {FP4} else 32


def _look_up(
    types: BlockScaledTypes, atom_k: int, vector_size: int, cta_group: int
) -> BlockScaledConfiguration:
    found = BLOCK_SCALED.get((atom_k, vector_size))
    elements = {element_name(types.a.element_type), element_name(types.b.element_type)}
    if (
        found is None
        or types.sfa is None
        or not elements <= set(found.elements)
        or element_name(types.sfa.element_type) not in found.scales
        or cta_group not in found.cta_groups
    ):
        raise BlockScaleError(message("nv_tileas.block_scaled_mma.configuration"))
    return found
