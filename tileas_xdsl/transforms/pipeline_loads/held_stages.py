"""How many stages of a pipeline its consumer holds at once: the fewest with which it goes on.

    prologue    consumer_wait %k(0)                          one is held
    scf.for     consumer_wait %k(i + 1)                      two are held
                consumer_release %k(i)                       one

A consumer that waits for a stage while it holds all of them waits forever, for the producer fills
none before one is released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from xdsl.dialects import func, scf
from xdsl.ir import Block, Operation

from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import ConsumerReleaseOp, ConsumerWaitOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import pipeline_of


def held_stages(function: func.FuncOp) -> Mapping[CreatePipelineOp, int]:
    """Return by pipeline the most stages that a consumer has waited for and not released."""
    most: Counter[CreatePipelineOp] = Counter()
    for block in function.body.blocks:
        _follow(block, Counter(), most)
    return most


def _follow(
    block: Block, held: Counter[CreatePipelineOp], most: Counter[CreatePipelineOp]
) -> Counter[CreatePipelineOp]:
    """Return what is held at the end of a block; a loop's body leaves what it begins with."""
    held = Counter(held)
    for op in block.ops:
        if isinstance(op, ConsumerWaitOp | ConsumerReleaseOp):
            _step(op, held, most)
        if not op.regions:
            continue
        ends = [_follow(inner, held, most) for region in op.regions for inner in region.blocks]
        if isinstance(op, scf.IfOp) and len(ends) > 1:
            held = ends[0] & ends[1]
    return held


def _step(op: Operation, held: Counter[CreatePipelineOp], most: Counter[CreatePipelineOp]) -> None:
    pipeline = pipeline_of(op.operands[0])
    if not isinstance(pipeline, CreatePipelineOp):
        return
    held[pipeline] += 1 if isinstance(op, ConsumerWaitOp) else -1
    most[pipeline] = max(most[pipeline], held[pipeline])
