"""Register layouts that wgmma fixes beside its accumulators: of A, and of permuted accumulators.

%d = dot ...                               accumulators of 128x64 (rule 2 of `registers.py`)
%t = generate { extract %d[%j, %i] }       64x128 in the same registers
%y = mulf %x, %x;  dot %y, %b, %c          %y, and %x with it, in fragments of A
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup, placed_tile
from tileas_xdsl.dialects.nv_tileas.attributes import mma_instruction
from tileas_xdsl.dialects.nv_tileas.compute.depth_order import has_depth_of_sums
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.row_order import has_rows_in_pairs
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.equal_slices import equal_slices
from tileas_xdsl.layout.registers.permuted_dimensions import permuted_dimensions
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.mma.warp_tiles import (
    fragment_layout,
    fragment_of_sums,
    warpgroup_grid,
)
from tileas_xdsl.threads.dot.operands.wgmma_operand_a import takes_registers
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import Family
from tileas_xdsl.transforms.assign_layouts.request import Assignment
from tileas_xdsl.transforms.normalize_dot_operands.permutations import (
    Permuted,
    inverse,
    permuted,
)


def fragments(
    a: Assignment, group: TileGroup, agent: Agent
) -> Sequence[tuple[RegisterLayout, Family]]:
    """The layouts of permuted accumulators, or of A where wgmma reads it from registers."""
    permutations = [found for value in group.values if (found := permuted(value)) is not None]
    moved = [one for one in permutations if has_accumulators(a, one.source)]
    if moved:
        return [(_moved(a, one, agent), Family.LINEAR) for one in moved]
    fragment = _fragment_of_a(group, agent) or _permuted_fragment_of_a(group, agent)
    return [] if fragment is None else [(fragment, Family.DOT_OPERAND)]


def _moved(a: Assignment, of: Permuted, agent: Agent) -> RegisterLayout:
    """The layout of permuted accumulators, whose elements stay in their registers."""
    choice, tile = a.choice(of.source), placed_tile(of.source.type)
    assert choice is not None
    assert tile is not None
    assert isinstance(choice.layout, Layout)
    sums = RegisterLayout(choice.layout, tuple(tile.get_shape()), agent.threads)
    return permuted_dimensions(sums, of.order)


def _fragment_of_a(group: TileGroup, agent: Agent) -> RegisterLayout | None:
    """Return the fragment in which wgmma reads a tile of the group as A, where it is all rows."""
    users = [use.operation for value in group.values for use in value.uses]
    product = next((op for op in users if reads_fragment(op, group)), None)
    return _fragment(product, agent) if isinstance(product, DotOp) else None


def _fragment(product: DotOp, agent: Agent) -> RegisterLayout | None:
    """Return the fragment in which wgmma reads A of a product from registers."""
    rows, columns = shape_of(product.a.type) or (0, 0)
    bits = bits_of(element_of(product.a.type))
    if not takes_registers(product) or warpgroup_grid(rows, agent.groups) != (agent.groups, 1):
        return None
    if has_depth_of_sums(product):
        return fragment_of_sums(rows, columns, agent.groups)
    in_pairs = has_rows_in_pairs(product)
    return fragment_layout(rows, columns, bits, agent.groups, in_pairs=in_pairs)


def _permuted_fragment_of_a(group: TileGroup, agent: Agent) -> RegisterLayout | None:
    """Return the layout of a tile whose permutation is A with its rows in pairs, in A's registers.

    Other permutations of tiles that threads load go through shared memory: a lane has elements of A
    that are side by side along K, which lie apart there.
    """
    for value in group.values:
        for made in (use.operation.parent_op() for use in value.uses):
            found = permuted(made.result) if isinstance(made, GenerateOp) else None
            if not isinstance(made, GenerateOp) or found is None or found.source is not value:
                continue
            for product in (use.operation for use in made.result.uses):
                if not isinstance(product, DotOp) or not has_rows_in_pairs(product):
                    continue
                fragment = _fragment(product, agent)
                if fragment is not None and product.a is made.result:
                    return permuted_dimensions(fragment, inverse(found.order))
    return None


def reads_fragment(op: Operation, group: TileGroup) -> bool:
    """Whether an operation is a product by wgmma that has a tile of the group as A."""
    return isinstance(op, DotOp) and op.a in group.values and mma_instruction(op.atom) == "wgmma"


def has_accumulators(a: Assignment, value: SSAValue) -> bool:
    """Return whether a tile has been given the layout of an MMA fragment."""
    choice = a.choice(value)
    return choice is not None and choice.family is Family.DOT_OPERAND


def slice_of_accumulators(a: Assignment, part: ExtractSliceOp) -> RegisterLayout | None:
    """The layout of a slice of accumulators in registers, wherever it begins; None of others."""
    choice, whole, cut = a.choice(part.source), placed_tile(part.source.type), part.result.type
    if whole is None or choice is None or choice.family is not Family.DOT_OPERAND:
        return None
    if not isinstance(choice.layout, Layout) or set(part.static_strides.get_values()) != {1}:
        return None
    sums = RegisterLayout(choice.layout, tuple(whole.get_shape()), a.agent(part).threads)
    return equal_slices(sums, shape_of(cut) or ())
