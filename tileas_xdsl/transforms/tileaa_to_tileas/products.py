"""Which instruction makes a product: that of the target where the tile suits it, else `mma`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, TensorType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.compute import DotOp
from tileas_xdsl.dialects.nv_tileas import compute
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.dot_checks import ATOM_ELEMENTS
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.layout import ConvertLayoutOp
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Insert

CAPABILITY = "nv_tileaa.compute_capability"
LAST_WITHOUT_SCALES = 99

SHARED_ELEMENTS = ("f16", "bf16")
"""Factors that both instructions multiply as rows of A and rows of B lie in memory; wgmma needs
the columns of B side by side for others (PTX ISA, wgmma.mma_async)."""

MOST_COLUMNS = 256


@dataclass(frozen=True)
class MatrixUnit:
    """Instructions that take their factors from shared memory, of elements of 16 bits."""

    family: str
    rows: tuple[int, ...]
    """What rows are a multiple of, or with `is_one_instruction`, what they are."""
    is_one_instruction: bool
    columns: int
    """What columns are a multiple of."""
    depth: int = 16
    """What the summed dimension is a multiple of."""

    def takes(self, m: int, n: int, k: int) -> bool:
        """Whether it multiplies tiles of these extents."""
        fits = m in self.rows if self.is_one_instruction else m % self.rows[0] == 0
        return fits and n <= MOST_COLUMNS and n % self.columns == 0 and k % self.depth == 0


UNITS: Mapping[int, MatrixUnit] = {
    90: MatrixUnit("wgmma", (64,), is_one_instruction=False, columns=8),
    100: MatrixUnit("tcgen05", (64, 128), is_one_instruction=True, columns=16),
}
"""By compute capability (PTX ISA, wgmma.mma_async and tcgen05.mma)."""


def dot(op: DotOp, insert: Insert) -> Sequence[SSAValue]:
    """A product; the units of wgmma and tcgen05 take its factors from shared memory."""
    if op.sfa is not None and op.sfb is not None:
        return [_scaled(op, op.sfa, op.sfb, insert)]
    a, b, family = op.a, op.b, _family(op)
    if family != "mma":
        a, b = _shared(insert, a), _shared(insert, b)
    made = compute.DotOp(
        a,
        b,
        op.c,
        _atom(op, family),
        signedness_a=op.signedness_a,
        signedness_b=op.signedness_b,
    )
    return [insert(made).result]


def _scaled(op: DotOp, sfa: SSAValue, sfb: SSAValue, insert: Insert) -> SSAValue:
    """A product of scaled blocks, which tcgen05 alone makes."""
    if (capability_of(op) or 0) <= LAST_WITHOUT_SCALES:
        key = "mma-block-scale-is-not-supported-by-compute-capability-sm100"
        raise op_error(op, message(key))
    atom = _atom(op, "tcgen05")
    made = compute.BlockScaledMmaOp(op.a, op.b, op.c, sfa, sfb, atom)
    return insert(made).result


def _shared(insert: Insert, factor: SSAValue) -> SSAValue:
    space = SpaceAttr(Space.SMEM)
    type_ = TensorType(element_of(factor.type), shape_of(factor.type), space)
    return insert(ConvertLayoutOp(factor, type_)).result


def _atom(op: DotOp, family: str) -> AtomAttr:
    words = [element_name(element_of(value.type)) for value in (op.a, op.b, op.c)]
    known = ATOM_ELEMENTS[family]
    for word in words[:2]:
        if word not in known:
            text = f"has factors of {word}; matrix instructions multiply {', '.join(known)}"
            raise op_error(op, text)
    return AtomAttr.of("_".join((family, *words)))


def _family(op: DotOp) -> str:
    """The family of instructions."""
    a, b = shape_of(op.a.type), shape_of(op.b.type)
    words = [element_name(element_of(value.type)) for value in (op.a, op.b, op.c)]
    unit = UNITS.get(capability_of(op) or 0)
    if unit is None or len(a) != len("mk") or words[2] != "f32":
        return "mma"
    if words[0] not in SHARED_ELEMENTS or words[0] != words[1]:
        return "mma"
    return unit.family if unit.takes(a[0], b[1], a[1]) else "mma"


def capability_of(op: Operation) -> int | None:
    """The compute capability that the kernel around is for, None if it does not say."""
    around: Operation | None = op
    while around is not None:
        if isinstance(found := around.attributes.get(CAPABILITY), IntegerAttr):
            return found.value.data
        around = around.parent_op()
    return None
