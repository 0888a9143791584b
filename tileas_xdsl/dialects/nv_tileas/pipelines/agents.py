"""Agents: the warps of a block divide the work, one body for each agent."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    opt_prop_def,
    prop_def,
    var_region_def,
)
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    VariadicRegionVariable,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.lexer import Span

from tileas_xdsl.diagnostics.verification.dominance import OPEN_BOUNDARY
from tileas_xdsl.dialects.custom_directive import custom_directive
from tileas_xdsl.dialects.field_init import init_fields
from tileas_xdsl.dialects.nv_tileas.interfaces import AgentLike
from tileas_xdsl.dialects.nv_tileas.pipelines.agent_checks import check_agents, int_values
from tileas_xdsl.dialects.nv_tileas.pipelines.base import PipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.family import AGENT_SWITCH, PipelineEntry
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import PipelineYieldOp
from tileas_xdsl.dialects.nv_tileas.syntax.ops import tileas_op

_LABEL = "agent"


@custom_directive
class AgentBodies(CustomDirective):
    """`agent 0 {...}, agent 1 {...}`; labels and the empty yields at the end may be left out.

    The bodies of a switch whose boundary is open may name the values of one another.
    """

    bodies: VariadicRegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if OPEN_BOUNDARY not in state.attributes:
            self.bodies.set(state, _parse_agents(parser))
            return
        with _names_shared(parser):
            self.bodies.set(state, _parse_agents(parser))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for index, region in enumerate(self.bodies.get(op)):
            printer.print_string(f"{',' if index else ''} {_LABEL} {index} ")
            printer.print_region(region, print_block_terminators=not _ends_plainly(region))


def _parse_agents(parser: Parser) -> list[Region]:
    regions = [_parse_agent(parser, 0)]
    while parser.parse_optional_punctuation(","):
        regions.append(_parse_agent(parser, len(regions)))
    return regions


@contextmanager
def _names_shared(parser: Parser) -> Generator[None]:
    """Let bodies use what another body defines: names that are defined once in all of them."""
    made: dict[str, list[tuple[Sequence[SSAValue], Span]]] = {}
    register = parser._register_ssa_definition  # pyright: ignore[reportPrivateUsage]

    def note_definition(name: str, values: Sequence[SSAValue], span: Span) -> None:
        made.setdefault(name, []).append((values, span))
        register(name, values, span)

    parser._register_ssa_definition = note_definition  # pyright: ignore[reportPrivateUsage]
    try:
        yield
    finally:
        del parser._register_ssa_definition  # pyright: ignore[reportPrivateUsage]
    for name in [*parser.forward_ssa_references]:
        if len(found := made.get(name, [])) == 1:
            register(name, *found[0])
            del parser.ssa_values[name]


def _parse_agent(parser: Parser, index: int) -> Region:
    start = parser.pos
    if parser.parse_optional_keyword(_LABEL):
        label = parser.parse_integer(allow_boolean=False, allow_negative=False)
        if label != index:
            parser.raise_error(f"this is agent {index}, not {label}", start, parser.pos)
    region = parser.parse_region()
    end_agent_body(region)
    return region


def end_agent_body(region: Region) -> None:
    """Add the empty yield at the end of the body of an agent, if there is no terminator."""
    if not region.blocks:
        region.add_block(Block())
    last_block = region.blocks[-1]
    last = last_block.last_op
    if last is None or not last.has_trait(IsTerminator):
        last_block.add_op(PipelineYieldOp())


def _ends_plainly(region: Region) -> bool:
    block = region.blocks.last
    last = None if block is None else block.last_op
    return isinstance(last, PipelineYieldOp) and not (last.operands or last.attributes)


@tileas_op
class AgentSwitchOp(PipelineOp, AgentLike):
    """Split the warps of the block into agents; each agent runs the region with its index.

    `max_regs` is the register budget per thread of each agent, 0 to inherit it.  Once execution
    units are mapped, `num_warps` and `warp_id` give the warps of each agent; warps in between stay
    idle.  The regions of an isolated switch capture no value.

    With the attribute `nv_tileas.open_boundary` a region may use values of another region, and
    the regions of an isolated switch values from outside, until `tileas-resolve-agent-boundary`
    transfers them; such a switch cannot run.
    """

    ENTRY: ClassVar[PipelineEntry] = AGENT_SWITCH
    name = AGENT_SWITCH.op_name

    bodies = var_region_def()
    num_agents_per_group = prop_def(IntegerAttr)
    max_regs = prop_def(DenseArrayBase)
    isolated = prop_def(IntegerAttr)
    num_warps = opt_prop_def(DenseArrayBase)
    warp_id = opt_prop_def(DenseArrayBase)
    agent_strides = opt_prop_def(DenseArrayBase)

    custom_directives = (AgentBodies,)
    assembly_format = "attr-dict custom<AgentBodies>($bodies)"

    def __init__(
        self,
        bodies: Sequence[Region],
        max_regs: Sequence[int],
        *,
        num_agents_per_group: int = 1,
        isolated: bool = False,
        num_warps: Sequence[int] | None = None,
        warp_id: Sequence[int] | None = None,
        agent_strides: Sequence[int] | None = None,
    ) -> None:
        for body in bodies:
            end_agent_body(body)
        init_fields(
            self,
            bodies=bodies,
            num_agents_per_group=num_agents_per_group,
            max_regs=max_regs,
            isolated=BoolAttr.from_bool(isolated),
            num_warps=num_warps,
            warp_id=warp_id,
            agent_strides=agent_strides,
        )

    @property
    def agent_bodies(self) -> Sequence[Region]:
        return self.bodies

    @property
    def agent_warps(self) -> Sequence[int] | None:
        return int_values(self, "num_warps")

    def verify_(self) -> None:
        check_agents(self)


OPERATIONS = (AgentSwitchOp,)
