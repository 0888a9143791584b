"""Which loads of a scheduled loop share a pipeline: those that the same operations read.

    %s = dot %q, %k        %o = dot %p, %v        two rings: k is released before v is
    %d = dot %a, %b                               one ring of (a, b): one barrier for both

Loads that some operation reads together are one ring, for it waits for both; so is, transitively,
whatever is read together with one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.disjoint_set import DisjointSet

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.types import IteratorType
from tileas_xdsl.transforms.pipeline_loads.agents.stage_buffer import payload_of
from tileas_xdsl.transforms.pipeline_loads.agents.stage_fills import stage_tile


@dataclass(frozen=True)
class StageRing:
    """Loads that fill one stage together, and the operations of the loop that read it."""

    loads: Sequence[TiledLoadOp]
    readers: Sequence[Operation]
    """In program order."""
    stages: int

    @property
    def tiles(self) -> Sequence[TensorType[Attribute]]:
        """The tiles of a stage, without a memory space."""
        return [stage_tile(load) for load in self.loads]

    @property
    def iterator(self) -> IteratorType:
        """The type of an iterator over the stages."""
        return IteratorType(payload_of(self.tiles), self.stages, Space.SMEM)


def stage_rings(
    body: Block, loads: Sequence[TiledLoadOp], stages: Mapping[TiledLoadOp, int]
) -> Sequence[StageRing] | str:
    """Group the loads of a loop into rings, or say why one of them has no use of a stage.

    A ring has as many stages as the least of its loads asks for.
    """
    readers = {load: readers_of(body, load) for load in loads}
    if any(not found for found in readers.values()):
        return "a tile that the loop loads is not read by an operation of the loop"
    # An operation that reads two loads waits once, on one barrier that counts the bytes of both:
    # such loads share a ring. Loads with other readers get a ring, and are released, of their own.
    together: DisjointSet[TiledLoadOp] = DisjointSet(loads)
    first: dict[Operation, TiledLoadOp] = {}
    for load, found in readers.items():
        for op in found:
            together.union(first.setdefault(op, load), load)
    groups: dict[TiledLoadOp, list[TiledLoadOp]] = {}
    for load in loads:
        groups.setdefault(together.find(load), []).append(load)
    order = {op: k for k, op in enumerate(body.ops)}
    return [
        StageRing(
            group,
            sorted({op for load in group for op in readers[load]}, key=order.__getitem__),
            min(stages[load] for load in group),
        )
        for group in groups.values()
    ]


def readers_of(body: Block, load: TiledLoadOp) -> Sequence[Operation]:
    """The operations of the body that read a loaded tile, directly, nested, or by a view of it."""
    found: dict[Operation, None] = {}
    pending: list[SSAValue] = [load.result]
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if isinstance(op, ViewOp) and op.parent is body:
                pending.append(op.result)
            elif (top := body.find_ancestor_op_in_block(op)) is not None:
                found[top] = None
    return list(found)


def views_of(body: Block, load: TiledLoadOp) -> Sequence[ViewOp]:
    """The views of a loaded tile in the body, each behind the one that it is a view of."""
    found: list[ViewOp] = []
    pending: list[SSAValue] = [load.result]
    while pending:
        for use in pending.pop(0).uses:
            if isinstance(use.operation, ViewOp) and use.operation.parent is body:
                found.append(use.operation)
                pending.append(use.operation.result)
    return found
