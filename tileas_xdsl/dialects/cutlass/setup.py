"""How a pipeline begins: where its barriers are, who takes part, and how they are initialised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import check_barrier
from tileas_xdsl.dialects.cutlass.kinds import Agent
from tileas_xdsl.dialects.cutlass.types import ParticipantsType, PipelineType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout.units import WARP

__all__ = ["MakeParticipantsOp", "PipelineCreateOp", "PipelineInitOp"]

BARRIER_IDS = range(32)
"""What `barrier_id_base` may be.  mbarriers have no numbers, so that it says nothing more."""

ARRIVALS: Mapping[Agent, int] = {"threads": 1, "cp_async": WARP}
"""How often each warp arrives that fills a stage; the others arrive once in all."""

_NUMBER = IntegerAttr.constr(i32)


def _pipe(given: Mapping[str, Any]) -> PipelineType:
    return PipelineType(given["kind"], given["stages"], given["multicast"])


def _participants(given: Mapping[str, Any]) -> ParticipantsType:
    return ParticipantsType(given["warps"])


@irdl_op_definition
class PipelineCreateOp(FieldsOp):
    """A pipeline whose mbarriers lie at `storage`: full for each stage, then empty for each."""

    name = "cutlass.pipeline.create"

    storage: fields.Operand = fields.operand()
    kind: InitVar[str] = fields.init_var()
    stages: InitVar[int] = fields.init_var()
    multicast: InitVar[int] = fields.init_var(default=1)
    result: fields.Result[PipelineType] = fields.typed_result(PipelineType, type=_pipe, init=False)

    traits = traits_def(Pure())
    assembly_format = "$storage attr-dict `:` type($storage) `->` type($result)"

    def verify_(self) -> None:
        check_barrier(self, self.storage)


@irdl_op_definition
class MakeParticipantsOp(FieldsOp):
    """The warps at one end of a pipeline, which the type names."""

    name = "cutlass.pipeline.make_participants"

    warps: InitVar[Sequence[int]] = fields.init_var()
    result: fields.Result[ParticipantsType] = fields.typed_result(
        ParticipantsType, type=_participants, init=False
    )

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"


@irdl_op_definition
class PipelineInitOp(FieldsOp):
    """Initialises the barriers of every stage; all threads of the block execute it.

    `numProducers` and `numConsumers` are the warps at the two ends.  Where threads fill a stage or
    read it, one of each such warp arrives, by cp.async each of its threads; where TMA or the tensor
    core does, one arrival is all.
    """

    name = "cutlass.pipeline.init"

    pipe: fields.Operand = fields.operand(PipelineType)
    participants: fields.Operand = fields.operand(ParticipantsType)
    consumers: fields.Operand = fields.operand(ParticipantsType)
    stages: fields.Int = fields.prop(_NUMBER, prop_name="numStages", kw_only=True)
    num_producers: fields.Int = fields.prop(_NUMBER, prop_name="numProducers", kw_only=True)
    num_consumers: fields.Int = fields.prop(_NUMBER, prop_name="numConsumers", kw_only=True)
    barrier_id_base: fields.OptInt = fields.opt_prop(_NUMBER, default=None, kw_only=True)
    producer_group_id: fields.Int = fields.prop(_NUMBER, default=0, kw_only=True)
    consumer_group_id: fields.Int = fields.prop(_NUMBER, default=1, kw_only=True)

    assembly_format = (
        "$pipe `,` $participants `,` $consumers attr-dict"
        " `:` type($pipe) `,` type($participants) `,` type($consumers)"
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
