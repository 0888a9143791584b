"""Instructions that a predicate may switch off: `@p mbarrier.init...`."""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.ptx.base import REG, PtxOp
from tileas_xdsl.dialects.ptx.checks import check_predicate
from tileas_xdsl.dialects.ptx.emission import Writer


class GuardedOp(PtxOp):
    """Base of instructions behind `@p` or `@!p`; the guard is their last operand."""

    guard: fields.OptOperand = fields.opt_operand(REG, default=None, kw_only=True)
    negate: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)

    def verify_(self) -> None:
        check_predicate(self, "the guard", self.guard)
        super().verify_()

    def guard_text(self, out: Writer) -> str:
        """The guard with a blank after it, or nothing."""
        guard = self.guard
        if guard is None:
            return ""
        return f"@{'!' * self.flag('negate')}{out.register(guard)} "
