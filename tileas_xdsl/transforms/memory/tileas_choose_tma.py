"""Decide which accesses TMA does: loads of dot operands, stores of accumulators, rows by numbers.

One elected thread starts a TMA copy of a whole tile between global and shared memory, so operands
take no registers and no address arithmetic. It needs a tensor map, which the launch can encode
only if base, extents and strides of the array follow from kernel arguments and are aligned. What
is refused is marked with the reason.

    %x = tiled_load %va {atom = ldg}           %x = tiled_load %va {atom = tma_load_2d} : smem
    %sx = convert_layout %x : smem        ->
    %y = tiled_load %vb {allow_tma = false}    %y = tiled_load %vb {not_by_tma = "allow_tma is ..."}
    %sum = dot %sx, ...                        %sum = dot %x, ...
    tiled_store %sum, %vc {atom = stg}         %staging = alloc_tensor : smem
                                               copy %sum, %staging
                                               tiled_store %staging, %vc {atom = tma_store_2d}
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.memory.copied_chunks import ThreadLoad, copied_bytes
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import array_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.rewriting import apply_patterns
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import ARRAYS_ARE_LISTED
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledAtomicRmwOp, TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.same_rows import keeps_rows
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.store_order import AFTER_STORES, set_flag
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.target.features import Feature
from tileas_xdsl.transforms.choose_tma.accumulator_stores import store_by_tma, stores_accumulator
from tileas_xdsl.transforms.choose_tma.byte_columns import ColumnsOfBytes
from tileas_xdsl.transforms.choose_tma.computed_operands import (
    is_fragment,
    is_made_into_operand,
)
from tileas_xdsl.transforms.choose_tma.exchanged_operands import ExchangeOperands
from tileas_xdsl.transforms.choose_tma.legality import (
    load_problem,
    rows_problem,
    store_problem,
)
from tileas_xdsl.transforms.choose_tma.lines_beside_products import (
    LoadNumberAsLine,
    is_line_beside_products,
)
from tileas_xdsl.transforms.choose_tma.row_gathers import (
    RowWriter,
    erase_unused,
    rows_moved,
)
from tileas_xdsl.transforms.choose_tma.store_chains import Written, chained_stores, is_ordered
from tileas_xdsl.transforms.extension import apply_added, sweep
from tileas_xdsl.transforms.normalize_dot_operands.permutations import (
    CarryUnpermuted,
    FoldPermutations,
)
from tileas_xdsl.transforms.normalize_dot_operands.register_operands import OperandAInRegisters

NOT_BY_TMA = "nv_tileas.not_by_tma"
"""On a load into shared memory, or a store of accumulators: why TMA does not do it."""

BY_THREADS = ("ldg", "stg")
"""The atoms of accesses that are not decided yet."""

UPDATE_BY_THREADS = "unknown_copy"
"""The atom of an atomic update that is not decided yet: threads have no other for it."""


class LoadByTma(RewritePattern):
    """Load a tile that is only read in shared memory by TMA, where that is legal."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TiledLoadOp, rewriter: PatternRewriter) -> None:
        if not _is_undecided(op):
            return
        is_staged = _is_in_memory(op) or is_made_into_operand(op) or is_line_beside_products(op)
        problem = load_problem(op) if is_staged else "it is read in registers"
        if _is_legal(op, problem):
            _load_by_tma(op, rewriter)
        elif is_staged and copied_bytes(op):
            _copy_whole(op, rewriter)


class CopyPointed(RewritePattern):
    """Copy what threads load through pointers, and make into operands or scale, whole."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoadOp, rewriter: PatternRewriter) -> None:
        is_staged = is_made_into_operand(op) or is_line_beside_products(op)
        if op.atom.data.family in BY_THREADS and is_staged and copied_bytes(op):
            _copy_whole(op, rewriter)


class StoreByTma(RewritePattern):
    """Store what is computed element by element from accumulators by TMA, where that is legal."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TiledStoreOp, rewriter: PatternRewriter) -> None:
        if not _is_undecided(op) or not stores_accumulator(op):
            return
        # Between a store by TMA and one by threads a token would need a fence of proxies, so all
        # stores of a chain go by TMA or none.
        chain = chained_stores(op)
        problem = store_problem(op)
        if not isinstance(chain, str) and not all(map(_is_for_tma, chain)):
            problem = problem or "a store that tokens order with it stores no accumulators"
        if _is_legal(op, problem):
            for store in chain:
                if isinstance(store, TiledStoreOp) and is_ordered(store):
                    set_flag(store, AFTER_STORES)
            store_by_tma(op, rewriter)


class GatherByTma(RewritePattern):
    """Gather rows of an array by their numbers by TMA, where that is legal."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoadOp, rewriter: PatternRewriter) -> None:
        _move_rows(op, rewriter)


class ScatterByTma(RewritePattern):
    """Scatter rows of an array by their numbers by TMA, where that is legal."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: StoreOp, rewriter: PatternRewriter) -> None:
        _move_rows(op, rewriter)


def _move_rows(op: LoadOp | StoreOp, rewriter: PatternRewriter) -> None:
    if op.atom.data.family not in BY_THREADS or NOT_BY_TMA in op.attributes:
        return
    if (found := rows_moved(op)) is None:
        return
    writer = RowWriter(op, found, rewriter)
    view = writer.view()
    if not _is_legal(op, rows_problem(op, view.result)):
        erase_unused([view.result], rewriter)
        return
    made = writer.access(view)
    made.attributes |= op.attributes
    made.location = op.location
    unused = [value for value in (op.base, op.mask) if value is not None]
    rewriter.replace(op, made)
    erase_unused(unused, rewriter)


def _is_for_tma(store: Written) -> bool:
    return _is_undecided(store) and stores_accumulator(store)


class UpdateByTma(RewritePattern):
    """Update an array atomically by what is computed from accumulators by a reduction of TMA."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TiledAtomicRmwOp, rewriter: PatternRewriter) -> None:
        if _is_for_tma(op) and _is_legal(op, store_problem(op)):
            store_by_tma(op, rewriter)


PATTERNS: tuple[RewritePattern, ...] = (LoadByTma(), CopyPointed(), StoreByTma(), UpdateByTma())
"""The patterns of `tileas-choose-tma`."""

OPERAND_PATTERNS: tuple[RewritePattern, ...] = (
    ExchangeOperands(),
    ColumnsOfBytes(),
    OperandAInRegisters(),
    CarryUnpermuted(),
    FoldPermutations(),
)
"""What is computed of loads by TMA is an operand in registers, where a product takes one there."""

ROW_PATTERNS: tuple[RewritePattern, ...] = (GatherByTma(), ScatterByTma())
"""Those for targets with gather4 and scatter4."""


_KNOWN_ARRAYS = (AssumeOp, MakeMemrefOp, memref.ReinterpretCastOp, memref.SubviewOp)


def _is_undecided(op: TiledLoadOp | Written) -> bool:
    """Whether an access has the atom of plain threads, and its array is made in the kernel.

    An argument that is an array counts where its alignment is promised.  For other arrays, the
    program states how they are accessed.
    """
    is_update = isinstance(op, TiledAtomicRmwOp)
    if op.atom.data.family not in ((UPDATE_BY_THREADS,) if is_update else BY_THREADS):
        return False
    array = array_of(op.view)
    return isinstance(array.owner, _KNOWN_ARRAYS)


@dataclass(frozen=True)
class TileasChooseTma(ModulePass):
    """Load dot operands in shared memory and store accumulators by TMA, where that is legal.

    Needs: kernels of tiles that are not laid out, with arrays behind pointers; loads that are
    converted into shared memory; stores of what is computed from sums element by element.

    On targets that have it, loads and stores outside of loops through pointers to rows of an
    array, by a vector of their numbers and masked by its extents, move rows by gather4, scatter4;
    `rows=false` leaves them to threads.  `stores=false` leaves all stores of accumulators to them.
    Arrays of lists have tensor maps in the tables that launches write, where `lists=false` does
    not say that nobody writes them.

    Leaves: those loads with an atom of TMA, `allow_tma` and a result in shared memory, and without
    the conversions; others that `cp.async` can do with the conversion of the whole tile, and views
    behind it; those stores as loops over pieces of their columns that shared memory has room
    for, those that tokens order among themselves too.  Where TMA cannot do one it stays, with the
    reason as an attribute.  What threads compute of tiles that TMA loads, for a product of wgmma,
    stays in registers as A, columns of bytes too (`byte_columns.py`); a computed B makes it the
    product of the transposes (`exchanged_operands.py`).

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-choose-tma"

    rows: bool = True
    stores: bool = True
    lists: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_added(TileasChooseTma.name, op)
        for kernel in () if self.lists else instances_in(op, func.FuncOp):
            kernel.attributes.pop(ARRAYS_ARE_LISTED, None)
        target = module_target(op, None)
        by_rows = self.rows and Feature.TILE_GATHER in target.features
        sweep(op, [LoadNumberAsLine()])
        patterns = (*PATTERNS, *(ROW_PATTERNS if by_rows else ()))
        sweep(op, [one for one in patterns if self.stores or not isinstance(one, StoreByTma)])
        if apply_patterns(op, OPERAND_PATTERNS):
            apply_patterns(op, OPERAND_PATTERNS, dce=True)


def _is_legal(op: LoadOp | StoreOp | TiledLoadOp | Written, problem: str | None) -> bool:
    """Return whether TMA is legal; the problem, if any, is recorded as an attribute."""
    op.attributes.pop(NOT_BY_TMA, None)
    if problem is not None:
        op.attributes[NOT_BY_TMA] = StringAttr(problem)
    return problem is None


def _is_in_memory(load: TiledLoadOp) -> bool:
    """Whether a tile, or its rows, is put into shared memory, whatever else is done with it."""
    return any(map(_is_converted, load.result.uses))


def _is_converted(use: Use) -> bool:
    user = use.operation
    if _is_copy_to_memory(user):
        return True
    return keeps_rows(user) and any(map(_is_converted, user.results[0].uses))


def _is_copy_to_memory(op: Operation) -> bool:
    return isinstance(op, ConvertLayoutOp) and space_of(op.result.type) is Space.SMEM


def _load_by_tma(load: TiledLoadOp, rewriter: PatternRewriter) -> None:
    made = TiledLoadOp(
        load.view,
        load.coords,
        atom=AtomAttr.of(f"tma_load_{len(load.coords)}d"),
        result_type=_in_shared_memory(load.result.type),
        offsets=load.offsets,
        token=load.token,
        padding=load.padding_value,
        allow_tma=True,
    )
    made.attributes |= load.attributes
    made.location = load.location
    rewriter.replace(load, made)
    _read_in_memory(made.result, rewriter)


def _copy_whole(load: ThreadLoad, rewriter: PatternRewriter) -> None:
    """Put a tile into shared memory as it is loaded, and view its rows there."""
    if all(isinstance(use.operation, ConvertLayoutOp) for use in load.result.uses):
        return
    whole = ConvertLayoutOp(load.result, _in_shared_memory(load.result.type))
    rewriter.insert(whole, InsertPoint.after(load))
    rewriter.replace_uses_with_if(load.result, whole.result, lambda use: use.operation is not whole)
    _read_in_memory(whole.result, rewriter)


def _read_in_memory(tile: SSAValue, rewriter: PatternRewriter) -> None:
    """Read a tile in shared memory where its users have put it there, and view its rows there.

    Threads that multiply read their fragments of it, or of its transpose.  Other users read it in
    registers, once.
    """
    uses = list(tile.uses)
    for user in [use.operation for use in uses]:
        if _is_copy_to_memory(user):
            rewriter.replace(user, [], [tile])
        elif keeps_rows(user):
            view = ViewOp(tile, _in_shared_memory(user.results[0].type))
            rewriter.replace(user, view)
            _read_in_memory(view.result, rewriter)
    others = [use for use in uses if use.operation.parent is not None and not is_fragment(use)]
    if not others:
        return
    type_ = tile.type
    assert isa(type_, TensorType[Attribute])
    made = tile.owner
    assert isinstance(made, Operation)
    read = ConvertLayoutOp(tile, TensorType(type_.element_type, type_.get_shape()))
    rewriter.insert(read, InsertPoint.after(made))
    for use in others:
        use.operation.operands[use.index] = read.result


def _in_shared_memory(tile: Attribute) -> TensorType[Attribute]:
    element, shape = element_of(tile), shape_of(tile)
    assert element is not None
    assert shape is not None
    return TensorType(element, shape, SpaceAttr(Space.SMEM))
