"""Handlers of TMA reductions (`cp.reduce.async.bulk.tensor`) from shared to global memory."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import TmaReduceOp
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import AsyncTiledAtomicRmwOp
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import TensorMapRecipe
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    Descriptor,
    Lowered,
)
from tileas_xdsl.threads.tma.descriptor_args import UNSIGNED_REDUCTIONS, commit

SIGNED = (RmwMode.MIN, RmwMode.MAX)


def reduce(e: ThreadBuilder, op: AsyncTiledAtomicRmwOp) -> Sequence[Lowered]:
    """As a store, but that the array is updated."""
    mode = op.rmw_mode.data
    kind = UNSIGNED_REDUCTIONS.get(mode, mode.value)
    descriptor = e.get(op.desc)
    if isinstance(descriptor, Descriptor):
        _check_sign(op, descriptor.recipe, mode)

    def make(
        desc: SSAValue, smem: SSAValue, coords: Sequence[SSAValue], pred: SSAValue | None
    ) -> Operation:
        return TmaReduceOp(desc, smem, coords, kind, pred)

    return [commit(e, op, make)]


def _check_sign(op: Operation, recipe: TensorMapRecipe, mode: RmwMode) -> None:
    """All that compares through a descriptor sees integers with a sign, or all without one."""
    if mode not in (*UNSIGNED_REDUCTIONS, *SIGNED):
        return
    sign = Signedness.UNSIGNED if mode in UNSIGNED_REDUCTIONS else Signedness.SIGNED
    if recipe.sign not in (None, sign):
        raise op_error(op, "compares integers otherwise than others through its descriptor do")
    recipe.sign = sign
    if mode in UNSIGNED_REDUCTIONS:
        recipe.element = IntegerType(bits_of(recipe.element), sign)


HANDLERS: Handlers = {
    AsyncTiledAtomicRmwOp: reduce,
}
