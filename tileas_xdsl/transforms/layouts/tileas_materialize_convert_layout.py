"""The pass `tileas-materialize-convert-layout`: plan and expand layout conversions."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, ModuleOp, NoneAttr, i1
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.analysis.layouts.layout_flow import ATOM_PLAN
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.attributes import RegisterEncoding
from tileas_xdsl.dialects.nv_tileas.enums import SpaceAttr
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.layout.registers.register_layout import is_of_larger_tile
from tileas_xdsl.transforms.extension import apply_added, sweep
from tileas_xdsl.transforms.materialize_convert_layout.expansion import (
    PlannedConversion,
    reinterpreted,
)
from tileas_xdsl.transforms.materialize_convert_layout.plans import sorted_plans
from tileas_xdsl.transforms.materialize_convert_layout.tensor_memory import (
    TmemConversion,
    crosses_tmem,
    plan_tmem_conversion,
)
from tileas_xdsl.transforms.pipelining.agent_threads import AgentThreads


@dataclass(frozen=True)
class Planner:
    """Chooses how a conversion is done, from its types and the threads of its agent alone."""

    threads: AgentThreads
    max_bytes: int
    """The most bytes that one access or copy of a conversion between registers moves."""
    as_i8: bool

    def plan(self, op: ConvertLayoutOp) -> PlannedConversion | TmemConversion:
        """Return the plan of a conversion; raises `OpError` if the target has none."""
        threads = self.threads.around(op)
        if not crosses_tmem(op):
            return self.plan_registers(op, threads)
        found = plan_tmem_conversion(op, threads)
        if found is None:
            raise op_error(op, message("materialize_convert_layout.target_spec"))
        return found

    def plan_registers(self, op: ConvertLayoutOp, threads: int) -> PlannedConversion:
        """Return the most efficient plan whose copies are no wider than `max_bytes`."""
        types = (op.source.type, op.result.type)
        source, result = reinterpreted(types, threads) if self.as_i8 else types
        for plan in sorted_plans(source, result, threads):
            if plan.min_bytes <= self.max_bytes:
                return PlannedConversion(op, source, result, plan)
        raise op_error(op, message("materialize_convert_layout.target_spec"))


@dataclass
class MaterializeConversion(RewritePattern):
    """Replace a conversion by the operations of its plan.

    All plans are made before the first rewrite, so that a conversion without one leaves the module
    as it was.
    """

    planner: Planner
    plans: Mapping[ConvertLayoutOp, PlannedConversion | TmemConversion]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter) -> None:
        plan = self.plans.get(op)
        if plan is None:
            return
        if isinstance(plan, TmemConversion):
            rest = plan.expand(rewriter)
            if rest is None:
                return
            plan = self.planner.plan_registers(rest, plan.threads)
        plan.expand(rewriter, self.planner.max_bytes)


def _is_open(op: ConvertLayoutOp) -> bool:
    """Whether a conversion is between laid out tiles, and nothing is decided about it.

    Flags and indices, which memory does not hold, are left to the lowering, and transposed views,
    which it writes by rows without registers of either layout.
    """
    types = (op.source.type, op.result.type)
    if is_transposed(op.source.type):
        return False
    laid_out = all(not isinstance(type_.encoding, NoneAttr | SpaceAttr) for type_ in types)
    laid_out = laid_out or crosses_tmem(op)
    is_stored = op.result.type.element_type not in (i1, IndexType())
    if ATOM_PLAN in op.attributes or not laid_out or not is_stored:
        return False
    return not any(map(_keeps_that_of_its_whole, types))


def _keeps_that_of_its_whole(type_: Tile) -> bool:
    """Whether a tile is a slice with the encoding of a larger one, which says nothing about it."""
    encoding = type_.encoding
    if not isinstance(encoding, RegisterEncoding):
        return False
    return is_of_larger_tile(encoding.data, tuple(type_.get_shape()))


@dataclass(frozen=True)
class TileasMaterializeConvertLayout(ModulePass):
    """Plan each remaining layout conversion and expand it to the operations of its plan.

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
    target: str | None = None
    """Deprecated: the attribute `nv_tileas.target` of the module says it."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_added(TileasMaterializeConvertLayout.name, op)
        threads = AgentThreads(module_target(op, self.target))
        planner = Planner(threads, self.reg2reg_vec_size, self.reinterpret_to_i8)
        open_conversions = [inner for inner in instances_in(op, ConvertLayoutOp) if _is_open(inner)]
        if not open_conversions:
            return
        plans = {inner: planner.plan(inner) for inner in reversed(open_conversions)}
        sweep(op, [MaterializeConversion(planner, plans)], walk_reverse=True)
