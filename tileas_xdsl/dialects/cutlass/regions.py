"""Operations of `cutlass` with bodies: what fills or reads a stage, roles, asynchronous work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i1, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, traits_def
from xdsl.traits import IsTerminator, NoTerminator

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.dialects.cutlass.setup import PipelineInitOp
from tileas_xdsl.dialects.cutlass.steps import (
    BARRIER,
    TRANSACTION_BYTES,
    ConsumerReleaseOp,
    ConsumerWaitOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    check_bytes,
    check_elected,
    check_stage,
)
from tileas_xdsl.dialects.cutlass.types import (
    WARPS,
    ParticipantsType,
    PipelineStateType,
    PipelineType,
)
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = ["AsyncExecOp", "ConsumeOp", "ProduceOp", "SwitchByExecutorOp", "YieldOp"]


@irdl_op_definition
class YieldOp(FieldsOp):
    """What the body of an operation of `cutlass` gives."""

    name = "cutlass.yield"

    values: fields.Operands = fields.operands(default=())

    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict ($values^ `:` type($values))?"


def _yielded(given: Mapping[str, Any]) -> Sequence[Attribute]:
    """The types that the body of a constructor yields."""
    body: Region | Block = given["body"]
    last = (body if isinstance(body, Block) else body.block).last_op
    return last.operand_types if isinstance(last, YieldOp) else ()


def check_yield(op: Operation, body: Region, types: Sequence[Attribute]) -> None:
    """The body ends with a yield of values that have these types."""
    last = body.block.last_op
    if not isinstance(last, YieldOp):
        raise op_error(op, "has a body that ends with cutlass.yield")
    if tuple(last.operand_types) != tuple(types):
        given = ", ".join(map(str, last.operand_types)) or "nothing"
        raise op_error(op, f"gives {', '.join(map(str, types)) or 'nothing'}, its body {given}")


class _BodyOp(FieldsOp):
    """A stage with a body: the results are the state after the stage and what the body yields."""

    pipe: fields.Operand = fields.operand(PipelineType)
    state: fields.Operand = fields.operand(PipelineStateType)
    elected: fields.OptOperand = fields.opt_operand(i1, default=None, kw_only=True)
    next: fields.Result[PipelineStateType] = fields.typed_result(
        PipelineStateType, type=fields.type_of("state"), init=False
    )
    outputs: fields.Results = fields.typed_results(type=_yielded, init=False)
    body: fields.Body = fields.body(single_block=True)

    def check_body(self, types: Sequence[Attribute]) -> None:
        """The body takes values of these types and yields the outputs."""
        if self.next.type != self.state.type:
            raise op_error(self, f"goes on from {self.state.type}, not to {self.next.type}")
        if self.body.block.arg_types != tuple(types):
            expected, given = ", ".join(map(str, types)), len(self.body.block.args)
            raise op_error(self, f"has a body that takes {expected}, not {given} others")
        check_yield(self, self.body, [output.type for output in self.outputs])


@irdl_op_definition
class ProduceOp(_BodyOp):
    """Acquire, body, commit.  The body gets the index of the stage and the barrier of TMA."""

    name = "cutlass.pipeline.produce"

    bytes: fields.OptInt = fields.opt_prop(
        TRANSACTION_BYTES, prop_name="transaction_bytes", default=None, kw_only=True
    )

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$pipe `,` $state (`bytes` $transaction_bytes^)? (`if` $elected^)? attr-dict"
        " `:` type($pipe) `,` type($state) `->` type($next) (`,` type($outputs)^)? $body"
    )

    def verify_(self) -> None:
        type_ = check_stage(self, self.pipe, self.state)
        check_bytes(self, type_, self.bytes)
        check_elected(self, type_, self.elected)
        if type_.facts.producer == "tma" and self.bytes is None:
            raise op_error(self, "announces the bytes that TMA brings to a stage")
        self.check_body((i32, BARRIER))


@irdl_op_definition
class ConsumeOp(_BodyOp):
    """Wait, body, release.  The body gets the index of the stage."""

    name = "cutlass.pipeline.consume"

    assembly_format = (
        "$pipe `,` $state (`if` $elected^)? attr-dict"
        " `:` type($pipe) `,` type($state) `->` type($next) (`,` type($outputs)^)? $body"
    )

    def verify_(self) -> None:
        check_stage(self, self.pipe, self.state)
        self.check_body((i32,))


@irdl_op_definition
class SwitchByExecutorOp(FieldsOp):
    """Gives each warp of the block its role: the arm whose mask has the bit of the warp.

    A mask is of consecutive warps; together they are all `executors` warps, each once.  An arm of
    warps that have nothing to do is empty.
    """

    name = "cutlass.pipeline.switch_by_executor"

    warp: fields.Operand = fields.operand(i32)
    executors: fields.Int = fields.prop(IntegerAttr.constr(i32))
    masks: fields.Array = fields.prop(DenseArrayBase.constr(i32))
    arms: fields.Bodies = fields.bodies()

    traits = traits_def(NoTerminator())
    assembly_format = "$warp `of` $executors `masks` $masks attr-dict-with-keyword $arms"

    @property
    def ranges(self) -> list[range]:
        """The warps of each arm."""
        return [_warps_of(mask) for mask in self.masks.get_values()]

    def verify_(self) -> None:
        self._check_masks()
        for warps, arm in zip(self.ranges, self.arms, strict=True):
            if len(arm.blocks) > 1:
                raise op_error(self, f"has arms of one block, not of {len(arm.blocks)}")
            _check_roles(warps, arm)

    def _check_masks(self) -> None:
        masks, count = tuple(self.masks.get_values()), value_of(self.executors)
        if not 0 < count < len(WARPS):
            raise op_error(self, f"is among 1 to {len(WARPS) - 1} warps, not {count}")
        if len(masks) != len(self.arms):
            raise op_error(self, f"has {len(masks)} masks for {len(self.arms)} arms")
        seen = 0
        for mask in masks:
            warps = _warps_of(mask)
            if mask < 1 or sum(1 << warp for warp in warps) != mask:
                raise op_error(self, f"has masks of consecutive warps, not {mask:#x}")
            if seen & mask:
                raise op_error(self, f"has disjoint masks, but warps of {seen & mask:#x} are twice")
            seen |= mask
        if seen != (1 << count) - 1:
            raise op_error(self, f"has roles for {seen:#x}, not for all of the {count} warps")


def _warps_of(mask: int) -> range:
    """From the first to the last warp of a mask."""
    return range((mask & -mask).bit_length() - 1, mask.bit_length()) if mask > 0 else range(0)


PRODUCER_STEPS = (ProduceOp, ProducerAcquireOp, ProducerCommitOp)
CONSUMER_STEPS = (ConsumeOp, ConsumerReleaseOp, ConsumerWaitOp)


def _check_roles(warps: range, arm: Region) -> None:
    """Who is at an end of a pipeline in an arm is one of its warps, and each one is."""
    for step in arm.walk():
        if isinstance(step, PipelineInitOp):
            raise op_error(step, "is executed by all threads of the block, not in a role")
        if not isinstance(step, PRODUCER_STEPS + CONSUMER_STEPS):
            continue
        producing = isinstance(step, PRODUCER_STEPS)
        for init in _inits(step.pipe):
            end = (init.participants if producing else init.consumers).type
            assert isinstance(end, ParticipantsType)
            outside = [warp for warp in end.numbers if warp not in warps]
            if outside:
                word = "producer" if producing else "consumer"
                raise op_error(
                    step,
                    f"is done by warps {warps[0]} to {warps[-1]}, but warp {outside[0]} is a "
                    f"{word} of the pipeline",
                )


def _inits(pipe: SSAValue) -> list[PipelineInitOp]:
    return [use.operation for use in pipe.uses if isinstance(use.operation, PipelineInitOp)]


@irdl_op_definition
class AsyncExecOp(FieldsOp):
    """A container of work that goes on beside the main one; schedulers advance inside it."""

    name = "cutlass.async.exec"

    body: fields.Body = fields.body(single_block=True)
    outputs: fields.Results = fields.typed_results(type=_yielded, init=False)

    assembly_format = "(`->` type($outputs)^)? attr-dict-with-keyword $body"

    def verify_(self) -> None:
        check_yield(self, self.body, [output.type for output in self.outputs])
