"""Allocate operands of threads: registers, descriptors, or tensor memory."""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import UndefFragmentOp
from tileas_xdsl.dialects.cute.atom.calls import atom_of
from tileas_xdsl.dialects.cute.atom.interfaces import MmaAtomType, MmaOperand
from tileas_xdsl.dialects.cute.atom.tiled import CopyMakeFragmentOp, MmaMakeFragmentOp
from tileas_xdsl.dialects.cute.base.operation import AlgebraOp
from tileas_xdsl.dialects.cute.memory.partitions import MakeFragmentLikeOp
from tileas_xdsl.dialects.cute.memory.views import AllocaOp
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.dialects.cute_nvgpu import (
    AllocRmemOp,
    GmmaDescriptorOfOp,
    SmemDescViewType,
    UmmaDescriptorOfOp,
)
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import keywords
from tileas_xdsl.dialects.cute_nvgpu.atoms.tcgen05 import UmmaType
from tileas_xdsl.dialects.cute_nvgpu.atoms.wgmma import Sm90MmaType
from tileas_xdsl.layout import Layout
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter
from tileas_xdsl.transforms.cute_to_nvgpu.element_access import view_of
from tileas_xdsl.transforms.cute_to_nvgpu.register_file import RegisterView, fragment_type


def allocate_registers(
    op: AllocaOp | MakeFragmentLikeOp | CopyMakeFragmentOp, conv: Converter
) -> None:
    """Fresh registers; what is no view of memory is algebra."""
    if not isinstance(op.result.type, MemRefType):
        assert isinstance(op, AlgebraOp)
        conv.define(op.results[0], op.result_value())
        conv.kill(op)
        return
    _registers(conv, op.result)
    conv.kill(op)


def allocate_elements(op: AllocRmemOp, conv: Converter) -> None:
    """Fresh registers behind a pointer."""
    element = op.result.type.element_type
    if element_bits(element) is None:
        raise op_error(op, f"keeps no {element} in registers")
    whole = VectorType(element, [op.count])
    conv.registers.held[op.result] = conv.insert(UndefFragmentOp(whole))
    conv.views[op.result] = RegisterView(op.result, 0)
    conv.kill(op)


def make_fragment(op: MmaMakeFragmentOp, conv: Converter) -> None:
    """What a thread holds of an operand, as the type of the atom wants it."""
    type_ = op.result.type
    if isinstance(type_, SmemDescViewType):
        conv.descriptors[op.result] = _descriptor(op, conv)
        conv.leaves[op.result] = []
    elif isinstance(type_, MemRefType) and type_.space is AddressSpace.TMEM:
        conv.leaves[op.result] = []
    else:
        _registers(conv, op.result)
    conv.kill(op)


def _registers(conv: Converter, result: SSAValue) -> None:
    type_ = result.type
    assert isinstance(type_, MemRefType)
    if element_bits(type_.element_type) is None:
        raise op_error(conv.at, f"keeps no {type_.element_type} in registers")
    conv.registers.held[result] = conv.insert(UndefFragmentOp(fragment_type(type_)))
    conv.views[result] = RegisterView(result, 0)
    conv.leaves[result] = []


def _descriptor(op: MmaMakeFragmentOp, conv: Converter) -> SSAValue:
    """The descriptor of the first instruction's operand: mode 0 of the view."""
    atom = atom_of(op, op.atom, MmaAtomType, "an MMA atom")
    pointer, layout = view_of(conv, op.input)
    assert isinstance(layout, Layout)
    assert isinstance(atom, Sm90MmaType | UmmaType)
    make = GmmaDescriptorOfOp if isinstance(atom, Sm90MmaType) else UmmaDescriptorOfOp
    a_major, b_major = keywords(atom.majors)
    major = a_major if op.operand_id.data == MmaOperand.A.value else b_major
    return conv.insert(make(conv.address(pointer), layout[0], major))
