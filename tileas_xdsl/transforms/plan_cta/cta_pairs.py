"""Which products the two CTAs of a tile block multiply together (`cta_group::2`), and why others
are of one CTA.

    rows of %c divided:  %a : 256x64, %b : 64x128        each CTA has %a : 128x64, and all of %b

tcgen05 multiplies the rows of both, 256 or 128, with one instruction, for which each CTA has half
of the columns of %b in shared memory (PTX ISA, tcgen05.mma): 8 KB instead of 16, also of what a
multiprocessor loads.  All products of a kernel are of two CTAs, or none (`.cta_group`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.layouts.tile_groups import placed_tile
from tileas_xdsl.analysis.memory.accumulators import (
    CONSTANTS,
    in_tensor_memory,
    is_of_two_blocks,
    is_tensor_product,
)
from tileas_xdsl.analysis.memory.tensor_registers import halves_of_layout
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, LinearEncoding, atom_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, BlockScaledMmaOp, DotOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.mma.matrix_units import PAIR
from tileas_xdsl.target.tensor_memory import accumulator
from tileas_xdsl.threads.dot import cta_pair_checks
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.transforms.assign_layouts.writing.rematerialization import (
    rematerialize_free_tiles,
)
from tileas_xdsl.transforms.assign_layouts.writing.tile_encodings import retype
from tileas_xdsl.transforms.normalize_dot_operands.permutations import permuted
from tileas_xdsl.transforms.tile_parts.dimension_classes import tile_shape
from tileas_xdsl.transforms.tile_parts.parts import Tiles

NOT_PAIRED = "nv_tileas.not_paired"
"""Attribute of a product that one CTA makes, though two compute its tile block: why."""


PAIRED_IN_PARTS = "nv_tileas.paired_in_parts"
"""Attribute of a product that two CTAs make when `tileas-chunk-tiles` has cut its rows."""


def pair_problem(kernel: func.FuncOp, tiles: Tiles, count: int, target: Target) -> str | None:
    """Return why the CTAs that divide some tiles do not multiply together; None if they do."""
    if not target.matrix_unit.pair_rows:
        return f"{target.name} has no instructions of two CTAs"
    if count != PAIR:
        return f"{count} CTAs divide each tile block, and {PAIR} multiply together"
    if has_instance(kernel, BlockScaledMmaOp):
        return "products of scaled blocks are of one CTA"
    found = [_problem(op, tiles, target) for op in products_of(kernel)]
    return next(filter(None, found), None)


def products_of(kernel: func.FuncOp) -> Iterator[DotOp]:
    """Yield the products of a kernel."""
    return iter(instances_in(kernel, DotOp))


def _problem(op: DotOp, tiles: Tiles, target: Target) -> str | None:
    (*batch, m, k), (*_, n) = tile_shape(op.a), tile_shape(op.b)
    atom = atom_of(op.atom)
    unit = target.matrix_unit
    if batch or not isinstance(atom, MmaAtom) or atom.a not in unit.depths:
        return "no instruction of two CTAs multiplies its tiles"
    if tiles.get(op.a) != 0 or op.b in tiles:
        return "its CTAs divide its columns, or neither rows nor columns"
    # Of more rows two CTAs multiply a part at a time, in a loop.
    rows_at_once = min(m, max(unit.pair_rows)) if m % max(unit.pair_rows) == 0 else m
    if not unit.takes_of_pair((atom.a, atom.b, atom.d), rows_at_once, n, k):
        rows = " or ".join(map(str, unit.pair_rows))
        return f"two CTAs multiply {rows} rows together, not {m}x{n}x{k} of {atom.a}"
    if loaded_operand(op.a) is None or loaded_operand(op.b) is None:
        return "threads compute its operands, and two CTAs multiply what TMA loads"
    return None


def loaded_operand(operand: SSAValue) -> TiledLoadOp | None:
    """Return the load that an operand of a product is, perhaps transposed; None if computed."""
    while True:
        made = operand.owner
        if isinstance(made, TiledLoadOp):
            return made
        if isinstance(made, ConvertLayoutOp | ViewOp):
            operand = made.source
        elif (found := permuted(operand)) is not None:
            operand = found.source
        else:
            return None


def mark_products(kernel: func.FuncOp, problem: str | None, target: Target) -> None:
    """Let the products of a target that has pairs be of two CTAs, or say why they are not."""
    for op in products_of(kernel) if target.matrix_unit.pair_rows else ():
        if problem is not None:
            op.attributes[NOT_PAIRED] = StringAttr(problem)
        elif is_tensor_product(op) and op.atom is not None:
            op.atom = AtomAttr.of(op.atom.data.keyword, cta_group=PAIR)
        else:
            op.attributes[PAIRED_IN_PARTS] = UnitAttr()


def mark_parts(kernel: func.FuncOp, target: Target) -> None:
    """Let products whose rows have been cut be of two CTAs, or say why they are not.

    512 rows of two CTAs, 256 of one:  a loop over two products of 128 rows in each
    """
    waiting = [op for op in products_of(kernel) if op.attributes.pop(PAIRED_IN_PARTS, None)]
    if not waiting:
        return
    of_tensor_memory = [op for op in products_of(kernel) if is_tensor_product(op)]
    pairs = [*waiting, *filter(is_of_two_blocks, of_tensor_memory)]
    rows = {PAIR * tile_shape(op.a)[-2] for op in waiting}
    if {*pairs} == {*of_tensor_memory} and rows <= {*target.matrix_unit.pair_rows}:
        for op in waiting:
            assert op.atom is not None
            op.atom = AtomAttr.of(op.atom.data.keyword, cta_group=PAIR)
    else:
        _let_multiply_alone(pairs, "not all products have parts that two CTAs multiply together")


def _let_multiply_alone(pairs: Sequence[AsyncDotOp | DotOp], why: str) -> None:
    """Let products be of one CTA, and say why."""
    for op in pairs:
        assert op.atom is not None
        op.atom = AtomAttr.of(op.atom.data.keyword)
        op.attributes[NOT_PAIRED] = StringAttr(why)


def keep_possible_pairs(kernel: func.FuncOp, target: Target) -> None:
    """Let products be of one CTA, and say why, where not all that are of two can be.

    Loads are known now: of B each CTA has half, in stages of pipelines that nothing else reads.
    """
    plan = KernelPlan.of(kernel, target)
    pairs = [
        op
        for op in instances_in(kernel, AsyncDotOp, DotOp)
        if is_of_two_blocks(op) and op.atom is not None
    ]
    problems = [cta_pair_checks.pair_problem(plan, op) for op in pairs]
    problem = next(filter(None, problems), None)
    if problem is None:
        return
    _let_multiply_alone(pairs, f"a product {problem}")
    _lay_out_sums_of_one(kernel)


def _lay_out_sums_of_one(kernel: func.FuncOp) -> None:
    """Give sums of pairs with 64 rows in each CTA the layout that products of one CTA leave."""
    values = (
        value
        for op in operations_in(kernel)
        if not isinstance(op, CONSTANTS)
        for value in (*op.results, *(arg for region in op.regions for arg in region.block.args))
    )
    for value in values:
        tile = placed_tile(value.type)
        if tile is None or not isinstance(tile.encoding, LinearEncoding):
            continue
        layout: Layout = tile.encoding.data
        if in_tensor_memory(value.type) and (halves_of_layout(layout, tile.get_shape()) or 1) > 1:
            retype(value, LinearEncoding(accumulator(*tile.get_shape())))
    rematerialize_free_tiles(kernel)
