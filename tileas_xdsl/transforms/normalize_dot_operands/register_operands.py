"""Operand A of wgmma that threads compute from tiles that they have, or read from a stage, as A.

    %x = tiled_load %v {atom = tma_load_2d} : smem              ...
    %r = convert_layout %x                                      %r = convert_layout %x   // ldmatrix
    %y = maxnumf %r, %zero                                ->    %y = maxnumf %r, %zero
    %s = convert_layout %y : smem                               %d = dot %y, %b, %c
    %d = dot %s, %b, %c

Through shared memory the tile would be stored there, behind one barrier of all warpgroups and in
front of another, and read once more by the tensor core.  Each warpgroup computes the fragments of
its own rows instead, and runs at its own pace: one multiplies while another computes.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    Float8E4M3FNType,
    Float8E5M2Type,
    FloatTF32Type,
    TensorType,
    bf16,
    f16,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import mma_instruction
from tileas_xdsl.dialects.nv_tileas.compute.depth_order import (
    clear_depth_of_sums,
    is_alone,
    set_depth_of_sums,
    written_transpose,
)
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import inflows
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, space_of
from tileas_xdsl.layout.units import WARPGROUP_WARPS
from tileas_xdsl.target.mma.warp_tiles import warpgroup_grid
from tileas_xdsl.threads.dot.operands.wgmma_operand_a import takes_registers
from tileas_xdsl.threads.index.rearrangement import taken_elements
from tileas_xdsl.transforms.tileaa_to_tileas.products import kernel_warps

REGISTER_ELEMENTS = (f16, bf16, FloatTF32Type())
"""Element types of A whose register fragments are read from a stage as fast as it can be read."""


BYTES = (Float8E4M3FNType(), Float8E5M2Type())
"""Those whose fragments are sums as they lie, where B is written in their order."""


class BytesOfSums(RewritePattern):
    """Keep A of bytes in the registers of the sums that it is computed of; B follows their order.

    That is what attention does with weights, if threads transpose the values for it.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DotOp, rewriter: PatternRewriter) -> None:
        stored = op.a.owner
        if not isinstance(stored, ConvertLayoutOp) or space_of(op.a.type) is not Space.SMEM:
            return
        transpose = written_transpose(op)
        if transpose is None or not is_alone(op, transpose) or not takes_registers(op):
            return
        if not _is_in_whole_rows(op):
            return
        if is_computed_fragment(op, stored.source, BYTES):
            set_depth_of_sums(op)
            op.operands[0] = stored.source
            rewriter.notify_op_modified(op)


class OperandAInRegisters(RewritePattern):
    """Keep A in registers, if it is computed elementwise from accumulators or tiles of stages."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DotOp, rewriter: PatternRewriter) -> None:
        stored = op.a.owner
        if not isinstance(stored, ConvertLayoutOp) or space_of(op.a.type) is not Space.SMEM:
            return
        if not _is_in_whole_rows(op):
            return
        if is_computed_fragment(op, stored.source):
            op.operands[0] = stored.source
            rewriter.notify_op_modified(op)


def store_shared_operands(kernel: Operation) -> None:
    """Put A back into shared memory where warpgroups, now more of them, share columns of a product.

    %d = dot %y, %b, %c : 64 rows, 2 warpgroups     ->     %s = convert_layout %y : smem
                                                           %d = dot %s, %b, %c
    """
    for op in instances_in(kernel, DotOp):
        if mma_instruction(op.atom) != "wgmma":
            continue
        shape = op.a.type.get_shape()
        is_held = space_of(op.a.type) is not Space.SMEM
        if is_held and not in_whole_rows(shape[0], kernel_warps(op) // WARPGROUP_WARPS):
            stored = TensorType(op.a.type.element_type, shape, SpaceAttr(Space.SMEM))
            made = ConvertLayoutOp(op.a, stored)
            Rewriter.insert_op(made, InsertPoint.before(op))
            op.operands[0] = made.result
            clear_depth_of_sums(op)


def _is_in_whole_rows(op: DotOp) -> bool:
    return in_whole_rows(op.a.type.get_shape()[-2], kernel_warps(op) // WARPGROUP_WARPS)


def in_whole_rows(rows: int, groups: int) -> bool:
    """Whether warpgroups share the rows of a product alone: each has the rows of A it reads."""
    return warpgroup_grid(rows, groups)[1] == 1


def is_computed_fragment(
    op: DotOp, tile: SSAValue, elements: Sequence[Attribute] = REGISTER_ELEMENTS
) -> bool:
    """Whether wgmma may have a tile as A in registers, where threads compute it.

    It is computed elementwise from an accumulator or a tile of a stage, in branches and loops too
    (attention that masks some blocks), or from parts of one side by side: two weights of 4 bits of
    each byte.  What threads load from global memory is not: in fragments they would access four
    bytes at once.
    """
    if mma_instruction(op.atom) != "wgmma" or element_of(tile.type) not in elements:
        return False
    pending, seen = [tile], {tile}
    while pending:
        value = pending.pop()
        made = value.owner
        if isinstance(made, DotOp) and mma_instruction(made.atom) == "wgmma":
            return True
        if isinstance(made, ConvertLayoutOp) and is_of_stage(made.source):
            return True
        new = [source for source in element_wise_sources(value) if source not in seen]
        seen.update(new)
        pending += new
    return False


def is_of_stage(tile: SSAValue) -> bool:
    """Whether TMA loads a tile into shared memory, of which a matrix may be a view."""
    while isinstance(tile.owner, ViewOp):
        tile = tile.owner.source
    return isinstance(tile.owner, TiledLoadOp) and isinstance(tile.owner.atom.data, TmaAtom)


def element_wise_sources(value: SSAValue) -> Sequence[SSAValue]:
    """Return the tiles of which each element goes into at most one element of a tile."""
    op = value.owner
    if (carried := inflows(value)) is not None:
        return carried
    if isinstance(op, GenerateOp | ViewOp):
        return [one.source for one in taken_elements(op) or () if one.is_injective]
    if isinstance(op, Operation) and layout_role(op) is LayoutRole.ELEMENTWISE:
        return op.operands
    return ()
