"""Matrix instructions into tensor memory, `tcgen05.mma` (PTX ISA 9.7.16).

Layouts: CUTLASS include/cute/atom/mma_traits_sm100.hpp.  Shapes: `target.mma_kinds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr, i1, i32
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.clauses import INTEGER, TYPE, WORD, Clause
from tileas_xdsl.dialects.cute.atom.interfaces import AtomField, MmaOperand
from tileas_xdsl.dialects.cute_nvgpu.atoms.block_scales import check_scales
from tileas_xdsl.dialects.cute_nvgpu.atoms.mma import MmaType
from tileas_xdsl.dialects.cute_nvgpu.atoms.operand_views import accumulators_of, descriptors_of
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import (
    KEYWORDS,
    SHAPE,
    integer,
    keywords,
    text,
    types,
)
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import TYPES as TYPE_LIST
from tileas_xdsl.dialects.cute_nvgpu.atoms.wgmma import check_majors
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma_kinds import ptx_element
from tileas_xdsl.layout import Layout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.features import FEATURES, Feature
from tileas_xdsl.target.mma.mma_kinds import KINDS, check_shape

TARGETS = FEATURES[Feature.TCGEN05]
"""Those that have tensor memory; `f` is the family, so that sm_103a is one of sm_100f's."""

FRAGMENTS = ("ss", "ts")
"""Where A and B are: `s` is shared memory by a descriptor, `t` tensor memory."""

KIND_OF = {
    "f16": "f16", "bf16": "f16", "tf32": "tf32", "s8": "i8", "u8": "i8",
    **dict.fromkeys(("e4m3", "e5m2", "e2m3", "e3m2", "e2m1"), "f8f6f4"),
}  # fmt: skip
"""By the elements of A, the kind of a product without scales."""

SPARSE_STEP = 2

LARGEST_EXPONENT = 15
"""Exponents of two by which the accumulator may be divided before a product is added."""


class UmmaType(MmaType):
    """A product into tensor memory, by one thread of one block or of two."""

    if TYPE_CHECKING:
        num_cta: IntAttr
        majors: ArrayAttr[StringAttr]
        element_types: ArrayAttr[Attribute]
        fragments: StringAttr
    STEP: ClassVar[int] = 1
    """Two where A is sparse."""

    @property
    def minimum_targets(self) -> Sequence[str]:
        return TARGETS

    @property
    def blocks(self) -> int:
        """The blocks that multiply together."""
        return integer(self.num_cta)

    @property
    def threads(self) -> int:
        """Counted as CuTe does: a block is one."""
        return self.blocks

    @property
    def elements(self) -> tuple[Attribute, ...]:
        return types(self.element_types)

    def operand_layout(self, operand: MmaOperand) -> Layout | None:
        m, n, k = self.shape_mnk
        extents = {
            MmaOperand.A: (m, k), MmaOperand.B: (n, k), MmaOperand.C: (m, n), MmaOperand.D: (m, n),
        }  # fmt: skip
        if operand not in extents:
            return None
        rows, columns = extents[operand]
        share = rows // self.blocks
        return Layout((self.blocks, (share, columns)), (share, (1, rows)))

    def fragment_type(
        self, op: Operation, operand: MmaOperand, source: Attribute
    ) -> Attribute | None:
        if operand in (MmaOperand.C, MmaOperand.D):
            m, n, _ = self.shape_mnk
            return accumulators_of(source, self.elements[2], (m, n), self.blocks)
        if operand is MmaOperand.A and text(self.fragments) == "ts":
            raise LayoutError("A in tensor memory is a view that the kernel makes")
        return descriptors_of(source)

    def check_common(self) -> None:
        """Blocks, majors, and where A is."""
        if self.blocks not in (1, 2):
            raise VerifyException(message("cute_nvgpu.sm100_mma.num_cta", count=self.blocks))
        check_majors(keywords(self.majors))
        if text(self.fragments) not in FRAGMENTS:
            known = " or ".join(FRAGMENTS)
            raise VerifyException(f"frag_kind is {known}, not {text(self.fragments)}")

    def check_extents(self, kind: str) -> None:
        """M and N are those of the kind."""
        m, n, _ = self.shape_mnk
        try:
            check_shape(KINDS[kind], m, n, str(self.blocks))
        except TargetError as error:
            raise VerifyException(str(error)) from None

    def check_plain(self) -> None:
        """Elements and shape of a product without scales."""
        a, b, held = (ptx_element(element) for element in self.elements)
        kind = KIND_OF.get(a)
        if kind is None or KIND_OF.get(b) != kind or (kind == "f16" and a != b):
            raise VerifyException(f"tcgen05.mma has no product of {a} and {b}")
        expected, k = KINDS[kind].k * self.STEP, self.shape_mnk[2]
        if k != expected:
            raise VerifyException(message("cute_nvgpu.sm100_mma.k", expected=expected, given=k))
        accumulators = ["i32" if name == "s32" else name for name in KINDS[kind].accumulators]
        if held not in accumulators or (a == "bf16" and held == "f16"):
            raise VerifyException(f"sums of {a} are not of {held}")
        self.check_extents(kind)


_ACCUM = AtomField("accum_c", i1)
_NEGATE = (AtomField("neg_a", i1), AtomField("neg_b", i1))
_SCALES = (AtomField("sf_a", i32), AtomField("sf_b", i32))
_METADATA = AtomField("e", i32)

_HEAD = (Clause(SHAPE), Clause(INTEGER, "num_cta"), Clause(KEYWORDS, "ab_major"))
_ELEMENTS = Clause(TYPE_LIST, "elem_type")
_PLAIN = (*_HEAD, _ELEMENTS, Clause(WORD, "frag_kind"), Clause(INTEGER, "c_scale_exp"))
_SCALED = (
    *_HEAD, _ELEMENTS, Clause(TYPE, "sf_type"), Clause(WORD, "frag_kind"),
    Clause(INTEGER, "vec_size"),
)  # fmt: skip


def _check_exponent(exponent: int, element: Attribute) -> None:
    if not 0 <= exponent <= LARGEST_EXPONENT:
        raise VerifyException(f"c_scale_exp is 0 to {LARGEST_EXPONENT}, not {exponent}")
    if exponent and KIND_OF[ptx_element(element)] not in ("f16", "tf32"):
        raise VerifyException(f"sums of {element} are not scaled")


@irdl_attr_definition
class Sm100MmaType(UmmaType, TypeAttribute):
    """`!cute_nvgpu.sm100.mma<256x256x16, num_cta = 2, ab_major = (k, k), ..., c_scale_exp = 0>`."""

    name = "cute_nvgpu.sm100.mma"
    shape: ArrayAttr[IntAttr]
    num_cta: IntAttr
    majors: ArrayAttr[StringAttr]
    element_types: ArrayAttr[Attribute]
    fragments: StringAttr
    exponent: IntAttr

    CLAUSES = _PLAIN

    @property
    def state(self) -> Sequence[AtomField]:
        return (_ACCUM, *_NEGATE)

    def verify(self) -> None:
        self.check_common()
        self.check_plain()
        _check_exponent(integer(self.exponent), self.elements[0])


@irdl_attr_definition
class Sm100MmaSparseType(UmmaType, TypeAttribute):
    """`!cute_nvgpu.sm100.mma_sp<...>`: as `sm100.mma` with twice the K, half of A left out."""

    name = "cute_nvgpu.sm100.mma_sp"
    shape: ArrayAttr[IntAttr]
    num_cta: IntAttr
    majors: ArrayAttr[StringAttr]
    element_types: ArrayAttr[Attribute]
    fragments: StringAttr
    exponent: IntAttr

    CLAUSES = _PLAIN
    STEP: ClassVar[int] = SPARSE_STEP

    @property
    def state(self) -> Sequence[AtomField]:
        return (_ACCUM, *_NEGATE, _METADATA)

    def verify(self) -> None:
        self.check_common()
        self.check_plain()
        _check_exponent(integer(self.exponent), self.elements[0])


class ScaledUmmaType(UmmaType):
    """A product with block scales."""

    if TYPE_CHECKING:
        scale_type: Attribute
        vector: IntAttr

    @property
    def vector_size(self) -> int:
        """Elements that share a scale factor."""
        return integer(self.vector)

    def verify(self) -> None:
        self.check_common()
        check_scales(
            self.shape_mnk,
            self.elements,
            self.scale_type,
            self.vector_size,
            keywords(self.majors),
            self.STEP,
        )
        k = self.shape_mnk[2] // self.STEP
        self.check_extents("mxf8f6f4" if k == 32 else "mxf4")


@irdl_attr_definition
class Sm100MmaBlockScaledType(ScaledUmmaType, TypeAttribute):
    """`!cute_nvgpu.sm100.mma_bs<128x128x64, num_cta = 1, ..., sf_type = f8E4M3FN, ...>`."""

    name = "cute_nvgpu.sm100.mma_bs"
    shape: ArrayAttr[IntAttr]
    num_cta: IntAttr
    majors: ArrayAttr[StringAttr]
    element_types: ArrayAttr[Attribute]
    scale_type: Attribute
    fragments: StringAttr
    vector: IntAttr

    CLAUSES = _SCALED

    @property
    def state(self) -> Sequence[AtomField]:
        return (_ACCUM, *_NEGATE, *_SCALES)


@irdl_attr_definition
class Sm100MmaBlockScaledSparseType(ScaledUmmaType, TypeAttribute):
    """`!cute_nvgpu.sm100.mma_bs_sp<...>`: as `sm100.mma_bs` with twice the K."""

    name = "cute_nvgpu.sm100.mma_bs_sp"
    shape: ArrayAttr[IntAttr]
    num_cta: IntAttr
    majors: ArrayAttr[StringAttr]
    element_types: ArrayAttr[Attribute]
    scale_type: Attribute
    fragments: StringAttr
    vector: IntAttr

    CLAUSES = _SCALED
    STEP: ClassVar[int] = SPARSE_STEP

    @property
    def state(self) -> Sequence[AtomField]:
        return (_ACCUM, *_NEGATE, *_SCALES, _METADATA)
