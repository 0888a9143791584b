"""The warp that issues tcgen05.mma: one of the agent, or an otherwise idle warp.

`tcgen05.mma` is issued by one thread and runs asynchronously. Where the agent's own warps read the
accumulator of one tile while the MMAs of the next run, another warp must issue them. The producer
agent needs one thread for its TMA loads, so its other three warps are idle:

    agent 0 (warps 0 to 3)   warp 0: TMA loads       warp 1: the MMA loop of agent 1
    agent 1 (warps 4 to 7)   wait for the accumulator, tcgen05.ld, epilogue

The agent's body is then lowered twice: the issuer runs the loops that only wait for stages, issue
MMAs and release stages, with the scalar operations that these need (a backward slice); the agent
runs all else. Both run the enclosing loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from xdsl.dialects import gpu, memref, scf
from xdsl.dialects.builtin import TensorType
from xdsl.ir import BlockArgument, Operation, OpResult, Region, SSAValue

from tileas_xdsl.analysis.memory.accumulators import CONSTANTS, in_tensor_memory, is_tensor_product
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    CreateIteratorOp,
    IncIterOp,
    PipelineYieldOp,
    StageOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import TokenFault, pipelines_of
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import FutureWaitOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.types import ConsumerTokenType, IteratorType
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan, is_for_one_thread
from tileas_xdsl.threads.pipeline.warp_allocation import Agent, agents_of

_OF_PRODUCTS = (
    ExtractSliceOp,
    FutureWaitOp,
    IncIterOp,
    PipelineYieldOp,
    ViewOp,
    WaitOp,
    scf.YieldOp,
)
"""Operations that a loop of MMAs may contain beside MMAs, pipeline stages and arithmetic."""

_AROUND = (*CONSTANTS, CreateIteratorOp, gpu.BlockIdOp, gpu.GridDimOp, memref.DimOp, scf.YieldOp)
"""Other operations that a separate issuer warp may run."""

_CONTROL = (scf.ForOp, scf.IfOp, scf.WhileOp)
"""Control flow that it repeats."""


@dataclass(frozen=True)
class Issuer:
    """The warp that issues the MMAs of an agent, and the operations that it runs."""

    agent: Agent
    operations: frozenset[Operation]


def only_multiplies(plan: KernelPlan, op: scf.ForOp) -> bool:
    """Return whether a loop only waits for stages, issues MMAs and releases stages."""
    products = [inner for inner in operations_in(op) if is_tensor_product(inner)]
    if not products or any(product in plan.waited for product in products):
        return False
    return all(_is_of_products(plan, inner) for inner in operations_in(op.body)) and all(
        not any(value.uses) or _is_known_outside(value) for value in op.results
    )


def _is_of_products(plan: KernelPlan, op: Operation) -> bool:
    if isinstance(op, StageOp):
        return _is_multiplied(plan, op)
    return isinstance(op, _OF_PRODUCTS) or is_tensor_product(op) or _is_arithmetic(op)


def _is_arithmetic(op: Operation) -> bool:
    types = (*op.operand_types, *op.result_types)
    return op.name.startswith("arith.") and not any(isinstance(t, TensorType) for t in types)


def _is_multiplied(plan: KernelPlan, op: StageOp) -> bool:
    """Return whether a stage is read by MMAs alone."""
    pipelines = pipelines_of(op.operands[0])
    if isinstance(pipelines, TokenFault) or not isinstance(op.operands[0].type, ConsumerTokenType):
        return False
    number = plan.agent_around(op).number
    readers = [plan.readers(pipeline).get(number) for pipeline in pipelines]
    return bool(readers) and all(r is not None and not r.by_threads for r in readers)


def _is_known_outside(value: SSAValue) -> bool:
    """Return whether other warps know a loop result without running the loop, or never use it."""
    return in_tensor_memory(value.type) or isinstance(value.type, IteratorType | ConsumerTokenType)


def issuers(plan: KernelPlan, switch: AgentSwitchOp) -> Mapping[int, Issuer]:
    """Return the issuer warp of each agent whose MMAs another warp issues, by agent position."""
    agents = agents_of(switch, plan.block, plan.target, plan.blocks_together)
    idle = _idle_warps(agents, switch.agent_bodies)
    found: dict[int, Issuer] = {}
    for position, (agent, body) in enumerate(zip(agents, switch.agent_bodies, strict=True)):
        operations = _operations_of_products(plan, body)
        warp = next(idle, None) if operations else None
        if warp is not None and operations:
            name = f"the products of {agent.name}"
            found[position] = Issuer(Agent(name, warp, 1, 0, agent.number), operations)
    return found


def _idle_warps(agents: Sequence[Agent], bodies: Sequence[Region]) -> Iterator[int]:
    """Yield the idle warps of agents that need one thread only."""
    for agent, body in zip(agents, bodies, strict=True):
        if is_for_one_thread(body):
            yield from range(agent.first_warp + 1, agent.first_warp + agent.warps)


def host_of(agents: Sequence[Agent], issuer: Issuer) -> int:
    """Return the position of the agent that the issuer warp belongs to."""
    warp = issuer.agent.first_warp
    return next(k for k, a in enumerate(agents) if a.first_warp <= warp < a.first_warp + a.warps)


def _operations_of_products(plan: KernelPlan, body: Region) -> frozenset[Operation] | None:
    """Return the operations needed to issue an agent's MMAs; None where they include others."""
    loops = [op for op in instances_in(body, scf.ForOp) if only_multiplies(plan, op)]
    inside = {op for loop in loops for op in operations_in(loop)}
    products = [op for op in operations_in(body) if is_tensor_product(op)]
    if not products or any(op not in inside for op in products):
        return None
    slice_ = _Slice(body, {*inside})
    for loop in loops:
        slice_.add(loop)
    return frozenset(slice_.kept) if all(_may_run(op) for op in slice_.kept - inside) else None


@dataclass
class _Slice:
    """Backward slice of loops of MMAs: what they read, and what that reads, in `body`.

    A warp of its own repeats it, so it may hold only arithmetic and control flow, which are safe to
    run twice.  Of what loops around them carry it holds what the MMAs need alone: the token of a
    bulk store that overlaps the next tile is the reading agent's.
    """

    body: Region
    kept: set[Operation]
    seen: set[SSAValue] = field(default_factory=set[SSAValue])

    def add(self, loop: scf.ForOp) -> None:
        """Add what a loop of MMAs, which is kept whole, reads."""
        self._keep_around(loop)
        self._need([*loop.operands, *(v for op in operations_in(loop.body) for v in op.operands)])

    def _need(self, values: Sequence[SSAValue]) -> None:
        pending = list(values)
        while pending:
            value = pending.pop()
            if value not in self.seen:
                self.seen.add(value)
                pending += self._sources(value)

    def _sources(self, value: SSAValue) -> Sequence[SSAValue]:
        """Keep what makes a value; return what that reads for it."""
        op = value.block.parent_op() if isinstance(value, BlockArgument) else value.owner
        if not isinstance(op, Operation) or not self.body.is_ancestor(op):
            return ()
        self._keep(op)
        assert isinstance(value, BlockArgument | OpResult)
        return _made_of(op, value)

    def _keep(self, op: Operation) -> None:
        if op in self.kept:
            return
        self.kept.add(op)
        self._need(_controls(op))
        self._keep_around(op)

    def _keep_around(self, op: Operation) -> None:
        parent = op.parent_op()
        if parent is not None and self.body.is_ancestor(parent):
            self._keep(parent)


def _controls(op: Operation) -> Sequence[SSAValue]:
    """What decides how often the body of an operation runs."""
    match op:
        case scf.ForOp():
            return (op.lb, op.ub, op.step)
        case scf.WhileOp():
            return _ended(op.before_region)[:1]
        case scf.IfOp():
            return (op.cond,)
        case _:
            return ()


def _made_of(op: Operation, value: BlockArgument | OpResult) -> Sequence[SSAValue]:
    """What one of the values of an operation is made of: of control flow, what gives that one."""
    match op:
        case scf.ForOp():
            position = value.index - isinstance(value, BlockArgument)
            return () if position < 0 else (op.iter_args[position], _ended(op.body)[position])
        case scf.WhileOp() if value.owner is op.before_region.block:
            return (op.arguments[value.index], _ended(op.after_region)[value.index])
        case scf.WhileOp():
            return (_ended(op.before_region)[1 + value.index],)
        case scf.IfOp():
            return [_ended(arm)[value.index] for arm in (op.true_region, op.false_region)]
        case _:
            return op.operands


def _ended(body: Region) -> Sequence[SSAValue]:
    """The operands of the terminator of a body."""
    end = body.block.last_op
    assert end is not None
    return end.operands


def _may_run(op: Operation) -> bool:
    return isinstance(op, (*_AROUND, *_CONTROL)) or _is_arithmetic(op)
