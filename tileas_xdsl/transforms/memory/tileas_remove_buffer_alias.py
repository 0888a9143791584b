"""The pass `tileas-remove-buffer-alias`: replace aliases of buffers by views."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.transforms.remove_buffer_alias.alias_plan import Plan
from tileas_xdsl.transforms.remove_buffer_alias.diagnostics import report_remaining_aliases
from tileas_xdsl.transforms.remove_buffer_alias.offset_rewriting import remove_aliases
from tileas_xdsl.transforms.remove_buffer_alias.select_rewriting import (
    movable_selects,
    move_selects,
)


@dataclass(frozen=True)
class TileasRemoveBufferAlias(ModulePass):
    """Replace aliases of buffers in shared and tensor memory by views of their allocations.

    Needs: any verified module, best with layouts assigned.  A selection of buffers, and buffers
    that loops and branches carry, are aliases.

    Leaves: where an alias is always part of one allocation, a view of that allocation.  Where it
    begins is a constant, or a number that is selected or carried in its place.  If the alias shows
    the allocation under another layout, each user gets a copy in the layout that it sees; where
    users may write, or read later, a copy would not do and the view shows that layout as before.

    A fixed point, reached within as many rounds as the longest chain of aliases; idempotent and
    deterministic.  An alias that stays is an error at its operation, and the module is valid: a
    pipeline goes on, and the tool fails in the end.  Only a pass that does not converge stops it.
    """

    name = "tileas-remove-buffer-alias"

    max_rounds: int | None = None
    """How many rounds there may be; by default as many as the longest chain of aliases."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        plan = Plan.of(op)
        rewrites_left = plan.aliases.depth() if self.max_rounds is None else self.max_rounds
        while plan.removable or movable_selects(plan):
            if rewrites_left <= 0:
                raise _not_converged(plan)
            rewrites_left -= 1
            if plan.removable:
                remove_aliases(plan)
            else:
                move_selects(plan)
            plan = Plan.of(op)
        report_remaining_aliases(plan)


def _not_converged(plan: Plan) -> Exception:
    first = (plan.removable or movable_selects(plan))[0]
    return op_error(first.op, message("remove_buffer_alias.no_convergence"))
