"""Types of `cutlass`: pipelines and their states, participants, schedulers, sequence barriers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, IntAttr, StringAttr
from xdsl.ir import TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.clauses import INTEGER, INTEGERS, WORD, Clause, ClausedType, flag
from tileas_xdsl.dialects.cutlass.kinds import KINDS, PipelineKind

__all__ = [
    "ParticipantsType",
    "PipelineStateType",
    "PipelineType",
    "SchedulerParamsType",
    "SeqBarStateType",
    "SeqBarType",
    "WorkTileInfoType",
]

MULTICASTS = (1, 2, 4, 8)
"""Blocks of a cluster that share stages."""

STREAMK = "streamk"

SM100 = "sm100"

SCHEDULERS = ("dp", "static_persistent", STREAMK, SM100)
"""How tiles are given to blocks: one for each, every so many of them, parts of them, or one for
each and then those of blocks which have not started."""

RASTERS = ("m", "n")
"""Along which axis neighbours in the order of tiles are."""

WARPS = range(32)
"""The warps that a block may have."""


def _check_positive(what: str, number: int) -> None:
    if number < 1:
        raise VerifyException(f"{what} 1 or more, not {number}")


@irdl_attr_definition
class PipelineType(ClausedType, TypeAttribute):
    """`!cutlass.pipeline<tma_async, 3, multicast 2>`: kind, stages, blocks that share them."""

    name = "cutlass.pipeline"
    kind: StringAttr
    stages: IntAttr
    multicast: IntAttr

    CLAUSES = (Clause(WORD), Clause(INTEGER), Clause(INTEGER, "multicast", " ", default=IntAttr(1)))

    def __init__(self, kind: str | StringAttr, stages: int | IntAttr, multicast: int | IntAttr = 1):
        super().__init__(StringAttr.get(kind), IntAttr.get(stages), IntAttr.get(multicast))

    @property
    def facts(self) -> PipelineKind:
        """Who fills and who reads a stage."""
        return KINDS[self.kind.data]

    def verify(self) -> None:
        if self.kind.data not in KINDS:
            raise VerifyException(f"no pipeline is {self.kind.data}; known: {', '.join(KINDS)}")
        _check_positive("the stages of a pipeline are", self.stages.data)
        if self.multicast.data not in MULTICASTS:
            shared = ", ".join(map(str, MULTICASTS))
            raise VerifyException(
                f"stages are shared by {shared} blocks, not {self.multicast.data}"
            )


class _StateType(ClausedType, TypeAttribute):
    """Base of the states of pipelines and sequences: of so many stages."""

    number: IntAttr

    CLAUSES = (Clause(INTEGER),)

    def verify(self) -> None:
        _check_positive("the stages of a state are", self.number.data)


@irdl_attr_definition
class PipelineStateType(_StateType):
    """`!cutlass.pipeline_state<3>`: a stage by its index, the parity of the phase, a count."""

    name = "cutlass.pipeline_state"
    number: IntAttr = param_def(converter=IntAttr.get)


@irdl_attr_definition
class ParticipantsType(ClausedType, TypeAttribute):
    """`!cutlass.participants<[4, 5, 6, 7]>`: the warps at one end of a pipeline."""

    name = "cutlass.participants"
    warps: ArrayAttr[IntAttr]

    CLAUSES = (Clause(INTEGERS),)

    def __init__(self, warps: Sequence[int] | ArrayAttr[IntAttr]) -> None:
        if not isinstance(warps, ArrayAttr):
            warps = ArrayAttr([IntAttr(warp) for warp in warps])
        super().__init__(warps)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The warps by their indices."""
        return tuple(warp.data for warp in self.warps)

    def verify(self) -> None:
        for warp in self.numbers:
            if warp not in WARPS:
                raise VerifyException(f"a block has warps 0 to {WARPS[-1]}, not {warp}")
        if len(set(self.numbers)) != len(self.numbers):
            raise VerifyException(f"a warp participates once, but got {list(self.numbers)}")


@irdl_attr_definition
class SchedulerParamsType(ClausedType, TypeAttribute):
    """`!cutlass.scheduler_params<dp, m>`: who does the tiles of a problem, and in which order."""

    name = "cutlass.scheduler_params"
    kind: StringAttr
    raster: StringAttr

    CLAUSES = (Clause(WORD), Clause(WORD))

    def __init__(self, kind: str | StringAttr, raster: str | StringAttr = "m") -> None:
        super().__init__(StringAttr.get(kind), StringAttr.get(raster))

    @property
    def splits(self) -> bool:
        """Whether several blocks may share a tile."""
        return self.kind.data == STREAMK

    def verify(self) -> None:
        for known, given in ((SCHEDULERS, self.kind.data), (RASTERS, self.raster.data)):
            if given not in known:
                raise VerifyException(f"tiles are given {' or '.join(known)}, not {given}")


@irdl_attr_definition
class WorkTileInfoType(ClausedType, TypeAttribute):
    """`!cutlass.work_tile_info`: the tile that a block works on, if there is one.

    `!cutlass.work_tile_info<streamk>`: a part of a tile along K, and what is left of a unit.
    """

    name = "cutlass.work_tile_info"
    is_part: BoolAttr

    CLAUSES = (Clause(flag(STREAMK), default=BoolAttr.from_bool(False)),)

    def __init__(self, is_part: bool | BoolAttr = False) -> None:
        super().__init__(BoolAttr.from_bool(is_part) if isinstance(is_part, bool) else is_part)


@irdl_attr_definition
class SeqBarType(ClausedType, TypeAttribute):
    """`!cutlass.seq_bar<2, 3>`: barriers for each of 2 stages and 3 groups that take turns."""

    name = "cutlass.seq_bar"
    depth: IntAttr = param_def(converter=IntAttr.get)
    length: IntAttr = param_def(converter=IntAttr.get)

    CLAUSES = (Clause(INTEGER), Clause(INTEGER))

    @property
    def barriers(self) -> int:
        """The number of mbarriers."""
        return self.depth.data * self.length.data

    def verify(self) -> None:
        _check_positive("the stages of a sequence are", self.depth.data)
        _check_positive("the groups of a sequence are", self.length.data)


@irdl_attr_definition
class SeqBarStateType(_StateType):
    """`!cutlass.seq_bar_state<2>`: a stage of a sequence of that depth, and the parity."""

    name = "cutlass.seq_bar_state"
    number: IntAttr = param_def(converter=IntAttr.get)
