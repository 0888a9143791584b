"""Constructors of token operations; which of them order memory; the pipeline of a token."""

from xdsl.dialects.builtin import TensorType, TupleType, f32, i1, i32
from xdsl.utils.test_value import create_ssa_value

from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.interfaces import is_memory_consistency
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumerWaitOp,
    CreateIteratorOp,
    ProducerAcquireOp,
    ProducerCommitOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import TokenFault, pipeline_of, stages_of
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import (
    CreateNoneOp,
    FutureWaitOp,
    ToAsyncOp,
    TokenToAsyncOp,
    WaitOp,
    delivered_types,
)
from tileas_xdsl.dialects.nv_tileas.types import (
    AsyncTokenType,
    ConsumerTokenType,
    IteratorType,
    MemTokenType,
    TiledViewType,
)

TILE = TensorType(f32, [64])


def pipeline() -> CreatePipelineOp:
    return CreatePipelineOp(create_ssa_value(TiledViewType([2, 64], f32, Space.SMEM)), 2)


def test_constructors_infer_types() -> None:
    assert CreateNoneOp().token.type == AsyncTokenType()
    assert CreateNoneOp(MemTokenType()).token.type == MemTokenType()
    value = create_ssa_value(TILE)
    assert ToAsyncOp(value).token.type == AsyncTokenType(TILE)
    assert ToAsyncOp(value, bare=True).token.type == AsyncTokenType()
    assert [result.type for result in WaitOp(ToAsyncOp(value)).values] == [TILE]
    assert not FutureWaitOp(CreateNoneOp()).values
    assert TokenToAsyncOp(pipeline().producer).async_token.type == AsyncTokenType()


def test_a_tuple_is_delivered_as_several_values() -> None:
    token = create_ssa_value(AsyncTokenType(TupleType([i32, i1])))
    assert [result.type for result in FutureWaitOp(token).values] == [i32, i1]
    assert delivered_types(token.type) == (i32, i1)
    assert delivered_types(AsyncTokenType()) == delivered_types(f32) == ()


def test_waiting_orders_memory_and_joining_does_not() -> None:
    token = create_ssa_value(AsyncTokenType())
    assert is_memory_consistency(WaitOp(token))
    assert not is_memory_consistency(FutureWaitOp(token))
    assert not is_memory_consistency(CreateNoneOp())


def test_a_token_knows_its_pipeline() -> None:
    made = pipeline()
    at = CreateIteratorOp(made.producer, IteratorType(TILE)).iterator
    acquired = ProducerAcquireOp(made.producer, at)
    committed = ProducerCommitOp(acquired)
    waited = ConsumerWaitOp(made.consumer, at, 0)
    for token in (made.producer, made.consumer, committed.result_token, waited.result_token):
        assert pipeline_of(token) is made
        assert stages_of(token) == 2


def test_a_token_from_elsewhere_has_no_pipeline() -> None:
    foreign = create_ssa_value(ConsumerTokenType())
    fault = pipeline_of(foreign)
    assert isinstance(fault, TokenFault)
    assert fault.value is foreign
    assert fault.reason == "it comes from 'test.op'"
    assert stages_of(foreign) is None
