"""Reduce the stage count of pipelines, where it is a hint, to fit shared memory.

Before layouts are chosen nobody knows what threads exchange through shared memory, so
`tileas-pipeline-loads` asks for as many stages as tiles leave room for.  The lowering to threads
knows what it has allocated; where that is too much, it takes stages back:

    create_pipeline %slots {numStages = 3, nv_tileas.stages_are_a_hint}   ->   numStages = 2

Of several pipelines the one with the most stages gives the next one up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import IntAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.disjoint_set import DisjointSet
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.memory.shared_memory import tile_bytes
from tileas_xdsl.analysis.values.loop_carried_values import carried_in
from tileas_xdsl.dialects.ir_queries import values_within
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.pipelines.create import STAGES_ARE_A_HINT, CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import CreateIteratorOp, IncIterOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import pipeline_of
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.types import IteratorType, TiledViewType
from tileas_xdsl.transforms.assign_layouts.writing.tile_encodings import set_type
from tileas_xdsl.transforms.pipeline_loads.held_stages import held_stages

MIN_STAGES = 1
"""With one stage loads do not overlap with what reads them, but the kernel runs."""

OVERLAPPING_STAGES = 2
"""The fewest stages of which one is filled while another is read."""


def take_stages(function: func.FuncOp, excess: int, least: int = MIN_STAGES) -> bool:
    """Take as many stages as have `excess` bytes; return False where less than `least` are left,
    or less than a consumer holds at once.
    """
    pipelines = instances_in(function, CreatePipelineOp)
    if not pipelines or any(STAGES_ARE_A_HINT not in op.attributes for op in pipelines):
        return False
    left = {pipeline: pipeline.stages for pipeline in pipelines}
    held = held_stages(function)
    missing = max(excess, 1)
    # The pipeline with most stages loses one: the loss of overlap is least there.
    while missing > 0:
        pipeline = max(pipelines, key=left.__getitem__)
        left[pipeline] -= 1
        missing -= tile_bytes(pipeline.view.type) // pipeline.stages
        if left[pipeline] < max(least, held.get(pipeline, 0)):
            return False
    iterators = _iterators(function)
    for pipeline, stages in left.items():
        pipeline.properties["numStages"] = IntegerAttr(stages, pipeline.num_stages.type)
        for buffer in _buffers(pipeline.view):
            set_type(buffer, _of_stages(buffer.type, stages))
        for value in iterators.get(pipeline, ()):
            type_ = value.type
            assert isinstance(type_, IteratorType)
            set_type(value, IteratorType.new([type_.payload, IntAttr(stages), type_.space]))
    return True


def _buffers(view: SSAValue) -> Iterator[SSAValue]:
    """The view of the stages, and the memory that it is of."""
    yield view
    while isinstance(made := view.owner, ViewOp):
        view = made.source
        yield view


def _of_stages(type_: Attribute, stages: int) -> Attribute:
    """The type of a buffer of so many stages."""
    if isa(type_, TensorType[Attribute]):
        return TensorType(type_.element_type, (stages, *type_.get_shape()[1:]), type_.encoding)
    assert isinstance(type_, TiledViewType)
    return TiledViewType((stages, *type_.get_shape()[1:]), type_.element_type, type_.residency)


def _iterators(function: func.FuncOp) -> Mapping[CreatePipelineOp, Sequence[SSAValue]]:
    """The iterators over the stages of each pipeline, wherever control flow carries them."""
    values = [v for v in values_within(function) if isinstance(v.type, IteratorType)]
    # Iterators that increments and control flow connect run over the stages of one pipeline, which
    # the operation that creates one of them names.
    same = DisjointSet(values)
    for op in function.walk():
        if isinstance(op, IncIterOp):
            same.union(op.iterator, op.next)
    for carried in carried_in(function):
        if isinstance(carried.heads[0].type, IteratorType):
            for value in (*carried.heads[1:], *(feed.value for feed in carried.feeds)):
                same.union(carried.heads[0], value)
    makers = instances_in(function, CreateIteratorOp)
    pipelines = {same.find(op.iterator): pipeline_of(op.token) for op in makers}
    found: dict[CreatePipelineOp, list[SSAValue]] = {}
    for value in values:
        pipeline = pipelines.get(same.find(value))
        if isinstance(pipeline, CreatePipelineOp):
            found.setdefault(pipeline, []).append(value)
    return found
