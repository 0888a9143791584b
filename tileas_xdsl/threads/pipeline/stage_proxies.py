"""Which proxies write and read the tiles of a stage, for its fences (PTX ISA, proxies).

stage: %a, %b by TMA, %s by cp.async     consumers: wgmma of %a and %b, threads read %s
-> no fence: neither do matrix units read what threads have written, nor threads what TMA will
   write next
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import BlockArgument, Operation, SSAValue

from tileas_xdsl.analysis.memory.copied_chunks import async_copies
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.threads.pipeline.stage_consumers import is_read_by_threads, users_of

_REGISTERS = (None, Space.RMEM)


@dataclass(frozen=True)
class StageProxies:
    """What crosses between the generic proxy, of threads, and the asynchronous one."""

    multiplies_copies: bool = True
    """Whether matrix units may read what threads copy into stages (`cp.async`)."""
    reads_loads: bool = True
    """Whether threads may read what TMA has written, and will write again."""


def proxies_of(pipeline: CreatePipelineOp, fills: Sequence[Operation]) -> StageProxies:
    """Return what crosses between proxies in the stages that `fills` fill."""
    filled = [op.destination for fill in fills for op in async_copies(fill)]
    copied = {tile.index for tile in filled if isinstance(tile, BlockArgument)}
    tiles = list(_read_tiles(pipeline))
    return StageProxies(
        not all(_is_read_in_registers(tile) for tile in tiles if tile.index in copied),
        any(is_read_by_threads(tile) for tile in tiles if tile.index not in copied),
    )


def _read_tiles(pipeline: CreatePipelineOp) -> Iterator[BlockArgument]:
    """The tiles of stages in the bodies that read them."""
    for user in users_of(pipeline):
        if "consumer_idx" in user.properties and user.regions:
            yield from user.regions[0].block.args


def _is_read_in_registers(tile: SSAValue) -> bool:
    """Whether threads load a tile or a slice of it into registers, and nothing else reads it."""
    for use in tile.uses:
        op = use.operation
        if isinstance(op, ExtractSliceOp | ViewOp):
            if not all(map(_is_read_in_registers, op.results)):
                return False
        elif not isinstance(op, ConvertLayoutOp) or space_of(op.result.type) not in _REGISTERS:
            return False
    return True
