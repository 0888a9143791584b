"""Expand values of `cutlass` types to fixed lists of values of later dialects (1:N conversion)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Attribute

from tileas_xdsl.dialects.cutlass.schedulers.tile_scheduler import CLC_RESPONSE
from tileas_xdsl.dialects.cutlass.steps import BARRIER
from tileas_xdsl.dialects.cutlass.types import (
    SM100,
    STREAMK,
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
    SeqBarStateType: (i32, i32),
    SeqBarType: (BARRIER,),
}
"""Of a pipeline the first full and the first empty barrier, of a sequence its first barrier."""

TILES = (i32,) * 3
"""Of parameters the tiles along m, n and l."""

UNITS = (i32,) * 5
"""Of those of stream-K also the tiles along K, the units that share tiles, the tiles that they
share, the tiles along K of a unit, and how many units, the first ones, have one more."""

TILE = (i32, i1)
"""Of a tile its number, or that of its unit, and whether it exists."""

RANGE = (i32, i32)
"""Of a part of a tile also where its unit begins, in tiles along K of one tile after another, and
how many are left of the unit; the part is the last of them."""


def is_whole(type_: Attribute) -> bool:
    """Whether values of this type are taken apart."""
    return type_.name.startswith("cutlass.")


def parts_of(type_: Attribute, counted: bool) -> Parts:
    """The types of the parts; of a state index and phase, and where it is asked for the count."""
    if isinstance(type_, PipelineStateType):
        return (i32,) * (3 if counted else 2)
    if isinstance(type_, SchedulerParamsType):
        more = {STREAMK: UNITS, SM100: (CLC_RESPONSE,)}
        return (*TILES, *more.get(type_.kind.data, ()))
    if isinstance(type_, WorkTileInfoType):
        return (*TILE, *RANGE) if type_.is_part.value.data else TILE
    return _PARTS[type(type_)]


def expanded(types: Sequence[Attribute], split: Callable[[Attribute], Parts]) -> list[Attribute]:
    """The types with each one that is taken apart replaced by its parts."""
    return [part for type_ in types for part in (split(type_) if is_whole(type_) else (type_,))]
