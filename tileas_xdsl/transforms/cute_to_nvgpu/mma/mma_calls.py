"""Lower MMA atoms: `cute.mma_atom_call`, and `cute.gemm`, which repeats one over tiles.

What an atom's type is says which instruction does it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from xdsl.dialects import vector
from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.clauses import ClausedType
from tileas_xdsl.dialects.cute.atom.calls import atom_of
from tileas_xdsl.dialects.cute.atom.interfaces import MmaAtomType
from tileas_xdsl.dialects.cute_nvgpu import (
    MmaSm80Op,
    MmaSm80SparseOp,
    MmaSm89Op,
    MmaSm120BlockScaledOp,
)
from tileas_xdsl.dialects.cute_nvgpu.atoms.mma_sync import (
    Sm80MmaType,
    Sm80SparseMmaType,
    Sm89MmaType,
    Sm120MmaBlockScaledType,
    UniversalFmaType,
)
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import text
from tileas_xdsl.dialects.cute_nvgpu.atoms.tcgen05 import (
    Sm100MmaBlockScaledSparseType,
    Sm100MmaBlockScaledType,
    Sm100MmaSparseType,
    Sm100MmaType,
)
from tileas_xdsl.dialects.cute_nvgpu.atoms.wgmma import Sm90MmaType
from tileas_xdsl.transforms.cute_to_nvgpu.atom_values import values_of
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter
from tileas_xdsl.transforms.cute_to_nvgpu.element_access import is_registers, read, write
from tileas_xdsl.transforms.cute_to_nvgpu.mma.async_mma import convert_wgmma
from tileas_xdsl.transforms.cute_to_nvgpu.mma.mma_iterations import MmaCallOp, mma_iterations
from tileas_xdsl.transforms.cute_to_nvgpu.mma.tensor_memory_mma import convert_tcgen05_mma

SCALES = ("sf_a", "sf_b")
"""The registers of a scaled atom that hold scale factors."""

METADATA = "e"
"""The value of a sparse atom that says which elements of K are in A."""

Product = Callable[[Converter, Any, SSAValue, SSAValue, SSAValue], SSAValue]
"""D of an atom from A, B and C."""


def convert_product(op: MmaCallOp, conv: Converter) -> None:
    """One instruction for each step of each tile of D; K goes outside, as CuTe does."""
    atom = atom_of(op, op.atom, MmaAtomType, "an MMA atom")
    convert = _PRODUCTS.get(type(atom)) if isinstance(atom, ClausedType) else None
    if convert is None:
        known = ", ".join(type_.name for type_ in _PRODUCTS)
        raise op_error(op, f"is not lowered for {atom}: only for {known}")
    if (len(op.a) != 1 or len(op.b) != 1) and convert is not convert_tcgen05_mma:
        raise op_error(
            op, "has scale factors as views: the registers with them are values of the atom"
        )
    convert(op, conv, atom)


def _of_registers(emit: Product, op: MmaCallOp, conv: Converter, atom: Any) -> None:
    a, b = op.a[0], op.b[0]
    for view in (a, b, op.c, op.d):
        if not is_registers(view):
            raise op_error(op, f"multiplies registers, not {view.type}")
    for step in mma_iterations(op, a, b):
        accumulator = read(conv, op.c if step.is_first else op.d, step.d)
        made = emit(conv, atom, read(conv, a, step.a), read(conv, b, step.b), accumulator)
        write(conv, op.d, step.d, made)
    conv.kill(op)


# Instructions


def _warp(
    conv: Converter, atom: Sm80MmaType | Sm89MmaType, a: SSAValue, b: SSAValue, c: SSAValue
) -> SSAValue:
    make = MmaSm89Op if isinstance(atom, Sm89MmaType) else MmaSm80Op
    a_type, b_type, _ = atom.elements
    made = make(a, b, c, shape=atom.shape_mnk, a_type=a_type, b_type=b_type)
    if made.fragments() is None:
        made.erase()
        raise op_error(conv.at, f"is not lowered for {atom}: the target's PTX has no such product")
    return conv.insert(made)


def _sparse(op: MmaCallOp, conv: Converter, atom: Sm80SparseMmaType) -> None:
    """Products of one call have the same metadata, a value of the atom."""
    _of_registers(partial(_sparse_warp, values_of(conv, op.atom)[METADATA]), op, conv, atom)


def _sparse_warp(
    metadata: SSAValue,
    conv: Converter,
    atom: Sm80SparseMmaType,
    a: SSAValue,
    b: SSAValue,
    c: SSAValue,
) -> SSAValue:
    a_type, b_type, _ = atom.elements
    ordered = text(atom.metadata) == "ordered"
    made = MmaSm80SparseOp(
        a, b, c, metadata, shape=atom.shape_mnk, a_type=a_type, b_type=b_type, ordered=ordered
    )
    if made.fragments() is None:
        made.erase()
        raise op_error(conv.at, f"is not lowered for {atom}: the target's PTX has no such product")
    return conv.insert(made)


def _scaled(op: MmaCallOp, conv: Converter, atom: Sm120MmaBlockScaledType) -> None:
    """Products of one call have the same scales, values of the atom, of the first threads."""
    values = values_of(conv, op.atom)

    def emit(
        conv: Converter, atom: Sm120MmaBlockScaledType, a: SSAValue, b: SSAValue, c: SSAValue
    ) -> SSAValue:
        a_type, b_type, _ = atom.elements
        scales = (values[name] for name in SCALES)
        made = MmaSm120BlockScaledOp(
            a,
            b,
            c,
            *scales,
            shape=atom.shape_mnk,
            vec_size=atom.vector_size,
            a_type=a_type,
            b_type=b_type,
            sf_type=atom.scale_type,
        )
        return conv.insert(made)

    _of_registers(emit, op, conv, atom)


def _one(
    conv: Converter, atom: UniversalFmaType, a: SSAValue, b: SSAValue, c: SSAValue
) -> SSAValue:
    if len(set(atom.elements)) != 1:
        raise op_error(conv.at, f"is lowered for one element type, not {atom}")
    return conv.insert(vector.FMAOp(a, b, c))


_PRODUCTS: Mapping[type[ClausedType], Callable[[Any, Converter, Any], None]] = {
    Sm80MmaType: partial(_of_registers, _warp),
    Sm80SparseMmaType: _sparse,
    Sm89MmaType: partial(_of_registers, _warp),
    Sm120MmaBlockScaledType: _scaled,
    Sm90MmaType: convert_wgmma,
    Sm100MmaType: convert_tcgen05_mma,
    Sm100MmaSparseType: convert_tcgen05_mma,
    Sm100MmaBlockScaledType: convert_tcgen05_mma,
    Sm100MmaBlockScaledSparseType: convert_tcgen05_mma,
    UniversalFmaType: partial(_of_registers, _one),
}
"""By the type of the atom: what multiplies."""
