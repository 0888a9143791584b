"""Conversions that cross tensor memory: copies where a tile gets a new place, else loads.

What tcgen05.ld fills is one layout of registers or another; a tile that is wanted in others is
converted between registers afterwards.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.layouts.layout_flow import ATOM_PLAN
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.atoms import UNKNOWN_COPY
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import ON_CHIP, Tile, space_of
from tileas_xdsl.transforms.legalize_tmem_copy.layouts import matches, register_layouts
from tileas_xdsl.transforms.materialize_convert_layout.plans import SHARED, sorted_plans


@dataclass(frozen=True)
class TmemConversion:
    """A conversion, and the registers that it loads; None where it is a copy into a new tile."""

    op: ConvertLayoutOp
    loaded: Tile | None
    threads: int

    def expand(self, rewriter: PatternRewriter) -> ConvertLayoutOp | None:
        """Replace the conversion; return the one between registers that is left to plan."""
        op = self.op
        if self.loaded is None:
            made: list[Operation] = [AllocTensorOp(op.result.type)]
            made.append(CopyOp(op.source, made[0].results[0], atom=UNKNOWN_COPY))
            _replace(op, made, 0, rewriter)
            return None
        load = ConvertLayoutOp(op.source, self.loaded)
        load.attributes[ATOM_PLAN] = _LOADED
        if self.loaded == op.result.type:
            _replace(op, [load], 0, rewriter)
            return None
        rest = ConvertLayoutOp(load.result, op.result.type)
        _replace(op, [load, rest], 1, rewriter)
        return rest


_LOADED = DictionaryAttr({"tag": IntegerAttr(SHARED, 32), "atom": AtomAttr.of("tcgen05_ld")})
"""The plan of what is loaded from tensor memory: through a memory, by one instruction."""


def _replace(
    op: ConvertLayoutOp, made: list[Operation], result: int, rewriter: PatternRewriter
) -> None:
    value = made[result].results[0]
    value.name_hint = op.result.name_hint
    rewriter.insert(made, InsertPoint.before(op))
    rewriter.replace(op, [], [value])


def crosses_tmem(op: ConvertLayoutOp) -> bool:
    """Whether a conversion begins or ends in tensor memory."""
    return Space.TMEM in (space_of(op.source.type), space_of(op.result.type))


def plan_tmem_conversion(op: ConvertLayoutOp, threads: int) -> TmemConversion | None:
    """How a conversion from or to tensor memory is done; None where it cannot be."""
    source, result = op.source.type, op.result.type
    registers = register_layouts(source if space_of(source) is Space.TMEM else result, threads)
    if space_of(result) in ON_CHIP:
        return TmemConversion(op, None, threads) if registers else None
    for one in registers:
        if matches(result, [one], threads):
            return TmemConversion(op, result, threads)
    if registers and sorted_plans(registers[0], result, threads):
        return TmemConversion(op, registers[0], threads)
    return None
