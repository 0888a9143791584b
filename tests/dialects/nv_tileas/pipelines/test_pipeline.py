"""The table of the pipeline family and its classes agree in every column; constructors."""

from contextlib import suppress

import pytest
from xdsl.dialects.builtin import MemRefType, TupleType, f32
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import OptionalDef, RangeConstraint, VariadicDef, VerificationContext
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.test_value import create_ssa_value

from tileas_xdsl.dialects.nv_tileaa.types import AATiledViewType
from tileas_xdsl.dialects.nv_tileas import NvTileas
from tileas_xdsl.dialects.nv_tileas.builders.pipeline import PIPELINE_OPERATIONS, build_pipeline_op
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.interfaces import AgentLike, Producer
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.base import ATTRIBUTE_FORMS, PipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.family import (
    KIND_TYPES,
    PIPELINE_FAMILY,
    PREFIX,
    Body,
    Kind,
    PipelineEntry,
    entry_of_name,
    pipeline_entry,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumeOneAsyncOp,
    ConsumeOneOp,
    ConsumerReadOp,
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreateIteratorOp,
    IncIterOp,
    PipelineYieldOp,
    ProduceOneAsyncOp,
    ProduceOneOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ProducerWriteOp,
)
from tileas_xdsl.dialects.nv_tileas.types import (
    AsyncTokenType,
    ConsumerTokenType,
    IteratorType,
    MemTokenType,
    ProducerTokenType,
    TiledViewType,
)

MNEMONICS = (
    "create_pipeline",
    "produce_one",
    "produce_one_async",
    "consume_one",
    "consume_one_async",
    "consumer_read",
    "producer_write",
    "producer_acquire",
    "producer_commit",
    "consumer_wait",
    "consumer_release",
    "yield",
    "inc_iter",
    "create_iterator",
    "agent_switch",
)

ENTRIES = [entry for entry in PIPELINE_FAMILY if entry is not None]
SAMPLE_TYPES = (
    f32,
    AATiledViewType([2], f32),
    AsyncTokenType(),
    AsyncTokenType(f32),
    ConsumerTokenType(),
    IteratorType(f32),
    MemRefType(f32, [2]),
    MemTokenType(),
    ProducerTokenType(),
    TiledViewType([2], f32, Space.GMEM),
)

by_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.mnemonic)


def accepted(constraint: RangeConstraint) -> list[Attribute]:
    """Which of the sample types one operand or result may have."""
    found: list[Attribute] = []
    for type_ in SAMPLE_TYPES:
        with suppress(VerifyException):
            constraint.verify([type_], VerificationContext())
            found.append(type_)
    return found


def op_class(entry: PipelineEntry) -> type[PipelineOp]:
    cls = PIPELINE_OPERATIONS[entry.index]
    assert cls is not None
    return cls


def test_the_family_is_closed_and_indexed() -> None:
    assert len(PIPELINE_FAMILY) == len(PIPELINE_OPERATIONS) == 16
    assert PIPELINE_FAMILY[15] is None
    assert PIPELINE_OPERATIONS[15] is None
    assert tuple(entry.mnemonic for entry in ENTRIES) == MNEMONICS
    assert [entry.index for entry in ENTRIES] == list(range(15))
    of_dialect = {op.name for op in NvTileas.operations if op.name.startswith(PREFIX)}
    assert of_dialect == {entry.op_name for entry in ENTRIES}


def test_entries_are_found_by_number_and_name() -> None:
    for entry in ENTRIES:
        assert pipeline_entry(entry.index) is entry
        assert pipeline_entry(entry.mnemonic) is entry
        assert pipeline_entry(entry.op_name) is entry
        assert entry_of_name(entry.op_name) is entry
    for which in (15, 16, -1, "consume_two"):
        with pytest.raises(KeyError, match="no entry"):
            pipeline_entry(which)


@by_entry
def test_the_class_says_which_entry_it_is(entry: PipelineEntry) -> None:
    cls = op_class(entry)
    assert cls.name == entry.op_name
    assert cls.ENTRY is entry
    assert cls.__doc__


@by_entry
def test_operands_are_those_of_the_table(entry: PipelineEntry) -> None:
    operands = op_class(entry).get_irdl_definition().operands
    if entry.is_variadic:
        ((_, only),) = operands
        assert isinstance(only, VariadicDef)
        return
    assert len(operands) == len(entry.takes)
    for (_, definition), kind in zip(operands, entry.takes, strict=True):
        assert accepted(definition.constr) == [t for t in SAMPLE_TYPES if kind.accepts(t)]
        assert not isinstance(definition, VariadicDef)


@by_entry
def test_results_are_those_of_the_table(entry: PipelineEntry) -> None:
    results = op_class(entry).get_irdl_definition().results
    tokens = results[: len(entry.gives)]
    for (_, definition), kind in zip(tokens, entry.gives, strict=True):
        assert accepted(definition.constr) == [t for t in SAMPLE_TYPES if kind.accepts(t)]
        assert not isinstance(definition, VariadicDef)
    payload = [name for name, definition in results if isinstance(definition, VariadicDef)]
    assert payload == (["payload"] if entry.has_payload else [])
    assert len(results) == len(entry.gives) + len(payload)


@by_entry
def test_attributes_are_those_of_the_table(entry: PipelineEntry) -> None:
    properties = op_class(entry).get_irdl_definition().properties
    assert properties.keys() == entry.attributes
    assert properties.keys() <= ATTRIBUTE_FORMS.keys()
    one_of_many = entry.type_lists if len(entry.type_lists) > 1 else ()
    optional = {name for name, found in properties.items() if isinstance(found, OptionalDef)}
    assert optional == {*entry.optional, *one_of_many}


@by_entry
def test_regions_are_those_of_the_table(entry: PipelineEntry) -> None:
    regions = [definition for _, definition in op_class(entry).get_irdl_definition().regions]
    match entry.body:
        case Body.NONE:
            assert not regions
        case Body.REQUIRED:
            assert len(regions) == 1
            assert not isinstance(regions[0], VariadicDef)
        case Body.OPTIONAL:
            assert isinstance(regions[0], OptionalDef)
        case Body.AGENTS:
            assert isinstance(regions[0], VariadicDef)
            assert not isinstance(regions[0], OptionalDef)


@by_entry
def test_predecessors_are_of_the_family_and_give_the_token(entry: PipelineEntry) -> None:
    for mnemonic in entry.follows:
        assert pipeline_entry(mnemonic).gives[0] is entry.takes[0]


def test_interfaces() -> None:
    producers = {
        cls.ENTRY.mnemonic for cls in PIPELINE_OPERATIONS if cls and issubclass(cls, Producer)
    }
    assert producers == {"produce_one", "produce_one_async", "producer_write"}
    agents = {cls for cls in PIPELINE_OPERATIONS if cls and issubclass(cls, AgentLike)}
    assert agents == {AgentSwitchOp}


ITERATOR = IteratorType(f32, 2)
VIEW = create_ssa_value(TiledViewType([2, 64], f32, Space.SMEM))
PIPELINE = CreatePipelineOp(VIEW, 2)
AT = CreateIteratorOp(PIPELINE.producer, ITERATOR).iterator


def stage_body() -> Region:
    block = Block(arg_types=[f32])
    block.add_op(PipelineYieldOp(*block.args))
    return Region(block)


SAMPLES: dict[int, tuple[PipelineOp, PipelineOp]] = {
    0: (
        CreatePipelineOp(VIEW, 2, producer_group=3, consumer_group=4, shared_mem=True),
        build_pipeline_op(
            0, VIEW, numStages=2, producerGroupId=3, consumerGroupId=4, sharedMem=True
        ),
    ),
    1: (
        ProduceOneOp(PIPELINE.producer, AT, body=stage_body()),
        build_pipeline_op(1, PIPELINE.producer, AT, producer_types=[f32], bodies=[stage_body()]),
    ),
    2: (
        ProduceOneAsyncOp(PIPELINE.producer, AT, payload=[f32], body=stage_body()),
        build_pipeline_op(
            "produce_one_async", PIPELINE.producer, AT, payload=[f32], bodies=[stage_body()]
        ),
    ),
    3: (
        ConsumeOneOp(PIPELINE.consumer, AT, 1, consumer_types=[f32], body=stage_body()),
        build_pipeline_op(3, PIPELINE.consumer, AT, consumer_idx=1, bodies=[stage_body()]),
    ),
    4: (
        ConsumeOneAsyncOp(PIPELINE.consumer, AT, 1, body=stage_body()),
        build_pipeline_op(4, PIPELINE.consumer, AT, consumer_idx=1, bodies=[stage_body()]),
    ),
    5: (
        ConsumerReadOp(PIPELINE.consumer, AT, 0, payload=[f32], body=stage_body()),
        build_pipeline_op(
            5, PIPELINE.consumer, AT, consumer_idx=0, payload=[f32], bodies=[stage_body()]
        ),
    ),
    6: (
        ProducerWriteOp(PIPELINE.producer, AT),
        build_pipeline_op("producer_write", PIPELINE.producer, AT),
    ),
    7: (
        ProducerAcquireOp(PIPELINE.producer, AT),
        build_pipeline_op(7, PIPELINE.producer, AT),
    ),
    8: (
        ProducerCommitOp(ProducerAcquireOp(PIPELINE.producer, AT)),
        build_pipeline_op(8, ProducerAcquireOp(PIPELINE.producer, AT)),
    ),
    9: (
        ConsumerWaitOp(PIPELINE.consumer, AT, 0),
        build_pipeline_op(9, PIPELINE.consumer, AT, consumer_idx=0),
    ),
    10: (
        ConsumerReleaseOp(ConsumerWaitOp(PIPELINE.consumer, AT, 0)),
        build_pipeline_op(10, ConsumerWaitOp(PIPELINE.consumer, AT, 0)),
    ),
    11: (PipelineYieldOp(AT, VIEW), build_pipeline_op(11, AT, VIEW)),
    12: (IncIterOp(AT), build_pipeline_op(12, AT)),
    13: (
        CreateIteratorOp(PIPELINE.consumer, ITERATOR),
        build_pipeline_op(13, PIPELINE.consumer, iterator=ITERATOR),
    ),
    14: (
        AgentSwitchOp([Region(Block([PipelineYieldOp()]))], [40], num_warps=[4]),
        build_pipeline_op(
            14,
            bodies=[Region(Block([PipelineYieldOp()]))],
            num_agents_per_group=1,
            max_regs=[40],
            isolated=False,
            num_warps=[4],
        ),
    ),
}


@by_entry
def test_the_table_builds_what_the_constructor_builds(entry: PipelineEntry) -> None:
    by_hand, by_table = SAMPLES[entry.index]
    assert type(by_hand) is type(by_table) is op_class(entry)
    assert str(by_hand) == str(by_table)
    by_table.verify_()


def test_the_table_builder_refuses_what_the_entry_has_not() -> None:
    with pytest.raises(TypeError, match="producer_acquire' has no attribute consumer_idx"):
        build_pipeline_op("producer_acquire", PIPELINE.producer, AT, consumer_idx=0)
    with pytest.raises(KeyError):
        build_pipeline_op(15)


def test_a_list_of_types_is_that_of_the_iterator() -> None:
    two = create_ssa_value(IteratorType(TupleType([f32, f32])))
    op = ProduceOneOp(PIPELINE.producer, two)
    assert op.producer_types.data == (f32, f32)
    assert [argument.type for argument in op.body.block.args] == [f32, f32]
    body = op.body.block
    body.add_op(PipelineYieldOp(*body.args))
    op.verify_()


def test_groups_are_unsigned() -> None:
    op = CreatePipelineOp(VIEW, 2, producer_group=0, consumer_group=200)
    op.verify_()
    assert (op.producer_group, op.consumer_group) == (0, 200)


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_types(kind: Kind) -> None:
    assert KIND_TYPES[kind]
    assert not kind.accepts(f32)
