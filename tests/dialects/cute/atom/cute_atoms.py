"""Architecture-independent atoms that test the atom interfaces of `cute`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import dedent

from xdsl.dialects.builtin import IntAttr, StringAttr, f16, f32, i1, i32
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.dialects.cute.atom.interfaces import (
    AtomField,
    CopyAtomType,
    CopyCall,
    MmaAtomType,
    MmaCall,
    MmaOperand,
    PrefetchAtomType,
)
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.installed import registered_context
from tileas_xdsl.layout import Layout, parse_cute_layout

SPACES = (AddressSpace.GMEM, AddressSpace.SMEM, AddressSpace.RMEM)


@irdl_attr_definition
class CopyAtom(ParametrizedAttribute, TypeAttribute, CopyAtomType):
    """A single-thread copy of `bits` bits between memories; it rejects tf32."""

    name = "test_cute.copy"
    bits: IntAttr

    SOURCE_SPACES = SPACES
    DESTINATION_SPACES = (AddressSpace.SMEM, AddressSpace.RMEM)

    @property
    def minimum_targets(self) -> Sequence[str]:
        return ("sm_90", "sm_100a") if self.bits.data > 64 else ()

    @property
    def state(self) -> Sequence[AtomField]:
        return (AtomField("the mask", i32), AtomField("the hint", i1, optional=True))

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        return {"copy_bits": self.bits}

    @property
    def copy_bits(self) -> int | None:
        return self.bits.data or None

    def check_copy(self, op: Operation, call: CopyCall) -> None:
        if call.predicate is not None and len(call.sources) > 1:
            raise op_error(op, "has no predicate for two sources")


def _layout(text: str) -> Layout:
    found = parse_cute_layout(text)
    assert isinstance(found, Layout)
    return found


OPERAND_LAYOUTS = {
    MmaOperand.A: _layout("((4,8),(2,2,2)):((32,1),(16,8,128))"),
    MmaOperand.B: _layout("((4,8),(2,2)):((16,1),(8,64))"),
    MmaOperand.C: _layout("((4,8),(2,2)):((32,1),(16,8))"),
    MmaOperand.D: _layout("((4,8),(2,2)):((32,1),(16,8))"),
}
"""Layouts of `mma.sync.m16n8k16`: (thread, value) to element index."""


@irdl_attr_definition
class MmaAtom(ParametrizedAttribute, TypeAttribute, MmaAtomType):
    """A 16 x 8 x 16 MMA of one warp."""

    name = "test_cute.mma"

    @property
    def minimum_targets(self) -> Sequence[str]:
        return ("sm_80",)

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        return {"shape": StringAttr("16x8x16"), "a": f16, "b": f16, "accumulator": f32}

    @property
    def shape_mnk(self) -> tuple[int, int, int]:
        return 16, 8, 16

    @property
    def threads(self) -> int:
        return 32

    def element_type(self, operand: MmaOperand) -> Attribute | None:
        if operand in (MmaOperand.C, MmaOperand.D):
            return f32
        return f16 if operand in OPERAND_LAYOUTS else None

    def operand_layout(self, operand: MmaOperand) -> Layout | None:
        return OPERAND_LAYOUTS.get(operand)

    def operand_spaces(self, operand: MmaOperand) -> Sequence[AddressSpace]:
        return (AddressSpace.RMEM,)

    def check_mma(self, op: Operation, call: MmaCall) -> None:
        if len(call.a) > 1:
            raise op_error(op, "has no scale factors")


@irdl_attr_definition
class PrefetchAtom(ParametrizedAttribute, TypeAttribute, PrefetchAtomType):
    """A prefetch of global memory."""

    name = "test_cute.prefetch"

    @property
    def minimum_targets(self) -> Sequence[str]:
        return ("sm_100a",)


TestAtoms = Dialect("test_cute", [], [CopyAtom, MmaAtom, PrefetchAtom])
TestAtoms.__test__ = False  # pyright: ignore[reportAttributeAccessIssue]


def parse_with_atoms(text: str) -> Operation:
    """Parse a module with the test atoms registered, without verifying it."""
    ctx = registered_context().clone()
    ctx.load_dialect(TestAtoms)
    return parse_module(ctx, dedent(text))
