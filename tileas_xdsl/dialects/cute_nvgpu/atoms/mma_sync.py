"""Matrix instructions of threads and warps: registers for all operands.

Shapes and types: PTX ISA 9.7.14 (`mma.sync`).  Layouts: CUTLASS include/cute/atom/mma_traits_sm80.hpp.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr, i32
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.clauses import INTEGER, TYPE, WORD, Clause
from tileas_xdsl.dialects.cute.atom.interfaces import AtomField, MmaOperand
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.elements import integer_bits
from tileas_xdsl.dialects.cute_nvgpu.atoms.block_scales import check_scales
from tileas_xdsl.dialects.cute_nvgpu.atoms.mma import FP8, MmaType, registers_of
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import (
    SHAPE,
    SIGNATURE,
    integer,
    show_extents,
    text,
    types,
)
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import TYPES as TYPE_LIST
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma_kinds import ptx_element
from tileas_xdsl.layout import Layout
from tileas_xdsl.target.features import FEATURES, Feature

Shape = tuple[int, int, int]

_HALVES = ((16, 8, 8), (16, 8, 16))
SHAPES: Mapping[str, Sequence[Shape]] = {
    "f16": _HALVES,
    "bf16": _HALVES,
    "tf32": ((16, 8, 4), (16, 8, 8)),
    "f64": ((8, 8, 4),),
    "8": ((16, 8, 16), (16, 8, 32)),
    "4": ((16, 8, 32), (16, 8, 64)),
    "1": ((16, 8, 128), (16, 8, 256)),
}
"""By element, or the bits of an integer: the shapes of `mma.sync` from sm_80 on."""

ACCUMULATORS: Mapping[str, Sequence[str]] = {
    "f16": ("f16", "f32"), "bf16": ("f32",), "tf32": ("f32",), "f64": ("f64",),
}  # fmt: skip
"""By element, what floats are summed in; integers are summed in i32."""

INTEGER_MESSAGES: Mapping[int, str] = {
    8: "cute_nvgpu.mma.int8",
    4: "cute_nvgpu.mma.int4",
    1: "cute_nvgpu.mma.int1",
}

_LAYOUTS: Mapping[str, str] = {
    "f16": "16bit", "bf16": "16bit", "tf32": "tf32", "f64": "f64", "8": "8bit",
}  # fmt: skip
"""By element, what register layouts are called."""

SPARSE_STEP = 2
"""Elements of K that a sparse product takes, by those of a dense one."""

METADATA = ("standard", "ordered")
"""How the choices of a sparse A are written: `.sp`, or `.sp::ordered_metadata`."""


def _family(element: Attribute) -> str:
    """The element's name, or the bits of an integer."""
    return str(integer_bits(element) or element)


class WarpMmaType(MmaType):
    """A product whose operands are registers of a warp."""

    @property
    def threads(self) -> int:
        return 32

    @property
    def minimum_targets(self) -> Sequence[str]:
        return ("sm_80",)

    @property
    def elements(self) -> tuple[Attribute, ...]:
        return types(self.parameters[1])

    def operand_spaces(self, operand: MmaOperand) -> Sequence[AddressSpace]:
        del operand
        return ()

    def operand_layout(self, operand: MmaOperand) -> Layout | None:
        name = _LAYOUTS.get(_family(self.elements[0]))
        m, n, k = self.shape_mnk
        letter = "c" if operand is MmaOperand.D else operand.value.lower()
        return registers_of(f"mma.m{m}n{n}k{k}.{name}.{letter}")


def _check_pair(a: Attribute, b: Attribute) -> None:
    """A and B have the same element, but for the sign of integers."""
    if a != b and not (integer_bits(a) and integer_bits(a) == integer_bits(b)):
        raise VerifyException(message("cute_nvgpu.sm80_mma.types_differ", a=a, b=b))


def _check_shape(shape: Shape, element: Attribute, step: int = 1) -> None:
    known = [(m, n, k * step) for m, n, k in SHAPES.get(_family(element), ())]
    if shape not in known:
        listed = ",".join(map(str, shape))
        raise VerifyException(message("cute_nvgpu.sm80_mma.shape", shape=listed, type=element))


def _check_sum(element: Attribute, held: Attribute) -> None:
    if bits := integer_bits(element):
        if held != i32:
            raise VerifyException(message(INTEGER_MESSAGES[bits]))
        return
    known = ACCUMULATORS[_family(element)]
    if ptx_element(held) not in known:
        raise VerifyException(f"sums of {element} are of {' or '.join(known)}, not of {held}")


@irdl_attr_definition
class UniversalFmaType(WarpMmaType, TypeAttribute):
    """`!cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >`: one multiplication, one sum."""

    name = "cute_nvgpu.atom.universal_fma"
    shape: ArrayAttr[IntAttr]
    element_types: ArrayAttr[Attribute]

    CLAUSES = (Clause(SHAPE), Clause(SIGNATURE))

    @property
    def threads(self) -> int:
        return 1

    @property
    def minimum_targets(self) -> Sequence[str]:
        return ()

    def operand_layout(self, operand: MmaOperand) -> Layout | None:
        del operand
        return Layout((1, 1), (0, 0))

    def verify(self) -> None:
        if self.shape_mnk != (1, 1, 1):
            raise VerifyException(f"one thread multiplies 1x1x1, not {show_extents(self.shape)}")


@irdl_attr_definition
class Sm80MmaType(WarpMmaType, TypeAttribute):
    """`!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >`: `mma.sync`."""

    name = "cute_nvgpu.sm80.mma"
    shape: ArrayAttr[IntAttr]
    element_types: ArrayAttr[Attribute]

    CLAUSES = (Clause(SHAPE), Clause(TYPE_LIST, "elem_type"))
    END = " >"

    def verify(self) -> None:
        a, b, c = self.elements
        _check_pair(a, b)
        _check_shape(self.shape_mnk, a)
        _check_sum(a, c)


@irdl_attr_definition
class Sm80SparseMmaType(WarpMmaType, TypeAttribute):
    """`!cute_nvgpu.sm80.sparse_mma<16x8x32, elem_type = (f16, f16, f32), metadata = ordered >`."""

    name = "cute_nvgpu.sm80.sparse_mma"
    shape: ArrayAttr[IntAttr]
    element_types: ArrayAttr[Attribute]
    metadata: StringAttr

    CLAUSES = (
        Clause(SHAPE), Clause(TYPE_LIST, "elem_type"), Clause(WORD, "metadata"),
    )  # fmt: skip
    END = " >"

    @property
    def state(self) -> Sequence[AtomField]:
        return (AtomField("e", i32),)

    def operand_layout(self, operand: MmaOperand) -> Layout | None:
        """Return the layout of an operand: that of the dense product with half of K, but for B."""
        return None if operand is MmaOperand.B else self._dense(operand)

    def _dense(self, operand: MmaOperand) -> Layout | None:
        m, n, k = self.shape_mnk
        dense = ArrayAttr([IntAttr(m), IntAttr(n), IntAttr(k // SPARSE_STEP)])
        return Sm80MmaType(dense, self.element_types).operand_layout(operand)

    def verify(self) -> None:
        a, b, c = self.elements
        _check_pair(a, b)
        _check_shape(self.shape_mnk, a, SPARSE_STEP)
        _check_sum(a, c)
        if text(self.metadata) not in METADATA:
            raise VerifyException(
                f"metadata are {' or '.join(METADATA)}, not {text(self.metadata)}"
            )


@irdl_attr_definition
class Sm89MmaType(WarpMmaType, TypeAttribute):
    """`!cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E4M3FN, f32) >`: floats of 8 bits."""

    name = "cute_nvgpu.sm89.mma"
    shape: ArrayAttr[IntAttr]
    element_types: ArrayAttr[Attribute]

    CLAUSES = (Clause(SHAPE), Clause(TYPE_LIST, "elem_type"))
    END = " >"

    @property
    def minimum_targets(self) -> Sequence[str]:
        return ("sm_89",)

    def operand_layout(self, operand: MmaOperand) -> Layout | None:
        letter = "c" if operand is MmaOperand.D else operand.value.lower()
        return registers_of(f"mma.m16n8k{self.shape_mnk[2]}.8bit.{letter}")

    def verify(self) -> None:
        *operands, held = self.elements
        for side, element in zip("AB", operands, strict=True):
            if not isinstance(element, FP8):
                text = message("cute_nvgpu.sm89_mma.operand_type", operand=side, type=element)
                raise VerifyException(text)
        if self.shape_mnk not in ((16, 8, 16), (16, 8, 32)):
            raise VerifyException(
                "floats of 8 bits are multiplied 16x8x16 or 16x8x32, "
                f"not {show_extents(self.shape)}"
            )
        if ptx_element(held) not in ("f16", "f32"):
            raise VerifyException(f"sums of floats of 8 bits are of f16 or f32, not of {held}")


SM120_SHAPES: Sequence[Shape] = ((16, 8, 32), (16, 8, 64))


@irdl_attr_definition
class Sm120MmaBlockScaledType(WarpMmaType, TypeAttribute):
    """`!cute_nvgpu.SM120.mma_bs<16x8x64, vec_size = 16, elem_type = (...), sf_type = ..., ...>`."""

    name = "cute_nvgpu.SM120.mma_bs"
    shape: ArrayAttr[IntAttr]
    vector: IntAttr
    element_types: ArrayAttr[Attribute]
    scale_type: Attribute
    scale_layout: StringAttr

    CLAUSES = (
        Clause(SHAPE), Clause(INTEGER, "vec_size"), Clause(TYPE_LIST, "elem_type"),
        Clause(TYPE, "sf_type"), Clause(WORD, "use_sf_layout_TV"),
    )  # fmt: skip

    @property
    def minimum_targets(self) -> Sequence[str]:
        return FEATURES[Feature.WARP_BLOCK_SCALE]

    @property
    def elements(self) -> tuple[Attribute, ...]:
        return types(self.element_types)

    @property
    def vector_size(self) -> int:
        """Elements that share a scale factor."""
        return integer(self.vector)

    @property
    def state(self) -> Sequence[AtomField]:
        return (AtomField("sf_a", i32), AtomField("sf_b", i32))

    def operand_layout(self, operand: MmaOperand) -> Layout | None:
        """K is 256 bits of any element: as of 8-bit ones where an element fills a byte."""
        if self.shape_mnk[2] != 32 or operand in (MmaOperand.SFA, MmaOperand.SFB, MmaOperand.E):
            return None
        letter = "c" if operand is MmaOperand.D else operand.value.lower()
        return registers_of(f"mma.m16n8k32.8bit.{letter}")

    def verify(self) -> None:
        if text(self.scale_layout) not in ("true", "false"):
            raise VerifyException("use_sf_layout_TV is true or false")
        check_scales(self.shape_mnk, self.elements, self.scale_type, self.vector_size)
        if self.shape_mnk not in SM120_SHAPES:
            raise VerifyException(
                f"a warp multiplies with scales 16x8x32 or 16x8x64, not {show_extents(self.shape)}"
            )
