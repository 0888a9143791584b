"""The operation that makes a pipeline."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, BoolAttr, IntegerAttr, i8
from xdsl.irdl import result_def

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.pipelines.base import PipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.family import CREATE_PIPELINE, PipelineEntry
from tileas_xdsl.dialects.nv_tileas.spaces import View, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.syntax.ops import tileas_op
from tileas_xdsl.dialects.nv_tileas.types import ConsumerTokenType, ProducerTokenType

STAGES_ARE_A_HINT = "nv_tileas.stages_are_a_hint"
"""On a pipeline between two agents: a pass chose how many stages it has, and fewer will do."""


def _group(number: int) -> IntegerAttr:
    return IntegerAttr(number, i8)


@tileas_op
class CreatePipelineOp(PipelineOp):
    """A pipeline of `numStages` stages in `view`, and the first token of each side.

    The first extent of the view counts its slots, one for each stage.
    Every other token of the pipeline goes back to these two.
    """

    ENTRY: ClassVar[PipelineEntry] = CREATE_PIPELINE
    name = CREATE_PIPELINE.op_name

    view: fields.Operand = fields.operand(View)
    producer = result_def(ProducerTokenType())
    consumer = result_def(ConsumerTokenType())
    num_stages: fields.Int = fields.prop(IntegerAttr, prop_name="numStages", alias="stages")
    producer_group_id: fields.Int = fields.prop(
        IntegerAttr,
        prop_name="producerGroupId",
        alias="producer_group",
        default=0,
        kw_only=True,
        convert=_group,
    )
    consumer_group_id: fields.Int = fields.prop(
        IntegerAttr,
        prop_name="consumerGroupId",
        alias="consumer_group",
        default=1,
        kw_only=True,
        convert=_group,
    )
    shared_mem: fields.OptBool = fields.opt_prop(
        IntegerAttr, prop_name="sharedMem", default=None, kw_only=True, convert=BoolAttr.from_bool
    )
    dynamic: fields.OptBool = fields.opt_prop(
        IntegerAttr, default=None, kw_only=True, convert=BoolAttr.from_bool
    )

    assembly_format = "$view attr-dict `:` type($view) `->` type($producer) `,` type($consumer)"

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
