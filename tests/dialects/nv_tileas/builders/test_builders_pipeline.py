"""Programs built by the builders of pipelines, printed, equal the text that one would write."""

from collections.abc import Sequence

import pytest
from xdsl.builder import Builder
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, TensorType, f32, i32
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.nv_tileas.builders.pipeline import (
    Agent,
    build_agent_switch,
    build_consume_one,
    build_produce_one,
)
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    CreateIteratorOp,
    IncIterOp,
    PipelineYieldOp,
    ProducerCommitOp,
)
from tileas_xdsl.dialects.nv_tileas.types import IteratorType, TiledViewType

TILE = TensorType(f32, [64])


def program() -> tuple[ModuleOp, Builder, CreatePipelineOp, SSAValue]:
    """A module with a pipeline of two stages and its iterator, and where to go on."""
    module = ModuleOp([])
    builder = Builder(InsertPoint.at_end(module.body.block))
    (buffer,) = builder.insert(
        test.TestOp(result_types=[TiledViewType([2, 64], f32, Space.SMEM)])
    ).results
    pipeline = builder.insert(CreatePipelineOp(buffer, 2, shared_mem=True))
    iterator = builder.insert(CreateIteratorOp(pipeline.producer, IteratorType(TILE, 2)))
    return module, builder, pipeline, iterator.iterator


HEAD = """\
builtin.module {
  %0 = "test.op"() : () -> !nv_tileas.tiled_view<2x64xf32, smem>
  %1, %2 = P.create_pipeline %0 {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = \
1 : i8, sharedMem = true} : !nv_tileas.tiled_view<2x64xf32, smem> -> PROD, CONS
  %3 = P.create_iterator %1 : PROD -> ITER
"""


def check(module: Operation, text: str) -> None:
    verify_module(module)
    short = {
        " P.": " nv_tileas.async.pipeline.",
        "TILE": "tensor<64xf32>",
        "PROD": "!nv_tileas.async.pipeline.producer_token",
        "CONS": "!nv_tileas.async.pipeline.consumer_token",
        "ITER": "!nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>",
    }
    expected = HEAD + text + "}"
    for word, type_ in short.items():
        expected = expected.replace(word, type_)
    assert str(module) == expected


def test_produce_one_yields_the_stage_if_the_body_says_nothing() -> None:
    module, builder, pipeline, iterator = program()

    def fill(inside: Builder, stage: tuple[BlockArgument, ...]) -> None:
        inside.insert(test.TestOp(operands=stage))

    build_produce_one(builder, pipeline.producer, iterator, fill)
    check(
        module,
        """\
  %4 = P.produce_one %1, %3 {producer_types = [TILE]} : (PROD, ITER) -> PROD {
  ^bb0(%5: tensor<64xf32>):
    "test.op"(%5) : (tensor<64xf32>) -> ()
    P.yield %5 : tensor<64xf32>
  }
""",
    )


def test_consume_one_gives_what_the_body_returns() -> None:
    module, builder, pipeline, iterator = program()

    def read(inside: Builder, stage: tuple[BlockArgument, ...]) -> Sequence[SSAValue]:
        return inside.insert(test.TestOp(operands=stage, result_types=[i32])).results

    consume = build_consume_one(builder, pipeline.consumer, iterator, 3, read, payload=[i32])
    builder.insert(test.TestOp(operands=consume.payload))
    check(
        module,
        """\
  %4, %5 = P.consume_one %2, %3 {consumer_idx = 3 : i32, consumer_types = [TILE]} : (CONS, ITER) \
-> (CONS, i32) {
  ^bb0(%6: TILE):
    %7 = "test.op"(%6) : (tensor<64xf32>) -> i32
    P.yield %7 : i32
  }
  "test.op"(%5) : (i32) -> ()
""",
    )


def test_async_forms_take_finished_regions_too() -> None:
    module, builder, pipeline, iterator = program()

    @Builder.implicit_region([TILE])
    def body(stage: tuple[BlockArgument, ...]) -> None:
        test.TestOp(operands=stage)

    produce = build_produce_one(builder, pipeline.producer, iterator, body, asynchronous=True)
    builder.insert(ProducerCommitOp(produce.result_token))

    def read(inside: Builder, stage: tuple[BlockArgument, ...]) -> None:
        inside.insert(PipelineYieldOp(*stage))

    build_consume_one(builder, pipeline.consumer, iterator, 0, read, asynchronous=True)
    check(
        module,
        """\
  %4, %5 = P.produce_one_async %1, %3 {producer_types = [TILE]} : (PROD, ITER) -> (PROD, \
!nv_tileas.token) {
  ^bb0(%6: TILE):
    "test.op"(%6) : (tensor<64xf32>) -> ()
    P.yield %6 : tensor<64xf32>
  }
  %7 = P.producer_commit %4 : PROD -> PROD
  %8, %9 = P.consume_one_async %2, %3 {consumer_idx = 0 : i32, consumer_types = [TILE]} : (CONS, \
ITER) -> (CONS, !nv_tileas.token) {
  ^bb0(%10: tensor<64xf32>):
    P.yield %10 : tensor<64xf32>
  }
""",
    )


def test_a_body_with_payload_must_yield() -> None:
    _, builder, pipeline, iterator = program()
    with pytest.raises(ValueError, match="returns the values to yield"):
        build_consume_one(
            builder, pipeline.consumer, iterator, 0, lambda _, stage: None, payload=[i32]
        )


def test_agent_switch_keeps_bodies_budgets_and_warps_together() -> None:
    module, builder, pipeline, iterator = program()

    def produce(inside: Builder) -> None:
        build_produce_one(inside, pipeline.producer, iterator, lambda _, stage: stage)
        inside.insert(IncIterOp(iterator))

    def consume(inside: Builder) -> None:
        build_consume_one(inside, pipeline.consumer, iterator, 1, lambda _, stage: stage)

    build_agent_switch(
        builder,
        Agent(produce, max_regs=40, num_warps=1, warp_id=0),
        Agent(consume, max_regs=232, num_warps=4, warp_id=4),
        num_agents_per_group=2,
    )
    check(
        module,
        """\
  P.agent_switch {num_agents_per_group = 2 : i32, max_regs = array<i32: 40, 232>, isolated = \
false, num_warps = array<i32: 1, 4>, warp_id = array<i32: 0, 4>} agent 0 {
    %4 = P.produce_one %1, %3 {producer_types = [TILE]} : (PROD, ITER) -> PROD {
    ^bb0(%5: tensor<64xf32>):
      P.yield %5 : tensor<64xf32>
    }
    %6 = P.inc_iter %3 : ITER -> ITER
  }, agent 1 {
    %7 = P.consume_one %2, %3 {consumer_idx = 1 : i32, consumer_types = [TILE]} : (CONS, ITER) -> \
CONS {
    ^bb0(%8: tensor<64xf32>):
      P.yield %8 : tensor<64xf32>
    }
  }
""",
    )


def test_agents_may_leave_budgets_and_warps_open() -> None:
    module, builder, _, _ = program()
    switch = build_agent_switch(
        builder, Agent(Builder.implicit_region(lambda: None)), Agent(lambda _: None), isolated=True
    )
    assert switch.agent_warps is None
    assert len(switch.agent_bodies) == 2
    check(
        module,
        """\
  P.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = true} \
agent 0 {
  }, agent 1 {
  }
""",
    )


def test_warps_are_known_of_all_agents_or_of_none() -> None:
    _, builder, _, _ = program()
    with pytest.raises(ValueError, match="either every agent has num_warps or none"):
        build_agent_switch(builder, Agent(lambda _: None, num_warps=4), Agent(lambda _: None))
