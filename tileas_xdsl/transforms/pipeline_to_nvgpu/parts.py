"""What values of `cutlass` become: each a fixed number of values that later dialects have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Attribute

from tileas_xdsl.dialects.cutlass.steps import BARRIER
from tileas_xdsl.dialects.cutlass.types import (
    TYPES,
    ParticipantsType,
    PipelineStateType,
    PipelineType,
    SchedulerParamsType,
    SeqBarStateType,
    SeqBarType,
    WorkTileInfoType,
)

Parts = tuple[Attribute, ...]

_PARTS: Mapping[type[Attribute], Parts] = {
    ParticipantsType: (),
    PipelineType: (BARRIER, BARRIER),
    SchedulerParamsType: (i32, i32, i32),
    SeqBarStateType: (i32, i32),
    SeqBarType: (BARRIER,),
    WorkTileInfoType: (i32, i1),
}
"""Of a pipeline the first full and the first empty barrier, of parameters the tiles along m, n, l,
of a sequence its first barrier, of a tile its number and whether it exists."""


def is_whole(type_: Attribute) -> bool:
    """Whether values of this type are taken apart."""
    return isinstance(type_, TYPES)


def parts_of(type_: Attribute, counted: bool) -> Parts:
    """The types of the parts; of a state index and phase, and where it is asked for the count."""
    if isinstance(type_, PipelineStateType):
        return (i32,) * (3 if counted else 2)
    return _PARTS[type(type_)]


def expanded(types: Sequence[Attribute], split: Callable[[Attribute], Parts]) -> list[Attribute]:
    """The types with each one that is taken apart replaced by its parts."""
    return [part for type_ in types for part in (split(type_) if is_whole(type_) else (type_,))]
