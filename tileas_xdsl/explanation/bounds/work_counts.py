"""Floating-point operations of code on tiles, and its bytes from and to global memory.

Counted on whole tiles, so that what lies outside of an array counts as if it were there.  A nested
loop is a piece of code of its own, which its parent's count leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.analysis.memory.kept_tiles import reads_kept
from tileas_xdsl.analysis.memory.shared_memory import tile_bytes
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu.threads.innermost_loops import LOOPS
from tileas_xdsl.dialects.nv_tileas.compute.dot import MatrixProduct
from tileas_xdsl.dialects.nv_tileas.compute.reductions import CombiningOp
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyBase
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import ON_CHIP, element_of, shape_of, space_of
from tileas_xdsl.explanation.facts import Roofline
from tileas_xdsl.scheduling.loops.macro_operations import MacroKind, kind_of, stored_bytes
from tileas_xdsl.target.costs.latencies import Latencies

FLOPS: Mapping[str, int] = {
    **dict.fromkeys(
        (
            *("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf"),
            *("arith.maxnumf", "arith.minnumf", "arith.maximumf", "arith.minimumf"),
        ),
        1,
    ),
    "math.fma": 2,
    "math.absf": 0,
    "math.copysign": 0,
}
"""Of an element, by operation; other functions of `math` count one each, all else nothing."""

_LOADS = (MacroKind.TMA_LOAD, MacroKind.LOAD)
_STORES = (MacroKind.TMA_STORE, MacroKind.STORE)


@dataclass
class WorkCount:
    """Sums over operations."""

    flops: int = 0
    product_flops: int = 0
    read: int = 0
    written: int = 0
    peak: float = 0
    """Flops a cycle of the matrix products that have most flops."""
    largest_product: int = 0

    def per(self, runs: int) -> WorkCount:
        """Return the sums of one of so many runs."""
        return WorkCount(
            self.flops // runs,
            self.product_flops // runs,
            self.read // runs,
            self.written // runs,
            self.peak,
        )

    def roofline(self, latencies: Latencies) -> Roofline:
        """Return where the sums lie under the roofs of a multiprocessor."""
        peak = self.peak or 2.0 * latencies.lanes
        moved, ridge = self.read + self.written, peak / latencies.load_rate
        intensity = self.flops / moved if moved else None
        arithmetic, path = self.flops / peak, moved / latencies.load_rate
        bound = "memory" if intensity is not None and intensity < ridge else "compute"
        return Roofline(
            self.flops,
            self.product_flops,
            self.read,
            self.written,
            intensity,
            ridge,
            peak,
            latencies.load_rate,
            bound,
            latencies.dram_rate,
            max(1.0, moved / latencies.dram_rate / max(arithmetic, path, 1)),
        )


def work_count(block: Block, latencies: Latencies) -> WorkCount:
    """Count the operations of a block and of regions in it, without those of loops in it."""
    found = WorkCount()
    for op in own_operations(block):
        if isinstance(op, MatrixProduct):
            _add_product(found, op, latencies)
        elif isinstance(op, GenerateOp | CombiningOp):
            found.flops += _elements(op) * sum(map(flops_of, _body(op)))
        elif _is_tile_op(op):
            found.flops += _elements(op) * flops_of(op)
        _add_bytes(found, op)
    return found


def own_operations(block: Block) -> Iterator[Operation]:
    """Yield the operations of a block and of what is inside of them, but not those of loops.

    Bodies that compute one element are left to their operation.
    """
    for op in block.ops:
        yield op
        if isinstance(op, (*LOOPS, GenerateOp, CombiningOp)):
            continue
        for region in op.regions:
            for inner in region.blocks:
                yield from own_operations(inner)


def flops_of(op: Operation) -> int:
    """Return the flops of an operation on one element."""
    return FLOPS.get(op.name, int(op.name.startswith("math.")))


def _body(op: Operation) -> Iterator[Operation]:
    for region in op.regions:
        for block in region.blocks:
            yield from block.ops


def _add_product(found: WorkCount, op: MatrixProduct, latencies: Latencies) -> None:
    """A product of `m` x `k` by `k` x `n` is `2 m n k` flops, times the batch."""
    a, c = shape_of(op.operands[0].type) or (1,), shape_of(op.results[0].type) or (1,)
    element = element_of(op.operands[0].type)
    flops = 2 * prod(c) * a[-1]
    found.flops += flops
    found.product_flops += flops
    if flops > found.largest_product and element is not None:
        found.largest_product = flops
        found.peak = 2.0 * latencies.rate_of(element_name(element)).multiplications


def _add_bytes(found: WorkCount, op: Operation) -> None:
    kind = kind_of(op)
    if isinstance(op, CopyBase):
        found.read += 0 if _is_on_chip([op.source]) else _tile_bytes(op.source)
        found.written += 0 if _is_on_chip([op.destination]) else _tile_bytes(op.destination)
    elif kind in _LOADS and op.results and not _is_on_chip(op.operands[:1]):
        found.read += 0 if reads_kept(op) else tile_bytes(_loaded_type(op))
    elif kind in _STORES:
        found.written += stored_bytes(op)


def _loaded_type(op: Operation) -> Attribute:
    """The tile that a load reads, also where a token stands for it."""
    return op.loaded_type() if isinstance(op, TiledLoadBase) else op.results[0].type


def _tile_bytes(value: SSAValue) -> int:
    """The bytes of what a copy reads or writes; none of a tile in registers."""
    return 0 if isinstance(value.type, TensorType) else tile_bytes(value.type)


def _is_on_chip(values: Iterable[SSAValue]) -> bool:
    return any(space_of(value.type) in ON_CHIP for value in values)


def _is_tile(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType)


def _is_tile_op(op: Operation) -> bool:
    return any(map(_is_tile, op.results))


def _elements(op: Operation) -> int:
    """Of the largest tile that an operation takes or gives."""
    tiles = [value for value in (*op.operands, *op.results) if _is_tile(value)]
    return max((prod(shape_of(value.type) or ()) for value in tiles), default=1)
