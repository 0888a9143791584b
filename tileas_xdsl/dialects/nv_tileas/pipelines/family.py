"""The closed family `nv_tileas.async.pipeline.*`: sixteen entries, the last one reserved.

The table holds the structure that operations of the family share: operands and results, regions
and attributes.  Operation classes, verifiers and builders read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileaa.types import AATiledViewType
from tileas_xdsl.dialects.nv_tileas.types import (
    AsyncTokenType,
    ConsumerTokenType,
    IteratorType,
    ProducerTokenType,
    TiledViewType,
)

PREFIX = "nv_tileas.async.pipeline."


class Kind(StrEnum):
    """The kind of an operand or result; the values are the terms used in error messages."""

    VIEW = "a view"
    PRODUCER = "a producer token"
    CONSUMER = "a consumer token"
    PIPELINE_TOKEN = "a pipeline token"
    ITERATOR = "an iterator"
    ASYNC = "an async token"

    def accepts(self, type_: Attribute) -> bool:
        """Whether a value of this type is of this kind."""
        return isinstance(type_, KIND_TYPES[self])


KIND_TYPES: Mapping[Kind, tuple[type[Attribute], ...]] = {
    Kind.VIEW: (TiledViewType, AATiledViewType, MemRefType),
    Kind.PRODUCER: (ProducerTokenType,),
    Kind.CONSUMER: (ConsumerTokenType,),
    Kind.PIPELINE_TOKEN: (ProducerTokenType, ConsumerTokenType),
    Kind.ITERATOR: (IteratorType,),
    Kind.ASYNC: (AsyncTokenType,),
}


class Body(Enum):
    """Which regions an operation has."""

    NONE = "none"
    OPTIONAL = "a stage body, or none"
    REQUIRED = "a stage body"
    AGENTS = "a body for each agent"


@dataclass(frozen=True)
class PipelineEntry:
    """One row of the table."""

    index: int
    mnemonic: str
    takes: tuple[Kind, ...] = ()
    gives: tuple[Kind, ...] = ()
    body: Body = Body.NONE
    required: tuple[str, ...] = ()
    """Attributes that must be there."""
    optional: tuple[str, ...] = ()
    """Attributes that may be there."""
    type_lists: tuple[str, ...] = ()
    """Attributes that list the types of a stage's values; one of them must be there."""
    follows: tuple[str, ...] = ()
    """Mnemonics from which the token must come; empty for any of the family."""
    is_variadic: bool = False
    """Takes any values, of no particular kind."""

    @property
    def op_name(self) -> str:
        """The full name of the operation."""
        return PREFIX + self.mnemonic

    @property
    def attributes(self) -> frozenset[str]:
        """The names of all attributes."""
        return frozenset((*self.required, *self.optional, *self.type_lists))

    @property
    def has_payload(self) -> bool:
        """Whether results for the values of a stage may follow the tokens."""
        return self.body in (Body.OPTIONAL, Body.REQUIRED)

    @property
    def iterator_at(self) -> int | None:
        """The position of the iterator among the operands, None if there is none."""
        return self.takes.index(Kind.ITERATOR) if Kind.ITERATOR in self.takes else None


_PRODUCER, _CONSUMER = (Kind.PRODUCER,), (Kind.CONSUMER,)
_PRODUCER_STEP, _CONSUMER_STEP = (*_PRODUCER, Kind.ITERATOR), (*_CONSUMER, Kind.ITERATOR)
_PRODUCER_TYPES = ("producer_types",)
_CONSUMER_TYPES = ("consumer_types", "producer_types")
_CONSUMER_IDX = ("consumer_idx",)

CREATE_PIPELINE = PipelineEntry(
    0,
    "create_pipeline",
    takes=(Kind.VIEW,),
    gives=(Kind.PRODUCER, Kind.CONSUMER),
    required=("numStages", "producerGroupId", "consumerGroupId"),
    optional=("sharedMem", "dynamic"),
)
PRODUCE_ONE = PipelineEntry(
    1,
    "produce_one",
    takes=_PRODUCER_STEP,
    gives=_PRODUCER,
    body=Body.REQUIRED,
    type_lists=_PRODUCER_TYPES,
)
PRODUCE_ONE_ASYNC = PipelineEntry(
    2,
    "produce_one_async",
    takes=_PRODUCER_STEP,
    gives=(*_PRODUCER, Kind.ASYNC),
    body=Body.REQUIRED,
    type_lists=_PRODUCER_TYPES,
)
CONSUME_ONE = PipelineEntry(
    3,
    "consume_one",
    takes=_CONSUMER_STEP,
    gives=_CONSUMER,
    body=Body.REQUIRED,
    required=_CONSUMER_IDX,
    type_lists=_CONSUMER_TYPES,
)
CONSUME_ONE_ASYNC = PipelineEntry(
    4,
    "consume_one_async",
    takes=_CONSUMER_STEP,
    gives=(*_CONSUMER, Kind.ASYNC),
    body=Body.REQUIRED,
    required=_CONSUMER_IDX,
    type_lists=_CONSUMER_TYPES,
)
CONSUMER_READ = PipelineEntry(
    5,
    "consumer_read",
    takes=_CONSUMER_STEP,
    gives=_CONSUMER,
    body=Body.OPTIONAL,
    required=_CONSUMER_IDX,
)
PRODUCER_WRITE = PipelineEntry(
    6, "producer_write", takes=_PRODUCER_STEP, gives=_PRODUCER, body=Body.OPTIONAL
)
PRODUCER_ACQUIRE = PipelineEntry(7, "producer_acquire", takes=_PRODUCER_STEP, gives=_PRODUCER)
PRODUCER_COMMIT = PipelineEntry(
    8,
    "producer_commit",
    takes=_PRODUCER,
    gives=_PRODUCER,
    follows=("producer_acquire", "producer_write", "produce_one_async"),
)
CONSUMER_WAIT = PipelineEntry(
    9, "consumer_wait", takes=_CONSUMER_STEP, gives=_CONSUMER, required=_CONSUMER_IDX
)
CONSUMER_RELEASE = PipelineEntry(
    10,
    "consumer_release",
    takes=_CONSUMER,
    gives=_CONSUMER,
    follows=("consumer_wait", "consumer_read", "consume_one_async"),
)
YIELD = PipelineEntry(11, "yield", is_variadic=True)
INC_ITER = PipelineEntry(12, "inc_iter", takes=(Kind.ITERATOR,), gives=(Kind.ITERATOR,))
CREATE_ITERATOR = PipelineEntry(
    13, "create_iterator", takes=(Kind.PIPELINE_TOKEN,), gives=(Kind.ITERATOR,)
)
AGENT_SWITCH = PipelineEntry(
    14,
    "agent_switch",
    body=Body.AGENTS,
    required=("num_agents_per_group", "max_regs", "isolated"),
    optional=("num_warps", "warp_id", "agent_strides"),
)

PIPELINE_FAMILY: tuple[PipelineEntry | None, ...] = (
    CREATE_PIPELINE,
    PRODUCE_ONE,
    PRODUCE_ONE_ASYNC,
    CONSUME_ONE,
    CONSUME_ONE_ASYNC,
    CONSUMER_READ,
    PRODUCER_WRITE,
    PRODUCER_ACQUIRE,
    PRODUCER_COMMIT,
    CONSUMER_WAIT,
    CONSUMER_RELEASE,
    YIELD,
    INC_ITER,
    CREATE_ITERATOR,
    AGENT_SWITCH,
    None,
)
"""By the number of the entry; None is reserved."""

_BY_NAME = {entry.op_name: entry for entry in PIPELINE_FAMILY if entry is not None}


def entry_of_name(op_name: str) -> PipelineEntry | None:
    """The entry of the operation with this full name, None outside the family."""
    return _BY_NAME.get(op_name)


def pipeline_entry(which: int | str) -> PipelineEntry:
    """The entry with this number or mnemonic; raises `KeyError` for the reserved one and others."""
    if isinstance(which, str):
        entry = _BY_NAME.get(PREFIX + which.removeprefix(PREFIX))
    else:
        entry = PIPELINE_FAMILY[which] if 0 <= which < len(PIPELINE_FAMILY) else None
    if entry is None:
        raise KeyError(f"the pipeline family has no entry {which!r}")
    return entry
