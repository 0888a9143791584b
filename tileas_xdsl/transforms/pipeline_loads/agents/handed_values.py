"""Hand results of what only the producer does to the consumer, through a ring of stages.

    %t = nv_tileas.atomic_rmw add %one, %counter relaxed      // which tile is next

becomes, of the producer and of the consumer,

    %t = nv_tileas.atomic_rmw ...                             consume_one %ring {
    produce_one %ring {                                         ^bb0(%stage):
      ^bb0(%stage): copy (tensor.splat %t), %stage }            %t = tensor.extract %stage[0, 0] }

What orders other accesses, as an update of cuTile's default order, the consumer does where it is,
and hands the number back through a ring in the other direction: the producer loads for the next
tile from then on, behind what the consumer has acquired, and what it has stored is released before.

All operations whose results have the same types use one ring, whose stages have a tile for each
result.  The producer is as many results ahead as the ring has stages: it loads for the next tile
while this one is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IndexType, TensorType
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.atoms import UNKNOWN_COPY
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.atomics import PointedAtomicOp
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumeOneOp,
    CreateIteratorOp,
    IncIterOp,
    PipelineYieldOp,
    ProduceOneOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.types import IteratorType
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import ProducerSlice, is_claimed
from tileas_xdsl.transforms.pipeline_loads.agents.stage_buffer import (
    CONSUMER,
    create_pipeline,
    payload_of,
)

STAGES = 2
"""Results that a producer is ahead: that of the tile it loads for, and the one that is computed."""

STAGE_BYTES = 1024
"""Of shared memory for a number: tiles of stages are aligned to the period of swizzles."""

Tiles: TypeAlias = tuple[TensorType[Attribute], ...]
"""The tiles of a stage, of one element each."""

Values: TypeAlias = dict[SSAValue, SSAValue]


Ring: TypeAlias = tuple[Tiles, bool]
"""What its stages hold, and whether the consumer fills them."""


def handed_bytes(needed: ProducerSlice) -> int:
    """Return the shared memory of all rings."""
    return sum(len(tiles) * STAGES * STAGE_BYTES for tiles, _ in _rings(needed))


def _rings(needed: ProducerSlice) -> Sequence[Ring]:
    """The rings, in an order that does not depend on hashes."""
    return sorted({_ring(op) for op in (*needed.handed, *needed.claimed)}, key=str)


def _ring(op: Operation) -> Ring:
    return _tiles(op), is_claimed(op)


def _numbers(op: Operation) -> Sequence[OpResult]:
    """The results that are handed on: all but a token."""
    return op.results[:1] if isinstance(op, PointedAtomicOp) else op.results


def _tiles(op: Operation) -> Tiles:
    return tuple(TensorType(value.type, (1, 1)) for value in _numbers(op))


@dataclass(frozen=True)
class HandedValues:
    """The rings of a kernel, and where their tokens and iterators are among what is carried."""

    rings: Mapping[Ring, CreatePipelineOp]
    first: int
    """The position of the first token; its iterator follows it, then the next ring."""

    @staticmethod
    def of(needed: ProducerSlice, builder: Builder, first: int) -> HandedValues:
        """Make the rings that a slice needs."""
        made = {
            (tiles, is_claim): create_pipeline(builder, tiles, STAGES, is_backwards=is_claim)
            for tiles, is_claim in _rings(needed)
        }
        return HandedValues(made, first)

    def begin(self, builder: Builder, *, produces: bool) -> Sequence[SSAValue]:
        """The tokens and first iterators of one side."""
        carried: list[SSAValue] = []
        for (tiles, is_claim), ring in self.rings.items():
            token = ring.producer if produces != is_claim else ring.consumer
            iterator = IteratorType(payload_of(tiles), STAGES, Space.SMEM)
            carried += (token, builder.insert(CreateIteratorOp(token, iterator)).iterator)
        return carried

    def hand(
        self, op: Operation, stages: Sequence[SSAValue], values: Values, builder: Builder
    ) -> Sequence[SSAValue]:
        """Let the producer do an operation and fill a stage with its results, or read a claim."""
        if is_claimed(op):
            following, read = self._read(op, stages, builder)
            values |= zip(_numbers(op), read, strict=True)
            if op.out_token is not None:
                values[op.out_token] = builder.insert(CreateNoneOp(op.out_token.type)).token
            return following
        done = builder.insert(op.clone(values))
        return self._fill(op, _numbers(done), stages, builder)

    def take(
        self, op: Operation, stages: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        """Let the consumer read the results of an operation, which is erased, or hand its claim."""
        if is_claimed(op):
            return self._fill(op, _numbers(op), stages, Builder(InsertPoint.after(op)))
        following, read = self._read(op, stages, builder)
        for number, result in zip(_numbers(op), read, strict=True):
            result.name_hint = number.name_hint
            number.replace_all_uses_with(result)
        if isinstance(op, PointedAtomicOp) and op.out_token is not None and op.token is not None:
            op.out_token.replace_all_uses_with(op.token)
        asked = op.token.owner if isinstance(op, WaitOp) else None
        Rewriter.erase_op(op)
        if isinstance(asked, Operation):
            Rewriter.erase_op(asked)
        return following

    def _fill(
        self,
        op: Operation,
        numbers: Sequence[SSAValue],
        stages: Sequence[SSAValue],
        builder: Builder,
    ) -> Sequence[SSAValue]:
        """Fill a stage with what an operation has given."""
        at, tiles = self._position(op), _tiles(op)
        body = Block(arg_types=tiles)
        for number, type_, tile in zip(numbers, tiles, body.args, strict=True):
            body.add_op(one := tensor.SplatOp(number, [], type_))
            body.add_op(CopyOp(one.result, tile, atom=UNKNOWN_COPY))
        body.add_op(PipelineYieldOp(*body.args))
        filled = builder.insert(ProduceOneOp(stages[at], stages[at + 1], body=Region(body)))
        return _advanced(stages, at, filled.result_token, builder)

    def _read(
        self, op: Operation, stages: Sequence[SSAValue], builder: Builder
    ) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        """Read from a stage what an operation has given."""
        at, tiles, numbers = self._position(op), _tiles(op), _numbers(op)
        body = Block(arg_types=tiles)
        body.add_op(zero := arith.ConstantOp.from_int_and_width(0, IndexType()))
        read = [
            tensor.ExtractOp(tile, [zero.result] * 2, number.type)
            for tile, number in zip(body.args, numbers, strict=True)
        ]
        body.add_ops([*read, PipelineYieldOp(*(one.result for one in read))])
        taken = ConsumeOneOp(
            stages[at],
            stages[at + 1],
            CONSUMER,
            consumer_types=tiles,
            payload=[number.type for number in numbers],
            body=Region(body),
        )
        builder.insert(taken)
        return _advanced(stages, at, taken.result_token, builder), taken.payload

    def _position(self, op: Operation) -> int:
        return self.first + 2 * list(self.rings).index(_ring(op))


def _advanced(
    stages: Sequence[SSAValue], at: int, token: SSAValue, builder: Builder
) -> Sequence[SSAValue]:
    following = builder.insert(IncIterOp(stages[at + 1])).next
    return [*stages[:at], token, following, *stages[at + 2 :]]
