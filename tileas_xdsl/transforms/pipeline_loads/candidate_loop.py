"""Find the loops of a kernel whose TMA loads feed dot operations.

Loops that follow one another and load the same tiles in turn fill the same stages: the first loop
of a kernel that is divided, and those behind it whose loads have its shapes, elements and atoms
(what a loop over whole tiles and the one over masked tiles behind it have).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from xdsl.dialects import func, scf
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import MemoryWriteEffect

from tileas_xdsl.analysis.values.scalar_operations import is_of_scalars
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.control import GridDependencyOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.types import MemTokenType


@dataclass(frozen=True)
class LoadLoop:
    """A loop, the loads that go to one agent, and what both agents need."""

    function: func.FuncOp
    loop: scf.ForOp
    loads: Sequence[TiledLoadOp]
    places: Sequence[Operation]
    """The operations of the body that compute the coordinates of the loads, in order."""
    before: Sequence[Operation]
    """The operations in front of the loop that stay there: all threads run them."""
    following: Sequence[LoadLoop] = ()
    """Loops behind this one, in order, whose loads fill the same stages."""

    @property
    def all_loads(self) -> Sequence[TiledLoadOp]:
        """The loads of this loop and of those that follow."""
        return [load for one in (self, *self.following) for load in one.loads]

    def segments(self) -> Sequence[Sequence[Operation]]:
        """What one agent runs in front of, between and behind the loops.

        Operations of `before` are left out: they are for all threads.
        """
        loops = [self, *self.following]
        staying = {op for one in loops for op in one.before}
        operations = list(self.function.body.block.ops)[:-1]
        places = [-1, *(operations.index(one.loop) for one in loops), len(operations)]
        return [
            [op for op in operations[begin + 1 : end] if op not in staying]
            for begin, end in pairwise(places)
        ]

    def hoist_numbers(self) -> None:
        """Move what all threads run between the loops in front of the first."""
        between = {op: None for one in self.following for op in one.before}
        for op in between:
            if op not in self.before:
                op.detach()
                Rewriter.insert_op(op, InsertPoint.before(self.loop))


def load_loop(function: func.FuncOp) -> LoadLoop | str | None:
    """The first loop that is divided; why none is, or None where nothing asks for it."""
    body = function.body.first_block
    if body is None or body.next_block is not None:
        return None
    loads = [op for op in function.walk() if _is_brought(op)]
    if not loads or is_divided(function):
        return None
    loops = [op for op in body.ops if isinstance(op, scf.ForOp)]
    found = [divided_loop(function, body, loop) for loop in loops]
    divided = next((one for one in found if isinstance(one, LoadLoop)), None)
    if divided is not None:
        return with_following(divided)
    problem = next((one for one in found if isinstance(one, str)), None)
    return problem or "no loop of the kernel itself loads what it multiplies"


def with_following(first: LoadLoop) -> LoadLoop:
    """The loop with those behind it that can fill the same stages.

    No grid is waited for between them, for the producer runs ahead of what stands there.
    """
    body = first.function.body.block
    operations = list(body.ops)
    place = operations.index(first.loop)
    following: list[LoadLoop] = []
    for op in operations[place + 1 :]:
        if isinstance(op, GridDependencyOp):
            break
        if not isinstance(op, scf.ForOp):
            continue
        found = divided_loop(first.function, body, op)
        if isinstance(found, LoadLoop) and _tiles(found) == _tiles(first):
            following.append(replace(found, before=_needed_in_front(found)))
    return replace(first, following=following)


def _needed_in_front(found: LoadLoop) -> Sequence[Operation]:
    """The operations of `before` that a producer needs for its loop."""
    needed: set[Operation] = set()
    pending = list(_used_outside(found.loop, (*found.loads, *found.places)))
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner in found.before and owner not in needed:
            needed.add(owner)
            pending += owner.operands
    return [op for op in found.before if op in needed]


def _tiles(found: LoadLoop) -> Sequence[tuple[Attribute, Attribute]]:
    """What a loop loads in one iteration, in order: types of tiles with their atoms."""
    return [(load.result.type, load.atom) for load in found.loads]


def is_divided(function: func.FuncOp) -> bool:
    """Whether a kernel has agents or pipelines already."""
    return any(isinstance(op, AgentSwitchOp | CreatePipelineOp) for op in function.walk())


def loop_problems(function: func.FuncOp, divided: Collection[scf.ForOp]) -> Mapping[scf.ForOp, str]:
    """Return why each other loop that loads tiles is not divided into agents."""
    loops = [op for op in function.walk() if isinstance(op, scf.ForOp) and op not in divided]
    return {
        loop: _loop_problem(function, loop, is_another=bool(divided))
        for loop in loops
        if any(isinstance(op, TiledLoadOp) for op in loop.body.block.ops)
    }


def _loop_problem(function: func.FuncOp, loop: scf.ForOp, *, is_another: bool) -> str:
    inside = loop.body.block
    if any(isinstance(op, TiledLoadOp) and not _is_brought(op) for op in inside.ops):
        return "some of its loads are not done by TMA"
    if not any(isinstance(op, DotOp) for op in inside.walk()):
        return "it multiplies nothing"
    if loop.parent_op() is not function:
        return "it is inside of other control flow"
    if is_another:
        return "another loop of the kernel is divided into agents, and loads other tiles"
    found = divided_loop(function, function.body.block, loop)
    return found if isinstance(found, str) else "the resources of a block do not suffice"


def _is_brought(op: Operation) -> bool:
    """Whether an operation loads by TMA into shared memory."""
    if not isinstance(op, TiledLoadOp) or not isinstance(op.atom.data, TmaAtom):
        return False
    return space_of(op.result.type) is Space.SMEM


def divided_loop(function: func.FuncOp, body: Block, loop: scf.ForOp) -> LoadLoop | str | None:
    inside = loop.body.block
    loads = [op for op in inside.ops if isinstance(op, TiledLoadOp) and _is_brought(op)]
    if not loads or not any(isinstance(op, DotOp) for op in inside.walk()):
        return None
    places = _needed_inside(loop, loads)
    if isinstance(places, str):
        return places
    outside = _used_outside(loop, (*loads, *places))
    if any(_writes_unordered(op) for op in _until(body, loop)):
        return "a store without a token may write what the loop loads"
    before = _staying(body, loop)
    made = {value.owner for value in outside if isinstance(value.owner, Operation)}
    if any(op.parent is body and op not in before for op in made):
        return "where a tile of the loop lies is computed from tiles"
    return LoadLoop(function, loop, loads, places, before)


def _needed_inside(loop: scf.ForOp, loads: Sequence[TiledLoadOp]) -> Sequence[Operation] | str:
    """The operations of a loop that give the coordinates of loads, or why one thread cannot."""
    inside = loop.body.block
    needed: dict[Operation, None] = {}
    pending = [value for load in loads for value in load.coords]
    while pending:
        value = pending.pop()
        owner = value.owner
        if isinstance(owner, Block):
            if owner is inside and value is not inside.args[0]:
                return "where a tile of the loop lies depends on the round before"
            continue
        if owner.parent is not inside or owner in needed:
            continue
        if not is_of_scalars(owner):
            return "where a tile of the loop lies is computed from tiles"
        needed[owner] = None
        pending += owner.operands
    return [op for op in inside.ops if op in needed]


def _used_outside(loop: scf.ForOp, inside: Sequence[Operation]) -> Iterator[SSAValue]:
    """The values from outside of the loop by which a producer finds its tiles, and when."""
    yield from (loop.lb, loop.ub, loop.step)
    for op in inside:
        if isinstance(op, TiledLoadOp):
            yield op.view
            yield from op.coords
            yield from () if op.token is None else (op.token,)
        else:
            yield from op.operands


def _until(body: Block, loop: scf.ForOp) -> Iterator[Operation]:
    """All operations in front of a loop and in it."""
    for op in body.ops:
        yield from op.walk()
        if op is loop:
            return


def _writes_unordered(op: Operation) -> bool:
    """Whether nothing but its place says what a store comes before."""
    return op.has_trait(MemoryWriteEffect) and not any(
        isinstance(type_, AAMemTokenType | MemTokenType) for type_ in op.operand_types
    )


def _staying(body: Block, loop: scf.ForOp) -> Sequence[Operation]:
    """The operations in front of a loop that all threads run: on numbers, or on grids.

    What a grid waits for has to be there before any agent loads.
    """
    moved: set[Operation] = set()
    staying: list[Operation] = []
    for op in body.ops:
        if op is loop:
            break
        depends = any(value.owner in moved for value in op.operands)
        if depends or not (is_of_scalars(op) or isinstance(op, GridDependencyOp)):
            moved.add(op)
        else:
            staying.append(op)
    return staying
