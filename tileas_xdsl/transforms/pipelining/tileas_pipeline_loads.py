"""The pass `tileas-pipeline-loads`: split loops into a producer and a consumer agent."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.target.arch import Target
from tileas_xdsl.transforms.pipeline_loads.agents.agent_split import divide
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import (
    LoadLoop,
    is_divided,
    load_loop,
    loop_problems,
)
from tileas_xdsl.transforms.pipeline_loads.resources import Resources, resources_of
from tileas_xdsl.transforms.pipeline_loads.rounds.kept_lines import LINES_KEPT, keep_lines_of_rounds
from tileas_xdsl.transforms.pipeline_loads.rounds.loads_ahead import load_ahead
from tileas_xdsl.transforms.pipeline_loads.rounds.loads_together import load_together
from tileas_xdsl.transforms.pipeline_loads.rounds.next_rounds import (
    ROWS_AHEAD,
    load_next_rounds,
    row_loop,
)
from tileas_xdsl.transforms.pipeline_loads.rounds.registers_ahead import load_next_in_registers
from tileas_xdsl.transforms.pipeline_loads.rounds.rounds import RoundLoop

NOT_PIPELINED = "nv_tileas.not_pipelined"
"""On a kernel, and on each of its loops: why its loads are not pipelined."""


@dataclass(frozen=True)
class TileasPipelineLoads(ModulePass):
    """Split loops that load and multiply into a producer and a consumer agent.

    Analysis, then rewrite: stages, warps and registers are computed for the whole kernel.

    Needs: kernels of tiles that are not laid out, whose loads into shared memory have atoms of TMA,
    or are runs of 4, 8 or 16 bytes, through pointers or of arrays, that threads copy (`cp.async`).

    Leaves, for the first loop of a kernel that loads so, at any depth of loops and branches, and
    for those behind it that load the same tiles: a pipeline of as many stages as `latency` asks for
    and shared memory has; an agent of one warpgroup, which repeats the control flow around the
    loads and fills the stages; an agent whose loops read them, with all else that the kernel does.
    Tiles that loops around load for products, as queries of attention in a loop over tile
    blocks, have a ring of their own: the producer loads them for the next round of that loop.
    Numbers in front of all loops are computed there, by all threads.  Atomic updates in no order
    with others, on whose results loads depend (a counter of tiles), are the producer's, which hands
    the results to the consumer.  Where that cannot be, the
    kernel stays, with the reason as an attribute; so has every loop that is not divided, and is
    around none that is.

    Loops of kernels without agents, that multiply nothing and load tiles into registers, do several
    rounds at a time, as registers allow: the loads of all of them are on their way together.  Of
    few rounds that are known no loop is left: what they load lies at constant distances.  In
    launches with a multiprocessor for each block, and in recurrences, whose state is much larger
    than what a step loads, they carry the tiles of the next round.  Loads behind the first
    reduction of a kernel that wait for nothing are on their way with those in front of it.
    Where `tileas-chunk-tiles` has found that faster (`nv_tileas.rows_ahead`), loops over rows load
    those of the next round while they compute: asynchronously, into shared memory.

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-pipeline-loads"

    target: str | None = None
    """Deprecated: the attribute `nv_tileas.target` of the module says it."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op, self.target)
        for function in instances_in(op, func.FuncOp):
            if not function.is_declaration:
                _pipeline_loads(function, target)


def _load_next_rounds(function: func.FuncOp, target: Target) -> Iterator[RoundLoop]:
    """Load rows a round ahead in the loops of a kernel that asks for it; yield these loops.

    A round starts them behind its own loads, so that those come in front of its reductions first.
    """
    if ROWS_AHEAD not in function.attributes or is_divided(function):
        return
    load_ahead(function, target)
    for loop in instances_in(function, scf.ForOp, scf.WhileOp):
        found = row_loop(loop)
        if found is None:
            continue
        made = load_next_rounds(found)
        if LINES_KEPT in function.attributes:
            keep_lines_of_rounds(made, len(found.loads))
        yield made


def _pipeline_loads(function: func.FuncOp, target: Target) -> None:
    """Divide the first loop of a kernel that can be; say of all others why they are not."""
    found = load_loop(function)
    needed = resources_of(found, target) if isinstance(found, LoadLoop) else found
    divided: list[RoundLoop] = list(_load_next_rounds(function, target))
    if isinstance(found, LoadLoop) and isinstance(needed, Resources):
        divided += [one.loop for one in (found, *found.following)]
    if not is_divided(function):
        for loop, problem in loop_problems(function, divided).items():
            loop.attributes[NOT_PIPELINED] = StringAttr(problem)
    if isinstance(needed, str):
        function.attributes[NOT_PIPELINED] = StringAttr(needed)
    elif isinstance(found, LoadLoop) and needed is not None:
        divide(found, needed)
    if not is_divided(function):
        load_together(function, target)
        load_next_in_registers(function, target)
        load_ahead(function, target)
