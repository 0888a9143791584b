"""Find the loops that have a `sliceCount`, and check it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.ir import Attribute, Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.base import PipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.family import Body
from tileas_xdsl.dialects.nv_tileas.types import ConsumerTokenType, ProducerTokenType

SLICE_COUNT = "sliceCount"

Loop: TypeAlias = scf.ForOp | scf.WhileOp


@dataclass(frozen=True)
class Request:
    """A loop to slice, the attribute that says so, and the operations that carry it."""

    loop: Loop
    count: Attribute
    carriers: tuple[Operation, ...]


def requested_loops(root: Operation) -> list[Request]:
    """The loops to slice, outer ones first.

    The attribute is on the loop, or on a pipeline operation with bodies: that of a stage speaks for
    the loop it is in, `agent_switch` for the loops of its agents that carry a pipeline's token.
    Raises `OpError` where it speaks for no loop, and where two operations disagree.
    """
    found: dict[Operation, Request] = {}
    for carrier in operations_in(root):
        count = carrier.attributes.get(SLICE_COUNT)
        if count is None:
            continue
        for loop in _loops_of(carrier):
            found[loop] = _merged(found.get(loop), Request(loop, count, (carrier,)))
    return [found[op] for op in operations_in(root) if op in found]


def _loops_of(carrier: Operation) -> list[Loop]:
    """The loops that `carrier` speaks for, none if the attribute is not ours on it."""
    if isinstance(carrier, scf.ForOp | scf.WhileOp):
        return [carrier]
    if isinstance(carrier, AgentSwitchOp):
        loops = list(_loops_of_agents(carrier))
        if not loops:
            text = f"has a {SLICE_COUNT}, but no loop of its agents carries a pipeline's token"
            raise op_error(carrier, text)
        return loops
    if isinstance(carrier, PipelineOp) and carrier.ENTRY.body is not Body.NONE:
        parent = carrier.parent_op()
        if not isinstance(parent, scf.ForOp | scf.WhileOp):
            raise op_error(carrier, f"has a {SLICE_COUNT}, but is not in the body of a loop")
        return [parent]
    return []


def _loops_of_agents(switch: AgentSwitchOp) -> Iterator[Loop]:
    for body in switch.agent_bodies:
        for op in body.block.ops:
            if isinstance(op, scf.ForOp | scf.WhileOp) and _carries_token(op):
                yield op


def _carries_token(loop: Loop) -> bool:
    return any(isinstance(v.type, ProducerTokenType | ConsumerTokenType) for v in loop.operands)


def _merged(known: Request | None, new: Request) -> Request:
    if known is None:
        return new
    if known.count != new.count:
        text = f"has a {SLICE_COUNT} of {new.count} for a loop that is to be sliced otherwise"
        other = note(known.carriers[0], f"{SLICE_COUNT} is {known.count} here")
        raise op_error(new.carriers[0], text, [other])
    return Request(known.loop, known.count, (*known.carriers, *new.carriers))
