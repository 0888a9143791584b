"""The pass `tileas-normalize-dot-operands`: keep operands A and B in memory order.

A transposed operand needs no transpose in registers: wgmma and tcgen05 read matrices of 16-bit
elements with either dimension contiguous. Transposes (`generate` with permuted indices) are folded
and pushed towards the dot, where they become a column-major view of shared memory:

    %t = generate { extract %b[%j, %i] } : tensor<16x8xf16>
    %s = convert_layout %t : tensor<16x8xf16, smem>
    %r = dot %a, %s, %c

    %s = convert_layout %b : tensor<8x16xf16> -> tensor<8x16xf16, smem>
    %v = view %s : -> tensor<16x8xf16, #nv_tileas.shared<(16,8),(1,16)>>
    %r = dot %a, %v, %c

8-bit operands must be K-major; these are transposed from shared memory to shared memory instead,
so that the load can still be by TMA.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, TensorType, i1
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.layouts.layout_flow import may_be_storage
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.rewriting import apply_patterns
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp, strides_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import transposed_encoding
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.threads.smem.byte_transpose import has_whole_blocks
from tileas_xdsl.transforms.extension import with_added
from tileas_xdsl.transforms.normalize_dot_operands.permutations import (
    CarryUnpermuted,
    FoldPermutations,
    PermuteBehindView,
    ViewBeforePermutation,
    transposed_source,
)
from tileas_xdsl.transforms.normalize_dot_operands.permuted_elements import (
    PermuteBehindElements,
    PermuteBehindOperation,
)
from tileas_xdsl.transforms.normalize_dot_operands.pointer_order import (
    LoadPointersInMemoryOrder,
    takes_a_mn_major,
)
from tileas_xdsl.transforms.normalize_dot_operands.register_operands import (
    BytesOfSums,
    OperandAInRegisters,
)
from tileas_xdsl.transforms.tileaa_to_tileas.memory import permuted_array
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Insert, generated
from tileas_xdsl.transforms.tileaa_to_tileas.shapes import taken

T = TypeVar("T")


class LoadInMemoryOrder(RewritePattern):
    """Load a tile in memory order and transpose it, where its last dimension is not contiguous."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TiledLoadOp, rewriter: PatternRewriter) -> None:
        view, shape = op.view.owner, shape_of(op.result.type)
        if not isinstance(view, ViewOp) or view.indices or view.offset is not None:
            return
        array = view.source.owner
        if not isinstance(array, MakeMemrefOp) or op.mask is not None:
            return
        order = _stored_order(array, shape)
        if order is None:
            return
        insert = Insert(rewriter.insert)
        element = element_of(op.result.type)
        stored = TiledViewType(_permuted(shape, order), element, Space.GMEM)
        beside = InsertPoint.after(array)
        at_array = Insert(lambda made: rewriter.insert(made, beside))
        whole = at_array(ViewOp(permuted_array(array, order, at_array), stored)).result
        loaded, *tokens = insert(_loaded(op, whole, order)).results

        def at(insert: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
            return taken(loaded, insert, _permuted(coordinates, order))

        rewriter.replace(op, [], [generated(insert, element, shape, at), *tokens])


def _stored_order(array: MakeMemrefOp, shape: Sequence[int]) -> list[int] | None:
    """Return the order with the last and the contiguous dimension exchanged; None if they agree."""
    strides, last = strides_of(array.array), len(shape) - 1
    if last < 1 or strides[last] == 1 or 1 not in strides:
        return None
    adjacent = strides.index(1)
    if shape[adjacent] == 1 or shape[last] == 1:
        return None
    order = list(range(len(shape)))
    order[adjacent], order[last] = last, adjacent
    return order


def _permuted(items: Sequence[T], order: Sequence[int]) -> list[T]:
    return [items[k] for k in order]


def _loaded(op: TiledLoadOp, view: SSAValue, order: Sequence[int]) -> Operation:
    """Return the load of a view whose dimensions are permuted."""
    properties = dict(op.properties)
    if op.in_bounds is not None:
        flags = [bool(flag) for flag in op.in_bounds.get_values()]
        properties["in_bounds"] = DenseArrayBase.from_list(i1, _permuted(flags, order))
    tokens = [] if op.token is None else [op.token]
    offsets = _permuted(op.offsets, order) if op.offsets else []
    tile = TensorType(element_of(op.result.type), _permuted(shape_of(op.result.type), order))
    return TiledLoadOp.create(
        operands=[view, *_permuted(op.coords, order), *offsets, *tokens],
        result_types=[tile, *(token.type for token in op.results[1:])],
        properties=properties,
        attributes=dict(op.attributes),
    )


class TransposedOperand(RewritePattern):
    """Store an operand that was transposed in registers untransposed; view it column-major.

    That makes B K-major, which every unit reads, and A MN-major, which is for the unit to take.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DotOp, rewriter: PatternRewriter) -> None:
        for index in (0, 1):
            if index == 0 and not takes_a_mn_major(op):
                continue
            stored = op.operands[index].owner
            if not isinstance(stored, ConvertLayoutOp) or stored.result.type.encoding != _SHARED:
                continue
            source = transposed_source(stored.source)
            if source is not None:
                insert = Insert(rewriter.insert)
                op.operands[index] = _transposed_view(source, insert)
                rewriter.notify_op_modified(op)


_SHARED = SpaceAttr(Space.SMEM)


def _transposed_view(source: SSAValue, insert: Insert) -> SSAValue:
    """Store a matrix to shared memory as it is and return the view of its transpose."""
    element, (rows, columns) = element_of(source.type), shape_of(source.type)
    kept = insert(ConvertLayoutOp(source, TensorType(element, (rows, columns), _SHARED))).result
    encoding = transposed_encoding(columns, rows)
    return insert(ViewOp(kept, TensorType(element, (columns, rows), encoding))).result


class TransposeInSharedMemory(RewritePattern):
    """Transpose bytes that are loaded for a product from shared memory to shared memory.

    The load may be by TMA then, and pairs of bytes move where registers have bytes that lie apart.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter) -> None:
        users = [use.operation for use in op.result.uses]
        are_direct = any(isinstance(user, DotOp) and takes_a_mn_major(user) for user in users)
        if op.result.type.encoding != _SHARED or are_direct:
            return
        source = transposed_source(op.source)
        if source is None or not isinstance(source.owner, TiledLoadOp | ViewOp):
            return
        if not has_whole_blocks(shape_of(source.type), bits_of(element_of(source.type))):
            return
        view = _transposed_view(source, Insert(rewriter.insert))
        rewriter.replace(op, ConvertLayoutOp(view, op.result.type))


class HoistLoopInvariantOperand(RewritePattern):
    """Hoist the copy of a loop-invariant operand into shared memory out of the loop."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter) -> None:
        loop = op.parent_op()
        if op.result.type.encoding != _SHARED or not isinstance(loop, scf.ForOp):
            return
        if may_be_storage(op.source):
            return
        owner = op.source.owner
        block = owner.parent if isinstance(owner, Operation) else owner
        if block is loop.body.block:
            return
        op.detach()
        rewriter.insert(op, InsertPoint.before(loop))
        rewriter.notify_op_modified(op)


PATTERNS: tuple[RewritePattern, ...] = (
    LoadInMemoryOrder(),
    LoadPointersInMemoryOrder(),
    FoldPermutations(),
    PermuteBehindElements(),
    PermuteBehindOperation(),
    PermuteBehindView(),
    ViewBeforePermutation(),
    CarryUnpermuted(),
    TransposedOperand(),
    TransposeInSharedMemory(),
    OperandAInRegisters(),
    HoistLoopInvariantOperand(),
)
"""The patterns of `tileas-normalize-dot-operands`."""


@dataclass(frozen=True)
class TileasNormalizeDotOperands(ModulePass):
    """Load tiles in memory order, and hoist loop-invariant dot operands.

    A load whose columns are contiguous in memory becomes one of rows, permuted by a `generate`,
    one through pointers where products read what it loads from shared memory.
    Consecutive permutations are folded, around what is computed element by element too.  A
    permuted operand is stored to shared memory as it was loaded and viewed column-major: B always,
    A where the unit reads it MN-major.  A that is computed elementwise from accumulators of wgmma,
    in 16 bits, stays in registers; in 8 bits, too, in the order of the accumulators, where threads
    transpose B for it, which they do in that order.
    Loop-invariant copies to shared memory are hoisted.  Loads through other operations than `view`
    of `make_memref` stay as they are.
    """

    name = "tileas-normalize-dot-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the pass."""
        apply_patterns(op, with_added(TileasNormalizeDotOperands.name, PATTERNS), dce=True)
        apply_patterns(op, [BytesOfSums()], dce=True)
