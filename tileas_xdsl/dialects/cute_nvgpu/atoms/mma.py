"""What the types of matrix instructions have in common: shape, elements, and how calls are checked.

`LADDERS` names, for each generation, the checks of a call in their order; the first that fails is
the error.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float32Type,
)
from xdsl.ir import Attribute, Operation

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.clauses import ClausedType
from tileas_xdsl.dialects.cute.atom.interfaces import MmaAtomType, MmaCall, MmaOperand
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import numbers
from tileas_xdsl.dialects.cute_nvgpu.types import SmemDescViewType
from tileas_xdsl.layout import ComposedLayout, Layout, is_injective
from tileas_xdsl.layout.int_tuple import flat
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.register_layouts import register_layout

FP8 = (Float8E4M3FNType, Float8E5M2Type)
FP6 = (Float6E2M3FNType, Float6E3M2FNType)
FP4 = (Float4E2M1FNType,)

Check = Callable[["MmaType", Operation, MmaCall], None]


class MmaType(ClausedType, MmaAtomType):
    """A matrix instruction: `shape` and `elements` are parameters of every such type."""

    @property
    def shape_mnk(self) -> tuple[int, int, int]:
        m, n, k = numbers(self.parameters[0])
        return m, n, k

    @property
    @abstractmethod
    def elements(self) -> tuple[Attribute, ...]:
        """The element types of A, B and C."""

    def element_type(self, operand: MmaOperand) -> Attribute | None:
        position = {MmaOperand.A: 0, MmaOperand.B: 1, MmaOperand.C: 2, MmaOperand.D: 2}
        return self.elements[position[operand]] if operand in position else None

    def values(self, operand: MmaOperand) -> int:
        """The elements that one thread gives or gets."""
        layout = self.operand_layout(operand)
        return 1 if layout is None else layout[1].size()

    def check_mma(self, op: Operation, call: MmaCall) -> None:
        for check in LADDERS[type(self).__name__.removesuffix("Type")]:
            check(self, op, call)


def registers_of(name: str) -> Layout | None:
    """A register layout by its name; None if the instruction has no such operand."""
    try:
        return register_layout(name).layout
    except TargetError:
        return None


# What views say


def _element(type_: Attribute) -> Attribute | None:
    """The element type of an operand; None of a descriptor and of what has no elements."""
    return type_.element_type if isinstance(type_, MemRefType) else None


def _layout(type_: Attribute) -> Layout | ComposedLayout | None:
    return type_.layout if isinstance(type_, MemRefType | SmemDescViewType) else None


def _is_in(type_: Attribute, space: AddressSpace) -> bool:
    return isinstance(type_, MemRefType) and type_.space is space


def _operands(call: MmaCall) -> tuple[Attribute, Attribute, Attribute]:
    return call.a[0], call.b[0], call.d


_ELEMENT_MESSAGES: Mapping[MmaOperand, str] = {
    MmaOperand.A: "cute_nvgpu.mma.element_a",
    MmaOperand.B: "cute_nvgpu.mma.element_b",
    MmaOperand.C: "cute_nvgpu.mma.element_c",
}

# Steps of the ladders


def check_static(atom: MmaType, op: Operation, call: MmaCall) -> None:
    """Layouts are known and map to memory."""
    del atom
    for type_ in (*_operands(call), call.c):
        layout = _layout(type_)
        if layout is None:
            continue
        plain = isinstance(layout, Layout) and not any(layout.axes())
        if not plain or not _is_static(layout):
            raise op_error(op, message("cute_nvgpu.mma.static_layout", type=type_))


def _is_static(layout: Layout | ComposedLayout) -> bool:
    return isinstance(layout, Layout) and all(
        isinstance(leaf, int) for leaf in (*flat(layout.shape), *flat(layout.stride))
    )


def check_elements(atom: MmaType, op: Operation, call: MmaCall) -> None:
    """Elements are those of the instruction; descriptors say none."""
    rows = ((MmaOperand.A, call.a[0]), (MmaOperand.B, call.b[0]), (MmaOperand.C, call.c))
    for operand, type_ in rows:
        expected, given = atom.element_type(operand), _element(type_)
        if given is not None and given != expected:
            raise op_error(op, message(_ELEMENT_MESSAGES[operand], expected=expected, given=given))


def _a_residency(op: Operation, a: Attribute, space: AddressSpace) -> None:
    if not isinstance(a, SmemDescViewType) and not _is_in(a, space):
        raise op_error(op, message("cute_nvgpu.mma.operand_a", type=a))


def _residency(space: AddressSpace, a_space: AddressSpace) -> Check:
    """B in shared memory by its descriptor, A too or in `a_space`, D in `space`."""

    def check(atom: MmaType, op: Operation, call: MmaCall) -> None:
        del atom
        a, b, d = _operands(call)
        _a_residency(op, a, a_space)
        if not isinstance(b, SmemDescViewType):
            raise op_error(op, message("cute_nvgpu.mma.operand_b", type=b))
        if not _is_in(d, space):
            raise op_error(op, message("cute_nvgpu.mma.operand_d", type=d))

    return check


def _at_once(call: MmaCall, type_: Attribute) -> Layout | ComposedLayout | None:
    """The layout of what one instruction takes: mode 0, if it repeats over others."""
    layout = _layout(type_)
    if not call.repeats or not isinstance(layout, Layout) or layout.rank == 1:
        return layout
    first: Layout = layout[0]
    return first


def check_d(atom: MmaType, op: Operation, call: MmaCall) -> None:
    """D has as many elements as a thread has of it, each its own place."""
    a, b, d = (_layout(type_) for type_ in _operands(call))
    if not isinstance(d, Layout):
        return
    once = _at_once(call, call.d)
    if once is not None and once.size() != atom.values(MmaOperand.D):
        canonical = atom.operand_layout(MmaOperand.D)
        raise op_error(op, message("cute_nvgpu.mma.layout_d", layout=canonical))
    if not is_injective(d):
        raise op_error(op, message("cute_nvgpu.mma.layouts", a=a, b=b, d=d))


def check_composable(atom: MmaType, op: Operation, call: MmaCall) -> None:
    """A and B are those of one instruction: a descriptor, or the elements of a thread."""
    types_ = _operands(call)
    a, b, d = (_layout(type_) for type_ in types_)
    for operand, type_ in ((MmaOperand.A, types_[0]), (MmaOperand.B, types_[1])):
        layout = _at_once(call, type_)
        count = 1 if isinstance(type_, SmemDescViewType) else atom.values(operand)
        if layout is not None and layout.size() != count:
            raise op_error(op, message("cute_nvgpu.mma.no_gemm", a=a, b=b, d=d))


def check_have_elements(atom: MmaType, op: Operation, call: MmaCall) -> None:
    """Operands in registers say what they hold."""
    del atom
    if any(_element(type_) is None for type_ in (*_operands(call), call.c)):
        raise op_error(op, message("cute_nvgpu.mma.element_types"))


def check_registers(atom: MmaType, op: Operation, call: MmaCall) -> None:
    """Products of a warp are of registers."""
    del atom
    operands = _operands(call)
    if not all(_is_in(type_, AddressSpace.RMEM) for type_ in operands):
        raise op_error(
            op, message("cute_nvgpu.mma.operands_rmem", a=operands[0], b=operands[1], d=operands[2])
        )


def check_register_elements(atom: MmaType, op: Operation, call: MmaCall) -> None:
    """As `check_elements`, with what registers are told; floats of 8 bits by their family."""
    expected, given = atom.element_type(MmaOperand.A), _element(call.a[0])
    if isinstance(expected, FP8) and not isinstance(given, FP8):
        raise op_error(op, message("cute_nvgpu.mma.fp8_operands"))
    if given != expected:
        raise op_error(
            op, message("cute_nvgpu.mma.register_element_a", expected=expected, given=given)
        )
    check_elements(atom, op, call)


def check_scaled(atom: MmaType, op: Operation, call: MmaCall) -> None:
    """Sums are of f32; scale factors are of one type, which fits the elements and the vector."""
    held, width = _element(call.c), _vector_size(atom)
    if held is not None and not isinstance(held, Float32Type):
        raise op_error(op, message("nv_tileas.block_scaled_mma.accumulator_f32"))
    scales = [_element(types_[1]) for types_ in (call.a, call.b) if len(types_) > 1]
    if len(set(scales)) > 1:
        raise op_error(op, message("cute_nvgpu.mma_bs.scales_differ"))
    if atom.shape_mnk[2] == K_OF_FP4 and scales:
        _check_fp4(op, width, [_element(call.a[0]), _element(call.b[0])], scales[0])


K_OF_FP4 = 64
"""Elements of 4 bits that a product with block scales takes along K."""


def _check_fp4(
    op: Operation, width: int, elements: Sequence[Attribute | None], scale: Attribute | None
) -> None:
    known = [element for element in elements if element is not None]
    are_fp4 = all(isinstance(element, FP4) for element in known)
    if width == 16:
        if not are_fp4:
            raise op_error(op, message("cute_nvgpu.mma_bs.fp4_vec16"))
        if not isinstance(scale, Float8E8M0FNUType | Float8E4M3FNType):
            raise op_error(op, message("cute_nvgpu.mma_bs.scales_vec16"))
    elif not are_fp4 or not isinstance(scale, Float8E8M0FNUType):
        raise op_error(op, message("cute_nvgpu.mma_bs.fp4_vec32"))


def _vector_size(atom: MmaType) -> int:
    vector_size = getattr(atom, "vector_size", 0)
    assert isinstance(vector_size, int)
    return vector_size


_WGMMA = (
    check_static,
    check_elements,
    _residency(AddressSpace.RMEM, AddressSpace.RMEM),
    check_d,
    check_composable,
)
_UMMA = (check_static, check_elements, _residency(AddressSpace.TMEM, AddressSpace.TMEM), check_d)
_UMMA_SCALED = (check_scaled, *_UMMA)
_REGISTERS = (check_have_elements, check_registers, check_register_elements)

LADDERS: Mapping[str, Sequence[Check]] = {
    "UniversalFma": _REGISTERS,
    "Sm80Mma": _REGISTERS,
    "Sm80SparseMma": _REGISTERS,
    "Sm89Mma": _REGISTERS,
    "Sm120MmaBlockScaled": (check_scaled, *_REGISTERS),
    "Sm90Mma": _WGMMA,
    "Sm100Mma": (*_UMMA, check_composable),
    "Sm100MmaSparse": _UMMA,
    "Sm100MmaBlockScaled": _UMMA_SCALED,
    "Sm100MmaBlockScaledSparse": _UMMA_SCALED,
}
"""By the class of the type: what is checked of a call, in order."""
