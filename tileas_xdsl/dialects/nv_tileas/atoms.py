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

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.element_names import canonical_name
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode, Space
from tileas_xdsl.layout.memory.elements import ELEMENT_TYPES
from tileas_xdsl.target.arch import TARGETS
from tileas_xdsl.target.features import Feature

G, S, T, R = Space.GMEM, Space.SMEM, Space.TMEM, Space.RMEM

SpacePair: TypeAlias = tuple[Space, Space]


class AtomError(ValueError):
    """Text that names no atom; the message is a sentence."""


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

_TMA = re.compile(r"(tma_load|tma_store|tma_redg)_([1-5])d$")
_MMA = re.compile(r"(fma|mma|wgmma|tcgen05)_([a-z0-9]+)_([a-z0-9]+)_([a-z0-9]+)$")


@dataclass
class _Parameters:
    """The parameters of one atom; what is left over after reading is refused."""

    keyword: str
    given: dict[str, Parameter]
    read: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, keyword: str, pairs: Iterable[tuple[str, Parameter]]) -> _Parameters:
        """The parameters as written; each of them once."""
        given: dict[str, Parameter] = {}
        for key, value in pairs:
            if key in given:
                raise AtomError(f"atom '{keyword}' has parameter '{key}' twice")
            given[key] = value
        return cls(keyword, given)

    def ints(self, key: str) -> tuple[int, ...]:
        if not self._has(key):
            return ()
        value = self.given[key]
        if not isinstance(value, tuple) or not value or any(n < 1 for n in value):
            raise AtomError(f"parameter '{key}' of atom '{self.keyword}' is a list of extents")
        return value

    def integer(self, key: str, default: int) -> int:
        if not self._has(key):
            return default
        value = self.given[key]
        if not isinstance(value, int):
            raise AtomError(f"parameter '{key}' of atom '{self.keyword}' is an integer")
        return value

    def text(self, key: str, default: str) -> str:
        if not self._has(key):
            return default
        value = self.given[key]
        if not isinstance(value, str):
            raise AtomError(f"parameter '{key}' of atom '{self.keyword}' is a word")
        return value

    def flag(self, key: str) -> bool:
        if self._has(key) and self.given[key] is not None:
            raise AtomError(f"parameter '{key}' of atom '{self.keyword}' has no value")
        return key in self.given

    def _has(self, key: str) -> bool:
        self.read.add(key)
        return key in self.given

    def check_all_read(self) -> None:
        for key in self.given:
            if key not in self.read:
                raise AtomError(f"atom '{self.keyword}' has no parameter '{key}'")


def make_atom(keyword: str, parameters: Mapping[str, Parameter] | None = None) -> Atom:
    """Return the atom of a keyword and its parameters; raises `AtomError` with the reason."""
    return read_atom(keyword, (parameters or {}).items())


def read_atom(keyword: str, pairs: Iterable[tuple[str, Parameter]]) -> Atom:
    """The atom of a text, whose parameters are pairs, so that none that is there twice is lost."""
    given = _Parameters.of(keyword, pairs)
    atom = _from_word(keyword, given)
    given.check_all_read()
    return atom


def _from_word(keyword: str, given: _Parameters) -> Atom:
    if keyword in COPY_ATOMS:
        return CopyAtom(keyword)
    if match := _TMA.match(keyword):
        return _tma(match[1], int(match[2]), given)
    if match := _MMA.match(keyword):
        return _mma(match, given)
    if keyword.startswith("reduce_") and keyword.removeprefix("reduce_") in REDUCTIONS:
        return ReduceAtom(keyword.removeprefix("reduce_"))
    raise AtomError(
        f"unknown atom '{keyword}'; atoms are {', '.join(COPY_ATOMS)}, tma_(load|store|redg)_Nd, "
        f"(fma|mma|wgmma|tcgen05)_A_B_D, reduce_({'|'.join(REDUCTIONS)})"
    )


def _tma(direction: str, rank: int, given: _Parameters) -> TmaAtom:
    box = given.ints("box")
    if box and len(box) != rank:
        raise AtomError(f"the box of atom '{given.keyword}' has {len(box)} extents, not {rank}")
    operation = given.text("op", "add") if direction == "tma_redg" else None
    if operation is not None and operation not in TMA_REDUCTIONS:
        known = ", ".join(TMA_REDUCTIONS)
        raise AtomError(f"atom '{given.keyword}' reduces with {known}, not {operation}")
    return TmaAtom(
        direction,
        rank,
        box,
        given.text("mode", "tiled"),
        given.flag("multicast"),
        None if operation is None else RmwMode(operation),
    )


def _mma(match: re.Match[str], given: _Parameters) -> MmaAtom:
    for name in match.groups()[1:]:
        if canonical_name(name) not in ELEMENT_TYPES:
            raise AtomError(f"atom '{given.keyword}' multiplies '{name}', which is no element type")
    shape = given.ints("shape")
    if shape and len(shape) != 3:
        raise AtomError(f"the shape of atom '{given.keyword}' is [M, N, K]")
    return MmaAtom(
        match[1],
        match[2],
        match[3],
        match[4],
        shape,
        given.integer("scale_vector", 0),
        _cta_group(match[1], given),
    )


def _cta_group(instruction: str, given: _Parameters) -> int:
    group = given.integer("cta_group", 0)
    if "cta_group" in given.given and group not in (1, 2):
        raise AtomError(f"cta_group of atom '{given.keyword}' is 1 or 2, not {group}")
    if group == 2 and instruction != "tcgen05":
        raise AtomError(f"only tcgen05 works with 2 CTAs; atom '{given.keyword}' does not")
    return group
