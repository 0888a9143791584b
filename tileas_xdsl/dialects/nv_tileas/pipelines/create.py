"""The operation that makes a pipeline."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.pipelines.base import Operand, PipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.family import CREATE_PIPELINE, PipelineEntry
from tileas_xdsl.dialects.nv_tileas.spaces import View, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.syntax.ops import tileas_op
from tileas_xdsl.dialects.nv_tileas.types import ConsumerTokenType, ProducerTokenType

STAGES_ARE_A_HINT = "nv_tileas.stages_are_a_hint"
"""On a pipeline between two agents: a pass chose how many stages it has, and fewer will do."""


@tileas_op
class CreatePipelineOp(PipelineOp):
    """A pipeline of `numStages` stages in `view`, and the first token of each side.

    The first extent of the view counts its slots, one for each stage.
    Every other token of the pipeline goes back to these two.
    """

    ENTRY: ClassVar[PipelineEntry] = CREATE_PIPELINE
    name = CREATE_PIPELINE.op_name

    view = operand_def(View)
    producer = result_def(ProducerTokenType)
    consumer = result_def(ConsumerTokenType)
    num_stages = prop_def(IntegerAttr, prop_name="numStages")
    producer_group_id = prop_def(IntegerAttr, prop_name="producerGroupId")
    consumer_group_id = prop_def(IntegerAttr, prop_name="consumerGroupId")
    shared_mem = opt_prop_def(IntegerAttr, prop_name="sharedMem")
    dynamic = opt_prop_def(IntegerAttr, prop_name="dynamic")

    assembly_format = "$view attr-dict `:` type($view) `->` type($producer) `,` type($consumer)"

    def __init__(
        self,
        view: Operand,
        stages: int,
        *,
        producer_group: int = 0,
        consumer_group: int = 1,
        shared_mem: bool | None = None,
        dynamic: bool | None = None,
    ) -> None:
        super().__init__(
            [view],
            numStages=stages,
            producerGroupId=producer_group,
            consumerGroupId=consumer_group,
            sharedMem=shared_mem,
            dynamic=dynamic,
        )

    @property
    def stages(self) -> int:
        """The number of stages."""
        return self.num_stages.value.data

    @property
    def producer_group(self) -> int:
        """The group of the agents that fill stages, 0 to 255."""
        return self.producer_group_id.value.data & 0xFF

    @property
    def consumer_group(self) -> int:
        """The group of the agents that read stages, 0 to 255."""
        return self.consumer_group_id.value.data & 0xFF

    @property
    def is_shared(self) -> bool:
        """Whether the stages are pinned to shared memory."""
        return self.shared_mem is not None and bool(self.shared_mem.value.data)

    def verify_(self) -> None:
        if self.stages < 1:
            raise op_error(self, f"numStages is at least 1, not {self.stages}")
        space = space_of(self.view.type)
        if self.is_shared and space not in (Space.SMEM, None):
            raise op_error(self, f"sharedMem = true needs a view in smem, not in {space}")
        slots = next(iter(shape_of(self.view.type) or ()), DYNAMIC_INDEX)
        if slots != DYNAMIC_INDEX and slots < self.stages:
            raise op_error(self, f"has {self.stages} stages in a buffer of {slots} slots")


OPERATIONS = (CreatePipelineOp,)
