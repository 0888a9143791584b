"""Which MMAs two CTAs of a cluster can issue together (`cta_group::2`), and why others cannot.

`tcgen05.mma.cta_group::2` computes 256 or 128 rows with one instruction: each CTA of a pair has
half of the rows of A, and half of the columns of B in shared memory (PTX ISA, tcgen05.mma).  A
program asks for that by how it loads: in each CTA A is loaded for itself, and half of B is
multicast to both:

    CTA 0: load A0;  load B[:, 0:64] multicast to 0, 1      as a pair: CTA 0 keeps A0, B[:, 0:64]
    CTA 1: load A1;  load B[:, 64:128] multicast to 0, 1               CTA 1 keeps A1, B[:, 64:128]

The pair then needs no multicast, and half the shared memory for B.  Any other reader of such a
stage would miss the half of the peer CTA.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.dialects import scf
from xdsl.ir import BlockArgument, Operation, SSAValue

from tileas_xdsl.analysis.memory.accumulators import column_halves
from tileas_xdsl.analysis.values.cluster_values import runs_uniformly
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import PipelineYieldOp, StageOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import TokenFault, pipelines_of
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import FutureWaitOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp, tile_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import number_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import AsyncTiledTmaLoadOp, TmaLoadBase
from tileas_xdsl.target.mma.matrix_units import PAIR, PAIR_COLUMN_STEP
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.threads.pipeline.stage_consumers import columns_axis, users_of


def check_pair(plan: KernelPlan, op: AsyncDotOp | DotOp) -> None:
    """Raise a located error where a CTA pair cannot compute such a product together."""
    if plan.is_of_pair and (problem := _operand_problem(plan, op)) is not None:
        raise op_error(op, problem)


def pair_problem(plan: KernelPlan, op: AsyncDotOp | DotOp) -> str | None:
    """Return why two CTAs cannot issue an MMA together: a predicate of the MMA; None if they can.

    The loads of its operands are as in the program: B by multicast of halves.
    """
    if (problem := _operand_problem(plan, op)) is not None:
        return problem
    # Without loads to share, the two CTAs along x of a tile block have not become a cluster.
    cluster = plan.facts.cluster
    if not runs_uniformly(op, cluster if prod(cluster) > 1 else (PAIR, 1, 1)):
        return "of two blocks runs equally often in both, which these may not"
    a, b = stage_tile(op.a), whole_stage_tile(op.b)
    assert a is not None
    assert b is not None
    if (problem := _load_problem(a, b, columns_axis(op.b))) is not None:
        return problem
    if prod(cluster) != PAIR:
        return f"of two blocks is in clusters of two, not of {prod(cluster)}"
    return None


def _operand_problem(plan: KernelPlan, op: AsyncDotOp | DotOp) -> str | None:
    """Return why the operands of an MMA cannot be divided over two CTAs; None if they can."""
    c = tile_of(op.c.type)
    rows, columns = (0, 0) if c is None else c.get_shape()[-2:]
    known = [both // PAIR for both in plan.target.matrix_unit.pair_rows]
    if rows not in known:
        return f"of two blocks has {' or '.join(map(str, known))} rows in each, not {rows}"
    if columns % PAIR_COLUMN_STEP:
        return f"of two blocks has columns in steps of {PAIR_COLUMN_STEP}, not {columns}"
    if column_halves((rows, columns), is_of_pair=True) > 1 and _is_read_in_parts(op.result):
        # Half of the columns are in other lanes, which other warps reach.
        return f"of two blocks has {rows} rows in each, and its sums are read a part at a time"
    tiles = stage_tile(op.a), whole_stage_tile(op.b)
    for tile in tiles:
        if tile is None:
            return "of two blocks reads stages, A or some of its rows and all of B"
        for pipeline in pipelines_of_tile(tile):
            # Neither CTA of a pair has all of B.
            if any(reader.by_threads for reader in plan.readers(pipeline).values()):
                return "of two blocks shares its stages with threads, which lack half of B"
    return None


def _is_read_in_parts(sums: SSAValue) -> bool:
    """Whether columns of what products add up are read, in loops that carry it too."""
    found, left = {sums}, [sums]
    while left:
        for use in left.pop().uses:
            user = use.operation
            if isinstance(user, ExtractSliceOp):
                return True
            after = [*_same_sums(user, use.index)]
            left += [value for value in after if value not in found]
            found |= {*after}
    return False


def _same_sums(user: Operation, index: int) -> Iterator[SSAValue]:
    """Yield the values that an operand of an operation goes on as, in tensor memory."""
    match user:
        case scf.ForOp():
            carried = index - (len(user.operands) - len(user.iter_args))
            yield user.results[carried]
            yield user.body.block.args[carried + 1]
        case scf.YieldOp() | PipelineYieldOp() if (parent := user.parent_op()) is not None:
            # A stage gives its token first, then what its body does.
            yield parent.results[index - len(user.operands)]
        case AsyncDotOp() | DotOp() if index == 2:
            yield user.result
        case WaitOp() | FutureWaitOp():
            yield from user.values
        case _:
            return


def _load_problem(a: BlockArgument, b: BlockArgument, axis: int) -> str | None:
    """Return why stages of A are not filled by each CTA for itself, those of B by halves."""
    of_a, of_b = list(_fills(a)), list(_fills(b))
    if not of_a or not of_b or _are_filled_by_threads(a) or _are_filled_by_threads(b):
        return "of two blocks reads what TMA loads, not threads"
    # An MMA of a pair reads its rows of A from the own CTA and B from both: each CTA loads all of
    # its own A and half of B.
    if any(number_of(load.num_multicast) not in (None, 1) for load, _ in of_a):
        return "of two blocks has rows of A in each, which are the same here"
    if not all(_is_half(load, tile, axis) for load, tile in of_b):
        return "of two blocks shares B, of which each loads half of the columns by multicast"
    return None


def _are_filled_by_threads(tile: BlockArgument) -> bool:
    return any(
        isinstance(op, CopyOp)
        for stage in _producers_of(tile)
        for op in operations_in(stage.regions[0])
    )


def _producers_of(tile: BlockArgument) -> Iterator[StageOp]:
    """Yield the operations that fill the stages of a tile."""
    for pipeline in pipelines_of_tile(tile):
        for user in users_of(pipeline):
            if "consumer_idx" not in user.properties and user.regions:
                yield user


def _fills(tile: BlockArgument) -> Iterator[tuple[TmaLoadBase, SSAValue]]:
    """Yield the loads into a tile of the stages, each with the block argument that it fills."""
    for stage in _producers_of(tile):
        filled = stage.regions[0].block.args[tile.index]
        for op in stage.regions[0].walk():
            if isinstance(op, TmaLoadBase) and stage_tile(op.operands[1]) is filled:
                yield op, filled


def _is_half(load: TmaLoadBase, tile: SSAValue, axis: int) -> bool:
    """Whether a load multicasts half of a tile, along one dimension, to both CTAs of a pair."""
    cut, whole = load.operands[1].owner, tile_of(tile.type)
    if not isinstance(load, AsyncTiledTmaLoadOp) or not isinstance(cut, ExtractSliceOp):
        return False
    if whole is None or cut.source is not tile or number_of(load.num_multicast) != PAIR:
        return False
    half = list(whole.get_shape())
    half[axis] //= PAIR
    return list(cut.static_sizes.get_values()) == half


def stage_tile(operand: SSAValue) -> BlockArgument | None:
    """Return the stage tile that an operand is, or is a slice of."""
    while isinstance(operand.owner, ExtractSliceOp):
        operand = operand.owner.source
    return whole_stage_tile(operand)


def whole_stage_tile(operand: SSAValue) -> BlockArgument | None:
    """Return the stage tile that an operand is all of, perhaps transposed."""
    while isinstance(operand.owner, ViewOp):
        operand = operand.owner.source
    if isinstance(operand, BlockArgument) and isinstance(operand.owner.parent_op(), StageOp):
        return operand
    return None


def pipelines_of_tile(tile: BlockArgument) -> Sequence[CreatePipelineOp]:
    """Return the pipelines to whose stages a tile may belong."""
    stage = tile.owner.parent_op()
    assert isinstance(stage, StageOp)
    found = pipelines_of(stage.operands[0])
    return () if isinstance(found, TokenFault) else found
