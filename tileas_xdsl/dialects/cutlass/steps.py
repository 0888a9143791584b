"""The steps of producers and consumers at a stage of a pipeline.

The threads of a warp execute a step together, and `elected` is true for the one that acts for it;
where it is absent, a single thread executes the step.  Protocol: two mbarriers for each stage; see
`convert-pipeline-to-nvgpu`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i16, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import number_among
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import LARGEST_COUNT
from tileas_xdsl.dialects.cutlass.types import PipelineStateType, PipelineType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = [
    "ConsumerReleaseOp",
    "ConsumerTryWaitOp",
    "ConsumerWaitOp",
    "GetProducerBarrierOp",
    "GetProducerMaskOp",
    "ProducerAcquireOp",
    "ProducerCommitOp",
    "ProducerTailOp",
    "ProducerTryAcquireOp",
]


BARRIER = PtrType(IntegerType(64), AddressSpace.SMEM)


def check_stage(op: Operation, pipe: SSAValue, state: SSAValue) -> PipelineType:
    """The type of the pipeline; refuses a state of another number of stages."""
    type_, of = pipe.type, state.type
    assert isinstance(type_, PipelineType)
    assert isinstance(of, PipelineStateType)
    if of.number != type_.stages:
        raise op_error(op, f"is at a stage of {type_}, but the state is {of}")
    return type_


TRANSACTION_BYTES = number_among(
    i32, range(1, LARGEST_COUNT + 1), f"announces 1 to {LARGEST_COUNT} bytes, not {{given}}"
)


def check_bytes(op: Operation, type_: PipelineType, bytes_: IntegerAttr | None) -> None:
    """Refuse bytes where no TMA brings them."""
    if bytes_ is None:
        return
    if type_.facts.producer != "tma":
        raise op_error(op, f"announces bytes of TMA, which does not fill the stages of {type_}")


def check_elected(op: Operation, type_: PipelineType, elected: SSAValue | None) -> None:
    """Refuse one thread that acts for its warp where each has copies of its own."""
    if elected is not None and type_.facts.producer == "cp_async":
        raise op_error(op, f"is done by every thread that copies by cp.async, as {type_} has it")


class _StepOp(FieldsOp):
    """Something that is done at a stage."""

    pipe: fields.Operand = fields.operand(PipelineType)
    state: fields.Operand = fields.operand(PipelineStateType)

    def verify_(self) -> None:
        check_stage(self, self.pipe, self.state)


class _WaitOp(_StepOp):
    """A wait that is over already where a probe has said so."""

    probe: fields.OptOperand = fields.opt_operand(i1, default=None, kw_only=True)


_STEP = "$pipe `,` $state"
_TYPES = "attr-dict `:` type($pipe) `,` type($state)"


@irdl_op_definition
class ProducerAcquireOp(_WaitOp):
    """Waits until the stage is empty, and announces the bytes that TMA will bring to it."""

    name = "cutlass.pipeline.producer_acquire"

    bytes: fields.OptInt = fields.opt_prop(
        TRANSACTION_BYTES, prop_name="transaction_bytes", default=None
    )
    elected: fields.OptOperand = fields.opt_operand(i1, default=None, kw_only=True)

    assembly_format = (
        f"{_STEP} (`bytes` $transaction_bytes^)? (`unless` $probe^)? (`if` $elected^)? {_TYPES}"
    )

    def verify_(self) -> None:
        check_bytes(self, check_stage(self, self.pipe, self.state), self.bytes)


@irdl_op_definition
class ProducerCommitOp(_StepOp):
    """Says that the stage is full.

    TMA says it by itself when its bytes are there, so that nothing is left to do: unless they are
    announced here, after the copies were started.
    """

    name = "cutlass.pipeline.producer_commit"

    bytes: fields.OptInt = fields.opt_prop(
        TRANSACTION_BYTES, prop_name="transaction_bytes", default=None
    )
    elected: fields.OptOperand = fields.opt_operand(i1, default=None, kw_only=True)

    assembly_format = f"{_STEP} (`bytes` $transaction_bytes^)? (`if` $elected^)? {_TYPES}"

    def verify_(self) -> None:
        type_ = check_stage(self, self.pipe, self.state)
        check_bytes(self, type_, self.bytes)
        check_elected(self, type_, self.elected)


@irdl_op_definition
class ProducerTailOp(_StepOp):
    """Waits until every stage is empty, so that no block ends while others still signal it."""

    name = "cutlass.pipeline.producer_tail"

    assembly_format = f"{_STEP} {_TYPES}"


@irdl_op_definition
class ConsumerWaitOp(_WaitOp):
    """Waits until the stage is full."""

    name = "cutlass.pipeline.consumer_wait"

    assembly_format = f"{_STEP} (`unless` $probe^)? {_TYPES}"


@irdl_op_definition
class ConsumerReleaseOp(_StepOp):
    """Says that the stage has been read, in every block that shares it.

    Products of wgmma that read it must be waited for before; those of tcgen05 are said to be done
    by `tcgen05.commit`, which this is then.
    """

    name = "cutlass.pipeline.consumer_release"

    elected: fields.OptOperand = fields.opt_operand(i1, default=None, kw_only=True)

    assembly_format = f"{_STEP} (`if` $elected^)? {_TYPES}"


class _ProbeOp(_StepOp):
    """Whether a wait would be over now."""

    result = result_def(i1)

    assembly_format = f"{_STEP} {_TYPES}"


@irdl_op_definition
class ProducerTryAcquireOp(_ProbeOp):
    """Whether the stage is seen to be empty."""

    name = "cutlass.pipeline.producer_try_acquire"


@irdl_op_definition
class ConsumerTryWaitOp(_ProbeOp):
    """Whether the stage is seen to be full."""

    name = "cutlass.pipeline.consumer_try_wait"


@irdl_op_definition
class GetProducerBarrierOp(_StepOp):
    """The mbarrier at which the copies of TMA into the stage complete."""

    name = "cutlass.pipeline.get_producer_barrier"

    result = result_def(BARRIER)

    traits = traits_def(Pure())
    assembly_format = f"{_STEP} {_TYPES}"


@irdl_op_definition
class GetProducerMaskOp(FieldsOp):
    """The blocks of the cluster that a copy of TMA goes to: a bit for each that shares stages."""

    name = "cutlass.pipeline.get_producer_mask"

    pipe: fields.Operand = fields.operand(PipelineType)
    result = result_def(i16)

    traits = traits_def(Pure())
    assembly_format = "$pipe attr-dict `:` type($pipe)"
