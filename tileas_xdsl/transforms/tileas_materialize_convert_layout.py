"""The pass `tileas-materialize-convert-layout`: conversions that survive become what does them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, ModuleOp, NoneAttr, i1
from xdsl.passes import ModulePass

from tileas_xdsl.analysis.register_tiles import is_of_more
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.attributes import RegisterEncoding
from tileas_xdsl.dialects.nv_tileas.enums import SpaceAttr
from tileas_xdsl.dialects.nv_tileas.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.threads.pipeline.warp_allocation import WARP
from tileas_xdsl.transforms.materialize_convert_layout.expansion import (
    ATOM_PLAN,
    Decision,
    reinterpreted,
)
from tileas_xdsl.transforms.materialize_convert_layout.plans import sorted_plans
from tileas_xdsl.transforms.materialize_convert_layout.tensor_memory import (
    TensorDecision,
    crosses_tensor_memory,
    decide_tensor_memory,
)


@dataclass(frozen=True)
class TileasMaterializeConvertLayout(ModulePass):
    """Decide how each conversion between laid out tiles is done, and write that down.

    Needs tiles that are laid out: a conversion of a type without encoding, or of a slice that has
    the one of its whole, stays.  Leaves register
    conversions (tag 0: `convert_layout` where threads rename registers, `shuffle` where lanes
    exchange words) and pairs of a copy into new shared memory and a conversion out of it (tag 1),
    each last reader with its `atom_plan`, which says that it is decided.  A copy into shared memory
    is complete for all threads of its agent, and for TMA and the tensor core, when it ends: its
    lowering has the barrier and the proxy fence.  What comes from tensor memory is loaded into the
    registers that one instruction fills (`atom_plan` with its atom) and converted from those; what
    goes there, or from there to shared memory, becomes a copy for `tileas-legalize-tmem-copy`.

    Idempotent and deterministic.  A conversion without a plan is an error at it and stops the
    pipeline; the module stays as it was.
    """

    name = "tileas-materialize-convert-layout"

    reg2reg_vec_size: int = 16
    """The most bytes that one access or copy of a conversion between registers moves.

    Below 16, registers are copied one by one.
    """
    reinterpret_to_i8: bool = False
    """Whether floats of 4 and 8 bits are moved as bytes."""
    target: str = "sm_90a"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        decisions = [
            decision
            for kernel in op.walk()
            if isinstance(kernel, func.FuncOp) and not kernel.is_declaration
            for decision in self._decisions(kernel)
        ]
        for decision in decisions:
            if isinstance(decision, Decision):
                decision.expand(self.reg2reg_vec_size)
            elif (rest := decision.expand()) is not None:
                self._decided(rest, decision.threads).expand(self.reg2reg_vec_size)

    def _decisions(self, kernel: func.FuncOp) -> Iterator[Decision | TensorDecision]:
        """The conversions of a function from its end to its beginning."""
        conversions = [op for op in kernel.walk(reverse=True) if isinstance(op, ConvertLayoutOp)]
        if not any(map(_is_open, conversions)):
            return
        plan = KernelPlan.of(kernel, get_target(self.target))
        for op in filter(_is_open, conversions):
            threads = plan.agent_around(op).warps * WARP
            yield (
                self._tensor(op, threads)
                if crosses_tensor_memory(op)
                else self._decided(op, threads)
            )

    def _tensor(self, op: ConvertLayoutOp, threads: int) -> TensorDecision:
        """What a conversion from or to tensor memory becomes."""
        found = decide_tensor_memory(op, threads)
        if found is None:
            raise op_error(op, message("failed-to-query-target-spec-for-convert-layout"))
        return found

    def _decided(self, op: ConvertLayoutOp, threads: int) -> Decision:
        """The most efficient plan whose copies are no wider than they may be."""
        types = (op.source.type, op.result.type)
        source, result = reinterpreted(types, threads) if self.reinterpret_to_i8 else types
        for plan in sorted_plans(source, result, threads):
            if plan.least_bytes <= self.reg2reg_vec_size:
                return Decision(op, source, result, plan)
        raise op_error(op, message("failed-to-query-target-spec-for-convert-layout"))


def _is_open(op: ConvertLayoutOp) -> bool:
    """Whether a conversion is between laid out tiles, and nothing is decided about it.

    Flags and indices, which memory does not hold, are left to the lowering.
    """
    types = (op.source.type, op.result.type)
    laid_out = all(not isinstance(type_.encoding, NoneAttr | SpaceAttr) for type_ in types)
    laid_out = laid_out or crosses_tensor_memory(op)
    is_stored = op.result.type.element_type not in (i1, IndexType())
    if ATOM_PLAN in op.attributes or not laid_out or not is_stored:
        return False
    return not any(map(_keeps_that_of_its_whole, types))


def _keeps_that_of_its_whole(type_: Tile) -> bool:
    """Whether a tile is a slice with the encoding of a larger one, which says nothing about it."""
    encoding = type_.encoding
    if not isinstance(encoding, RegisterEncoding):
        return False
    return is_of_more(encoding.data, tuple(type_.get_shape()))
