"""Lower reductions of fragments: sequentially, from the initial value.

All elements that are kept take a step at once, by vectors; the elements that are combined come
colexicographically, so that rounding is the same every time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.dialects.cute import MakeFragmentOp
from tileas_xdsl.dialects.cute.registers.reductions import ReduceOp
from tileas_xdsl.dialects.cute.types.elements import element_of
from tileas_xdsl.layout import Layout, int_tuple
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter
from tileas_xdsl.transforms.cute_to_nvgpu.register_file import Places

FLOATS: Mapping[str, Any] = {
    "ADD": arith.AddfOp,
    "MUL": arith.MulfOp,
    "MAX": arith.MaximumfOp,
    "MIN": arith.MinimumfOp,
}
INTEGERS: Mapping[str, Any] = {"ADD": arith.AddiOp, "MUL": arith.MuliOp}


def reduce_fragment(op: ReduceOp, conv: Converter) -> None:
    """What is left of a fragment, and its shape."""
    conv.replace(op.output, op.input if op.profile is None else _combined(op, conv))
    if op.reduced_shape is not None:
        conv.leaves[op.reduced_shape] = []
    conv.kill(op)


def _combined(op: ReduceOp, conv: Converter) -> SSAValue:
    kept, reduced = _modes(op)
    combine = _combiner(element_of(op.input.type), op.reduction_op.data)
    accumulator = op.init
    if kept is not None:
        accumulator = conv.insert(MakeFragmentOp([op.init] * kept.size()))
    for step in range(reduced.size()):
        part = _part(conv, op.input, kept, reduced(step))
        accumulator = conv.insert(combine(accumulator, part))
    return accumulator


def _modes(op: ReduceOp) -> tuple[Layout | None, Layout]:
    """The places of elements: those of the modes that stay, None if none does, and the others."""
    every = Layout(op.extents)
    profile = op.profile
    reduced = [int_tuple.dice(profile, tree) for tree in (every.shape, every.stride)]
    kept = [int_tuple.slice_(profile, tree) for tree in (every.shape, every.stride)]
    left = None if kept[0] == () else Layout(*kept)
    return left, Layout(1) if reduced[0] == () else Layout(*reduced)


def _combiner(element: Attribute, kind: str) -> Any:
    return (FLOATS if isinstance(element, AnyFloat) else INTEGERS)[kind]


def _part(conv: Converter, whole: SSAValue, kept: Layout | None, start: int) -> SSAValue:
    """The elements of one step."""
    if kept is None:
        return conv.insert(vector.ExtractOp(whole, [start], element_of(whole.type)))
    offsets: Places = [start + kept(index) for index in range(kept.size())]
    return conv.registers.picked(whole, offsets)
