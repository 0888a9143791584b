"""Copies by tensor maps: what may be executed, and what only partitions tensors yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntAttr, IntegerType, StringAttr, i16, i64
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.clauses import INTEGER, TYPE, WORD, Clause, ClausedType
from tileas_xdsl.dialects.cute.atom.interfaces import AtomField, CopyAtomType, PrefetchAtomType
from tileas_xdsl.dialects.cute.memory.views import bit_width
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.layouts import LayoutAttr
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.cute.types.tuples import IntTupleType
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import LAYOUT, TUPLE, integer, text
from tileas_xdsl.layout import Layout, coalesce, composition
from tileas_xdsl.layout.axes import AxisSum, Offset, axis_sum, terms_of
from tileas_xdsl.target.features import FEATURES, Feature

LOAD_MODES = ("tiled", "im2col", "w128", "w", "gather4")
STORE_MODES = ("tiled", "im2col", "scatter4")
REDUCTIONS = ("ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR")
TILED_KINDS = ("sm_90", "sm_90_multicast", "sm_100_2sm", "sm_100_2sm_multicast")
"""What a load is for: one block, several by multicast, a pair of blocks, several pairs."""

FORMATS = (
    "U8", "U16", "U32", "S32", "U64", "S64", "F16_RN", "F32_RN", "F32_FTZ_RN", "F64_RN", "BF16_RN",
    "U4", "U4_UNPACK_U8", "U6_UNPACK_U8", "TF32_RN", "TF32_FTZ_RN",
)  # fmt: skip
"""Elements as tensor maps know them, by their number."""

MODE_TARGETS = {
    **dict.fromkeys(("w128", "w"), FEATURES[Feature.IM2COL_W]),
    **dict.fromkeys(("gather4", "scatter4"), FEATURES[Feature.TILE_GATHER]),
}
"""By mode: the targets that have it, where not every one from sm_90 on does."""

DESCRIPTOR = PtrType(IntegerType(64), AddressSpace.GENERIC)
BARRIER = PtrType(IntegerType(64), AddressSpace.SMEM)

_DESCRIPTOR = AtomField("tma_descriptor_ptr", DESCRIPTOR)
_BARRIER = AtomField("tma_bar", BARRIER)
_MASK = AtomField("mcast_mask", i16, optional=True)
_POLICY = AtomField("cache_policy", i64, optional=True)

TMA = ("sm_90",)


def _check_keyword(what: str, keyword: str, known: Sequence[str]) -> None:
    if keyword not in known:
        raise VerifyException(f"{what} is {', '.join(known)}, not {keyword}")


def dimensions(basis: Layout) -> Sequence[str]:
    """The modes of a tensor that a basis names, in the order of the dimensions of its map."""
    steps = [step for _, step in basis.leaves() if isinstance(step, AxisSum)]
    return list(dict.fromkeys(mode for step in steps for mode, _ in step.terms))


def first_elements(layout: Layout, count: int) -> Layout:
    """The layout of the first elements, with as few modes as it takes."""
    return cast("Layout", coalesce(composition(layout, Layout(count))))


def box_of(basis: Layout, count: int) -> Layout:
    """The first elements of a basis, to coordinates of the tensor map."""
    order = dimensions(basis)
    leaves = list(first_elements(basis, count).leaves())
    extents = tuple(extent for extent, _ in leaves)
    return Layout(extents, tuple(_renamed(order, step) for _, step in leaves))


def _renamed(order: Sequence[str], step: Offset) -> Offset:
    """Modes of a tensor as dimensions of its map."""
    return axis_sum((str(order.index(mode)), k) for mode, k in terms_of(step))


class TmaCopyType(ClausedType, CopyAtomType):
    """A copy that a descriptor describes: `bits` is what one instruction moves."""

    if TYPE_CHECKING:
        value_type: Attribute
        bits: IntAttr
        basis: LayoutAttr

    @property
    def copy_bits(self) -> int | None:
        return integer(self.bits)

    @property
    def is_multicast(self) -> bool:
        """Whether several blocks get what is loaded."""
        return False

    @property
    def box(self) -> Layout:
        """What one instruction moves, in the order of shared memory, to coordinates of its map."""
        bits = bit_width(self.value_type)
        return box_of(self.basis.data, integer(self.bits) // max(bits, 1))

    def check_bits(self) -> None:
        """Whole units of 16 bytes are moved."""
        if self.copy_bits is None or self.copy_bits < 128 or self.copy_bits % 128:
            raise VerifyException(f"TMA moves whole units of 128 bits, not {self.copy_bits} bits")


@irdl_attr_definition
class TmaLoadType(TmaCopyType, PrefetchAtomType, TypeAttribute):
    """`!cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, mode = tiled, num_cta = 2, ...>`."""

    name = "cute_nvgpu.atom.tma_load"
    value_type: Attribute
    bits: IntAttr
    mode: StringAttr
    num_cta: IntAttr
    strides: IntTupleType
    multicast: StringAttr
    basis: LayoutAttr

    CLAUSES = (
        Clause(TYPE), Clause(INTEGER, "copy_bits"), Clause(WORD, "mode"),
        Clause(INTEGER, "num_cta"), Clause(TUPLE, "g_stride"), Clause(WORD, "mcast", before=" "),
        Clause(LAYOUT, "tma_gbasis", before=" "),
    )  # fmt: skip
    DESTINATION_SPACES = (AddressSpace.SMEM,)

    @property
    def minimum_targets(self) -> Sequence[str]:
        pair = FEATURES[Feature.TMA_CTA_PAIR] if integer(self.num_cta) == 2 else TMA
        return MODE_TARGETS.get(text(self.mode), pair)

    @property
    def is_multicast(self) -> bool:
        return text(self.multicast) == "true"

    @property
    def state(self) -> Sequence[AtomField]:
        return (_DESCRIPTOR, _BARRIER, _MASK, _POLICY)

    def verify(self) -> None:
        _check_keyword("the mode of a load", text(self.mode), LOAD_MODES)
        _check_keyword("mcast", text(self.multicast), ("true", "false"))
        if integer(self.num_cta) not in (1, 2):
            raise VerifyException(f"a load is of 1 or 2 blocks, not {integer(self.num_cta)}")
        self.check_bits()


@irdl_attr_definition
class TmaStoreType(TmaCopyType, TypeAttribute):
    """`!cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, mode = tiled, g_stride = ...>`."""

    name = "cute_nvgpu.atom.tma_store"
    value_type: Attribute
    bits: IntAttr
    mode: StringAttr
    strides: IntTupleType
    basis: LayoutAttr

    CLAUSES = (
        Clause(TYPE), Clause(INTEGER, "copy_bits"), Clause(WORD, "mode"),
        Clause(TUPLE, "g_stride"), Clause(LAYOUT, "tma_gbasis", before=" "),
    )  # fmt: skip
    SOURCE_SPACES = (AddressSpace.SMEM,)

    @property
    def minimum_targets(self) -> Sequence[str]:
        return MODE_TARGETS.get(text(self.mode), TMA)

    @property
    def state(self) -> Sequence[AtomField]:
        return (_DESCRIPTOR, _POLICY)

    def verify(self) -> None:
        _check_keyword("the mode of a store", text(self.mode), STORE_MODES)
        self.check_bits()


@irdl_attr_definition
class TmaReduceType(TmaCopyType, TypeAttribute):
    """`!cute_nvgpu.atom.tma_reduce<f32, copy_bits = 4096, mode = tiled, kind = ADD, ...>`."""

    name = "cute_nvgpu.atom.tma_reduce"
    value_type: Attribute
    bits: IntAttr
    mode: StringAttr
    kind: StringAttr
    strides: IntTupleType
    basis: LayoutAttr

    CLAUSES = (
        Clause(TYPE), Clause(INTEGER, "copy_bits"), Clause(WORD, "mode"), Clause(WORD, "kind"),
        Clause(TUPLE, "g_stride"), Clause(LAYOUT, "tma_gbasis", before=" "),
    )  # fmt: skip
    SOURCE_SPACES = (AddressSpace.SMEM,)

    @property
    def minimum_targets(self) -> Sequence[str]:
        return TMA

    @property
    def state(self) -> Sequence[AtomField]:
        return (_DESCRIPTOR, _POLICY)

    def verify(self) -> None:
        _check_keyword("the mode of a reduction", text(self.mode), STORE_MODES[:2])
        _check_keyword("a reduction", text(self.kind), REDUCTIONS)
        self.check_bits()


class PartitionType(TmaCopyType):
    """A copy that says how tensors are partitioned; it is bound to no descriptor."""

    if TYPE_CHECKING:
        kind: StringAttr
        format: StringAttr

    @property
    def is_multicast(self) -> bool:
        return text(self.kind).endswith("multicast")

    @property
    def minimum_targets(self) -> Sequence[str]:
        pair = text(self.kind).startswith("sm_100")
        return FEATURES[Feature.TMA_CTA_PAIR] if pair else TMA

    def check_partition(self) -> None:
        """Format and bits."""
        _check_keyword("tma_format", text(self.format), FORMATS)
        self.check_bits()


_TAIL = (
    Clause(TYPE), Clause(INTEGER, "copy_bits"), Clause(LAYOUT, "tma_gbasis"),
    Clause(WORD, "tma_format"),
)  # fmt: skip


@irdl_attr_definition
class NonExecTiledTmaLoadType(PartitionType, TypeAttribute):
    """`!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, ...>`."""

    name = "cute_nvgpu.atom.non_exec_tiled_tma_load"
    kind: StringAttr
    value_type: Attribute
    bits: IntAttr
    basis: LayoutAttr
    format: StringAttr

    CLAUSES = (Clause(WORD), *_TAIL)

    def verify(self) -> None:
        _check_keyword("the kind of a load", text(self.kind), TILED_KINDS)
        self.check_partition()


@irdl_attr_definition
class NonExecTiledTmaStoreType(PartitionType, TypeAttribute):
    """`!cute_nvgpu.atom.non_exec_tiled_tma_store<sm_90, f16, copy_bits = 131072, ...>`."""

    name = "cute_nvgpu.atom.non_exec_tiled_tma_store"
    kind: StringAttr
    value_type: Attribute
    bits: IntAttr
    basis: LayoutAttr
    format: StringAttr

    CLAUSES = (Clause(WORD), *_TAIL)

    def verify(self) -> None:
        _check_keyword("the kind of a store", text(self.kind), TILED_KINDS[:1])
        self.check_partition()


@irdl_attr_definition
class NonExecTiledTmaReduceType(PartitionType, TypeAttribute):
    """`!cute_nvgpu.atom.non_exec_tiled_tma_reduce<ADD, f32, copy_bits = 4096, ...>`."""

    name = "cute_nvgpu.atom.non_exec_tiled_tma_reduce"
    kind: StringAttr
    value_type: Attribute
    bits: IntAttr
    basis: LayoutAttr
    format: StringAttr

    CLAUSES = (Clause(WORD), *_TAIL)

    def verify(self) -> None:
        _check_keyword("a reduction", text(self.kind), REDUCTIONS)
        self.check_partition()
