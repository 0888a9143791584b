"""Live ranges of values, by which they may share registers.

Positions count twice per operation, so that a use can end before the results of its operation are
written (even) or after that (odd).  Block arguments are written at `-2`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from xdsl.ir import Block, Operation, OpResult, SSAValue

from tileas_xdsl.backend.ptx.printer_views import readers
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ptx.base import PtxOp
from tileas_xdsl.dialects.ptx.dot.wgmma import WgmmaOp, WgmmaWaitOp

_ARGUMENTS = -2


@dataclass(eq=False, slots=True)
class Range:
    """Where one value is written and read; `bit` stands for it in sets of values."""

    value: SSAValue
    bit: int
    block: Block
    start: int
    last: dict[Block, int] = field(default_factory=dict[Block, int])
    """By block: the position of the last use there."""
    read_in_background: bool = False
    """Whether an asynchronous MMA reads the registers with no wait that bounds its reads."""


class Liveness:
    """Live ranges of some values of a region."""

    def __init__(self, blocks: Sequence[Block], values: Iterable[SSAValue]) -> None:
        self._positions = {op: 2 * index for block in blocks for index, op in enumerate(block.ops)}
        self.ranges: Mapping[SSAValue, Range] = {
            value: self._range(value, 1 << index) for index, value in enumerate(values)
        }
        self._live_in, self._live_out = self._flow(blocks)

    def _range(self, value: SSAValue, bit: int) -> Range:
        if isinstance(value, OpResult):
            block = value.op.parent_block()
            assert block is not None
            found = Range(value, bit, block, self._positions[value.op])
        else:
            assert isinstance(value.owner, Block)
            found = Range(value, bit, value.owner, _ARGUMENTS)
        waited = False
        for op, operand, is_whole in readers(value):
            block = op.parent_block()
            assert block is not None
            position = self._positions[op] + _reads_late(op, operand, is_whole=is_whole)
            found.last[block] = max(position, found.last.get(block, position))
            waited |= type(op) is WgmmaWaitOp
            found.read_in_background |= type(op) is WgmmaOp and operand == 1
        found.read_in_background &= not waited
        return found

    def _flow(self, blocks: Sequence[Block]) -> tuple[dict[Block, int], dict[Block, int]]:
        """Sets of values live at the start and at the end of blocks, by iteration."""
        defined = dict.fromkeys(blocks, 0)
        exposed = dict.fromkeys(blocks, 0)
        for found in self.ranges.values():
            defined[found.block] |= found.bit
            for block in found.last:
                if block is not found.block:
                    exposed[block] |= found.bit
        live_in, live_out = dict(exposed), dict.fromkeys(blocks, 0)
        changed = True
        while changed:
            changed = False
            for block in reversed(blocks):
                out = 0
                for successor in _successors(block):
                    out |= live_in[successor]
                live_out[block] = out
                into = exposed[block] | (out & ~defined[block])
                changed |= into != live_in[block]
                live_in[block] = into
        return live_in, live_out

    def interfere(self, one: Range, other: Range) -> bool:
        """Whether either is written while the other one is still needed."""
        return self._live_after(one, other.block, other.start) or self._live_after(
            other, one.block, one.start
        )

    def _live_after(self, found: Range, block: Block, position: int) -> bool:
        if found.block is block:
            if found.start > position:
                return False
        elif not self._live_in[block] & found.bit:
            return False
        return bool(self._live_out[block] & found.bit) or found.last.get(block, -3) > position


def _successors(block: Block) -> Sequence[Block]:
    last = block.last_op
    return () if last is None else last.successors


def _reads_late(op: Operation, operand: int, *, is_whole: bool) -> bool:
    """Whether an operand is still read when results are written already."""
    if not isinstance(op, PtxOp):
        return True
    if op.READS_FIRST or any(operand == pair[0] for pair in op.in_place()):
        return False
    return not (op.ELEMENTWISE and is_whole)
