"""Atoms: the hardware instructions that move, multiply or reduce tiles, as data.

An atom is written as a keyword and, where the keyword does not fix its properties, parameters:

    ldg  stg  ldgsts  unknown_copy  ldsm_m88  stsm_m88  tcgen05_ld  tcgen05_st
    tma_load_2d<box = [64, 128], mode = tiled, multicast>  tma_store_2d<...>  tma_redg_2d<op = add>
    mma_f16_f16_f32<shape = [64, 128, 16]>  wgmma_bf16_bf16_f32  tcgen05_e4m3_e4m3_f32
    fma_f32_f32_f32
    reduce_add  reduce_max

Sources: PTX ISA (ld, st, cp.async, ldmatrix, cp.async.bulk.tensor, wgmma, tcgen05, mma, redux).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode, Space
from tileas_xdsl.target.arch import TARGETS
from tileas_xdsl.target.features import Feature

G, S, T, R = Space.GMEM, Space.SMEM, Space.TMEM, Space.RMEM

SpacePair: TypeAlias = tuple[Space, Space]


class Atom(ABC):
    """What every atom has."""

    @property
    @abstractmethod
    def keyword(self) -> str:
        """The atom's name in text."""

    @property
    @abstractmethod
    def family(self) -> str:
        """The name that verifiers speak of: `tma_load`, `ldg`, `mma`, ..."""

    @property
    def feature(self) -> Feature | None:
        """The feature of a target that the instruction needs; None if all have it."""
        return None

    @property
    def targets(self) -> Sequence[str]:
        """The targets that have the instruction."""
        feature = self.feature
        return [t.name for t in TARGETS.values() if feature is None or feature in t.features]

    def parameters(self) -> dict[str, str]:
        """The parameters as printed, in order."""
        return {}

    def __str__(self) -> str:
        inner = ", ".join(f"{k} = {v}" if v else k for k, v in self.parameters().items())
        return f"{self.keyword}<{inner}>" if inner else self.keyword


@dataclass(frozen=True, slots=True)
class CopyFacts:
    """A copy instruction: the spaces it connects, what alignment it needs, where it exists."""

    spaces: tuple[SpacePair, ...]
    alignment: int
    """Bytes by which every access must be aligned."""
    feature: Feature | None = None


UNKNOWN_COPY = "unknown_copy"
"""The atom of a copy until layout assignment has chosen an instruction for it."""

COPY_ATOMS: Mapping[str, CopyFacts] = {
    "ldg": CopyFacts(((G, R),), 1),
    "stg": CopyFacts(((R, G),), 1),
    "lds": CopyFacts(((S, R),), 1),
    "sts": CopyFacts(((R, S),), 1),
    "ldgsts": CopyFacts(((G, S),), 4),
    "ldsm_m88": CopyFacts(((S, R),), 16),
    "ldsm_m88_trans": CopyFacts(((S, R),), 16),
    "ldsm_m816": CopyFacts(((S, R),), 16, Feature.NARROW_MATRICES),
    "stsm_m88": CopyFacts(((R, S),), 16),
    "stsm_m88_trans": CopyFacts(((R, S),), 16),
    "tcgen05_ld": CopyFacts(((T, R),), 4, Feature.TCGEN05),
    "tcgen05_st": CopyFacts(((R, T),), 4, Feature.TCGEN05),
    "tcgen05_cp": CopyFacts(((S, T),), 16, Feature.TCGEN05),
    UNKNOWN_COPY: CopyFacts(
        ((G, R), (G, S), (R, G), (R, S), (R, T), (S, G), (S, R), (S, T), (T, R), (T, S)),
        1,
    ),
}
"""Copy atoms by keyword."""


class CopyAtomInterface(Atom):
    """An atom that moves tiles from one space to another."""

    @property
    @abstractmethod
    def spaces(self) -> tuple[SpacePair, ...]:
        """The (source, destination) pairs it serves."""

    @property
    @abstractmethod
    def alignment(self) -> int:
        """Bytes by which every access must be aligned."""


@dataclass(frozen=True)
class CopyAtom(CopyAtomInterface):
    """A copy that is not TMA."""

    name: str

    @property
    def keyword(self) -> str:
        return self.name

    @property
    def family(self) -> str:
        return self.name

    @property
    def spaces(self) -> tuple[SpacePair, ...]:
        return COPY_ATOMS[self.name].spaces

    @property
    def alignment(self) -> int:
        return COPY_ATOMS[self.name].alignment

    @property
    def feature(self) -> Feature | None:
        return COPY_ATOMS[self.name].feature


@dataclass(frozen=True, slots=True)
class TmaFacts:
    """A direction of TMA: its spaces and the modes a descriptor may have."""

    spaces: tuple[SpacePair, ...]
    modes: tuple[str, ...]


TMA_REDUCTIONS = ("add", "min", "max", "and", "or", "xor")
"""What `cp.reduce.async.bulk.tensor` can do, besides inc and dec (PTX ISA)."""

TMA_ATOMS: Mapping[str, TmaFacts] = {
    "tma_load": TmaFacts(((G, S), (G, T)), ("tiled", "im2col", "im2col_at", "tiled_at", "gather4")),
    "tma_store": TmaFacts(((S, G),), ("tiled", "im2col", "scatter4")),
    "tma_redg": TmaFacts(((S, G),), ("tiled", "im2col", "scatter4")),
}
"""TMA atoms by family; the first mode is the default.  `tiled_at` and `im2col_at` add an offset."""

BLACKWELL_MODES = ("gather4", "scatter4")


@dataclass(frozen=True)
class TmaAtom(CopyAtomInterface):
    """A bulk tensor copy of a box of `rank` dimensions; an empty box is not fixed yet.

    `mode` is kept as written, so that a verifier can refuse one that its direction does not have.
    """

    direction: str
    rank: int
    box: tuple[int, ...] = ()
    mode: str = "tiled"
    multicast: bool = False
    reduction: RmwMode | None = None

    @property
    def keyword(self) -> str:
        return f"{self.direction}_{self.rank}d"

    @property
    def family(self) -> str:
        return self.direction

    @property
    def spaces(self) -> tuple[SpacePair, ...]:
        return TMA_ATOMS[self.direction].spaces

    @property
    def alignment(self) -> int:
        return 16

    @property
    def box_rank(self) -> int:
        """How many box extents a descriptor for this atom has."""
        return self.rank

    @property
    def feature(self) -> Feature | None:
        return Feature.TILE_GATHER if self.mode in BLACKWELL_MODES else None

    def parameters(self) -> dict[str, str]:
        found: dict[str, str] = {}
        if self.box:
            found["box"] = f"[{', '.join(map(str, self.box))}]"
        if self.mode != "tiled":
            found["mode"] = self.mode
        if self.multicast:
            found["multicast"] = ""
        if self.reduction is not None:
            found["op"] = self.reduction.value
        return found


MMA_FEATURES: Mapping[str, Feature | None] = {
    "fma": None,
    "mma": None,
    "wgmma": Feature.WGMMA,
    "tcgen05": Feature.TCGEN05,
}
"""What targets must have for each family of matrix instructions (PTX ISA, target notes).

`fma` is none: threads multiply and add element by element, whatever no instruction multiplies.
"""


@dataclass(frozen=True)
class MmaAtom(Atom):
    """A matrix instruction: element types of A, B and the accumulator; M, N, K where fixed.

    `block_scaled` ones take a scale for every `scale_vector` elements of K.  `cta_group` is 0 where
    the atom leaves open how many CTAs work together.
    """

    instruction: str
    a: str
    b: str
    d: str
    shape: tuple[int, ...] = ()
    scale_vector: int = 0
    cta_group: int = 0

    @property
    def keyword(self) -> str:
        return f"{self.instruction}_{self.a}_{self.b}_{self.d}"

    @property
    def family(self) -> str:
        return self.instruction

    @property
    def feature(self) -> Feature | None:
        return Feature.TCGEN05 if self.scale_vector else MMA_FEATURES[self.instruction]

    def parameters(self) -> dict[str, str]:
        found: dict[str, str] = {}
        if self.shape:
            found["shape"] = f"[{', '.join(map(str, self.shape))}]"
        if self.scale_vector:
            found["scale_vector"] = str(self.scale_vector)
        if self.cta_group:
            found["cta_group"] = str(self.cta_group)
        return found


REDUCTIONS = ("add", "mul", "min", "max", "and", "or", "xor")
"""The operations of reduce and scan."""


@dataclass(frozen=True)
class ReduceAtom(Atom):
    """A reduction or scan across the elements that one thread or warp holds."""

    operation: str

    @property
    def keyword(self) -> str:
        return f"reduce_{self.operation}"

    @property
    def family(self) -> str:
        return "reduce"


Parameter: TypeAlias = "int | str | tuple[int, ...] | None"
"""A parsed parameter: an integer, a keyword, a list of integers, or a flag."""
