"""Atoms as values, and calls of them.

What an atom takes, what it copies or multiplies and which target has it its type says
(`cute.interfaces`); here is only what holds for all of them.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.atom.interfaces import (
    AtomType,
    CopyAtomType,
    CopyCall,
    MmaAtomType,
    MmaCall,
    MmaOperand,
    PrefetchAtomType,
    target_fault,
)
from tileas_xdsl.dialects.cute.base.operands import has_static_shape
from tileas_xdsl.dialects.cute.base.operation import CuteOp
from tileas_xdsl.dialects.cute.memory.views import bit_width
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.tiled_atoms import TiledCopyType, TiledMmaType
from tileas_xdsl.dialects.cute.types.views import CoordTensorType, HandleViewType, MemRefType
from tileas_xdsl.dialects.op_definition import irdl_op_definition, member_op
from tileas_xdsl.layout import ComposedLayout, Layout

A = TypeVar("A", bound=AtomType)


@irdl_op_definition
class MakeAtomOp(CuteOp):
    """An atom from its values of run time; the type of the result says which atom."""

    name = "cute.make_atom"
    values = var_operand_def()
    atom = opt_prop_def(Attribute)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self,
        values: Sequence[SSAValue],
        result_type: Attribute,
        attributes: Attribute | None = None,
    ) -> None:
        properties = {} if attributes is None else {"atom": attributes}
        super().__init__(operands=[values], result_types=[result_type], properties=properties)

    def verify_(self) -> None:
        atom = self.result.type
        if not isinstance(atom, AtomType):
            raise op_error(self, f"{atom} does not implement the interface of atoms")
        check_target(self, atom)
        required = [field for field in atom.state if not field.optional]
        count, most = len(self.values), len(atom.state)
        if not len(required) <= count <= most:
            names = ", ".join(field.name for field in atom.state) or "nothing"
            raise op_error(self, f"makes {atom} of {names}, but got {count} values")
        for field, value in zip(atom.state, self.values, strict=False):
            if value.type != field.type:
                raise op_error(self, f"takes {field.type} as {field.name}, but got {value.type}")
        if self.atom is not None and self.atom != DictionaryAttr(dict(atom.attributes)):
            raise op_error(self, f"gives {self.atom}, which are not the attributes of {atom}")
        atom.check_make_atom(self, [value.type for value in self.values])


def check_target(op: CuteOp, atom: AtomType) -> None:
    """The target of `op` has the atom."""
    fault = target_fault(op, atom)
    if fault is not None:
        raise op_error(op, fault)


@irdl_op_definition
class MakeTiledCopyOp(CuteOp):
    """A copy atom repeated over threads and values, as the type of the result says."""

    name = "cute.make_tiled_copy"
    atom = operand_def()
    result = result_def(TiledCopyType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        if self.result.type.atom != self.atom.type:
            raise op_error(self, f"tiles {self.atom.type}, not {self.result.type.atom}")


@irdl_op_definition
class MakeTiledMmaOp(CuteOp):
    """An MMA atom repeated over threads, as the type of the result says."""

    name = "cute.make_tiled_mma"
    atom = operand_def()
    result = result_def(TiledMmaType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        if self.result.type.atom != self.atom.type:
            raise op_error(self, f"tiles {self.atom.type}, not {self.result.type.atom}")


def atom_of(op: CuteOp, value: SSAValue, kind: type[A], what: str) -> A:
    """The atom of an operand, itself or that of a tiled copy or MMA, which the target has."""
    type_ = value.type
    if isinstance(type_, (TiledCopyType, TiledMmaType)):
        type_ = type_.atom
    if not isinstance(type_, kind):
        raise op_error(op, f"expects {what}, but got {value.type}")
    check_target(op, type_)
    return type_


class AtomCall(CuteOp, ABC):
    """An operation that an atom does."""


def layout_of_view(type_: Attribute) -> Layout | ComposedLayout | None:
    """The layout of a view, None of anything else."""
    known = isinstance(type_, (MemRefType, CoordTensorType, HandleViewType))
    return type_.layout if known else None


def check_rank_1(op: CuteOp, name: str, types: Sequence[Attribute]) -> None:
    """The views of a call have one mode: what the atom does at once."""
    for position, type_ in enumerate(types):
        layout = layout_of_view(type_)
        if layout is not None and layout.rank != 1:
            raise op_error(
                op, message("cute.atom_call.rank", view=f"{name}[{position}]", layout=layout)
            )


def check_spaces(
    op: CuteOp, what: str, types: Sequence[Attribute], spaces: Sequence[AddressSpace]
) -> None:
    """Views of memory are in one of `spaces`, if there are any."""
    for type_ in types:
        if isinstance(type_, MemRefType) and spaces and type_.space not in spaces:
            raise op_error(
                op, f"{what} is in {' or '.join(spaces)} for this atom, but got {type_.space}"
            )


def check_copy_facts(op: CuteOp, atom: CopyAtomType, call: CopyCall) -> None:
    """Residency and element sizes of a copy."""
    sizes = {
        bit_width(type_.element_type)
        for type_ in (*call.sources, *call.destinations)
        if isinstance(type_, MemRefType)
    }
    if len(sizes) > 1:
        raise op_error(op, message("cute.copy.element_sizes", atom=atom))
    check_spaces(op, "the source", call.sources, atom.SOURCE_SPACES)
    check_spaces(op, "the destination", call.destinations, atom.DESTINATION_SPACES)


@irdl_op_definition
class CopyAtomCallOp(AtomCall):
    """One copy by an atom: views of one mode, as many elements as the atom copies."""

    name = "cute.copy_atom_call"
    atom = operand_def()
    sources = var_operand_def()
    destinations = var_operand_def()
    predicate = opt_operand_def()
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @property
    def call(self) -> CopyCall:
        """Return the operand types of the call."""
        predicate = None if self.predicate is None else self.predicate.type
        return CopyCall(
            [v.type for v in self.sources], [v.type for v in self.destinations], predicate
        )

    def verify_(self) -> None:
        atom = atom_of(self, self.atom, CopyAtomType, "a copy atom")
        call = self.call
        check_rank_1(self, "src", call.sources)
        check_rank_1(self, "dst", call.destinations)
        check_copy_facts(self, atom, call)
        self._check_size(call.sources, atom.bits_at_once(atom.source_layout))
        self._check_size(call.destinations, atom.bits_at_once(atom.destination_layout))
        atom.check_copy(self, call)

    def _check_size(self, types: Sequence[Attribute], expected: int | None) -> None:
        """A thread gives the instruction as many bits as it takes on this side."""
        for type_ in types:
            if not isinstance(type_, MemRefType) or expected is None:
                continue
            if not has_static_shape(type_.layout):
                raise op_error(self, message("cute.copy.static_shape"))
            bits = type_.layout.size() * bit_width(type_.element_type)
            if bits != expected:
                raise op_error(self, f"copies {expected} bits at once, but {type_} has {bits}")


class ProductCall(AtomCall, ABC):
    """A product by an atom: `D = A * B + C`, A and B perhaps with scale factors."""

    atom = operand_def()
    d = operand_def()
    a = var_operand_def()
    b = var_operand_def()
    c = operand_def()
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @property
    def call(self) -> MmaCall:
        """The types of the call."""
        return MmaCall(self.d.type, [v.type for v in self.a], [v.type for v in self.b], self.c.type)


@irdl_op_definition
class MmaAtomCallOp(ProductCall):
    """One product by an atom: operands of one mode."""

    name = "cute.mma_atom_call"

    def verify_(self) -> None:
        atom = atom_of(self, self.atom, MmaAtomType, "an MMA atom")
        call = self.call
        if not call.a or not call.b:
            raise op_error(self, "multiplies A and B, and has both of them")
        for name, types in (("d", [call.d]), ("a", call.a), ("b", call.b), ("c", [call.c])):
            check_rank_1(self, name, types)
        self._check_spaces(atom, call)
        atom.check_mma(self, call)

    def _check_spaces(self, atom: MmaAtomType, call: MmaCall) -> None:
        operands = (
            (MmaOperand.D, call.d),
            (MmaOperand.A, call.a[0]),
            (MmaOperand.B, call.b[0]),
            (MmaOperand.C, call.c),
        )
        for operand, type_ in operands:
            check_spaces(self, operand.value, [type_], atom.operand_spaces(operand))


class PrefetchBase(AtomCall, ABC):
    """A prefetch by an atom."""

    atom = operand_def()
    source = operand_def()
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def verify_(self) -> None:
        atom_of(self, self.atom, PrefetchAtomType, "a prefetch atom").check_prefetch(
            self, self.source.type
        )


PrefetchOp = member_op(PrefetchBase, "PrefetchOp", "cute.prefetch", "A prefetch of a whole view.")
PrefetchAtomCallOp = member_op(
    PrefetchBase, "PrefetchAtomCallOp", "cute.prefetch_atom_call", "One prefetch by an atom."
)
