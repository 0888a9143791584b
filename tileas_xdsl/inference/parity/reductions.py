"""Layout of a reduction's result, from the rows of its source."""

from __future__ import annotations

from collections.abc import Mapping

from tileas_xdsl.inference.default_slots import condensed, has_digital_thread, inferred_slot
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.parity.conflicts import LayoutConflict
from tileas_xdsl.inference.parity.loops.containment import layout_contains
from tileas_xdsl.inference.parity.state import BufferLayout, Level, Update
from tileas_xdsl.inference.program import Program, Reduce
from tileas_xdsl.layout.expr.expression import Number, dimension, substituted, symbol
from tileas_xdsl.layout.expr.simplification import simplified


def visit(
    program: Program, reduce: Reduce, level: Level, layouts: Mapping[str, BufferLayout]
) -> Update:
    """The target's layout, where the source's is known.

    Raises LayoutConflict where the target is known and does not fit.
    """
    source = layouts.get(reduce.source)
    if level is Level.STRICT or not isinstance(source, FragmentMap):
        return Update()
    shape = program.buffers[reduce.target].shape
    result = _projected(program, reduce, source, shape)
    known = layouts.get(reduce.target)
    rule = f"rows of {reduce.source}"
    if not isinstance(known, FragmentMap):
        return Update({reduce.target: result}, rule=rule)
    if result.replicas < source.replicas or not layout_contains(known, result):
        raise LayoutConflict(
            f"'{reduce.target}' is laid out as {known}, the sums of '{reduce.source}' end up as "
            f"{result}: shared memory between them would change the layout",
            reduce.location,
        )
    return Update()


def _projected(
    program: Program, reduce: Reduce, source: FragmentMap, shape: tuple[int, ...]
) -> FragmentMap:
    """The source's threads with the reduced coordinate folded into the replica."""
    extent = source.shape[reduce.axis]
    replicas = extent * source.replicas
    replica = symbol(0)
    coordinates = _coordinates(reduce, len(source.shape), len(shape))
    coordinates.insert(reduce.axis, replica % extent)
    thread = substituted(source.thread, coordinates, [replica // extent])
    thread = simplified(thread, shape, (replicas,))
    slot = inferred_slot(thread, shape)
    whole = FragmentMap(shape, thread, slot, program.threads, replicas)
    if not has_digital_thread(whole):
        raise LayoutConflict(
            f"thread {thread} is no sum of digits of the coordinates of '{reduce.target}'",
            reduce.location,
        )
    thread, replicas = condensed(thread, shape, replicas)
    return FragmentMap(shape, thread, slot, program.threads, replicas)


def _coordinates(reduce: Reduce, rank: int, target_rank: int) -> list[Number]:
    """The coordinates of the target that are those of the source, but for the reduced one."""
    dimensions = [dimension(k) for k in range(target_rank)]
    if target_rank == rank:
        del dimensions[reduce.axis]
    return list(dimensions)
