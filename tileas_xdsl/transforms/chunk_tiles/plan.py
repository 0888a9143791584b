"""Cut a kernel's tiles into chunks along one dimension, so that live tiles fit registers.

A tile program may ask for tiles that no register file holds. `DimensionClasses` groups
dimensions that must be cut together: those that elementwise operations, views and dots identify.
A class can be cut if no operation looks across it (a reduction along it would). The plan is the
smallest number of chunks, a power of two, for which the peak of live registers fits; the block
of operations that touch the class then runs once a chunk, in a loop:

    %t = tiled_load %from[%z, %z] : 512x256      scf.for %c = 0 to 32 {
    %e = math.exp %t                               %t = tiled_load %from[32 * %z + %c, %z] : 16x256
    %s = reduce %e {axis = 1}                      %e = math.exp %t
    tiled_store %s, %to[%z]                        %s = reduce %e {axis = 1}
                                                   tiled_store %s, %to[32 * %z + %c]
                                                 }

Two reasons to cut come in this order: the matrix unit takes a product only in parts (tcgen05 has
at most 128 rows), then register pressure. Memory operations may only move into the loop if
tokens say that no access of one chunk is ordered against one of another: program order of a
whole tile is not program order of its chunks.

Where no class fits, `reduction_phases` cuts one that reductions look across.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import prod

from xdsl.dialects import arith, func, scf, tensor
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tileas_xdsl.analysis.memory.accumulators import tmem_accumulators
from tileas_xdsl.analysis.values.liveness.tiles import peak_around_products, peak_registers
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import owning_op
from tileas_xdsl.dialects.kinds import Kinds, has_instance, instances_in
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.atomics import AtomicRmwOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
    ExpandDimsOp,
    GenerateOp,
    ViewOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.units import WARP, WARPGROUP_WARPS, WORD_BITS
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.pipeline.warp_allocation import (
    MAX_CONSUMER_REGISTERS,
    blocks_together,
    registers_at_entry,
)
from tileas_xdsl.transforms.chunk_tiles.unit_products import parts, takes_parts
from tileas_xdsl.transforms.fuse_elementwise.profitability import is_elementwise
from tileas_xdsl.transforms.tile_parts.dimension_classes import DimensionClasses, tile_shape
from tileas_xdsl.transforms.tile_parts.parts import Tiles

_FREE = Kinds(GenerateOp, arith.ConstantOp, tensor.SplatOp)
"""Operations whose tile takes no registers: it is computed where it is read."""

POINTER_BITS = 64

MAX_CHUNKS = 64

MIN_EXTENT, MIN_COLUMNS = 64, 32
"""Rows or columns of a product that are worth a loop over its operands; columns where tiles do not
fit registers otherwise."""

MAX_WARPS = 32

ROWS_OF_WARP = 16
"""Rows of a product that each warp has at least (PTX ISA, wgmma and mma)."""

OTHER_REGISTERS = 40
"""Of a thread, for addresses, descriptors and loops."""

REGISTERS_OF_PRODUCER = 40 * WARPGROUP_WARPS * WARP
"""Of the warpgroup that loads (`pipeline_loads/resources.py`)."""

BESIDE_ACCUMULATORS = 48
"""Registers of such a thread for addresses, masks, and operands that products read from registers.

ptxas 13.5 spills 816 bytes of attention of 256x128 scores and 256x64 sums, 196 registers of 232.
"""

SHARED_REGISTERS, MOST_SHARING_WARPS = 144, 8
"""Registers of live tiles in a thread from which on more warps share them, where tiles are
multiplied: operands in registers and what is exchanged take the rest.

Of 45 kernels of one warpgroup in TileGym, those of up to 130 do not spill, and those from 161 on do
(ptxas 13.5, sm_90a), none of these with two.
"""

_REPEATABLE = (
    *(ConvertLayoutOp, CreateNoneOp, DotOp, ExpandDimsOp, GenerateOp, LoadOp, ReduceOp, ScanOp),
    *(AtomicRmwOp, StoreOp, TiledLoadOp, TiledStoreOp, ViewOp, YieldOp),
)
"""Operations beside arithmetic that may run once for each chunk."""

CONTROL = (scf.ConditionOp, scf.ForOp, scf.IfOp, scf.WhileOp, scf.YieldOp)

WRITES = (AtomicRmwOp, StoreOp, TiledStoreOp)

ACCESSES = (LoadOp, TiledLoadOp, *WRITES)


def is_awaited(op: Operation) -> bool:
    """Whether an operation behind an access is ordered after it."""
    return isinstance(op, ACCESSES) and op.out_token is not None and bool(op.out_token.uses)


@dataclass(frozen=True)
class ChunkPlan:
    """The operations of a block that run once for each of `count` chunks."""

    tiles: Tiles
    count: int
    warps: int
    """Of the kernel; fewer where chunks have not rows enough for as many."""
    operations: Sequence[Operation]


def plan_chunks(kernel: func.FuncOp, target: Target) -> ChunkPlan | None:
    """Return the plan with the fewest chunks; None where tiles fit, or cannot be cut."""
    too_large = products_in_parts(kernel, target)
    if not too_large and not has_too_many_registers(kernel, target):
        return None
    warps = spec_of(kernel).num_warps
    found = DimensionClasses(kernel).members(kernel)
    candidates = [(tiles, moved) for tiles in found.values() if (moved := operations_of(tiles))]
    for tiles, moved in candidates:
        count = parts_of_products(tiles, too_large)
        chunk_warps = min(warps, most_warps(tiles, count))
        if count > 1 and chunk_warps >= WARPGROUP_WARPS and may_be_cut(tiles, count):
            return ChunkPlan(tiles, count, chunk_warps, moved)
    return _plan_for_registers(kernel, target, candidates)


def products_in_parts(kernel: func.FuncOp, target: Target) -> Mapping[SSAValue, tuple[int, int]]:
    """Products that the matrix unit only takes in parts: in how many of rows, and of columns."""
    takes = takes_parts(kernel, target)
    found = {op.results[0]: parts(op, takes) for op in instances_in(kernel, DotOp)}
    return {product: counts for product, counts in found.items() if counts != (1, 1)}


def parts_of_products(tiles: Tiles, products: Mapping[SSAValue, tuple[int, int]]) -> int:
    """Return in how many parts a class is cut so that the matrix unit takes its products."""
    counts = [
        counts[k - len(tile_shape(tile))]
        for tile, k in tiles.items()
        if (counts := products.get(tile)) is not None
    ]
    return max(counts, default=1)


def _plan_for_registers(
    kernel: func.FuncOp, target: Target, candidates: Sequence[tuple[Tiles, Sequence[Operation]]]
) -> ChunkPlan | None:
    if not has_too_many_registers(kernel, target):
        return None
    for columns in (MIN_EXTENT, MIN_COLUMNS):
        for plan in _plans(kernel, target, candidates, columns):
            if _peak(kernel, plan.tiles, plan.count) <= capacity(kernel, target, plan.warps):
                return plan
    return None


def _plans(
    kernel: func.FuncOp,
    target: Target,
    candidates: Sequence[tuple[Tiles, Sequence[Operation]]],
    columns: int,
) -> Iterator[ChunkPlan]:
    """Yield the plans whose products have at least so many columns, those of few chunks first.

    More than two warpgroups have fewer registers for tiles: each thread needs some beside them.
    """
    warps, count = spec_of(kernel).num_warps, 2
    while count <= MAX_CHUNKS:
        for tiles, moved in candidates:
            chunk_warps = min(warps, most_warps(tiles, count))
            if chunk_warps < WARPGROUP_WARPS or not may_be_cut(tiles, count, columns):
                continue
            fewer = min(chunk_warps, MOST_SHARING_WARPS)
            if capacity(kernel, target, fewer) > capacity(kernel, target, chunk_warps):
                chunk_warps = fewer
            yield ChunkPlan(tiles, count, chunk_warps, moved)
        # Powers of two, as all extents of Tile IR are.
        count *= 2


def has_too_many_registers(kernel: func.FuncOp, target: Target) -> bool:
    """Return whether the live tiles of a kernel need more registers than a block has.

    Accumulators in tensor memory take none; they may not fill tensor memory either, since other
    accumulators, and the columns through which they are read, are allocated there too.
    """
    warps = spec_of(kernel).num_warps
    products = [op.results[0] for op in instances_in(kernel, DotOp)]
    threads, blocks = warps * WARP, blocks_of(kernel, target)
    held = _registers(threads, target, blocks)
    if products and target.has_tensor_memory:
        words = target.tensor_memory_lanes * target.tensor_memory_columns
        if any(tile_words(product) >= words for product in products):
            return True
        in_memory = tmem_accumulators(kernel).of_value

        def words_but_of_sums(value: SSAValue) -> int:
            return 0 if value in in_memory else tile_words(value)

        return peak_around_products(kernel.body, words_but_of_sums) > held
    if products:
        if _peak(kernel, {}, 1) > held:
            return True
        return blocks == 1 and _peak_of_products(kernel) > _registers_of_consumers(target)
    registers = registers_at_entry(threads, target, blocks)
    return _peak(kernel, {}, 1) > threads * (registers - OTHER_REGISTERS)


def _peak_of_products(kernel: func.FuncOp) -> int:
    """Return the most registers of tiles in loops that multiply, else in the whole kernel.

    Behind such a loop sums are computed further and stored element by element: ptxas orders that.
    """
    loops = instances_in(kernel, scf.ForOp)
    bodies = [op.body for op in loops if has_instance(op, DotOp)]
    return max(peak_around_products(body, tile_words) for body in bodies or [kernel.body])


def _registers_of_consumers(target: Target) -> int:
    """The registers for tiles in two warpgroups that multiply, beside a producer."""
    threads = 2 * WARPGROUP_WARPS * WARP
    left = target.registers_per_multiprocessor - REGISTERS_OF_PRODUCER
    return min(left, threads * MAX_CONSUMER_REGISTERS) - threads * BESIDE_ACCUMULATORS


def warps_that_fit(kernel: func.FuncOp) -> int:
    """Return the warps of a kernel; more where it multiplies tiles that its threads do not hold."""
    warps = spec_of(kernel).num_warps
    if warps >= MOST_SHARING_WARPS or not has_instance(kernel, DotOp):
        return warps
    live = _peak(kernel, {}, 1)
    while warps < MOST_SHARING_WARPS and live > SHARED_REGISTERS * warps * WARP:
        warps *= 2
    return warps


def blocks_that_fit(kernel: func.FuncOp, target: Target) -> int:
    """Return how many of the blocks that are asked for have registers for live tiles; at least 1.

    Kernels without products have bounds of their own (`threads/pipeline/occupancy.py`).
    """
    blocks = blocks_of(kernel, target)
    threads = spec_of(kernel).num_warps * WARP
    if blocks == 1 or not has_instance(kernel, DotOp):
        return blocks
    wanted = _peak(kernel, {}, 1) + threads * OTHER_REGISTERS
    fitting = (n for n in range(blocks, 1, -1) if _registers(threads, target, n) >= wanted)
    return next(fitting, 1)


def _registers(threads: int, target: Target, blocks: int) -> int:
    """The registers of a block, where so many share a multiprocessor."""
    return threads * registers_at_entry(threads, target, blocks)


def capacity(kernel: func.FuncOp, target: Target, warps: int) -> int:
    """Return the registers available to tiles, for so many warps and the present blocks per SM.

    Without products only a quarter counts: chunks cost little there, and the functions of `math`
    that are expanded later need registers too.
    """
    threads, blocks = warps * WARP, blocks_of(kernel, target)
    registers = registers_at_entry(threads, target, blocks)
    multiplies = has_instance(kernel, DotOp)
    return threads * (registers - OTHER_REGISTERS if multiplies else registers // 4)


def blocks_of(kernel: func.FuncOp, target: Target) -> int:
    """Return the blocks that are to share a multiprocessor."""
    spec = spec_of(kernel)
    return blocks_together(spec.num_warps * WARP, spec.occupancy, target)


def _peak(kernel: func.FuncOp, tiles: Tiles, count: int) -> int:
    def words(value: SSAValue) -> int:
        return tile_words(value) // (count if value in tiles else 1)

    peak = peak_around_products if has_instance(kernel, DotOp) else peak_registers
    return peak(kernel.body, words)


def tile_words(value: SSAValue) -> int:
    """Return the registers of a tile, 0 for one that is recomputed where it is used."""
    shape = tile_shape(value)
    if not shape or space_of(value.type) is Space.SMEM or _is_free(value):
        return 0
    element = element_of(value.type)
    bits = POINTER_BITS if element is None else bits_of(element) or POINTER_BITS
    # Masks are predicates, or bits of one register.
    return 0 if bits == 1 else prod(shape) * bits // WORD_BITS


@memoized_walk
def _is_free(value: SSAValue) -> bool:
    """Whether a tile takes no registers: recomputed at its uses, or stored to shared memory."""
    made = value.owner
    if _FREE[type(made)]:
        return True
    if not isinstance(made, Block) and _is_by_element(made) and all(map(_is_free, made.operands)):
        return True
    return _is_put_in_memory(value)


def _is_by_element(op: Operation) -> bool:
    return is_elementwise(op) or isinstance(op, AddPtrOp)


def _is_put_in_memory(value: SSAValue) -> bool:
    """Whether all uses of a tile copy it to shared memory."""
    users = [use.operation for use in value.uses]
    return bool(users) and all(
        (isinstance(user, ConvertLayoutOp) and space_of(user.result.type) is Space.SMEM)
        or (isinstance(user, ViewOp) and _is_free(user.result))
        for user in users
    )


def most_warps(tiles: Tiles, count: int) -> int:
    """Return how many warps the rows of the smallest product in a chunk keep busy."""
    return min(
        (
            tile_shape(tile)[k] // count // ROWS_OF_WARP
            for tile, k in tiles.items()
            if isinstance(tile.owner, DotOp) and k == len(tile_shape(tile)) - 2
        ),
        default=MAX_WARPS,
    )


def may_be_cut(tiles: Tiles, count: int, columns: int = MIN_EXTENT) -> bool:
    """Whether chunks are of equal size, with `MIN_EXTENT` rows and so many columns of products."""
    return all(
        tile_shape(tile)[k] % count == 0
        and (not isinstance(tile.owner, DotOp) or tile_shape(tile)[k] // count >= least)
        for tile, k in tiles.items()
        for least in (columns if k == len(tile_shape(tile)) - 1 else MIN_EXTENT,)
    )


def operations_of(tiles: Tiles) -> Sequence[Operation]:
    """Return what runs once for each chunk, in one block; nothing where it may not."""
    block = common_block(tiles)
    if block is None:
        return ()
    near = {block.find_ancestor_op_in_block(op) for tile in tiles for op in touching(tile)}
    moved = [op for op in block.ops if op in near]
    inner = [op for one in moved for op in operations_in(one)]
    inside = set(inner)
    if not all(may_be_repeated(op, tiles) and _is_unordered(op, inside, block) for op in inner):
        return ()
    users = [
        (value, above)
        for one in moved
        for value in one.results
        for use in value.uses
        if use.operation not in inside
        and (above := block.find_ancestor_op_in_block(use.operation)) is not None
    ]
    return moved if all(_may_be_carried(v, user, moved[-1]) for v, user in users) else ()


def _may_be_carried(value: SSAValue, user: Operation, last: Operation) -> bool:
    """Whether the loop can give a value to a later operation: the token of an ordered access."""
    made = value.owner
    is_token = isinstance(made, ACCESSES) and value is made.out_token and made.token is not None
    return is_token and last.is_before_in_block(user)


def may_be_repeated(op: Operation, tiles: Tiles) -> bool:
    """Whether an operation may run once a chunk; a store must be of a chunk."""
    if isinstance(op, WRITES) and not any(value in tiles for value in op.operands):
        return False
    plain = op.name.startswith(("arith.", "math.", "tensor.", "gpu.", "nv_tileaa."))
    return plain or isinstance(op, (*_REPEATABLE, *CONTROL))


def _is_unordered(op: Operation, inside: AbstractSet[Operation], block: Block) -> bool:
    """Whether tokens order an access behind none of another chunk.

    Without a token, program order does, so that it may not move.
    """
    if not isinstance(op, ACCESSES):
        return True
    uses = () if op.out_token is None else op.out_token.uses
    if any(use.operation in inside for use in uses) or (uses and op.parent is not block):
        return False
    if op.token is None:
        return False
    made = op.token.owner
    if isinstance(made, CreateNoneOp):
        return True
    return (made.parent_op() if isinstance(made, Block) else made) not in inside


def touching(tile: SSAValue) -> Iterator[Operation]:
    """Yield the operation that defines a tile and those that read it."""
    above = owning_op(tile)
    if above is not None:
        yield above
    for use in tile.uses:
        yield use.operation


def common_block(tiles: Tiles) -> Block | None:
    """Return the innermost block that contains all tiles and carries none as a block argument."""
    first = next(iter(tiles))
    owner = first.owner
    block = owner if isinstance(owner, Block) else owner.parent
    while block is not None and not _has_all(block, tiles):
        parent = block.parent_op()
        block = None if parent is None else parent.parent
    return None if block is None or isinstance(block.parent_op(), GenerateOp) else block


def _has_all(block: Block, tiles: Tiles) -> bool:
    last = block.last_op
    if last is not None and any(value in tiles for value in last.operands):
        return False
    for tile in tiles:
        if isinstance(tile, BlockArgument) and tile.owner is block:
            return False
        if any(block.find_ancestor_op_in_block(op) is None for op in touching(tile)):
            return False
    return True
