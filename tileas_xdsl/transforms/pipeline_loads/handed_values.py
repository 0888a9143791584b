"""Hand results of what only the producer does to the consumer, through a ring of stages.

    %t = nv_tileas.atomic_rmw add %one, %counter relaxed      // which tile is next

becomes, of the producer and of the consumer,

    %t = nv_tileas.atomic_rmw ...                             consume_one %ring {
    produce_one %ring {                                         ^bb0(%stage):
      ^bb0(%stage): copy (tensor.splat %t), %stage }            %t = tensor.extract %stage[0, 0] }

All operations whose results have one type use one ring.  The producer is as many results ahead as
the ring has stages: it loads for the next tile while this one is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IndexType, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
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
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.types import IteratorType, TiledViewType
from tileas_xdsl.transforms.pipeline_loads.producer_slice import ProducerSlice, is_handed

STAGES = 2
"""Results that a producer is ahead: that of the tile it loads for, and the one that is computed."""

STAGE_BYTES = 1024
"""Of shared memory: stages are aligned to the period of swizzles."""

CONSUMER = 0
"""The only one of its group."""

_SHAPE = (1, 1)

Values = dict[SSAValue, SSAValue]


def handed_bytes(needed: ProducerSlice) -> int:
    """Return the shared memory of all rings."""
    return len(_types(needed)) * STAGES * STAGE_BYTES


def _types(needed: ProducerSlice) -> Sequence[Attribute]:
    """The types of results, each once, in an order that does not depend on hashes."""
    found = {op.result.type for op in needed.handed if is_handed(op)}
    return sorted(found, key=str)


@dataclass(frozen=True)
class HandedValues:
    """The rings of a kernel, and where their tokens and iterators are among what is carried."""

    rings: Mapping[Attribute, CreatePipelineOp]
    """By type of the result."""
    first: int
    """The position of the first token; its iterator follows it, then the next ring."""

    @staticmethod
    def of(needed: ProducerSlice, builder: Builder, first: int) -> HandedValues:
        """Make the rings that a slice needs."""
        return HandedValues({type_: _ring(builder, type_) for type_ in _types(needed)}, first)

    def begin(self, builder: Builder, *, produces: bool) -> Sequence[SSAValue]:
        """The tokens and first iterators of one side."""
        carried: list[SSAValue] = []
        for type_, ring in self.rings.items():
            token = ring.producer if produces else ring.consumer
            iterator = IteratorType(TensorType(type_, _SHAPE), STAGES, Space.SMEM)
            carried += (token, builder.insert(CreateIteratorOp(token, iterator)).iterator)
        return carried

    def hand(
        self, op: Operation, stages: Sequence[SSAValue], values: Values, builder: Builder
    ) -> Sequence[SSAValue]:
        """Let the producer do an operation, and fill a stage with its result."""
        assert is_handed(op)
        done = builder.insert(op.clone(values))
        at, type_ = self._position(op), TensorType(op.result.type, _SHAPE)
        body = Block(arg_types=[type_])
        body.add_op(tile := tensor.SplatOp(done.results[0], [], type_))
        body.add_op(CopyOp(tile.result, body.args[0], atom="unknown_copy"))
        body.add_op(PipelineYieldOp(body.args[0]))
        filled = builder.insert(ProduceOneOp(stages[at], stages[at + 1], body=Region(body)))
        return self._advanced(stages, at, filled.result_token, builder)

    def take(
        self, op: Operation, stages: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        """Let the consumer read the result of an operation, which is erased, from a stage."""
        assert is_handed(op)
        at, type_ = self._position(op), op.result.type
        body = Block(arg_types=[tile := TensorType(type_, _SHAPE)])
        body.add_op(zero := arith.ConstantOp.from_int_and_width(0, IndexType()))
        body.add_op(element := tensor.ExtractOp(body.args[0], [zero.result] * 2, type_))
        body.add_op(PipelineYieldOp(element.result))
        taken = ConsumeOneOp(
            stages[at],
            stages[at + 1],
            CONSUMER,
            consumer_types=[tile],
            payload=[type_],
            body=Region(body),
        )
        builder.insert(taken)
        following = self._advanced(stages, at, taken.result_token, builder)
        taken.payload[0].name_hint = op.result.name_hint
        op.result.replace_all_uses_with(taken.payload[0])
        if op.out_token is not None and op.token is not None:
            op.out_token.replace_all_uses_with(op.token)
        Rewriter.erase_op(op)
        return following

    def _position(self, op: PointedAtomicOp) -> int:
        return self.first + 2 * list(self.rings).index(op.result.type)

    def _advanced(
        self, stages: Sequence[SSAValue], at: int, token: SSAValue, builder: Builder
    ) -> Sequence[SSAValue]:
        following = builder.insert(IncIterOp(stages[at + 1])).next
        return [*stages[:at], token, following, *stages[at + 2 :]]


def _ring(builder: Builder, element: Attribute) -> CreatePipelineOp:
    shape = (STAGES, 1)
    buffer = builder.insert(AllocTensorOp(TensorType(element, shape, SpaceAttr(Space.SMEM))))
    buffer.result.name_hint = "handed"
    slots = builder.insert(ViewOp(buffer.result, TiledViewType(shape, element, Space.SMEM)))
    return builder.insert(CreatePipelineOp(slots.result, STAGES))
