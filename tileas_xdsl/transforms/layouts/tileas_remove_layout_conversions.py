"""The pass `tileas-remove-layout-conversions`: remove and hoist layout conversions.

One cycle is: propagate (buffers backwards, then registers forwards), clean up, rewrite what is
sensitive to layouts, clean up, clean up.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.transforms.layout_conversions.buffers import propagate_buffer_layouts
from tileas_xdsl.transforms.layout_conversions.cleanup import clean_up
from tileas_xdsl.transforms.layout_conversions.failures import Failures
from tileas_xdsl.transforms.layout_conversions.registers import propagate_register_layouts
from tileas_xdsl.transforms.layout_conversions.sweep import rewrite_layout_sensitive_ops
from tileas_xdsl.transforms.layout_conversions.web import cost_of

Step = Callable[[Operation, Failures], bool]


@dataclass(frozen=True)
class TileasRemoveLayoutConversions(ModulePass):
    """Remove redundant `convert_layout` operations, or move them out of loops.

    Analysis, then rewrite: whole webs of tiles change their layout together; the clean-up between
    is a set of patterns.

    Needs: any verified module.  Leaves: the same program with at most as many conversions; those
    from one memory to another stay, and so do those that an operation which orders memory keeps
    apart from what makes or takes their tile.

    Cycles are repeated until one changes nothing, so that the pass is idempotent; it is
    deterministic.  Each rewrite lowers the number of conversions, or leaves it and lowers the
    number of loops around them, which is checked after every step.

    A change that the verifier refuses is undone, and the pass goes on; in the end it fails with a
    diagnostic at each such place.  The IR it leaves is valid even then: pipelines may go on.
    """

    name = "tileas-remove-layout-conversions"

    max_rewrites: int | None = None
    """Rewrites of one clean-up, at most; by default in proportion to the operations."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        failures = Failures()
        while cost_of(op).conversions and self._cycle(op, failures):
            pass
        if failures.diagnostics:
            raise OpError(*failures.diagnostics)

    def _cycle(self, root: Operation, failures: Failures) -> bool:
        """One cycle; True if it changed the IR, which a failed clean-up ends."""
        changed = [checked(step, root, failures) for step in self.steps()]
        return any(changed) and root not in failures

    def steps(self) -> tuple[Step, ...]:
        """The steps of a cycle, in order."""

        def cleaning(root: Operation, failures: Failures) -> bool:
            return clean_up(root, failures, self.max_rewrites)

        return (
            propagate_buffer_layouts,
            propagate_register_layouts,
            cleaning,
            rewrite_layout_sensitive_ops,
            cleaning,
            cleaning,
        )


def checked(step: Step, root: Operation, failures: Failures) -> bool:
    """Run a step and see that it converges: it lowers the cost of conversions, or changes nothing.

    One that does neither fails as a rewriting that does not settle.
    """
    before = cost_of(root)
    changed = step(root, failures)
    after = cost_of(root)
    if changed and not after < before:
        text = f"{before.conversions} conversions before a step, {after.conversions} after it"
        failures.add_unsettled(
            root,
            message("remove_layout_conversions.patterns"),
            op_error(root, text, prefix=False).diagnostics,
        )
    return changed
