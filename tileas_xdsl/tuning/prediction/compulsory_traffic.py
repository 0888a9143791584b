"""Bytes that a launch accesses, and those that DRAM has to move however well caches work.

Each element that is read has to come once, and each that is written has to go once:

    bytes of an array = min(bytes of all accesses of all blocks, bytes of the array)

Reads and writes count apart.  What a block loads twice comes from DRAM again as far as the L2 cache
has lost it: between the two, each block under way moves as much as its loads, and half of what it
stores.  A tile of pointers counts with the array whose address it is computed of.  Arrays whose
extents the arguments do not tell count as nothing: the bytes of DRAM are a lower bound.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile
from math import prod
from statistics import fmean

from xdsl.dialects import func, scf, tensor
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from tileas_xdsl.analysis.memory.kept_tiles import reads_kept
from tileas_xdsl.analysis.memory.shared_memory import tile_bytes
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import without_promises
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import enclosing_ops
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.memory.atomics import AtomicRmwOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    TiledAtomicRmwOp,
    TiledLoadBase,
    TiledStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.target.costs.latencies import Latencies
from tileas_xdsl.tuning.prediction.scalar_values import ScalarValues

_OF_VIEWS = (TiledLoadBase, TiledStoreOp, TiledAtomicRmwOp)
_OF_POINTERS = (LoadOp, StoreOp, AtomicRmwOp)


@dataclass(frozen=True)
class Traffic:
    """Bytes of a launch."""

    accessed: float
    """By all blocks, of arrays whose extents are known."""
    read: float
    """From DRAM."""
    written: float
    """To DRAM, at some time."""

    @property
    def compulsory(self) -> float:
        """From and to DRAM."""
        return self.read + self.written

    def seconds(self, costs: Latencies) -> float:
        """How long DRAM is busy, if a launch before has left the L2 cache full of what it wrote.

        Lines of that launch are written in the place of which those of this one come; in turn some
        of what this one writes is left there.  DRAM loses time where it turns to writes and back.
        """
        unwritten = 1e6 * costs.unwritten
        before = min(unwritten, costs.replaced / 100 * self.compulsory)
        written = self.written + before - min(self.written, unwritten)
        turned = costs.dram_turn / 100 * min(self.read, written)
        return (self.read + written + turned) / (1e9 * costs.dram_bandwidth)


def traffic_of(
    function: func.FuncOp,
    blocks: Sequence[ScalarValues],
    count: int,
    resident: int,
    costs: Latencies,
) -> Traffic:
    """Return the bytes of a launch of `count` blocks, of which some are sampled.

    So many are `resident` at a time.
    """
    accessed: dict[tuple[SSAValue, bool], list[float]] = defaultdict(list)
    whole: dict[SSAValue, float] = {}
    for op in function.walk():
        if (found := _accessed_array(op, blocks[0])) is None:
            continue
        pointer, size, tile, is_store = found
        rounds = fmean(_rounds(op, block) for block in blocks)
        accessed[pointer, is_store].append(tile_bytes(tile) * rounds * count)
        whole[pointer] = max(size, whole.get(pointer, 0))
    moved, again = [0.0, 0.0], 0.0
    for (pointer, is_store), sizes in accessed.items():
        moved[is_store] += min(sum(sizes), whole[pointer])
        again += 0 if is_store else _loaded_again(sizes, whole[pointer])
    under_way = (moved[0] + moved[1] / 2) * min(resident / count, 1)
    moved[0] += again * costs.lost_part(under_way)
    return Traffic(sum(map(sum, accessed.values())), *moved)


def _loaded_again(sizes: Sequence[float], whole: float) -> float:
    """Return the bytes of an array that a block has loaded before, by the bytes of each load.

    for %j { %t = load %x[%i, %j]; max %t }
    for %j { %t = load %x[%i, %j]; exp %t }       loads all of %x again

    A load by which many blocks get the same, an operand of products, says nothing of when.
    """
    if max(sizes) >= 2 * whole:
        return 0.0
    return max(sum(min(size, whole) for size in sizes) - whole, 0.0)


def _accessed_array(
    op: Operation, block: ScalarValues
) -> tuple[SSAValue, float, Attribute, bool] | None:
    """The pointer and the bytes of the array of an access, its tile, and whether it is written."""
    if reads_kept(op):
        return None
    if isinstance(op, _OF_VIEWS):
        tile = op.loaded_type() if isinstance(op, TiledLoadBase) else op.value.type
        array = _array(op.view)
        size = None if array is None else _bytes_of_array(array, block)
        pointer = None if array is None else without_promises(array.pointer)
    elif isinstance(op, _OF_POINTERS):
        tile = op.result.type if isinstance(op, LoadOp) else op.value.type
        pointer = _base(op.operands[0])
        size = None if pointer is None else _bytes_of_parameter(pointer, block)
    else:
        return None
    is_store = not isinstance(op, TiledLoadBase | LoadOp)
    return None if pointer is None or size is None else (pointer, size, tile, is_store)


def _array(view: SSAValue) -> MakeMemrefOp | None:
    """The array in global memory that a view shows tiles of."""
    while isinstance(made := view.owner, ViewOp):
        view = made.source
    return made if isinstance(made, MakeMemrefOp) else None


def _base(pointers: SSAValue) -> BlockArgument | None:
    """The parameter that a tile of pointers is computed of."""
    while True:
        value = without_promises(pointers)
        match value.owner:
            case AddPtrOp() as op:
                pointers = op.base
            case tensor.SplatOp() as op:
                pointers = op.input
            case _:
                return value if isinstance(value, BlockArgument) else None


def _bytes_of_parameter(pointer: BlockArgument, block: ScalarValues) -> float | None:
    """The bytes of an array whose extents and strides are the parameters behind its pointer."""
    if not isinstance(pointer.type, PtrType) or not isinstance(
        pointer.block.parent_op(), func.FuncOp
    ):
        return None
    behind = pointer.block.args[pointer.index + 1 :]
    numbers = [*takewhile(lambda value: not isinstance(value.type, PtrType), behind)]
    extents = [block.of(value) for value in numbers[: len(numbers) // 2]]
    known = [extent for extent in extents if extent is not None]
    if not known or len(known) != len(extents):
        return None
    return prod(known) * bits_of(pointer.type.pointee) / 8


def _bytes_of_array(array: MakeMemrefOp, block: ScalarValues) -> float | None:
    """The bytes of the elements of an array; None where an extent is not known."""
    extents = [_number(array.extent(axis), block) for axis in range(array.array.get_num_dims())]
    known = [extent for extent in extents if extent is not None]
    bits = bits_of(array.array.element_type)
    return prod(known) * bits / 8 if len(known) == len(extents) else None


def _number(extent: SSAValue | int, block: ScalarValues) -> int | None:
    return extent if isinstance(extent, int) else block.of(extent)


def _rounds(op: Operation, block: ScalarValues) -> int:
    """How often a block reaches an access; loops of unknown trip counts run once."""
    return prod(_trips(op, block))


def _trips(op: Operation, block: ScalarValues) -> Iterator[int]:
    for parent in enclosing_ops(op):
        if isinstance(parent, scf.ForOp):
            trips = block.trip_count(parent)
            yield 1 if trips is None else trips
