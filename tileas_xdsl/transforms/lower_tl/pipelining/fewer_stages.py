"""Give up stages of pipelined loops where a block has too little shared memory.

A program asks for stages before anybody knows what else takes shared memory: exchanges between
threads, the padding of layouts, tiles that other loops keep.

    tl.pipelined ... stages 4   ->   stages 3

Of several loops the one with the most stages gives the next one up; with one nothing runs ahead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import IntegerAttr

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import emit_remark
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.tl.base import element_of, shape_of
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.dialects.tl.loops import PipelinedOp
from tileas_xdsl.transforms.lower_tl.pipelining.prefetchable_copies import staged_in


def take_stages(kernel: KernelOp, excess: int) -> bool:
    """Take as many stages as have `excess` bytes; return False where there are none left."""
    sizes = {loop: size for loop in _loops(kernel) if (size := _bytes_of_stage(loop))}
    left = {loop: loop.stages.value.data for loop in sizes}
    missing = max(excess, 1)
    while missing > 0:
        loop = max(left, key=left.__getitem__, default=None)
        if loop is None or left[loop] < 2:
            return False
        left[loop] -= 1
        missing -= sizes[loop]
    for loop, stages in left.items():
        loop.properties["stages"] = IntegerAttr(stages, loop.stages.type)
    return True


@dataclass(frozen=True)
class Asked:
    """The stages that a pipelined loop asks for, and what one holds; lowering takes its body."""

    stages: int
    tiles: Sequence[str]
    bytes: int


def stages_of(kernel: KernelOp) -> Mapping[PipelinedOp, Asked]:
    """What pipelined loops ask for, before they are lowered."""
    return {loop: _asked(loop) for loop in _loops(kernel)}


def _asked(loop: PipelinedOp) -> Asked:
    tiles = [copy.target.name_hint or "a tile" for copy in staged_in(loop).copies]
    return Asked(loop.stages.value.data, tiles, _bytes_of_stage(loop))


def report_given_up(asked: Mapping[PipelinedOp, Asked]) -> None:
    """Remark on loops that have fewer stages than they asked for."""
    for loop, before in asked.items():
        after = loop.stages.value.data
        if after == before.stages:
            continue
        text = (
            f"has {after} stages in place of {before.stages}: shared memory has no room for more, "
            f"a stage of {', '.join(before.tiles)} takes {before.bytes} bytes"
        )
        emit_remark(loop, text)


def _loops(kernel: KernelOp) -> Sequence[PipelinedOp]:
    return [op for op in kernel.walk() if isinstance(op, PipelinedOp)]


def _bytes_of_stage(loop: PipelinedOp) -> int:
    """The bytes of one stage of all buffers that a loop fills ahead."""
    types = [copy.target.type for copy in staged_in(loop).copies]
    return sum(prod(shape_of(type_)) * bits_of(element_of(type_)) // 8 for type_ in types)
