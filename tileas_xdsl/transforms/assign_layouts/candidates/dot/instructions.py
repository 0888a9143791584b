"""Choose the instruction of dots that have none: the target's tensor core where it fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation

from tileas_xdsl.analysis.layouts.dot_layouts import extents_of, min_depth
from tileas_xdsl.analysis.memory.accumulators import is_of_two_blocks, is_tensor_product
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.compute.dot_checks import ATOM_ELEMENTS
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.enums import Signedness, SignednessAttr
from tileas_xdsl.dialects.nv_tileas.shapes.slices import tile_of
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.target.mma.matrix_units import PAIR
from tileas_xdsl.threads.dot.cta_pair_checks import pair_problem
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan

_ATOM_NAMES: Mapping[str, str] = {"f8e4m3": "e4m3", "f8e5m2": "e5m2", "i32": "s32"}
"""What atoms call the elements that have another name in tiles."""

_SIGNS = {Signedness.SIGNED: "s8", Signedness.UNSIGNED: "u8"}


def choose_instructions(root: Operation, plan: KernelPlan) -> None:
    """Give an atom to every product that has none; of two blocks where the program shares B so."""
    chosen = [op for op in instances_in(root, DotOp, AsyncDotOp) if op.atom is None]
    for op in chosen:
        op.atom = AtomAttr.of(_keyword(op, plan))
    if _are_of_pairs(plan, chosen):
        for op in filter(is_tensor_product, chosen):
            assert op.atom is not None
            op.atom = AtomAttr.of(op.atom.data.keyword, cta_group=PAIR)


def _are_of_pairs(plan: KernelPlan, chosen: Sequence[AsyncDotOp | DotOp]) -> bool:
    """Whether all MMAs of a kernel can be of CTA pairs; those not in `chosen` must be already.

    All MMAs of a kernel have the same `.cta_group` (PTX ISA, tcgen05), so that one alone decides.
    """
    products = [op for op in operations_in(plan.kernel) if is_tensor_product(op)]
    if not products or any(op not in chosen and not is_of_two_blocks(op) for op in products):
        return False
    return all(pair_problem(plan, op) is None for op in chosen if is_tensor_product(op))


def _keyword(op: DotOp | AsyncDotOp, plan: KernelPlan) -> str:
    c = tile_of(op.c.type)
    assert c is not None
    family = plan.target.matrix_unit.instruction
    names = (
        _operand(op.a.type, op.signedness_a),
        _operand(op.b.type, op.signedness_b),
        _ATOM_NAMES.get(element_name(c.element_type), element_name(c.element_type)),
    )
    if not _fits(op, plan, c):
        extents = extents_of(op)
        family = "mma" if extents.k >= min_depth(extents.bits) else "fma"
    if any(
        element_name(t.element_type) not in ATOM_ELEMENTS[family] for t in (op.a.type, op.b.type)
    ):
        raise op_error(op, f"no instruction of {plan.target.name} multiplies {op.a.type}")
    return "_".join((family, *names))


def _operand(tile: Tile, signedness: SignednessAttr | None) -> str:
    name = element_name(tile.element_type)
    if name == "i8" and signedness is not None:
        return _SIGNS[signedness.data]
    return _ATOM_NAMES.get(name, name)


def _fits(op: DotOp | AsyncDotOp, plan: KernelPlan, c: Tile) -> bool:
    """Whether the matrix unit takes products of these extents, from the threads that are here."""
    unit = plan.target.matrix_unit
    *_, m, n = c.get_shape()
    elements = {element_name(t.element_type) for t in (op.a.type, op.b.type)}
    if not unit.reads_shared_memory or not elements <= set(ATOM_ELEMENTS[unit.instruction]):
        return False
    return unit.takes_extents(m, n, plan.agent_around(op).groups)
