"""Builders of pipelines: by the table of the family, stage bodies, agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.builder import Builder
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.field_init import parameter_of
from tileas_xdsl.dialects.nv_tileas.pipelines import agents
from tileas_xdsl.dialects.nv_tileas.pipelines import ops as pipeline
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.base import (
    Operand,
    PipelineOp,
    payload_types,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.family import PIPELINE_FAMILY, Body, pipeline_entry
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumeOneAsyncOp,
    ConsumeOneOp,
    PipelineYieldOp,
    ProduceOneAsyncOp,
    ProduceOneOp,
)
from tileas_xdsl.dialects.nv_tileas.types import IteratorType

StageBody: TypeAlias = (
    Region | Callable[[Builder, tuple[BlockArgument, ...]], Sequence[SSAValue] | None]
)
"""A finished region, or what builds it from the values of a stage; it returns what to yield."""

AgentBody: TypeAlias = Region | Callable[[Builder], None]

_BY_NAME: Mapping[str, type[PipelineOp]] = {
    op.name: op for op in (*pipeline.OPERATIONS, *agents.OPERATIONS)
}

PIPELINE_OPERATIONS: tuple[type[PipelineOp] | None, ...] = tuple(
    None if entry is None else _BY_NAME[entry.op_name] for entry in PIPELINE_FAMILY
)
"""The class of each entry of the family, by its number; None is reserved."""


def build_pipeline_op(
    which: int | str,
    *operands: Operand,
    payload: Sequence[Attribute] = (),
    bodies: Sequence[Region] = (),
    iterator: IteratorType | None = None,
    **attributes: Any,
) -> PipelineOp:
    """An operation of the family by its number or mnemonic; attributes are Python values.

    Result types follow from the table; `payload` adds those of a stage's values, `iterator` is the
    result type of `create_iterator`.  Raises `KeyError` for what is not in the family, `TypeError`
    for an attribute that the entry does not have.
    """
    entry = pipeline_entry(which)
    if unknown := sorted(attributes.keys() - entry.attributes):
        raise TypeError(f"'{entry.op_name}' has no attribute {', '.join(unknown)}")
    kind = _BY_NAME[entry.op_name]
    given: dict[str, Any] = {parameter_of(kind, name): each for name, each in attributes.items()}
    if payload:
        given["payload"] = payload
    if iterator is not None:
        given["iterator"] = iterator
    if entry.body is Body.AGENTS:
        given["bodies"] = bodies
    elif bodies:
        (given["body"],) = bodies
    return kind(*operands, **given)


def build_produce_one(
    builder: Builder,
    token: Operand,
    iterator: Operand,
    body: StageBody,
    *,
    payload: Sequence[Attribute] = (),
    asynchronous: bool = False,
) -> ProduceOneOp | ProduceOneAsyncOp:
    """Fill a stage with `body`; a missing yield gives what `body` returned, else the stage."""
    region = _stage_region(iterator, body, payload)
    op_type = ProduceOneAsyncOp if asynchronous else ProduceOneOp
    return builder.insert(op_type(token, iterator, payload=payload, body=region))


def build_consume_one(
    builder: Builder,
    token: Operand,
    iterator: Operand,
    consumer_idx: int,
    body: StageBody,
    *,
    payload: Sequence[Attribute] = (),
    asynchronous: bool = False,
) -> ConsumeOneOp | ConsumeOneAsyncOp:
    """Read a stage in `body`; a missing yield gives what `body` returned, else the stage."""
    region = _stage_region(iterator, body, payload)
    op_type = ConsumeOneAsyncOp if asynchronous else ConsumeOneOp
    return builder.insert(op_type(token, iterator, consumer_idx, payload=payload, body=region))


def _stage_region(iterator: Operand, body: StageBody, payload: Sequence[Attribute]) -> Region:
    if isinstance(body, Region):
        _ensure_yield(body.block, None, payload)
        return body
    block = Block(arg_types=payload_types([SSAValue.get(iterator)]))
    yielded = body(Builder(InsertPoint.at_end(block)), block.args)
    _ensure_yield(block, yielded, payload)
    return Region(block)


def _ensure_yield(
    block: Block, yielded: Sequence[SSAValue] | None, payload: Sequence[Attribute]
) -> None:
    if block.last_op is not None and block.last_op.has_trait(IsTerminator):
        return
    if yielded is None and payload:
        raise ValueError("a body with payload returns the values to yield, or yields them itself")
    block.add_op(PipelineYieldOp(*(block.args if yielded is None else yielded)))


@dataclass(frozen=True)
class Agent:
    """What one agent does and may use; `max_regs = 0` inherits the budget."""

    body: AgentBody
    max_regs: int = 0
    num_warps: int | None = None
    warp_id: int | None = None


def build_agent_switch(
    builder: Builder, *agents: Agent, num_agents_per_group: int = 1, isolated: bool = False
) -> AgentSwitchOp:
    """Build an `agent_switch` from `agents`, each with its body, register budget and warps.

    Raises `ValueError` if only some of them name their warps.
    """
    switch = AgentSwitchOp(
        [_agent_region(agent.body) for agent in agents],
        [agent.max_regs for agent in agents],
        num_agents_per_group=num_agents_per_group,
        isolated=isolated,
        num_warps=_of_all("num_warps", [agent.num_warps for agent in agents]),
        warp_id=_of_all("warp_id", [agent.warp_id for agent in agents]),
    )
    return builder.insert(switch)


def _agent_region(body: AgentBody) -> Region:
    if isinstance(body, Region):
        return body
    block = Block()
    body(Builder(InsertPoint.at_end(block)))
    return Region(block)


def _of_all(name: str, values: Sequence[int | None]) -> Sequence[int] | None:
    """The values, None if no agent has one."""
    known = [value for value in values if value is not None]
    if known and len(known) != len(values):
        raise ValueError(f"either every agent has {name} or none")
    return known or None
