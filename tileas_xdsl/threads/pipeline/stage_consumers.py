"""Consumers of pipeline stages: threads, or tcgen05 MMAs that read shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.layouts.dot_layouts import is_by_threads
from tileas_xdsl.analysis.memory.accumulators import is_of_two_blocks, is_tensor_product
from tileas_xdsl.dialects.nv_tileas.compute.dot import MatrixProduct
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import outflows
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp


@dataclass(frozen=True)
class StageReader:
    """How an agent reads the stages of a pipeline."""

    by_threads: bool
    by_tensor_core: bool
    """By tcgen05 MMAs, which one thread issues and whose commit releases the stage."""
    by_pair: bool = False
    """By MMAs of a CTA pair, which the even CTA issues for both."""

    def beside(self, other: StageReader) -> StageReader:
        """Both ways."""
        return StageReader(
            self.by_threads or other.by_threads,
            self.by_tensor_core or other.by_tensor_core,
            self.by_pair or other.by_pair,
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
    by_threads = any(map(is_read_by_threads, tiles)) or not products
    return StageReader(by_threads, bool(products), any(map(is_of_two_blocks, products)))


def is_read_by_threads(tile: SSAValue) -> bool:
    """Whether anything but a matrix unit, which is waited for, reads a tile or a slice of it."""
    for use in tile.uses:
        match use.operation:
            case op if isinstance(op, MatrixProduct) and not is_by_threads(op):
                continue
            case ExtractSliceOp() | ViewOp():
                if any(map(is_read_by_threads, use.operation.results)):
                    return True
            case _:
                return True
    return False


def products_of(tile: SSAValue) -> Iterator[Operation]:
    """The products into tensor memory that read a tile or a slice of it."""
    for use in tile.uses:
        if is_tensor_product(use.operation):
            yield use.operation
        elif isinstance(use.operation, ExtractSliceOp | ViewOp):
            for part in use.operation.results:
                yield from products_of(part)


Readers = Mapping[int, StageReader]
"""How an agent reads stages, by its id."""
