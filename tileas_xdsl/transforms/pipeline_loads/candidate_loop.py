"""Find the loop of a kernel whose TMA loads feed dot operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import func, scf
from xdsl.ir import Block, Operation, SSAValue
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
        return divided
    problem = next((one for one in found if isinstance(one, str)), None)
    return problem or "no loop of the kernel itself loads what it multiplies"


def is_divided(function: func.FuncOp) -> bool:
    """Whether a kernel has agents or pipelines already."""
    return any(isinstance(op, AgentSwitchOp | CreatePipelineOp) for op in function.walk())


def loop_problems(function: func.FuncOp, divided: scf.ForOp | None) -> Mapping[scf.ForOp, str]:
    """Return why each other loop that loads tiles is not divided into agents."""
    loops = [op for op in function.walk() if isinstance(op, scf.ForOp) and op is not divided]
    return {
        loop: _loop_problem(function, loop, divided)
        for loop in loops
        if any(isinstance(op, TiledLoadOp) for op in loop.body.block.ops)
    }


def _loop_problem(function: func.FuncOp, loop: scf.ForOp, divided: scf.ForOp | None) -> str:
    inside = loop.body.block
    if any(isinstance(op, TiledLoadOp) and not _is_brought(op) for op in inside.ops):
        return "some of its loads are not done by TMA"
    if not any(isinstance(op, DotOp) for op in inside.walk()):
        return "it multiplies nothing"
    if loop.parent_op() is not function:
        return "it is inside of other control flow"
    if divided is not None:
        return "another loop of the kernel is divided into agents"
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
