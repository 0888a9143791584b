"""Find tiles that loops around the divided ones load for products: streams of those loops.

scf.for %t = ... {
  %q = nv_tileas.tiled_load %a[%t] ... tma_load_2d      a stream of the loop over %t
  scf.for %j = ... {
    %k = nv_tileas.tiled_load %b[%j] ... tma_load_2d
    %s = nv_tileas.dot %q, %k, %zero
  }
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from tileas_xdsl.analysis.memory.shared_memory import aligned_bytes
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import matrix_unit_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import (
    ProducerSlice,
    StageLoad,
    enclosing_control,
)


def streamed_loads(loops: Sequence[scf.ForOp], loads: Sequence[StageLoad]) -> list[TiledLoadOp]:
    """Return the loads of loops around these that a producer can do a round of theirs ahead."""
    around = dict.fromkeys(op for loop in loops for op in enclosing_control(loop))
    bodies = [one.regions for one in around if _is_repeated(one)]
    blocks = [block for regions in bodies for region in regions for block in region.blocks]
    found = [op for block in blocks for op in block.ops]
    return [
        op
        for op in found
        if isinstance(op, TiledLoadOp)
        and isinstance(op.atom.data, TmaAtom)
        and space_of(op.result.type) is Space.SMEM
        and op not in loads
        and _is_multiplied_in_registers(op.result)
        and end_of_reads(op) is not None
    ]


def _is_repeated(op: Operation) -> bool:
    """Whether control flow is a loop, or a branch in one."""
    return any(isinstance(one, scf.ForOp | scf.WhileOp) for one in (op, *enclosing_control(op)))


def streamed_bytes(needed: ProducerSlice) -> int:
    """Return the shared memory of one tile of each stream."""
    return sum(aligned_bytes(load.result.type) for load in needed.streamed)


def _is_multiplied_in_registers(tile: SSAValue) -> bool:
    """Whether matrix units that add up in registers read a tile, or its views; threads may too."""
    for use in tile.uses:
        match use.operation:
            case ViewOp() as view if _is_multiplied_in_registers(view.result):
                continue
            case ConvertLayoutOp():
                continue
            case DotOp() as dot if use.index < 2:
                unit = matrix_unit_of(dot.atom)
                if unit is None or not unit.reads_shared_memory:
                    return False
                if unit.accumulates_in_tensor_memory:
                    return False
            case _:
                return False
    return tile.first_use is not None


def end_of_reads(load: TiledLoadOp) -> Operation | None:
    """Return the operation in front of which nothing reads a tile any more; None if unknown.

    Products may run on until something reads what they, or loops that they are in, give.
    """
    block = load.parent
    assert block is not None
    readers = list(_readers(block, load.result))
    given = [v for op in readers for v in op.results if as_tile(v.type) is not None]
    behind = [op for value in given for op in _tops(block, value)]
    last = max((*readers, *behind), key=list(block.ops).index)
    return None if last.has_trait(IsTerminator) else last.next_op


def _readers(block: Block, tile: SSAValue) -> Iterator[Operation]:
    """The operations of a block that read a tile, or contain what does, by way of views or not."""
    for op in _tops(block, tile):
        if isinstance(op, ViewOp):
            yield from _readers(block, op.result)
        else:
            yield op


def _tops(block: Block, value: SSAValue) -> Iterator[Operation]:
    """The operations of a block that use a value, or contain what does."""
    for use in value.uses:
        if (op := block.find_ancestor_op_in_block(use.operation)) is not None:
            yield op
