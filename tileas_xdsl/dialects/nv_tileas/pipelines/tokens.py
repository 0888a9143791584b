"""Async tokens: placeholders, bridges from values and pipelines, and waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyOf,
    BaseAttr,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.field_init import init_of_groups
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType
from tileas_xdsl.dialects.nv_tileas.interfaces import MemoryConsistency
from tileas_xdsl.dialects.nv_tileas.pipelines.base import Operand, types_text
from tileas_xdsl.dialects.nv_tileas.pipelines.checks import check_token
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.dialects.nv_tileas.types import (
    AsyncTokenType,
    ConsumerTokenType,
    IteratorType,
    MemTokenType,
    ProducerTokenType,
)

_NOT_DATA = (
    AsyncTokenType,
    MemTokenType,
    AAMemTokenType,
    ProducerTokenType,
    ConsumerTokenType,
    IteratorType,
)


def _expect_operand(op: TileasOp, *kinds: type[Attribute]) -> None:
    """Check that the operand is of one of the `kinds`."""
    if len(op.operands) != 1:
        raise op_error(op, f"takes one operand, but got {len(op.operands)}")
    if not isinstance(op.operands[0].type, kinds):
        what = "a pipeline token" if ProducerTokenType in kinds else "an async token"
        raise op_error(op, f"takes {what}, but got {op.operands[0].type}")


def expect_async_token(op: TileasOp) -> None:
    """Check that the only result is an async token."""
    if len(op.results) == 1 and not isinstance(op.results[0].type, AsyncTokenType):
        raise op_error(op, f"makes an async token, not {op.results[0].type}")


@tileas_op
class CreateNoneOp(TileasOp):
    """Create a completed token to start a chain with: waiting for it returns at once.

    It cannot be a pipeline token, which would belong to no pipeline.
    """

    name = "nv_tileas.create_none"

    token: fields.ComputedResult[Attribute] = fields.typed_result(
        AnyOf((BaseAttr(AsyncTokenType), BaseAttr(MemTokenType), BaseAttr(AAMemTokenType))),
        type=AsyncTokenType(),
        default=None,
    )

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($token)"

    def check_structure(self) -> None:
        kinds = (AsyncTokenType, MemTokenType, AAMemTokenType)
        if len(self.results) == 1 and not isinstance(self.results[0].type, kinds):
            raise op_error(self, f"makes an async or memory token, not {self.results[0].type}")


@tileas_op
class ToAsyncOp(TileasOp):
    """A value as the token of asynchronous work: one that delivers it, or a bare one."""

    name = "nv_tileas.async.to_async"

    value = operand_def()
    token = result_def(AsyncTokenType)

    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `:` type($value) `->` type($token)"

    def __init__(self, value: Operand, *, bare: bool = False) -> None:
        carried = SSAValue.get(value).type
        token = AsyncTokenType() if bare else AsyncTokenType(carried)
        init_of_groups(self, operands=[value], result_types=[token])

    def check_structure(self) -> None:
        expect_async_token(self)

    def verify_(self) -> None:
        if isinstance(self.value.type, _NOT_DATA):
            raise op_error(self, f"takes data, but got {self.value.type}")
        delivered = self.token.type.delivered
        if delivered is not None and delivered != self.value.type:
            raise op_error(self, f"takes {self.value.type}, but its token delivers {delivered}")


@tileas_op
class TokenToAsyncOp(TileasOp):
    """A pipeline token as the token of asynchronous work, to wait for what it published."""

    name = "nv_tileas.async.token_to_async"

    token: fields.Operand = fields.operand(ProducerTokenType | ConsumerTokenType)
    async_token: fields.Result[AsyncTokenType] = fields.typed_result(
        AsyncTokenType, type=AsyncTokenType()
    )

    traits = traits_def(Pure())
    assembly_format = "$token attr-dict `:` type($token) `->` type($async_token)"

    def check_structure(self) -> None:
        _expect_operand(self, ProducerTokenType, ConsumerTokenType)
        expect_async_token(self)

    def verify_(self) -> None:
        if (delivered := self.async_token.type.delivered) is not None:
            raise op_error(self, f"makes a bare token, for a pipeline token has no {delivered}")
        check_token(self, self.token)


def _delivered(given: Mapping[str, Any]) -> Sequence[Attribute]:
    return delivered_types(SSAValue.get(given["token"]).type)


class _Waiting(TileasOp):
    """Base of the two ways to wait."""

    token: fields.Operand = fields.operand(AsyncTokenType)
    values: fields.Results = fields.typed_results(type=_delivered, init=False)

    assembly_format = "$token attr-dict `:` type($token) (`->` type($values)^)?"

    def check_structure(self) -> None:
        _expect_operand(self, AsyncTokenType)

    def verify_(self) -> None:
        given = [value.type for value in self.values]
        delivered = delivered_types(self.token.type)
        if given and given != list(delivered):
            text = f"gives [{types_text(given)}], but its token delivers"
            raise op_error(self, f"{text} [{types_text(delivered)}]")


def delivered_types(token: Attribute) -> Sequence[Attribute]:
    """The types of the values that an async token delivers; none for a bare one."""
    match token:
        case AsyncTokenType(payload=TupleType(types=types)):
            return tuple(types)
        case AsyncTokenType(delivered=Attribute() as payload):
            return (payload,)
        case _:
            return ()


@tileas_op
class FutureWaitOp(_Waiting):
    """Join asynchronous work, and take what it delivers; only the token orders it."""

    name = "nv_tileas.async.future_wait"


@tileas_op
class WaitOp(_Waiting):
    """Wait until asynchronous work is complete and its memory effects are visible."""

    name = "nv_tileas.async.wait"

    traits = traits_def(MemoryConsistency())
