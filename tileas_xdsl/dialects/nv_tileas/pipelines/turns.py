"""Turns: the warpgroups of an agent issue their products one after the other.

nv_tileas.async.turn "open" of [14, 15]
scf.for ... {
  nv_tileas.async.turn "take" of [14, 15]       // of group g: wait at barrier 14 + g
  ... consumer_read { async.dot ... }           // one group's products at a time
  nv_tileas.async.turn "pass" of [14, 15]       // arrive at the next group's barrier
  ... softmax: under the products of the other group
}
nv_tileas.async.turn "close" of [14, 15]
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i32
from xdsl.irdl import traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import keyword_among
from tileas_xdsl.dialects.nv_tileas.pipelines.agent_checks import int_values
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.target.isa.tables.asynchronous import NAMED_BARRIERS


class TurnAction(StrEnum):
    """What the warpgroups do at an `async.turn`."""

    OPEN = "open"
    """Give the first turn to the first group."""
    TAKE = "take"
    """Wait for the own turn."""
    PASS = "pass"
    """Give the turn to the next group; the last one gives it to the first."""
    CLOSE = "close"
    """Take back the turn that the last group has passed on, so that the barriers are free."""


@tileas_op
class TurnOp(TileasOp):
    """Order the warpgroups of an agent, by a named barrier each; tiles are not changed by it.

    Groups take as many turns as they pass, and all groups the same number, between `open` and
    `close`.  Source of the scheme: the ping-pong of warpgroups in FlashAttention-3.
    """

    name = "nv_tileas.async.turn"

    action: fields.Field[StringAttr, TurnAction] = fields.prop(
        keyword_among(tuple(TurnAction), "has no action '{given}'; there are {known}")
    )
    barriers: fields.Array = fields.prop(DenseArrayBase.constr(i32))

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$action attr-dict"

    @property
    def numbers(self) -> Sequence[int]:
        """The named barriers, by group."""
        return int_values(self, "barriers") or ()

    def verify_(self) -> None:
        first, *others = self.numbers or [0]
        in_order = [first + k for k in range(len(others) + 1)]
        if (
            not others
            or [first, *others] != in_order
            or not 0 < first <= in_order[-1] < NAMED_BARRIERS
        ):
            last = NAMED_BARRIERS - 1
            text = f"needs two or more successive barriers of 1 to {last}, one for each group"
            raise op_error(self, f"{text}, but got {list(self.numbers)}")
