"""The pass `tileas-choose-tma`: tiles that products read in shared memory are brought by TMA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.memory import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.transforms.choose_tma.legality import load_problem

NOT_BY_TMA = "nv_tileas.not_by_tma"
"""On a load into shared memory: why threads bring the tile."""

BY_THREADS = "ldg"
"""The atom of loads that nobody has decided about."""


@dataclass(frozen=True)
class TileasChooseTma(ModulePass):
    """Load by TMA what products read in shared memory, where that is legal.

    Needs: kernels of tiles that are not laid out; loads that are converted into shared memory and
    used in no other way.

    Leaves: those loads with an atom of TMA, `allow_tma` and a result in shared memory, and without
    the conversions; where TMA cannot do a load it stays, with the reason as an attribute.

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-choose-tma"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [f for f in op.walk() if isinstance(f, func.FuncOp) and not f.is_declaration]
        loads = [load for f in functions for load in f.walk() if isinstance(load, TiledLoadOp)]
        for load in loads:
            if load.atom.data.family == BY_THREADS and (conversions := _into_memory(load)):
                _choose(load, conversions)


def _into_memory(load: TiledLoadOp) -> Sequence[ConvertLayoutOp]:
    """The conversions into shared memory that alone use a tile; nothing where others use it."""
    users = [use.operation for use in load.result.uses]
    found = [user for user in users if isinstance(user, ConvertLayoutOp)]
    is_only_there = all(space_of(user.result.type) is Space.SMEM for user in found)
    return found if is_only_there and len(found) == len(users) else ()


def _choose(load: TiledLoadOp, conversions: Sequence[ConvertLayoutOp]) -> None:
    if (problem := load_problem(load)) is not None:
        load.attributes[NOT_BY_TMA] = StringAttr(problem)
        return
    load.attributes.pop(NOT_BY_TMA, None)
    made = TiledLoadOp(
        load.view,
        load.coords,
        atom=AtomAttr.of(f"tma_load_{len(load.coords)}d"),
        result_type=_in_shared_memory(load.result.type),
        token=load.token,
        padding=load.padding_value,
        allow_tma=True,
    )
    made.attributes |= load.attributes
    made.location = load.location
    made.result.name_hint = load.result.name_hint
    for conversion in conversions:
        Rewriter.replace_op(conversion, [], [load.result])
    Rewriter.replace_op(load, made)


def _in_shared_memory(tile: Attribute) -> TensorType[Attribute]:
    element, shape = element_of(tile), shape_of(tile)
    assert element is not None and shape is not None
    return TensorType(element, shape, SpaceAttr(Space.SMEM))
