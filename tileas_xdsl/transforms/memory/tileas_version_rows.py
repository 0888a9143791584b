"""The pass `tileas-version-rows`: rows that end before the last quarter of their tile have code.

                                              %short = cmpi sle, %n, 6144
                                              scf.if %short {
    %v = make_memref %p sizes[%n]               %v = make_memref %p sizes[minsi(%n, 6144)]
    %x = tiled_load %v[0] : 8192      ->        %x = tiled_load %v[0] : 8192
    tiled_store %y, %w[0]                       tiled_store %y, %w[0]
                                              } else { the same, of %n }

Tiles are powers of two, so that of a row of 5,003 elements in 8,192 places a quarter is behind its
end in all threads.  Where that is known, those registers are one number: what is computed of it is
computed once, and nothing of it is loaded or stored.

Rows that begin at multiples of 16 bytes are accessed by few instructions, kernels of lines that
are aligned otherwise have no registers to spare, and those of elements of less than a word have
long code: they are written once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.values.pointer_base_arrays import promised_divisor
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.kinds import has_instance
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.queries import KernelFacts
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.threads.pipeline.warp_allocation import WARP

WORD = 32
"""Bits of a register; of narrower elements both forms are so long that whole rows lose."""

CHUNKS = 4
"""Chunks of a thread along a row from which on a quarter is whole ones."""

NUMBERS = (
    *("arith.", "gpu.block_id", "gpu.grid_dim", "nv_tileaa.addptr", "nv_tileaa.assume"),
    *("nv_tileaa.get_num_programs", "nv_tileas.create_none"),
)
"""What computes numbers and pointers, by the begin of its name, in any order with all else."""


@dataclass(frozen=True)
class TileasVersionRows(ModulePass):
    """Write kernels of rows twice: for rows of three quarters of a tile at most, and for all.

    Analysis, then rewrite: the rows of all loads and stores have to be equally wide, and to begin
    between vectors.
    """

    name = "tileas-version-rows"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, func.FuncOp) and not kernel.is_declaration:
                extents = _extents(kernel)
                if extents is not None:
                    _version(kernel, *extents)


def _extents(kernel: func.FuncOp) -> tuple[Sequence[SSAValue], int] | None:
    """Return the extents of the rows of a kernel, and what shorter ones are at most."""
    kinds = (AgentSwitchOp, DotOp, ExtractSliceOp)
    if any(has_instance(kernel, kind) for kind in kinds) or not has_instance(kernel, ReduceOp):
        return None
    accesses = [op for op in operations_in(kernel) if isinstance(op, TiledLoadBase | TiledStoreOp)]
    rows = {op: row for op in accesses if (row := _row(op)) is not None}
    if any(_is_aligned(op) or _is_cut(op) or _bits(op) < WORD for op in rows):
        return None
    widths = {width for width, _ in rows.values()}
    if len(widths) != 1:
        return None
    (width,) = widths
    threads = KernelFacts(kernel).spec.num_warps * WARP
    if width < CHUNKS * threads * max(_vector(op) for op in rows):
        return None
    extents = list(dict.fromkeys(extent for _, extent in rows.values()))
    shift = max(0 if op.rotated is None else _vector(op) - 1 for op in rows)
    return extents, width - width // CHUNKS - shift


def _array(op: TiledLoadBase | TiledStoreOp) -> MakeMemrefOp | None:
    """The array of an access to a whole view of one."""
    view = op.view.owner
    if not isinstance(view, ViewOp) or not view.is_whole:
        return None
    made = view.source.owner
    return made if isinstance(made, MakeMemrefOp) else None


def _row(op: TiledLoadBase | TiledStoreOp) -> tuple[int, SSAValue] | None:
    """The width of a tile that begins with the rows of an array, and their extent."""
    shape = shape_of(op.value.type if isinstance(op, TiledStoreOp) else op.loaded_type()) or (1,)
    array = _array(op)
    if array is None or shape[-1] == 1 or (op.offsets and op.rotated is None):
        return None
    extent = array.extent(array.array.get_num_dims() - 1)
    if not isinstance(extent, SSAValue) or extent.type != i32:
        return None
    return (shape[-1], extent) if constant_integer(_uncast(op.coords[-1])) == 0 else None


def _bits(op: TiledLoadBase | TiledStoreOp) -> int:
    """The bits of an element."""
    array = _array(op)
    assert array is not None
    return bits_of(array.array.element_type)


def _is_aligned(op: TiledLoadBase | TiledStoreOp) -> bool:
    """Whether rows are known to begin at vectors."""
    array = _array(op)
    assert array is not None
    strides = (array.stride(axis) for axis in range(array.array.get_num_dims() - 1))
    return all(promised_divisor(n) * _bits(op) % (8 * ACCESS_BYTES) == 0 for n in strides)


def _is_cut(op: TiledLoadBase | TiledStoreOp) -> bool:
    """Whether vectors are put together of two, which takes all registers that there are."""
    is_load = not isinstance(op, TiledStoreOp)
    return is_load and op.rotated is not None and op.rotated.value.data % ACCESS_BYTES != 0


def _vector(op: TiledLoadBase | TiledStoreOp) -> int:
    """The elements of 16 bytes."""
    return 8 * ACCESS_BYTES // _bits(op)


def _uncast(value: SSAValue) -> SSAValue:
    while isinstance(made := value.owner, arith.IndexCastOp):
        value = made.input
    return value


def _version(kernel: func.FuncOp, extents: Sequence[SSAValue], most: int) -> None:
    """Write the kernel twice, under a test of all extents."""
    body = kernel.body.block
    inner, last = list(_of_tiles(body)), body.last_op
    assert last is not None
    if any(isinstance(extent.owner, Operation) and extent.owner in inner for extent in extents):
        return
    build = Builder(InsertPoint.before(last))
    bound, largest = build.insert(arith.ConstantOp(IntegerAttr(most, 32))).result, extents[0]
    for extent in extents[1:]:
        largest = build.insert(arith.MaxSIOp(largest, extent)).result
    is_short = build.insert(arith.CmpiOp(largest, bound, "sle")).result
    known: dict[SSAValue, SSAValue] = {}
    for extent in extents:
        known[extent] = build.insert(arith.MinSIOp(extent, bound)).result
    short, general = Block(), Block()
    for op in inner:
        short.add_op(op.clone(known))
    for op in inner:
        op.detach()
        general.add_op(op)
    for block in (short, general):
        block.add_op(scf.YieldOp())
    build.insert(scf.IfOp(is_short, [], Region(short), Region(general)))


def _of_tiles(body: Block) -> Iterator[Operation]:
    """What is not computed of numbers alone, in front of everything else."""
    inside: set[Operation] = set()
    for op in body.ops:
        if isinstance(op, func.ReturnOp):
            return
        uses = any(isinstance(v.owner, Operation) and v.owner in inside for v in op.operands)
        if uses or not op.name.startswith(NUMBERS) or any(as_tile(v.type) for v in op.results):
            inside.add(op)
            yield op
