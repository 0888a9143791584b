"""Bytes that a launch accesses, and those that DRAM has to move however well caches work.

Each element that is read has to come once, and each that is written has to go once:

    bytes of an array = min(bytes of all accesses of all blocks, bytes of the array)

Reads and writes count apart.  Accesses through tiles of pointers, whose arrays have no extents
here, and arrays whose extents the arguments do not tell count as nothing: the bytes of DRAM are a
lower bound.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from statistics import fmean

from xdsl.dialects import func, scf
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.values.pointer_base_arrays import without_promises
from tileas_xdsl.dialects.ir_queries import enclosing_ops
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.tuning.prediction.scalar_values import ScalarValues


@dataclass(frozen=True)
class Traffic:
    """Bytes of a launch."""

    accessed: float
    """By all blocks, of arrays whose extents are known."""
    compulsory: float
    """From and to DRAM."""


def traffic_of(function: func.FuncOp, blocks: Sequence[ScalarValues], count: int) -> Traffic:
    """Return the bytes of a launch of `count` blocks, of which some are sampled."""
    accessed: dict[tuple[SSAValue, bool], float] = defaultdict(float)
    whole: dict[SSAValue, float] = {}
    for op in function.walk():
        if not isinstance(op, TiledLoadOp | TiledStoreOp):
            continue
        array = _array(op.view)
        size = None if array is None else _bytes_of_array(array, blocks[0])
        if array is None or size is None:
            continue
        pointer = without_promises(array.pointer)
        tile = op.result if isinstance(op, TiledLoadOp) else op.value
        rounds = fmean(_rounds(op, block) for block in blocks)
        accessed[pointer, isinstance(op, TiledStoreOp)] += _bytes_of_tile(tile) * rounds * count
        whole[pointer] = max(size, whole.get(pointer, 0))
    compulsory = sum(min(size, whole[pointer]) for (pointer, _), size in accessed.items())
    return Traffic(sum(accessed.values()), compulsory)


def _array(view: SSAValue) -> MakeMemrefOp | None:
    """The array in global memory that a view shows tiles of."""
    while isinstance(made := view.owner, ViewOp):
        view = made.source
    return made if isinstance(made, MakeMemrefOp) else None


def _bytes_of_array(array: MakeMemrefOp, block: ScalarValues) -> float | None:
    """The bytes of the elements of an array; None where an extent is not known."""
    extents = [_number(array.extent(axis), block) for axis in range(array.array.get_num_dims())]
    known = [extent for extent in extents if extent is not None]
    bits = bits_of(array.array.element_type)
    return prod(known) * bits / 8 if len(known) == len(extents) else None


def _number(extent: SSAValue | int, block: ScalarValues) -> int | None:
    return extent if isinstance(extent, int) else block.of(extent)


def _bytes_of_tile(tile: SSAValue) -> float:
    return prod(shape_of(tile.type) or ()) * bits_of(element_of(tile.type)) / 8


def _rounds(op: Operation, block: ScalarValues) -> int:
    """How often a block reaches an access; loops of unknown trip counts run once."""
    return prod(_trips(op, block))


def _trips(op: Operation, block: ScalarValues) -> Iterator[int]:
    for parent in enclosing_ops(op):
        if isinstance(parent, scf.ForOp):
            trips = block.trip_count(parent)
            yield 1 if trips is None else trips
