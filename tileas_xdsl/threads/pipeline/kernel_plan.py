"""The plan of a kernel made before code generation: agents, accumulators, barriers.

Code of one agent depends on the others: how often a barrier is arrived at before it completes is a
number in its initialisation, at the top of the kernel.  So it is counted first.  For a pipeline of

    producer: one thread issues TMA loads        `full`:  1 arrival (expect_tx), and TMA's bytes
    consumer: 2 warpgroups read by wgmma         `empty`: 8 arrivals, one for each warp that reads
    (or: tcgen05.mma reads                       `empty`: 1 arrival, of tcgen05.commit)

`releases` counts the arrivals on `empty`, `arrivals` those on `full`.  Shared memory, tensor maps
and hidden arguments are allocated in the plan while code is generated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from math import prod

from xdsl.dialects import arith, func, scf, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.analysis.layouts.dot_layouts import tiling_of
from tileas_xdsl.analysis.memory.accumulators import is_of_two_blocks, is_tensor_product
from tileas_xdsl.analysis.memory.copied_chunks import async_copies
from tileas_xdsl.analysis.values.scalar_operations import is_of_scalars
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import Kinds, instances_in
from tileas_xdsl.dialects.nv_tileaa.memory.globals import GlobalOp
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.compute.row_order import has_rows_in_pairs
from tileas_xdsl.dialects.nv_tileas.interfaces import Producer
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    CreateIteratorOp,
    IncIterOp,
    PipelineYieldOp,
    StageOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.queries import KernelFacts
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import TokenFault, pipelines_of
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp, FutureWaitOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import number_of
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import OF_LIST, MakeTiledTmaDescOp
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaLoadBase
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import TensorMapRecipe
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.mma.matrix_units import PAIR
from tileas_xdsl.target.mma.warp_tiles import accumulator_layout, fits_accumulators
from tileas_xdsl.threads.pipeline.stage_consumers import (
    BY_THREADS,
    StageReader,
    reader_of,
    users_of,
)
from tileas_xdsl.threads.pipeline.stage_proxies import StageProxies, proxies_of
from tileas_xdsl.threads.pipeline.warp_allocation import Agent, agents_of, blocks_together
from tileas_xdsl.threads.smem.smem_layout import SharedMap

_PRODUCERS = Kinds(Producer)


@dataclass
class KernelPlan:
    """Decisions for one kernel made before code generation, and its allocations."""

    kernel: func.FuncOp
    target: Target
    facts: KernelFacts
    shared: SharedMap
    recipes: list[TensorMapRecipe] = field(default_factory=list[TensorMapRecipe])
    hidden: list[str] = field(default_factory=list[str])
    """Descriptions of the hidden arguments added during lowering."""
    globals: list[GlobalOp] = field(default_factory=list[GlobalOp])
    """What the module has to have beside the kernel."""
    is_standalone: bool = False
    """Whether a launch passes the parameters of the program and nothing else."""
    arena: SSAValue | None = None
    """The argument that points to the arena: tensor maps built on the device, memory of blocks."""
    tile_blocks: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """By axis, the argument that says how many tile blocks a launch has along it."""
    arena_slots: int = 0
    """How many slots of it each block has."""
    transfer: SSAValue | None = None
    """The argument that points to what CTAs transfer to one another, and count together."""
    transfer_bytes: int = 0
    """Bytes of a slot for the tiles of a transfer."""
    is_thrifty: bool = False
    """Whether shared memory is reused wherever it can be, at the cost of barriers."""
    exchange_limit: int | None = None
    """The most bytes that a layout conversion takes at once; None for as many as the tile has."""
    waited: Sequence[Operation] = ()
    """MMAs into tensor memory that are awaited right after their issue."""

    @staticmethod
    def of(
        kernel: func.FuncOp,
        target: Target,
        *,
        is_standalone: bool = False,
        is_thrifty: bool = False,
        exchange_limit: int | None = None,
    ) -> KernelPlan:
        """The plan of a kernel before any code is made."""
        shared = SharedMap(target)
        return KernelPlan(
            *(kernel, target, KernelFacts(kernel), shared),
            is_standalone=is_standalone,
            is_thrifty=is_thrifty,
            exchange_limit=exchange_limit,
        )

    @property
    def block(self) -> Agent:
        """All threads of the block."""
        return Agent("kernel", 0, self.facts.spec.num_warps)

    @property
    def blocks_together(self) -> int:
        """The minimum number of CTAs per multiprocessor."""
        return blocks_together(self.block.threads, self.facts.spec.occupancy, self.target)

    def agent_around(self, op: Operation) -> Agent:
        """Return the agent that runs an operation."""
        inner: Operation | None = op
        while inner is not None:
            parent = inner.parent_op()
            if isinstance(parent, AgentSwitchOp):
                region = inner.parent_region()
                position = next(k for k, body in enumerate(parent.bodies) if body is region)
                agents = agents_of(parent, self.block, self.target, self.blocks_together)
                return agents[position]
            inner = parent
        return self.block

    def releases(self, pipeline: CreatePipelineOp, readers: Mapping[int, StageReader]) -> int:
        """Return the arrivals on `empty` per stage: one for each reading warp or MMA commit."""
        agents: dict[int, Agent] = {}
        for op in instances_in(self.kernel, StageOp):
            is_consumer = "consumer_idx" in op.properties
            if is_consumer and pipeline in _pipelines(op.operands[0]):
                agents[_consumer_index(op)] = self.agent_around(op)
        if any(reader.by_pair for reader in readers.values()):
            return len(agents)
        count = 0
        for agent in agents.values():
            reader = readers.get(agent.number, BY_THREADS)
            count += agent.warps * reader.by_threads + reader.by_tensor_core
        return (count or 1) * self.facts.group(pipeline)

    def arrivals(self, pipeline: CreatePipelineOp) -> int:
        """Return the arrivals on `full` per stage: of TMA's bytes, and of threads that copy."""
        fills = self._fills(pipeline)
        inner = [op for fill in fills for op in operations_in(fill)]
        by_tma = any(isinstance(op, TmaLoadBase) for op in inner)
        by_threads = any(isinstance(op, CopyOp) for op in inner)
        if self.is_copied_to(pipeline):
            return by_tma + self.agent_around(fills[0]).threads
        return by_tma + by_threads or 1

    def is_copied_to(self, pipeline: CreatePipelineOp) -> bool:
        """Whether each thread that fills stages arrives when its copies do (`cp.async`)."""
        fills = self._fills(pipeline)
        return bool(fills) and all(map(async_copies, fills))

    def proxies(self, pipeline: CreatePipelineOp) -> StageProxies:
        """Return what crosses between proxies in stages."""
        return proxies_of(pipeline, self._fills(pipeline))

    def _fills(self, pipeline: CreatePipelineOp) -> Sequence[Operation]:
        fills = [op for op in operations_in(self.kernel) if _PRODUCERS[type(op)]]
        return [op for op in fills if pipeline in _pipelines(op.operands[0])]

    @cached_property
    def is_of_pair(self) -> bool:
        """Whether MMAs are of a CTA pair (`cta_group::2`); then all of the kernel are."""
        products = [op for op in operations_in(self.kernel) if is_tensor_product(op)]
        pairs = [op for op in products if is_of_two_blocks(op)]
        if pairs and len(pairs) < len(products):
            alone = next(op for op in products if not is_of_two_blocks(op))
            raise op_error(alone, "is of one block, in a kernel with products of two")
        extents = self.facts.cluster
        if pairs and prod(extents) != PAIR:
            listed = "x".join(map(str, extents))
            raise op_error(pairs[0], f"is of two blocks, and clusters have {listed}")
        return bool(pairs)

    def readers(self, pipeline: CreatePipelineOp) -> Mapping[int, StageReader]:
        """Return by agent id whether threads or the tensor core read its stages."""
        found: dict[int, StageReader] = {}
        for user in users_of(pipeline):
            if "consumer_idx" not in user.properties or not user.regions:
                continue
            number, reader = self.agent_around(user).number, reader_of(user.regions[0].block.args)
            found[number] = reader.beside(found.get(number, reader))
        return found

    def accumulator(self, value: SSAValue) -> RegisterLayout | None:
        """Return the register layout of a tile that becomes an accumulator, else None."""
        for dot in _products_of(value):
            agent = self.agent_around(dot)
            if tiling_of(dot, agent.warps) is not None:
                continue
            a, b = dot.operands[0].type, dot.operands[1].type
            if not isinstance(a, TensorType) or not isinstance(b, TensorType):
                continue
            rows, columns = a.get_shape()[-2], b.get_shape()[-1]
            if fits_accumulators(rows, columns, agent.groups):
                in_pairs = has_rows_in_pairs(dot)
                return accumulator_layout(rows, columns, agent.groups, in_pairs=in_pairs)
        return None


def _pipelines(token: SSAValue) -> Sequence[CreatePipelineOp]:
    found = pipelines_of(token)
    return () if isinstance(found, TokenFault) else found


def _consumer_index(op: Operation) -> int:
    return number_of(op.properties["consumer_idx"]) or 0


def _products_of(value: SSAValue) -> Iterator[AsyncDotOp | DotOp]:
    """Return the products of which a tile is the C operand, also through loops that carry it."""
    pending, seen = [value], {value}
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if isinstance(op, AsyncDotOp | DotOp) and use.index == 2:
                yield op
            carried = [v for v in _carried(op, use.index) if v not in seen]
            seen.update(carried)
            pending += carried


def _carried(op: Operation, position: int) -> Sequence[SSAValue]:
    """Where a loop carries an operand."""
    if isinstance(op, scf.ForOp) and position >= 3:
        return (op.body.block.args[position - 2], op.results[position - 3])
    if isinstance(op, scf.YieldOp) and isinstance(parent := op.parent_op(), scf.ForOp):
        return (parent.body.block.args[position + 1],)
    return ()


_BY_ONE_THREAD = (
    arith.ConstantOp,
    CreateIteratorOp,
    CreateNoneOp,
    ExtractSliceOp,
    IncIterOp,
    PipelineYieldOp,
    TmaLoadBase,
    scf.ConditionOp,
    scf.ForOp,
    scf.IfOp,
    scf.WhileOp,
    scf.YieldOp,
)


def is_for_one_thread(body: Region) -> bool:
    """Return whether one thread can run a body that only computes addresses and issues loads."""
    operations = operations_in(body)
    has_loads = any(isinstance(op, TmaLoadBase) for op in operations)
    return has_loads and all(_is_scalar_or_load(op) for op in operations)


def _is_scalar_or_load(op: Operation) -> bool:
    if isinstance(op, StageOp):
        return "producer" in op.name or "produce_one" in op.name
    if isinstance(op, _BY_ONE_THREAD) or op.name.startswith("gpu.") or _is_of_one_element(op):
        return True
    return not isinstance(op, WaitOp | FutureWaitOp) and is_of_scalars(op)


def _is_of_one_element(op: Operation) -> bool:
    """Return whether an operation loads a number, or takes it out of its tile: an index of tiles.

    One thread does that as well, and need not wait for the other warps of the agent then.  So it
    acquires the tensor map of an array of a list, whose row it has read.
    """
    match op:
        case LoadOp():
            return as_tile(op.result.type) is None and op.mem_semantic is None
        case TiledLoadOp():
            return prod(shape_of(op.result.type) or (0,)) == 1 and op.mem_semantic is None
        case tensor.ExtractOp():
            return prod(shape_of(op.tensor.type) or (0,)) == 1
        case _:
            return isinstance(op, MakeTiledTmaDescOp) and OF_LIST in op.attributes


def loads_of(body: Region | Block) -> Sequence[TmaLoadBase]:
    """The TMA loads of a body."""
    return instances_in(body, TmaLoadBase)
