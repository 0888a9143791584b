"""Verify the buffers of a schedule: room in shared memory, stages, and bytes that are not shared.

Lifetimes are counted in cycles of the schedule itself, from the start of a load to the start of the
last operation that reads its tile.  They are never longer than by the latencies of a machine, so
that a schedule whose cycles are counts of operations is held to nothing that it does not say.

    load at 0, read at 1024, ii = 1024       iterations i and i + 1 are alive in cycle 1024: two
                                             stages or more
    load at 0, read at 1000, ii = 1024       one stage will do
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from xdsl.dialects import scf
from xdsl.ir import Operation

from tileas_xdsl.analysis.memory.shared_memory import TILE_ALIGNMENT, aligned_bytes
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.scheduling.loops.dependence_graph import DependenceGraph, DependenceKind
from tileas_xdsl.scheduling.schedule import BufferPlan, Role, Schedule, loads_of
from tileas_xdsl.target.arch import Target


def verify_room(loop: scf.ForOp, plans: Sequence[BufferPlan], target: Target) -> None:
    """Raise `OpError` where stages take more than all of shared memory, or reach behind its end."""
    loads = loads_of(loop)
    tiles = [(one.stages, aligned_bytes(loads[one.value].results[0].type)) for one in plans]
    total, most = sum(count * size for count, size in tiles), target.shared_memory_per_block
    if total > most and all(one.offset is None for one in plans):
        listed = ", ".join(f"{count} stages of {size} bytes" for count, size in tiles)
        message = f"has buffers of {total} bytes: {listed}; shared memory has {most}"
        raise op_error(loop, message)
    for one, (count, size) in zip(plans, tiles, strict=True):
        if one.offset is not None:
            _verify_offset(loads[one.value], one.offset, count * size, most)


def _verify_offset(load: Operation, offset: int, size: int, most: int) -> None:
    if offset % TILE_ALIGNMENT:
        message = f"has its buffer at byte {offset} of shared memory, no multiple of"
        raise op_error(load, f"{message} {TILE_ALIGNMENT}, at which tiles begin")
    if offset + size > most:
        message = f"has its buffer in bytes {offset} to {offset + size - 1} of shared memory"
        raise op_error(load, f"{message}, which has {most}")


def verify_lifetimes(loop: scf.ForOp, schedule: Schedule, graph: DependenceGraph) -> None:
    """Raise `OpError` where a tile would be written over before the schedule has it read."""
    buffers = list(_lives(loop, schedule, graph))
    for one in buffers:
        if one.stages < (alive := one.iterations(schedule.ii)):
            count = f"{one.stages} stage{'s' * (one.stages > 1)}"
            message = f"has {count}, but tiles of {alive} iterations are alive at once"
            raise op_error(one.load, message, [note(one.reader, "the last operation that reads")])
    for first, second in combinations(buffers, 2):
        if first.shares_bytes(second) and not first.may_share(second, schedule.ii):
            message = f"has its buffer at byte {second.offset} of shared memory, in the bytes of"
            why = note(
                first.load,
                f"this one, from byte {first.offset} on, in the same cycles; tileas-assign-buffers "
                "computes offsets, which may be left out",
            )
            raise op_error(second.load, f"{message} another one", [why])


@dataclass(frozen=True)
class _Life:
    """The buffer of a load, alive from the start of the load to that of its last reader."""

    load: Operation
    reader: Operation
    begin: int
    end: int
    stages: int
    stage_bytes: int
    offset: int | None

    def iterations(self, ii: int) -> int:
        """Iterations of which tiles are alive in one cycle."""
        return (self.end - self.begin) // ii + 1

    def shares_bytes(self, other: _Life) -> bool:
        """Whether both have bytes of their own by the plan, and some are the same."""
        if self.offset is None or other.offset is None:
            return False
        size, others = self.stages * self.stage_bytes, other.stages * other.stage_bytes
        return self.offset < other.offset + others and other.offset < self.offset + size

    def may_share(self, other: _Life, ii: int) -> bool:
        """Whether each has one stage, and no cycle of a round has both alive."""
        if self.stages > 1 or other.stages > 1:
            return False
        apart, back = (other.begin - self.begin) % ii, (self.begin - other.begin) % ii
        return self.end - self.begin < apart and other.end - other.begin < back


def _lives(loop: scf.ForOp, schedule: Schedule, graph: DependenceGraph) -> Iterator[_Life]:
    plans, loads = {one.value: one for one in schedule.plan.buffers}, loads_of(loop)
    for node in graph.nodes:
        load = node.operations[0]
        plan = plans.get(loads.index(load)) if load in loads else None
        reads = [
            (schedule.placements[edge.target.operations[0]].start + edge.distance * schedule.ii, k)
            for k, edge in enumerate(graph.edges)
            if edge.source is node and edge.order is DependenceKind.VALUE
        ]
        if plan is None or not reads or schedule.placements[load].role is not Role.PRODUCER:
            continue
        end, last = max(reads)
        reader = graph.edges[last].target.operations[0]
        size = aligned_bytes(load.results[0].type)
        begin = schedule.placements[load].start
        yield _Life(load, reader, begin, end, plan.stages, size, plan.offset)
