"""Pipelines: agents hand stages to one another, with tokens and iterators.

A stage lives through acquire, write, commit on the producer's side, then wait, read, release on the
consumer's; `produce_one` and `consume_one` bracket three steps each around a body.  Every operation
gives the token anew that it takes: the chain of tokens is the order of the steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import opt_prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import IsTerminator, Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.field_init import init_fields
from tileas_xdsl.dialects.field_plans import Computed
from tileas_xdsl.dialects.fields import type_of
from tileas_xdsl.dialects.nv_tileas.interfaces import Producer
from tileas_xdsl.dialects.nv_tileas.pipelines import create as create_pipeline
from tileas_xdsl.dialects.nv_tileas.pipelines import family
from tileas_xdsl.dialects.nv_tileas.pipelines.base import Operand, PipelineOp, payload_types
from tileas_xdsl.dialects.nv_tileas.pipelines.checks import (
    check_merges,
    check_stage_op,
    check_stages,
    check_token,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.family import Body, PipelineEntry, entry_of_name
from tileas_xdsl.dialects.nv_tileas.syntax.ops import tileas_op
from tileas_xdsl.dialects.nv_tileas.types import (
    AsyncTokenType,
    ConsumerTokenType,
    IteratorType,
    ProducerTokenType,
)

_STEP = "$token attr-dict `:` type($token) `->` type($result_token)"
_STAGE_STEP = (
    "$token `,` $iterator attr-dict `:` type($token) `,` type($iterator) `->` type($result_token)"
)
_STAGE_WITH_BODY = "$token `,` $iterator attr-dict `:` functional-type(operands, results) $body"
_STAGE_PERHAPS_WITH_BODY = (
    "$token `,` $iterator attr-dict `:` type(operands) `->` type(results) ($body^)?"
)


def _stage_types(given: Mapping[str, Any]) -> Sequence[Attribute]:
    return payload_types([SSAValue.get(given["iterator"])])


def _stage_body(given: Mapping[str, Any]) -> Region:
    return Region(Block(arg_types=_stage_types(given)))


STAGE_TYPES = Computed(_stage_types)
"""The default of lists of types: those of the values of a stage, by the iterator."""

STAGE_BODY = Computed(_stage_body)
"""The default of bodies: an empty block with the values of a stage."""


class StageOp(PipelineOp):
    """Base of the operations that take a token and work on a stage."""

    def verify_(self) -> None:
        check_stage_op(self)


class _ProduceOne(StageOp, Producer):
    """Base of the two forms of `produce_one`."""

    token: fields.Operand = fields.operand(ProducerTokenType)
    iterator: fields.Operand = fields.operand(IteratorType)
    body: fields.Body = fields.body(default=STAGE_BODY, kw_only=True)
    producer_types: fields.Types = fields.prop(
        ArrayAttr, default=STAGE_TYPES, kw_only=True, convert=ArrayAttr
    )

    assembly_format = _STAGE_WITH_BODY

    @property
    def producing_region(self) -> Region:
        return self.body


@tileas_op
class ProduceOneOp(_ProduceOne):
    """Fill one stage: acquire it, run the body on it, publish it.

    `payload` is what the body yields, for use after it; without it the body yields the stage.
    """

    ENTRY: ClassVar[PipelineEntry] = family.PRODUCE_ONE
    name = family.PRODUCE_ONE.op_name

    result_token = result_def(ProducerTokenType())
    payload: fields.Results = fields.typed_results(default=(), kw_only=True)


@tileas_op
class ProduceOneAsyncOp(_ProduceOne):
    """Start to fill one stage; `async_token` signals that it is full, a commit publishes it."""

    ENTRY: ClassVar[PipelineEntry] = family.PRODUCE_ONE_ASYNC
    name = family.PRODUCE_ONE_ASYNC.op_name

    result_token = result_def(ProducerTokenType())
    async_token: fields.Result[AsyncTokenType] = fields.typed_result(
        AsyncTokenType, type=AsyncTokenType()
    )
    payload: fields.Results = fields.typed_results(default=(), kw_only=True)


class _ConsumeOne(StageOp):
    """Base of the two forms of `consume_one`."""

    token: fields.Operand = fields.operand(ConsumerTokenType)
    iterator: fields.Operand = fields.operand(IteratorType)
    body: fields.Body = fields.body(default=STAGE_BODY, kw_only=True)
    consumer_idx: fields.Int = fields.prop(IntegerAttr)
    consumer_types: fields.OptTypes = fields.opt_prop(
        ArrayAttr, default=STAGE_TYPES, kw_only=True, convert=ArrayAttr
    )
    producer_types = opt_prop_def(ArrayAttr)

    assembly_format = _STAGE_WITH_BODY

    def verify_(self) -> None:
        one, other = self.consumer_types, self.producer_types
        if one is not None and other is not None and one != other:
            raise op_error(self, "lists other types in consumer_types than in producer_types")
        check_stage_op(self)


@tileas_op
class ConsumeOneOp(_ConsumeOne):
    """Read one stage: wait for it, run the body on it, hand it back.

    `payload` is what the body yields, for use after it; without it the body yields the stage.
    """

    ENTRY: ClassVar[PipelineEntry] = family.CONSUME_ONE
    name = family.CONSUME_ONE.op_name

    result_token = result_def(ConsumerTokenType())
    payload: fields.Results = fields.typed_results(default=(), kw_only=True)


@tileas_op
class ConsumeOneAsyncOp(_ConsumeOne):
    """Start to read one stage; `async_token` signals the read, `consumer_release` frees it."""

    ENTRY: ClassVar[PipelineEntry] = family.CONSUME_ONE_ASYNC
    name = family.CONSUME_ONE_ASYNC.op_name

    result_token = result_def(ConsumerTokenType())
    async_token: fields.Result[AsyncTokenType] = fields.typed_result(
        AsyncTokenType, type=AsyncTokenType()
    )
    payload: fields.Results = fields.typed_results(default=(), kw_only=True)


@tileas_op
class ConsumerReadOp(StageOp):
    """Read the stage that was waited for; the body, if there is one, gets its values."""

    ENTRY: ClassVar[PipelineEntry] = family.CONSUMER_READ
    name = family.CONSUMER_READ.op_name

    token: fields.Operand = fields.operand(ConsumerTokenType)
    iterator: fields.Operand = fields.operand(IteratorType)
    result_token = result_def(ConsumerTokenType())
    payload: fields.Results = fields.typed_results(default=(), kw_only=True)
    body: fields.OptBody = fields.opt_body(default=None, kw_only=True)
    consumer_idx: fields.Int = fields.prop(IntegerAttr)

    assembly_format = _STAGE_PERHAPS_WITH_BODY

    def verify_(self) -> None:
        _check_payload_has_body(self)
        check_stage_op(self)


@tileas_op
class ProducerWriteOp(StageOp, Producer):
    """Fill the stage that was acquired; the body, if there is one, gets its values."""

    ENTRY: ClassVar[PipelineEntry] = family.PRODUCER_WRITE
    name = family.PRODUCER_WRITE.op_name

    token: fields.Operand = fields.operand(ProducerTokenType)
    iterator: fields.Operand = fields.operand(IteratorType)
    result_token = result_def(ProducerTokenType())
    payload: fields.Results = fields.typed_results(default=(), kw_only=True)
    body: fields.OptBody = fields.opt_body(default=None, kw_only=True)

    assembly_format = _STAGE_PERHAPS_WITH_BODY

    @property
    def producing_region(self) -> Region | None:
        return self.body

    def verify_(self) -> None:
        _check_payload_has_body(self)
        check_stage_op(self)


def _check_payload_has_body(op: PipelineOp) -> None:
    if not op.regions and len(op.results) > len(op.ENTRY.gives):
        raise op_error(op, "has payload results, but no body that yields them")


@tileas_op
class ProducerAcquireOp(StageOp):
    """Wait until the stage is empty, and own it."""

    ENTRY: ClassVar[PipelineEntry] = family.PRODUCER_ACQUIRE
    name = family.PRODUCER_ACQUIRE.op_name

    token: fields.Operand = fields.operand(ProducerTokenType)
    iterator: fields.Operand = fields.operand(IteratorType)
    result_token = result_def(ProducerTokenType())

    assembly_format = _STAGE_STEP


@tileas_op
class ProducerCommitOp(StageOp):
    """Publish the stage; the token is that of an acquire, a write or an async produce."""

    ENTRY: ClassVar[PipelineEntry] = family.PRODUCER_COMMIT
    name = family.PRODUCER_COMMIT.op_name

    token: fields.Operand = fields.operand(ProducerTokenType)
    result_token = result_def(ProducerTokenType())

    assembly_format = _STEP


@tileas_op
class ConsumerWaitOp(StageOp):
    """Wait until the stage is published, as consumer `consumer_idx` of the group."""

    ENTRY: ClassVar[PipelineEntry] = family.CONSUMER_WAIT
    name = family.CONSUMER_WAIT.op_name

    token: fields.Operand = fields.operand(ConsumerTokenType)
    iterator: fields.Operand = fields.operand(IteratorType)
    result_token = result_def(ConsumerTokenType())
    consumer_idx: fields.Int = fields.prop(IntegerAttr)

    assembly_format = _STAGE_STEP


@tileas_op
class ConsumerReleaseOp(StageOp):
    """Hand the stage back; the token is that of a wait, a read or an async consume."""

    ENTRY: ClassVar[PipelineEntry] = family.CONSUMER_RELEASE
    name = family.CONSUMER_RELEASE.op_name

    token: fields.Operand = fields.operand(ConsumerTokenType)
    result_token = result_def(ConsumerTokenType())

    assembly_format = _STEP


@tileas_op
class PipelineYieldOp(PipelineOp):
    """The end of a body of the family, and what it gives to the operation around it."""

    ENTRY: ClassVar[PipelineEntry] = family.YIELD
    name = family.YIELD.op_name

    arguments = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"

    def __init__(self, *arguments: Operand) -> None:
        init_fields(self, arguments=arguments)

    def verify_(self) -> None:
        parent = self.parent_op()
        entry = None if parent is None else entry_of_name(parent.name)
        if parent is not None and (entry is None or entry.body is Body.NONE):
            raise op_error(
                self, f"ends the body of a pipeline operation, not of '{name_of(parent)}'"
            )


@tileas_op
class CreateIteratorOp(PipelineOp):
    """An iterator at the first stage of the pipeline of `token`."""

    ENTRY: ClassVar[PipelineEntry] = family.CREATE_ITERATOR
    name = family.CREATE_ITERATOR.op_name

    token: fields.Operand = fields.operand(ProducerTokenType | ConsumerTokenType)
    iterator: fields.Result[IteratorType] = fields.typed_result(IteratorType)

    traits = traits_def(Pure())
    assembly_format = "$token attr-dict `:` type($token) `->` type($iterator)"

    def verify_(self) -> None:
        check_token(self, self.token)
        check_stages(self)


@tileas_op
class IncIterOp(PipelineOp):
    """The iterator at the next stage; past the last one the first, with the other phase."""

    ENTRY: ClassVar[PipelineEntry] = family.INC_ITER
    name = family.INC_ITER.op_name

    iterator: fields.Operand = fields.operand(IteratorType)
    next: fields.ComputedResult[IteratorType] = fields.typed_result(
        IteratorType, type=type_of("iterator")
    )

    traits = traits_def(Pure())
    assembly_format = "$iterator attr-dict `:` type($iterator) `->` type($next)"

    def verify_(self) -> None:
        check_merges(self, self.iterator)
        if self.next.type != self.iterator.type:
            raise op_error(self, f"makes {self.next.type} of {self.iterator.type}")


OPERATIONS: tuple[type[PipelineOp], ...] = (
    *create_pipeline.OPERATIONS,
    ProduceOneOp,
    ProduceOneAsyncOp,
    ConsumeOneOp,
    ConsumeOneAsyncOp,
    ConsumerReadOp,
    ProducerWriteOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ConsumerWaitOp,
    ConsumerReleaseOp,
    PipelineYieldOp,
    IncIterOp,
    CreateIteratorOp,
)
