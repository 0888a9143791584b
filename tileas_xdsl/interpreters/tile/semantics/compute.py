"""Dots, reductions, scans and generated tiles, by agents and by their tensor cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.ir import Attribute, Operation, Region

from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, BlockScaledMmaOp, DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.interpreters.tile.execution.agent import Language
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Actor
from tileas_xdsl.interpreters.tile.memory.views import View, as_tile
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.interpreters.tile.semantics.memory_access.tiled_access import tile_type
from tileas_xdsl.interpreters.tile.synchronization.async_tokens import AsyncToken
from tileas_xdsl.interpreters.tile.synchronization.pipeline_stages import ConsumerLease
from tileas_xdsl.interpreters.tile.synchronization.pipelines import register_reader
from tileas_xdsl.interpreters.tile.tensor_ops.dot import block_scaled_mma, dot_value
from tileas_xdsl.interpreters.tile.tensor_ops.reduction import (
    generate_tile,
    reduce_tiles,
    scan_tiles,
)
from tileas_xdsl.interpreters.tile.tensor_ops.vectorized_body import RunBody, ValueOf


def _cycles(agent: TileAgent, op: Operation, a: Attribute, b: Attribute) -> int:
    """Return the cycles of a dot of tiles of these types."""
    (*batch, m, k), element = tile_type(a)
    n = tile_type(b)[0][-1]
    count = batch[0] if batch else 1
    return agent.latencies.product(m * count, n, k, _element(op, element))


def _element(op: Operation, element: Attribute) -> str:
    """Return the element type that the instruction multiplies: tf32 may be stored as f32."""
    atom = getattr(op, "atom", None)
    data = None if atom is None else atom.data
    return data.a if isinstance(data, MmaAtom) else element_name(element)


def dot(agent: TileAgent, op: DotOp, inputs: Sequence[Any]) -> tuple[Array]:
    """Run a synchronous dot."""
    a, b, c = [as_tile(value, agent.actor(op)) for value in inputs]
    result = dot_value(op, a, b, c)
    agent.work(op, _cycles(agent, op, op.a.type, op.b.type))
    return (result,)


def async_dot(agent: TileAgent, op: AsyncDotOp, inputs: Sequence[Any]) -> tuple[AsyncToken]:
    """Issue a dot; those of an agent run in order, and read their operands when they run."""
    a, b, c = inputs
    earlier = [c] if isinstance(c, AsyncToken) else []

    def land(actor: Actor) -> tuple[Array]:
        (start,) = c.values if isinstance(c, AsyncToken) else (c,)
        tiles = [as_tile(value, actor) for value in (a, b, start)]
        return (dot_value(op, tiles[0], tiles[1], tiles[2]),)

    cycles = _cycles(agent, op, op.a.type, op.b.type)
    token, task = agent.issue(
        agent.block.engine(f"tensor core of {agent.name}", in_order=True),
        op,
        "product" if op.atom is None else f"{op.atom.data.family} product",
        land,
        latency=cycles + agent.latencies.drain,
        busy=cycles,
        after=earlier,
        stage=_stage_of(a, b),
    )
    for operand in (a, b):
        register_reader(agent, operand, task)
    agent.work(op, agent.latencies.scalar)
    return (token,)


def _stage_of(*operands: Any) -> int | None:
    """Return the pipeline stage that an operand is a view of."""
    leases = [value.lease for value in operands if isinstance(value, View)]
    stages = [lease.slot.index for lease in leases if isinstance(lease, ConsumerLease)]
    return stages[0] if stages else None


def scaled_mma(agent: TileAgent, op: BlockScaledMmaOp, inputs: Sequence[Any]) -> tuple[Array]:
    """Run a block-scaled MMA."""
    result = block_scaled_mma(op, [as_tile(value, agent.actor(op)) for value in inputs])
    agent.work(op, _cycles(agent, op, op.a.type, op.b.type))
    return result


def _run_at_once(agent: TileAgent, region: Region, args: Sequence[Any]) -> tuple[Any, ...]:
    """Run a body that must not wait."""
    steps = agent.run_region(region, args)
    try:
        wait = next(steps)
    except StopIteration as end:
        return end.value
    raise fault(wait.op, f"waits for {wait.why} inside the body of '{region.parent_op()}'")


def _value_of(agent: TileAgent, op: Operation, value: Any) -> Any:
    return as_tile(agent.value_of(value), agent.actor(op))


Combine: TypeAlias = Callable[[Any, Sequence[Array], ValueOf, RunBody], tuple[Array, ...]]
"""A reduction or a scan of source tiles."""


def reduce(agent: TileAgent, op: ReduceOp, inputs: Sequence[Any]) -> tuple[Array, ...]:
    """Run `nv_tileas.reduce`."""
    return _combined(agent, op, inputs, reduce_tiles)


def scan(agent: TileAgent, op: ScanOp, inputs: Sequence[Any]) -> tuple[Array, ...]:
    """Run `nv_tileas.scan`."""
    return _combined(agent, op, inputs, scan_tiles)


def _combined(
    agent: TileAgent, op: ReduceOp | ScanOp, inputs: Sequence[Any], combine: Combine
) -> tuple[Array, ...]:
    sources = [as_tile(value, agent.actor(op)) for value in inputs]
    results = combine(
        op,
        sources,
        lambda value: _value_of(agent, op, value),
        lambda region, args: _run_at_once(agent, region, args),
    )
    agent.work(op, agent.latencies.reduction(sum(source.size for source in sources)))
    return results


def generate(agent: TileAgent, op: GenerateOp, inputs: Sequence[Any]) -> tuple[Array]:
    """Run `nv_tileas.generate`."""
    result = generate_tile(
        op,
        lambda value: _value_of(agent, op, value),
        lambda region, args: _run_at_once(agent, region, args),
    )
    agent.work(op, agent.latencies.elementwise(result.size))
    return (result,)


COMPUTE = Language(
    effects={
        AsyncDotOp: async_dot,
        BlockScaledMmaOp: scaled_mma,
        DotOp: dot,
        GenerateOp: generate,
        ReduceOp: reduce,
        ScanOp: scan,
    }
)
