"""How a pipeline begins: where its barriers are, who takes part, and how they are initialised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu.operands import Value, number, value_of
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import WARP, check_barrier
from tileas_xdsl.dialects.cutlass.kinds import Agent
from tileas_xdsl.dialects.cutlass.types import ParticipantsType, PipelineType
from tileas_xdsl.dialects.field_init import init_fields
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = ["MakeParticipantsOp", "PipelineCreateOp", "PipelineInitOp"]

BARRIER_IDS = range(32)
"""What `barrier_id_base` may be.  mbarriers have no numbers, so that it says nothing more."""

ARRIVALS: Mapping[Agent, int] = {"threads": 1, "cp_async": WARP}
"""How often each warp arrives that fills a stage; the others arrive once in all."""

_NUMBER = IntegerAttr.constr(i32)


@irdl_op_definition
class PipelineCreateOp(IRDLOperation):
    """A pipeline whose mbarriers lie at `storage`: full for each stage, then empty for each."""

    name = "cutlass.pipeline.create"

    storage = operand_def()
    result = result_def(PipelineType)

    traits = traits_def(Pure())
    assembly_format = "$storage attr-dict `:` type($storage) `->` type($result)"

    def __init__(self, storage: Value, kind: str, stages: int, multicast: int = 1) -> None:
        init_fields(self, storage=storage, result=PipelineType(kind, stages, multicast))

    def verify_(self) -> None:
        check_barrier(self, self.storage)


@irdl_op_definition
class MakeParticipantsOp(IRDLOperation):
    """The warps at one end of a pipeline, which the type names."""

    name = "cutlass.pipeline.make_participants"

    result = result_def(ParticipantsType)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, warps: Sequence[int]) -> None:
        init_fields(self, result=ParticipantsType(warps))


@irdl_op_definition
class PipelineInitOp(IRDLOperation):
    """Initialises the barriers of every stage; all threads of the block execute it.

    `numProducers` and `numConsumers` are the warps at the two ends.  Where threads fill a stage or
    read it, one of each such warp arrives, by cp.async each of its threads; where TMA or the tensor
    core does, one arrival is all.
    """

    name = "cutlass.pipeline.init"

    pipe = operand_def(PipelineType)
    participants = operand_def(ParticipantsType)
    consumers = operand_def(ParticipantsType)
    stages = prop_def(_NUMBER, prop_name="numStages")
    num_producers = prop_def(_NUMBER, prop_name="numProducers")
    num_consumers = prop_def(_NUMBER, prop_name="numConsumers")
    barrier_id_base = opt_prop_def(_NUMBER)
    producer_group_id = prop_def(_NUMBER)
    consumer_group_id = prop_def(_NUMBER)

    assembly_format = (
        "$pipe `,` $participants `,` $consumers attr-dict"
        " `:` type($pipe) `,` type($participants) `,` type($consumers)"
    )

    def __init__(
        self,
        pipe: Value,
        participants: Value,
        consumers: Value,
        *,
        counts: tuple[int, int, int],
        groups: tuple[int, int] = (0, 1),
        barrier_id_base: int | None = None,
    ) -> None:
        """`counts` are the stages, the producers and the consumers."""
        stages, producers, readers = map(number, counts)
        init_fields(
            self,
            pipe=pipe,
            participants=participants,
            consumers=consumers,
            stages=stages,
            num_producers=producers,
            num_consumers=readers,
            barrier_id_base=barrier_id_base,
            producer_group_id=groups[0],
            consumer_group_id=groups[1],
        )

    @property
    def producer_arrivals(self) -> int:
        """How many arrivals fill a stage."""
        return ARRIVALS.get(self._type.facts.producer, 0) * value_of(self.num_producers) or 1

    @property
    def consumer_arrivals(self) -> int:
        """How many arrivals empty a stage, those of the other blocks that share it included."""
        facts, blocks = self._type.facts, self._type.multicast.data
        return blocks * (value_of(self.num_consumers) if facts.consumer == "threads" else 1)

    @property
    def _type(self) -> PipelineType:
        type_ = self.pipe.type
        assert isinstance(type_, PipelineType)
        return type_

    def verify_(self) -> None:
        if value_of(self.stages) < 1:
            text = message("cutlass.pipeline_init.stages")
            raise op_error(self, text, prefix=False)
        if value_of(self.stages) != self._type.stages.data:
            raise op_error(
                self, f"has {value_of(self.stages)} stages, but the pipeline is {self._type}"
            )
        self._check_lengths()
        self._check_numbers()

    def _check_lengths(self) -> None:
        mine, theirs = self.participants.type, self.consumers.type
        assert isinstance(mine, ParticipantsType)
        assert isinstance(theirs, ParticipantsType)
        if len(mine.numbers) != value_of(self.num_producers):
            text = message("cutlass.pipeline_init.participants")
            raise op_error(self, text, prefix=False)
        if len(theirs.numbers) != value_of(self.num_consumers):
            raise op_error(
                self, f"has {value_of(self.num_consumers)} consumers, but the list is {theirs}"
            )
        if not mine.numbers or not theirs.numbers:
            raise op_error(self, "has a producer and a consumer at least")

    def _check_numbers(self) -> None:
        base = self.barrier_id_base
        if base is not None and value_of(base) not in BARRIER_IDS:
            last = BARRIER_IDS[-1]
            raise op_error(self, f"has a barrier_id_base of 0 to {last}, not {value_of(base)}")
        if self.producer_group_id == self.consumer_group_id:
            raise op_error(
                self,
                "has a producer and a consumer of different groups, not both of "
                f"{value_of(self.producer_group_id)}",
            )
