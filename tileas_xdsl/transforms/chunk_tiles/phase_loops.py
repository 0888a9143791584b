"""Run each phase of a plan chunk by chunk, with partial results of its reductions.

    %m = reduce %x {maximum} : 1x65536     %p = scf.for %c = 0 to 8 iter_args(%a = -inf) {
                                     ->      %x = tiled_load %w[8 * %i + %c] : 1x8192
                                             yield maximum %a, %x }
                                           %m = reduce %p {maximum} : 1x8192

Threads combine what they have; lanes and warps exchange once behind the loop, not in each chunk.
Few chunks of kept rows are written out, one behind the other.  No chunk is loaded, or stored, that
all rows end in front of: reductions see the padding there.
Rows may be kept in shared memory from phase to phase (`phase_loads`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from xdsl.dialects import arith, math, scf, tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    TensorType,
    f32,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.values.rows.row_extents import reached_columns
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileaa.memory.tokens import JoinMemTokenOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    TiledLoadOp,
    TiledStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.threads.gmem.coalesced_access import padding_of
from tileas_xdsl.threads.reduce.combiner import exact_product
from tileas_xdsl.threads.registers.vector_values import zero_of
from tileas_xdsl.transforms.assign_layouts.writing.tile_encodings import set_type
from tileas_xdsl.transforms.chunk_tiles.phase_loads import begun_loads, kept_from
from tileas_xdsl.transforms.chunk_tiles.reduction_phases import (
    Phase,
    PhasePlan,
    identity_of_reduction,
)
from tileas_xdsl.transforms.chunk_tiles.repeated_operations import ACCESSES
from tileas_xdsl.transforms.tile_parts.dimension_classes import tile_shape
from tileas_xdsl.transforms.tile_parts.parts import take_part


def run_in_phases(plan: PhasePlan) -> None:
    """Put a loop over chunks in the place of each phase, and everything else between the loops."""
    first = plan.phases[0].operations[0]
    block = first.parent
    assert block is not None
    end = block.last_op
    assert end is not None
    kept: dict[TiledLoadOp, SSAValue] = {}
    for number in range(max(len(plan.others), len(plan.phases))):
        others = plan.others[number] if number < len(plan.others) else ()
        late = _of_loads(others)
        _move([op for op in others if op not in late], end)
        waits: Sequence[WaitOp] = ()
        if number < len(plan.phases):
            phase = plan.phases[number]
            new, waits = kept_from(phase, [op for op in plan.kept if op not in kept], end, plan)
            kept |= new
        # What waits for a number from memory, as the logit of a label does, waits beside the rows.
        _move(late, end)
        Rewriter.insert_op(waits, InsertPoint.before(end))
        if number < len(plan.phases):
            phase = plan.phases[number]
            _PhaseLoop(plan, phase, kept).insert_before(end)
    inside = {op for phase in plan.phases for op in (*phase.operations, *phase.reductions)}
    for op in [op for op in reversed(list(block.ops)) if op in inside or _is_unused(op, plan)]:
        Rewriter.erase_op(op)


def _move(operations: Sequence[Operation], end: Operation) -> None:
    for op in operations:
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(end))


def _of_loads(operations: Sequence[Operation]) -> Sequence[Operation]:
    """Return the operations that need what others of them load."""
    loaded: set[SSAValue] = set()
    found: list[Operation] = []
    for op in operations:
        if loaded & {value for inner in op.walk() for value in inner.operands}:
            found.append(op)
            loaded.update(op.results)
        elif isinstance(op, TiledLoadOp):
            loaded.add(op.result)
    return found


def _is_unused(op: Operation, plan: PhasePlan) -> bool:
    """Whether an operation makes a tile of the class that no phase needs."""
    made = [value for value in op.results if value in plan.tiles]
    return bool(made) and not any(value.uses for value in op.results)


class _PhaseLoop:
    """A loop over the chunks of one phase."""

    def __init__(self, plan: PhasePlan, phase: Phase, kept: Mapping[TiledLoadOp, SSAValue]) -> None:
        self.plan = plan
        self.phase = phase
        self.kept = kept
        self.clones: dict[SSAValue, SSAValue] = {}
        self.is_behind = False
        """Whether the chunks of the loop are behind the end of all rows."""
        inside = {op for one in plan.phases for op in one.operations}
        self.accesses = [
            op
            for op in phase.operations
            if op not in kept and isinstance(op, ACCESSES) and _is_awaited(op, inside)
        ]

    def insert_before(self, end: Operation) -> None:
        """Write the loop, and behind it what is left of the reductions."""
        identities = [_identities(op, self._chunk_of(op)) for op in self.phase.reductions]
        Rewriter.insert_op([op for ops in identities for op in ops], InsertPoint.before(end))
        tokens = [op.token for op in self.accesses if op.token is not None]
        carried = [*(ops[-1].results[0] for ops in identities), *tokens]
        reached = self._reached()
        results = self._chunks(range(reached), carried, end)
        if identities and reached < self.plan.count:
            self.is_behind = True
            results = self._chunks(range(reached, self.plan.count), results, end)
        for op, partial in zip(self.phase.reductions, results, strict=False):
            made = _reduced(op, partial)
            Rewriter.insert_op(made, InsertPoint.before(end))
            op.outputs[0].replace_all_uses_with(made[-1].results[0])
        for op, after in zip(self.accesses, results[len(identities) :], strict=True):
            assert op.out_token is not None
            op.out_token.replace_all_uses_with(after)

    def _chunks(
        self, chunks: range, carried: Sequence[SSAValue], end: Operation
    ) -> Sequence[SSAValue]:
        """Compute some chunks; return what they carry.

        Some are written out: two of a row have masks, all have addresses that are constants, and
        what they load from global memory is on its way while those before them are computed.
        """
        if not self.plan.is_written_out:
            return self._loop(chunks, carried, end)
        waiting: list[Sequence[Operation]] = []
        for number in chunks:
            chunk = arith.ConstantOp(IntegerAttr(number, IndexType()))
            body = Block([chunk])
            carried = self._fill(body, chunk.result, carried)
            _move(begun_loads(body), end)
            waiting.append(list(body.ops))
            if len(waiting) > self.plan.chunks_ahead:
                _move(waiting.pop(0), end)
        for computed in waiting:
            _move(computed, end)
        return carried

    def _loop(
        self, chunks: range, carried: Sequence[SSAValue], end: Operation
    ) -> Sequence[SSAValue]:
        low, high, step = (
            arith.ConstantOp(IntegerAttr(n, i32)) for n in (chunks.start, chunks.stop, 1)
        )
        body = Block(arg_types=[i32, *(value.type for value in carried)])
        loop = scf.ForOp(low, high, step, carried, Region(body))
        Rewriter.insert_op([low, high, step, loop], InsertPoint.before(end))
        chunk = arith.IndexCastOp(body.args[0], IndexType())
        body.add_op(chunk)
        body.add_op(scf.YieldOp(*self._fill(body, chunk.result, body.args[1:])))
        return list(loop.results)

    def _reached(self) -> int:
        """Return how many chunks the rows in memory reach into; all of them if that is unknown."""
        count = self.plan.count
        found = [1]
        for op in self.phase.operations:
            if not isinstance(op, ACCESSES):
                continue
            if not isinstance(op, TiledLoadOp | TiledStoreOp):
                return count
            tile = op.value if isinstance(op, TiledStoreOp) else op.result
            *_, width = tile_shape(tile)
            if self.plan.tiles.get(tile) != len(tile_shape(tile)) - 1:
                return count
            found.append(ceil_div(reached_columns(op) * count, width))
        return max(found)

    def _chunk_of(self, op: ReduceOp) -> Sequence[int]:
        shape = list(op.tiles[0].get_shape())
        shape[op.axis.value.data] //= self.plan.count
        return shape

    def _fill(
        self, body: Block, chunk: SSAValue, carried: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """Write the operations of a chunk; return what is carried on.

        No chunk of an access is ordered after another one: what waits for all joins their tokens.
        """
        self.clones.clear()
        for op in self.phase.operations:
            if isinstance(op, TiledLoadOp | TiledStoreOp) and self.is_behind:
                if isinstance(op, TiledLoadOp):
                    self._pad(body, op)
                elif op.out_token is not None and op.token is not None:
                    self.clones[op.out_token] = op.token
                continue
            if isinstance(op, TiledLoadOp) and op in self.kept and self._is_kept(chunk):
                self._read(body, op, chunk)
                continue
            body.add_op(op.clone(self.clones))
        is_read = self._is_kept(chunk) and not self.is_behind
        read = {op.result for op in self.kept} if is_read else set[SSAValue]()
        tiles = {
            self.clones[tile]: k
            for tile, k in self.plan.tiles.items()
            if tile in self.clones and tile not in read
        }
        take_part(operations_in(body), tiles, self.plan.count, chunk)
        combined = [
            self._combine(body, op, before)
            for op, before in zip(self.phase.reductions, carried, strict=False)
        ]
        after = [self.clones[op.out_token] for op in self.accesses if op.out_token is not None]
        tokens = carried[len(self.phase.reductions) :]
        joined = [JoinMemTokenOp(pair) for pair in zip(tokens, after, strict=True)]
        body.add_ops(joined)
        return [*combined, *(join.result for join in joined)]

    def _is_kept(self, chunk: SSAValue) -> bool:
        """Whether a chunk of the tiles that are kept is one of those that are."""
        number = constant_integer(chunk)
        return self.plan.chunks_kept is None or (
            number is not None and number < self.plan.chunks_kept
        )

    def _read(self, body: Block, op: TiledLoadOp, chunk: SSAValue) -> None:
        """Read a chunk of a tile that is kept: columns, as `plan` says of which dimension."""
        whole, k = self.kept[op], self.plan.tiles[op.result]
        sizes: list[int] = list(tile_shape(whole))
        sizes[k] //= self.plan.count
        offsets: list[SSAValue | int] = [0] * len(sizes)
        if (number := constant_integer(chunk)) is not None:
            offsets[k] = number * sizes[k]
        else:
            size = arith.ConstantOp(IntegerAttr(sizes[k], IndexType()))
            first = arith.MuliOp(chunk, size)
            body.add_ops([size, first])
            offsets[k] = first.result
        made = ExtractSliceOp(whole, offsets, sizes)
        body.add_op(made)
        self.clones[op.result] = made.result

    def _pad(self, body: Block, op: TiledLoadOp) -> None:
        """Give the padding that is behind all rows for what is loaded; nothing is stored there."""
        type_ = op.result.type
        assert isa(type_, TensorType[Attribute])
        element = type_.element_type
        number: Any = padding_of(op.padding_value, element) or zero_of(element)
        made = arith.ConstantOp(number)
        splat = tensor.SplatOp(made.result, [], type_)
        body.add_ops([made, splat])
        self.clones[op.result] = splat.result
        if op.out_token is not None and op.token is not None:
            self.clones[op.out_token] = op.token

    def _combine(self, body: Block, op: ReduceOp, before: SSAValue) -> SSAValue:
        """Combine a chunk with the partial results so far, element by element."""
        source = self.clones[op.source]
        if element_of(source.type) != element_of(before.type):
            wider = arith.ExtFOp(source, before.type)
            body.add_op(wider)
            source = wider.result
        inner = op.body.block.first_op
        assert inner is not None
        if isinstance(inner, arith.AddfOp) and (product := exact_product(source)) is not None:
            fused = math.FmaOp(product.lhs, product.rhs, before)
            body.add_op(fused)
            return fused.result
        first, second = op.body.block.args
        made = inner.clone({first: before, second: source})
        set_type(made.results[0], before.type)
        body.add_op(made)
        return made.results[0]


def _is_awaited(op: Operation, inside: AbstractSet[Operation]) -> bool:
    """Whether an access outside of the phases is ordered after one of them."""
    if not isinstance(op, ACCESSES) or op.out_token is None:
        return False
    return any(use.operation not in inside for use in op.out_token.uses)


def _wide(element: Attribute) -> Attribute:
    """The type in which elements are combined: narrow floats as f32, and rounded once."""
    return f32 if isinstance(element, AnyFloat) and element.bitwidth < 32 else element


def _identities(op: ReduceOp, shape: Sequence[int]) -> Sequence[Operation]:
    """A chunk of identities, the partial results before the first chunk."""
    found = identity_of_reduction(op)
    assert found is not None
    wide: Any = _wide(op.tiles[0].element_type)
    is_float = isinstance(wide, AnyFloat)
    value: Any = FloatAttr(found[1], wide) if is_float else IntegerAttr(int(found[1]), wide)
    number = arith.ConstantOp(value)
    return number, tensor.SplatOp(number.result, [], TensorType(wide, shape))


def _reduced(op: ReduceOp, partial: SSAValue) -> Sequence[Operation]:
    """Reduce what the chunks were combined to; round it if that was wider."""
    element, wide = op.tiles[0].element_type, element_of(partial.type)
    assert wide is not None
    inner = op.body.block.first_op
    assert inner is not None
    body = Block(arg_types=[wide, wide])
    combined = inner.clone(dict(zip(op.body.block.args, body.args, strict=True)))
    set_type(combined.results[0], wide)
    body.add_ops([combined, YieldOp(combined.results[0])])
    made = ReduceOp(partial, op.axis.value.data, body, atom=op.atom)
    if wide == element:
        return (made,)
    assert isa(op.result.type, TensorType[Attribute])
    return made, arith.TruncFOp(made.result, op.result.type)
