"""Tiles that loops around the divided ones load for products are streams of those loops.

    scf.for %t = ... {                          producer             consumer
      %q = tiled_load %a[%t]       tma_load     scf.for %t {         scf.for %t {
      scf.for %j = ... {                          fill %ring_q         wait; %q = read %ring_q
        %k = tiled_load %b[%j]     tma_load       scf.for %j {         scf.for %j { ... dot %q, %k }
        dot %q, %k                  ->              fill %ring_k       release %ring_q
      }                                           }                    ...
      ...                                       }                    }
    }

The producer loads the tile of the next round of the outer loop while the last products and the
stores of this one run, and consumers need not meet in front of the load.  A stage is released where
all products that read it have been waited for: behind the first reads of what they lead to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import partial

from xdsl.builder import Builder
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import STAGES_ARE_A_HINT, CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumerReadOp,
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreateIteratorOp,
    IncIterOp,
    PipelineYieldOp,
    ProduceOneAsyncOp,
    ProducerCommitOp,
)
from tileas_xdsl.dialects.nv_tileas.types import IteratorType
from tileas_xdsl.transforms.pipeline_loads.agents.agent_control import Take
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import ProducerSlice
from tileas_xdsl.transforms.pipeline_loads.agents.stage_buffer import (
    CONSUMER,
    create_pipeline,
    payload_of,
)
from tileas_xdsl.transforms.pipeline_loads.agents.stage_fills import (
    fill_of,
    replace_load,
    stage_tile,
)
from tileas_xdsl.transforms.pipeline_loads.streamed_loads import end_of_reads


@dataclass(frozen=True)
class StreamedTiles:
    """The rings of streams, and where their tokens and iterators are among what is carried."""

    loads: Sequence[TiledLoadOp]
    rings: Sequence[CreatePipelineOp]
    first: int
    """The position of the first token; its iterator follows it, then the next ring."""
    ends: dict[Operation, Take] = field(default_factory=dict["Operation", "Take"])
    """What releases a stage, by the operation that it is in front of."""

    @staticmethod
    def of(needed: ProducerSlice, stages: int, builder: Builder, first: int) -> StreamedTiles:
        """Make a ring of so many stages for each stream of a slice."""
        made: list[CreatePipelineOp] = []
        for load in needed.streamed:
            made.append(create_pipeline(builder, [stage_tile(load)], stages))
            made[-1].attributes[STAGES_ARE_A_HINT] = UnitAttr()
        return StreamedTiles(needed.streamed, made, first)

    def begin(self, builder: Builder, *, produces: bool) -> Sequence[SSAValue]:
        """The tokens and first iterators of one side."""
        carried: list[SSAValue] = []
        for load, ring in zip(self.loads, self.rings, strict=True):
            token = ring.producer if produces else ring.consumer
            type_ = IteratorType(payload_of([stage_tile(load)]), ring.stages, Space.SMEM)
            carried += (token, builder.insert(CreateIteratorOp(token, type_)).iterator)
        return carried

    def hand(
        self,
        op: Operation,
        stages: Sequence[SSAValue],
        values: dict[SSAValue, SSAValue],
        builder: Builder,
    ) -> Sequence[SSAValue]:
        """Let the producer fill a stage."""
        at, load = self._place(op)
        fill = Region(fill_of([load], values))
        filled = builder.insert(ProduceOneAsyncOp(stages[at], stages[at + 1], body=fill))
        committed = builder.insert(ProducerCommitOp(filled.result_token))
        following = builder.insert(IncIterOp(stages[at + 1])).next
        return [*stages[:at], committed.result_token, following, *stages[at + 2 :]]

    def take(
        self, op: Operation, stages: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        """Let the consumer read the tile in its stage, until the end of what reads it."""
        at, load = self._place(op)
        end, tile = end_of_reads(load), stage_tile(load)
        assert end is not None
        self.ends[end] = partial(self._release, at, self.ends.get(end))
        iterator, body = stages[at + 1], Block(arg_types=[tile])
        body.add_op(PipelineYieldOp(*body.args))
        waited = builder.insert(ConsumerWaitOp(stages[at], iterator, CONSUMER)).result_token
        read = builder.insert(
            ConsumerReadOp(waited, iterator, CONSUMER, payload=[tile], body=Region(body))
        )
        read.payload[0].name_hint = load.result.name_hint
        replace_load(load, read.payload[0])
        return [*stages[:at], read.result_token, *stages[at + 1 :]]

    def _release(
        self,
        at: int,
        before: Take | None,
        op: Operation,
        stages: Sequence[SSAValue],
        builder: Builder,
    ) -> Sequence[SSAValue]:
        """Release a stage in front of an operation, behind `before`."""
        stages = stages if before is None else before(op, stages, builder)
        released = builder.insert(ConsumerReleaseOp(stages[at])).result_token
        following = builder.insert(IncIterOp(stages[at + 1])).next
        return [*stages[:at], released, following, *stages[at + 2 :]]

    def _place(self, op: Operation) -> tuple[int, TiledLoadOp]:
        """The position of a load's token, and the load."""
        k = next(k for k, load in enumerate(self.loads) if load is op)
        return self.first + 2 * k, self.loads[k]
