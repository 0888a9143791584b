"""Find the loops of a kernel whose loads feed dot operations, at any depth of control flow.

Loads by TMA are filled into stages by one thread; what threads load that goes to shared memory for
a product, through pointers or of rows that TMA does not load, is copied by all of the producer.

Loops that follow one another and load the same tiles in turn fill the same stages: the first loop
of a kernel that is divided, and those behind it whose loads have its shapes, elements and atoms
(what a loop over whole tiles and the one over masked tiles behind it have).

    scf.for %block = ... {                           the outermost loop, which the agents repeat
      scf.for %k = ... iter_args(%acc = %zero) {     `loop`; its `loads` fill the stages:
        %x = nv_tileas.tiled_load ... tma_load_2d    %x and %y make up one stage
        %y = nv_tileas.tiled_load ... tma_load_2d
        %d = nv_tileas.dot %x, %y, %acc
      }
      nv_tileas.tiled_store ...                      work of the consumer
    }
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from typing_extensions import TypeIs
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import NoneAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.analysis.values.scalar_operations import is_of_scalars
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operands_of, operations_in, operations_of
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.control import GridDependencyOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.element_access import GatherLoadOp, LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.tma.store_order import writes_unordered
from tileas_xdsl.transforms.memory.tileas_choose_tma import NOT_BY_TMA
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import (
    ProducerSlice,
    StageLoad,
    copied_by,
    enclosing_control,
    producer_slice,
)
from tileas_xdsl.transforms.pipeline_loads.streamed_loads import streamed_loads

_LOADS = (GatherLoadOp, LoadOp, TiledLoadOp)


@dataclass(frozen=True)
class LoadLoop:
    """A loop whose loads go to one agent, and those behind it that fill the same stages."""

    function: func.FuncOp
    loop: scf.ForOp
    loads: Sequence[StageLoad]
    needed: ProducerSlice
    """What the producer runs for this loop and for those that follow."""
    following: Sequence[LoadLoop] = ()
    """Loops behind this one, in order, whose loads fill the same stages."""

    @property
    def all_loads(self) -> Sequence[StageLoad]:
        """The loads of this loop and of those that follow."""
        return [load for one in (self, *self.following) for load in one.loads]

    @property
    def tma_loads(self) -> Sequence[TiledLoadOp]:
        """The loads of this loop that TMA does."""
        return [load for load in self.loads if isinstance(load, TiledLoadOp)]

    @property
    def is_by_tma(self) -> bool:
        """Whether TMA does all loads of all loops."""
        return all(isinstance(load, TiledLoadOp) for load in self.all_loads)

    @property
    def computes_operands(self) -> bool:
        """Whether threads compute what a product of the loop reads: unpack, scale or round it."""
        products = instances_in(self.loop, DotOp)
        return any(_is_computed(v, self.loop) for op in products for v in (op.a, op.b))

    @property
    def staying(self) -> Sequence[Operation]:
        """The operations in front of the loops that stay there: all threads run them."""
        return staying_in_front(self.function, _outermost(self.loop))

    def divided(self) -> Sequence[Operation]:
        """The operations of the kernel that go into agents, in order."""
        staying = set(self.staying)
        return [op for op in list(self.function.body.block.ops)[:-1] if op not in staying]

    def behind(self) -> Sequence[Operation]:
        """The operations of the kernel behind all loops."""
        last = _outermost((self, *self.following)[-1].loop)
        operations = list(self.function.body.block.ops)[:-1]
        return operations[operations.index(last) + 1 :]


def _is_computed(operand: SSAValue, loop: scf.ForOp) -> bool:
    """Whether an operand is neither loaded in a loop nor there before."""
    while isinstance(view := operand.owner, ViewOp):
        operand = view.source
    owner = operand.owner
    return not isinstance(owner, Block | TiledLoadOp) and loop.is_ancestor(owner)


def load_loop(function: func.FuncOp) -> LoadLoop | str | None:
    """The first loop that is divided; why none is, or None where nothing asks for it."""
    body = function.body.first_block
    if body is None or body.next_block is not None:
        return None
    if not any(_is_loaded(op) for op in operations_in(function)) or is_divided(function):
        return None
    problem: str | None = None
    for loop in instances_in(function, scf.ForOp):
        found = divided_loop(function, loop)
        if isinstance(found, LoadLoop):
            return with_following(found)
        problem = problem or found
    return problem or "no for loop loads what it multiplies, in each round"


def with_following(first: LoadLoop) -> LoadLoop:
    """The loop with those behind it that can fill the same stages.

    No grid is waited for between them, for the producer runs ahead of what stands there.
    """
    following: list[LoadLoop] = []
    operations = operations_in(first.function)
    for op in operations[operations.index(first.loop) + 1 :]:
        if type(op) is GridDependencyOp:
            break
        if type(op) is not scf.ForOp:
            continue
        found = divided_loop(first.function, op)
        if isinstance(found, LoadLoop) and _tiles(found) == _tiles(first):
            following.append(found)
    return with_loops(first, following)


def with_loops(first: LoadLoop, following: Sequence[LoadLoop]) -> LoadLoop:
    """The loop with these behind it, as many of them as one producer can load for."""
    kept = list(following)
    loads = [load for one in (first, *kept) for load in one.loads]
    needed = producer_slice(loads, first.staying) if kept else first.needed
    if isinstance(needed, str):
        return with_loops(first, kept[:-1])
    streamed = streamed_loads([first.loop, *(one.loop for one in kept)], loads)
    if streamed:
        with_streams = producer_slice(loads, first.staying, streamed)
        needed = needed if isinstance(with_streams, str) else with_streams
    return LoadLoop(first.function, first.loop, first.loads, needed, kept)


def _tiles(found: LoadLoop) -> Sequence[tuple[Attribute, Attribute]]:
    """What a loop loads in one iteration, in order: types of tiles with their atoms."""
    return [(load.result.type, _atom(load)) for load in found.loads]


def _atom(load: StageLoad) -> Attribute:
    return NoneAttr() if isinstance(load, ConvertLayoutOp) else load.atom


def is_divided(function: func.FuncOp) -> bool:
    """Whether a kernel has agents or pipelines already."""
    return has_instance(function, AgentSwitchOp, CreatePipelineOp)


Loop: TypeAlias = scf.ForOp | scf.WhileOp


def loop_problems(function: func.FuncOp, divided: Collection[Loop]) -> Mapping[Loop, str]:
    """Return why each loop is not divided into agents, but for those around one that is."""
    copied = {above for loop in divided for above in (loop, *enclosing_control(loop))}
    loops = [op for op in instances_in(function, scf.ForOp, scf.WhileOp) if op not in copied]
    return {loop: _loop_problem(function, loop, is_another=bool(divided)) for loop in loops}


def _loop_problem(function: func.FuncOp, loop: Loop, *, is_another: bool) -> str:
    inside = [op for region in loop.regions for block in region.blocks for op in block.ops]
    if not any(isinstance(op, _LOADS) for op in inside):
        loads = has_instance(loop, *_LOADS)
        return "a loop or branch inside of it loads" if loads else "it loads nothing"
    if not has_instance(loop, DotOp):
        return "it multiplies nothing: what it loads is read in registers"
    if isinstance(loop, scf.WhileOp):
        return "it is a while loop, and only for loops are divided"
    for op in inside:
        why = op.attributes.get(NOT_BY_TMA)
        if isinstance(op, TiledLoadOp) and not _is_loaded(op) and not _is_copied(op):
            because = f": {why.data}" if isinstance(why, StringAttr) else ""
            return f"a load is not done by TMA{because}"
    found = divided_loop(function, loop)
    if found is None:
        return "no product in it reads what it loads from shared memory"
    if is_another and isinstance(found, LoadLoop):
        return "another loop of the kernel is divided into agents, and loads other tiles"
    return found if isinstance(found, str) else "the resources of a block do not suffice"


def _is_copied(load: TiledLoadOp) -> bool:
    return any(_is_loaded(use.operation) for use in load.result.uses)


def _is_loaded(op: Operation) -> TypeIs[StageLoad]:
    """Whether an operation puts into shared memory what TMA loads, or threads copy."""
    if type(op) is ConvertLayoutOp:
        return copied_by(op) is not None
    if type(op) is not TiledLoadOp or not isinstance(op.atom.data, TmaAtom):
        return False
    return space_of(op.result.type) is Space.SMEM


def divided_loop(function: func.FuncOp, loop: scf.ForOp) -> LoadLoop | str | None:
    """The loop, if a producer can load for it; why none can, or None where nothing asks for it."""
    inside = operations_of(loop.body.block)
    loads = [op for op in inside if _is_loaded(op)]
    products = [op for op in inside if has_instance(op, DotOp)] if loads else ()
    if not products:
        return None
    if any(isinstance(op, scf.ForOp) for op in products):
        return "a loop inside of it multiplies"
    outermost = _outermost(loop)
    # The producer runs ahead of the consumers, and its loads are ordered after tokens only. A store
    # without one that stands before the loop would be overtaken.
    for op in operations_in(function):
        if writes_unordered(op):
            return "a store without a token may write what the loop loads"
        if type(op) is GridDependencyOp and op.parent_op() is not function:
            return "a grid is waited for inside of control flow"
        if op is outermost:
            break
    # After the loop everything may be stored; but a store behind it in an enclosing loop comes
    # before the loads of the next iteration.
    if any(writes_unordered(op) for op in operations_in(outermost)):
        return "a store without a token may write what the loop loads"
    needed = producer_slice(loads, staying_in_front(function, outermost))
    if isinstance(needed, str):
        return needed
    return LoadLoop(function, loop, loads, needed)


def _outermost(loop: scf.ForOp) -> Operation:
    """The operation of the kernel itself that a loop is, or is in."""
    return (loop, *enclosing_control(loop))[-1]


def staying_in_front(function: func.FuncOp, outermost: Operation) -> Sequence[Operation]:
    """The operations in front of a loop that all threads run: on numbers, or on grids.

    What a grid waits for has to be there before any agent loads.
    """
    moved: set[Operation] = set()
    staying: list[Operation] = []
    for op in operations_of(function.body.block):
        if op is outermost:
            break
        depends = any(value.owner in moved for value in operands_of(op))
        if depends or not (is_of_scalars(op) or type(op) is GridDependencyOp):
            moved.add(op)
        else:
            staying.append(op)
    return staying
