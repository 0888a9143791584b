"""Consumers of pipeline stages: threads, or tcgen05 MMAs that read shared memory.

    consumer_read(stage) { ^(%a, %b): dot %a, %b, %tensor_memory }    MMAs: their commit releases
    consumer_read(stage) { ^(%a): %x = load %a; ... }                 threads: they arrive

Which of them read decides who arrives at the barrier of a stage, and how many arrivals free it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.ir import Block, BlockArgument, Operation, SSAValue, Use

from tileas_xdsl.analysis.layouts.dot_layouts import is_by_threads
from tileas_xdsl.analysis.memory.accumulators import is_of_two_blocks, is_tensor_product
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import has_instance
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp, MatrixProduct
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import TokenFault, outflows, pipelines_of
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaLoadBase


@dataclass(frozen=True)
class StageReader:
    """How an agent reads the stages of a pipeline."""

    by_threads: bool
    by_tensor_core: bool
    """By tcgen05 MMAs, which one thread issues and whose commit releases the stage."""
    by_pair: bool = False
    """By MMAs of a CTA pair, which the even CTA issues for both."""
    is_used: bool = False
    """Threads have used what they have read when they release it: their bodies multiply."""

    def beside(self, other: StageReader) -> StageReader:
        """Both ways."""
        return StageReader(
            self.by_threads or other.by_threads,
            self.by_tensor_core or other.by_tensor_core,
            self.by_pair or other.by_pair,
            self.is_used or other.is_used,
        )


BY_THREADS = StageReader(True, False)
"""The default: stages are read by threads."""


def users_of(op: CreatePipelineOp) -> list[StageOp]:
    """The operations that work on stages of a pipeline and know what they hold."""
    pending: list[SSAValue] = list(op.results)
    seen = set(pending)
    found: list[StageOp] = []
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if isinstance(user, StageOp):
                if user.ENTRY.iterator_at is not None:
                    found.append(user)
                new = [user.results[0]]
            else:
                new = [*(outflows(use) or ())]
            pending += [value for value in new if value not in seen]
            seen.update(new)
    return found


def reader_of(tiles: Sequence[SSAValue]) -> StageReader:
    """How the tiles of a stage are read by the body that has them as arguments."""
    products = [op for tile in tiles for op in products_of(tile)]
    is_read = any(map(is_read_by_threads, tiles))
    of_two = any(map(is_of_two_blocks, products))
    is_used = is_read and uses_what_it_reads(tiles)
    return StageReader(is_read or not products, bool(products), of_two, is_used)


def uses_what_it_reads(tiles: Sequence[SSAValue]) -> bool:
    """Whether a body multiplies, behind which all that it has read of a stage has arrived."""
    bodies = {tile.owner for tile in tiles if isinstance(tile.owner, Block)}
    return any(has_instance(body, AsyncDotOp, DotOp) for body in bodies)


def is_read_by_threads(tile: SSAValue) -> bool:
    """Whether anything but a matrix unit, which is waited for, reads a tile or a slice of it."""
    for use in tile.uses:
        match use.operation:
            case op if isinstance(op, MatrixProduct) and not is_by_threads(op):
                continue
            case TmaLoadBase():
                continue
            case ExtractSliceOp() | ViewOp():
                if any(map(is_read_by_threads, use.operation.results)):
                    return True
            case _:
                return True
    return False


def uses_by_products(tile: SSAValue) -> Iterator[Use]:
    """Yield how products into tensor memory use a tile or a slice of it: 0 as A, 1 as B."""
    for use in tile.uses:
        if is_tensor_product(use.operation):
            yield use
        elif isinstance(use.operation, ExtractSliceOp | ViewOp):
            for part in use.operation.results:
                yield from uses_by_products(part)


def products_of(tile: SSAValue) -> Iterator[Operation]:
    """The products into tensor memory that read a tile or a slice of it."""
    return (use.operation for use in uses_by_products(tile))


def halved_axis(tile: SSAValue) -> int | None:
    """Return the dimension along which each CTA of a pair has half of a tile of a stage.

    It is that of the columns of B, which MMAs of two CTAs read; None where each has all of it.
    """
    for use in uses_by_products(tile):
        product = use.operation
        if use.index == 1 and is_of_two_blocks(product):
            return columns_axis(product.operands[1])
    return None


def axis_of_halves(destination: SSAValue) -> int | None:
    """Return along which dimension each CTA has half of the tile of a stage that a load fills."""
    owner = destination.owner
    tile = owner.source if isinstance(owner, ExtractSliceOp) else destination
    if not isinstance(tile, BlockArgument):
        return None
    stage = tile.owner.parent_op()
    pipelines = pipelines_of(stage.operands[0]) if isinstance(stage, StageOp) else ()
    if isinstance(pipelines, TokenFault):
        return None
    axes = (
        halved_axis(user.regions[0].block.args[tile.index])
        for pipeline in pipelines
        for user in users_of(pipeline)
        if "consumer_idx" in user.properties and user.regions
    )
    return next((axis for axis in axes if axis is not None), None)


def columns_axis(b: SSAValue) -> int:
    """Return along which dimension of B, as it is stored, the columns of a product are."""
    return -2 if is_transposed(b.type) else -1


Readers = Mapping[int, StageReader]
"""How an agent reads stages, by its id."""
