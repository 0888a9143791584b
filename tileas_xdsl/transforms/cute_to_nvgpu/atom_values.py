"""Track the run-time values of atoms, such as mbarriers and predicates, by field name."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import OpResult, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.atom.calls import MakeAtomOp, MakeTiledCopyOp, MakeTiledMmaOp
from tileas_xdsl.dialects.cute.atom.interfaces import AtomType
from tileas_xdsl.dialects.cute.types.tiled_atoms import TiledCopyType, TiledMmaType
from tileas_xdsl.dialects.cute_nvgpu import AtomGetValueOp, AtomSetValueOp, MakeTmemCopyOp
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter


def values_of(conv: Converter, atom: SSAValue) -> Mapping[str, SSAValue]:
    """The values of an atom; an atom that has some is made in the function that calls it."""
    if (known := conv.atoms.get(atom)) is not None:
        return known
    type_ = atom.type.atom if isinstance(atom.type, TiledCopyType | TiledMmaType) else atom.type
    if isinstance(type_, AtomType) and type_.state:
        raise op_error(conv.at, f"has an atom whose values are not known here: {atom.type}")
    return {}


def make_atom(op: MakeAtomOp, conv: Converter) -> None:
    """Lower the construction of an atom: it is represented by its operands."""
    type_ = op.result.type
    assert isinstance(type_, AtomType)
    names = (field.name for field in type_.state)
    conv.atoms[op.result] = dict(zip(names, op.values, strict=False))
    conv.kill(op)


def make_tiled(op: MakeTiledCopyOp | MakeTiledMmaOp | MakeTmemCopyOp, conv: Converter) -> None:
    """Record a tiled atom with the values of its atom."""
    conv.atoms[op.result] = values_of(conv, op.atom)
    conv.kill(op)


def set_value(op: AtomSetValueOp, conv: Converter) -> None:
    """Record the atom with one value replaced."""
    conv.atoms[op.result] = {**values_of(conv, op.atom), op.field.data: op.value}
    conv.kill(op)


def get_value(op: AtomGetValueOp, conv: Converter) -> None:
    """What was set last."""
    found = values_of(conv, op.atom).get(op.field.data)
    if found is None:
        raise op_error(op, f"reads {op.field.data}, which nothing in this function has set")
    conv.replace(op.result, found)
    conv.kill(op)


def known_boolean(value: SSAValue) -> bool | None:
    """The constant `i1`; None of one that is computed."""
    if not isinstance(value, OpResult) or not isinstance(value.op, arith.ConstantOp):
        return None
    constant = value.op.value
    return bool(constant.value.data) if isinstance(constant, IntegerAttr) else None
